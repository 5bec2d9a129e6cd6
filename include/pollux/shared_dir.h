/* shared_dir.h - the directory in which the pollux of several people agree about devices.
 *
 * The setting shared_dir names it; without the setting it is SHARED_DIR_DEFAULT, if that is a
 * directory and no link, belongs to root or to the user, and everybody may write there (mode 1777).
 * It holds, and nothing else:
 *
 *	device-ID.lock        the lock of a GPU: device_users.h
 *	device-cpu.lock       the locks of all processors
 *	user-UID-STORE...     what a person's pollux has and wants: people.h
 *
 * Nothing in it is believed: anybody can put any file there, under any name. A file is opened
 * without following links and without waiting, and used if it is a regular file with one name. */
#ifndef POLLUX_SHARED_DIR_H
#define POLLUX_SHARED_DIR_H

#include "pollux/err.h"
#include "pollux/paths.h"

#define SHARED_DIR_DEFAULT "/run/lock/pollux"
#define SHARED_DIR_NONE (-2)

/* Returns a descriptor of the directory; SHARED_DIR_NONE: devices are shared with nobody; -1 with
 * *err: the directory that the settings name cannot be used. *path, the
 * caller's, names the directory, also where it cannot be used; NULL: nobody asked, or it is not
 * known. */
int shared_dir_open(const struct paths *paths, char **path, struct err *err);

struct stat;
struct text;
/* Adds the command that gives a directory the sticky bit alone: who may use it stays as it is. */
void shared_dir_add_sticky(struct text *mend, const char *path, const struct stat *st);

/* Opens a file in the directory; create: with mode 0666 whatever the umask, if it is missing.
 * -1 with errno, and *why in words where the file is not one to be used. */
int shared_dir_open_file(int dir, const char *name, bool create, const char **why);

#endif
