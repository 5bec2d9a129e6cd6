/* share.h - finds the data files of pollux, such as the helper for PyTorch. */
#ifndef POLLUX_SHARE_H
#define POLLUX_SHARE_H

/* Returns the path of a file or directory in $POLLUX_DATA_DIR/pollux. Without that variable the
 * directory is ../share/pollux as seen from the directory of the running program (an installed
 * program, or build/pollux in a source tree), else ../../share/pollux (build/NAME/pollux). The
 * caller frees; NULL: no such file is there. */
char *share_find(const char *name);

#endif
