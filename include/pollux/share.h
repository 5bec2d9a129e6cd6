/* share.h - where the files are that pollux reads at run time and that are no program. */
#ifndef POLLUX_SHARE_H
#define POLLUX_SHARE_H

/* The path of a file or directory below share/pollux: of $POLLUX_SHARE, else of ../share, or of
 * ../../share, beside the directory of the running program. The former is an installed program or
 * build/pollux in a source tree, the latter build/NAME/pollux. The caller frees; NULL: no such
 * file is there. */
char *share_find(const char *name);

#endif
