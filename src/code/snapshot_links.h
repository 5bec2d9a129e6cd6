/* snapshot_links.h - what a snapshot has by links; private to src/code. */
#ifndef POLLUX_CODE_SNAPSHOT_LINKS_H
#define POLLUX_CODE_SNAPSHOT_LINKS_H

#include "pollux/code.h"
#include "pollux/text.h"

/* Adds the small untracked files of source code that lie beside tracked files. git runs at the top
 * of the repository, over an index of the tracked files. */
int snapshot_sources(const struct git *git, struct strings *files, struct err *err);

/* Links in the copy what the repository has beside the files in git's index, its submodules, and
 * directories that only keep their places. Tells of submodules, and of directories of untracked
 * sources. */
int snapshot_link(const struct git *git, const char *top, const char *copy, struct text *remarks,
		  struct err *err);

/* Links what lies beside the repository. */
void snapshot_link_siblings(const char *top, const char *dir);

#endif
