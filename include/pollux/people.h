/* people.h - the people who share the devices of this machine: what the pollux of each has and
 * wants, and the directory in which they tell. */
#ifndef POLLUX_PEOPLE_H
#define POLLUX_PEOPLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/text.h"

/* What the pollux of other people on this machine have and want: a file for each user in
 * the shared directory.
 *
 * The file has one line of names and numbers, and nothing of jobs. Whose file it is decides of whom
 * it tells: its name may be anybody's. The name is user-UID-STORE, where STORE tells several stores
 * of one account apart; if another user has made a file with that name, letters that are drawn
 * follow. The line is believed if it was written in the last PEOPLE_STALE_S seconds, as the passes
 * of anybody whose jobs wait or run do. */

#define PEOPLE_STALE_S 300.0	/* passes come each minute */
#define PERSON_MAX_DEVICES 1024
#define PERSON_MIN_WEIGHT 0.1
#define PERSON_MAX_WEIGHT 10.0

#define PERSON_NAME_SIZE 64

struct person {
	char name[PERSON_NAME_SIZE];	/* of the file */
	uid_t uid;			/* whose file it is */
	char user[40];			/* for people: "hbob", "another store of yours" */
	int held, wanted;		/* devices; wanted: those that are held included */
	int devices;			/* of the machine, as this person's slots count them */
	double weight;
	double without_since_boot_s;	/* people_shares.h; may be in the future */
	double gained_boot_s;		/* when held rose for the last time */
	double at_boot_s;		/* when all this was so */
};

struct people {
	bool is_shared;			/* there is a shared directory */
	char own[PERSON_NAME_SIZE];	/* the name of this store's file, or how it begins */
	struct person me;		/* devices 0: no pass of this store has told lately */
	struct person *items;		/* owned; the others, by their names */
	int count;
	/* Files that do not belong there, among them stores of one user beyond a few; the user who
	 * owns most of them. */
	int n_stray;
	uid_t stray_uid;
	bool too_many;			/* the directory has more names than were looked at */
};

/* Reads all files that are believed. -1: the shared directory that the settings name cannot be
 * used. */
int people_read(const struct paths *paths, struct people *people, struct err *err);
void people_release(struct people *people);

/* Writes the file of this store, whose name is set here. */
int people_tell(const struct paths *paths, const struct person *me, struct err *err);
/* Removes the file: nothing is held, nothing wanted. */
void people_leave(const struct paths *paths);

/* "2 of 4 devices; hbob has 2 and wants 1 more": held and devices are those of this store. */
void people_describe(const struct people *people, int held, int devices, struct text *t);

/* The directory in which the pollux of several people agree about devices.
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
