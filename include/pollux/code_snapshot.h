/* code_snapshot.h - a copy of a repository's code, for runs that are to use the code as it was.
 *
 *	DIR/snapshots/NAME/		DIR: the store's directory
 *		.pollux			names the repository; locked while a submission makes it
 *		PROJECT/		the copy, a working tree of git's (git worktree) of a
 *					commit that has the uncommitted changes, too
 *		SIBLING -> ...		what lies beside the repository, for paths like ../data
 *
 * The copy has the tracked files and the small untracked files of source code beside them. What
 * else there is, such as data, environments and directories of results, is there by links to the
 * originals: so the program finds its data, and what it writes there is where people look for it.
 * A directory with nothing but .gitkeep and the like is linked, too. Files that a program made in
 * the copy itself are work: a copy with such files is not removed. */
#ifndef POLLUX_CODE_SNAPSHOT_H
#define POLLUX_CODE_SNAPSHOT_H

#include "pollux/code_state.h"
#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/text.h"

#define SNAPSHOT_LIMIT_S 600.0		/* git may take so long in all */

struct snapshot {
	char *dir;			/* owned: DIR/snapshots/NAME/PROJECT */
	char *top;			/* owned: the directory of the repository */
	int lock;			/* snapshot_keep() drops it; else -1 */
	struct text remarks;		/* what a person should know of it; may be empty */
};

/* Makes a snapshot of the working tree that holds the directory. Until snapshot_keep(), others do
 * not take it for one that nobody needs. -1 with *err, and nothing is left behind. */
int snapshot_make(const struct paths *paths, const char *directory, struct snapshot *s,
		  struct err *err);
/* Once the store has it. */
void snapshot_keep(struct snapshot *s);
/* Where it is not needed after all. */
void snapshot_drop(struct snapshot *s);

/* Calls visit for each snapshot's directory, but not for one that is being made. */
void snapshots_each(const struct paths *paths, void (*visit)(const char *dir, void *arg),
		    void *arg);

/* Removes the snapshot and what git keeps of it; 1: it stays, for it has files that its runs made,
 * and *own (the caller frees) is one of them. -1: it cannot be read. Works, too, where the
 * repository is gone. */
int snapshot_remove(const char *dir, char **own);
/* Looks for such a file only. */
int snapshot_own_files(const char *dir, char **own);

/* A command that is to run in the snapshot. */
struct snapshot_command {
	char **program, **directory;	/* owned by the caller; replaced */
	struct strings *argv, *env;
};

/* Puts paths of the snapshot where the command has paths of files in the repository: program,
 * directory, arguments (also NAME=PATH), and PYTHONPATH. Other paths stay. -1 with *err (126) if
 * the snapshot is not there. */
int snapshot_enter(const char *dir, const char *repository, const struct snapshot_command *c,
		   struct err *err);

#endif
