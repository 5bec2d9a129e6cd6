/* store_backup.h - a copy of the store in one file, made while others write. */
#ifndef POLLUX_STORE_BACKUP_H
#define POLLUX_STORE_BACKUP_H

#include "pollux/store.h"

/* Writes the store as it is at one moment to the file at path, which is replaced only by a whole
 * and sound copy. Writers go on meanwhile. Refused: a path that is no regular file (EX_CANTCREAT),
 * and the path of a store (EX_USAGE), this one or another, whose write-ahead log lies beside it. A
 * damaged store gives no copy (EX_DATAERR). Files of an earlier backup to the same path that was
 * killed, "PATH.pollux-XXXXXX", are removed. */
int store_backup(struct store *s, const struct paths *paths, const char *path, struct err *err);

#endif
