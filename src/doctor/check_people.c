/* check_people.c - the directory in which the pollux of several people agree about devices. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "checks.h"
#include "pollux/advice.h"
#include "pollux/device_users.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/people.h"

/* The name stays until the next call. */
static const char *name_of(uid_t uid)
{
	static char number[24];
	const struct passwd *user = getpwuid(uid);

	snprintf(number, sizeof(number), "user %u", (unsigned)uid);
	return user ? user->pw_name : number;
}

/* Returns the mend where the directory that the settings name cannot be used. Makes it where there
 * is nothing; changes nothing that is there, whoever made it meanwhile: its mode and owner may be
 * as others need them. */
static char *mend_named(const char *path)
{
	struct text command = TEXT_INIT;
	struct stat st;

	if (stat(path, &st) && errno == ENOENT) {
		text_addf(&command, "%smkdir -p -m 1777 ", advice_sudo());
		text_add_shell_quoted(&command, path);
	} else if (stat(path, &st) || !S_ISDIR(st.st_mode) ||
		   !(st.st_mode & (S_IWGRP | S_IWOTH)) || (st.st_mode & S_ISVTX)) {
		return command_on("ls -ld", path);
	} else {
		shared_dir_add_sticky(&command, path, &st);
	}
	return text_detach(&command);
}

/* Without a shared directory everybody is alone. This is usual, and no finding, unless somebody has
 * begun to set one up. */
static void check_absent(struct patient *p, const char *path)
{
	const char *sudo = advice_sudo();
	scoped(text_release) struct text quoted = TEXT_INIT;
	struct stat st;

	if (!path || lstat(path, &st)) {
		note(p, "devices are shared with nobody");
		return;
	}
	text_add_shell_quoted(&quoted, path);
	if (S_ISLNK(st.st_mode))
		found(p, FINDING_LOOK, command_on("ls -l", path), "'%s' is not used, as it is a "
		      "symbolic link, made by %s", path, name_of(st.st_uid));
	else
		/* to root first, so that its maker can no longer put a link in its place */
		found(p, FINDING_LOOK, !S_ISDIR(st.st_mode) ? command_on("ls -l", path)
		      : xasprintf("%schown -h root %s && test ! -L %s && %schmod 1777 %s", sudo,
				  quoted.data, quoted.data, sudo, quoted.data),
		      "'%s' is not used: it is to be a directory of root, with mode 1777", path);
}

/* The lock of a device is one file for all users, so its name is known to everybody, too. */
static void check_lock(struct patient *p, const char *path, const struct device *device)
{
	char *lock, *command;
	struct stat st;

	if (shared_lock_look(&p->paths, device) != LOCK_CANNOT_BE_TOLD)
		return;
	lock = shared_lock_path(path, device);
	command = command_on("ls -la", lock);
	if (lstat(lock, &st))
		found(p, FINDING_STOPS, command, "the lock of %s in '%s' cannot be read",
		      device->name, path);
	else
		found(p, FINDING_STOPS, command, "%s made '%s' so that nobody else can lock it: %s "
		      "is not used until this user, or root, removes the file",
		      name_of(st.st_uid), lock, device->name);
	free(lock);
}

#define LEAST_BYTES 65536.0	/* of free space: room for the files of all users */
#define LEAST_FILES 16		/* the least number of files that can still be made */

/* Anybody can put files there. They cost time in each pass, and may hide what others want. */
static void check_stray(struct patient *p, const char *path, const struct people *people)
{
	const char *name = name_of(people->stray_uid);
	bool one = people->n_stray == 1;

	if (people->too_many)
		found(p, FINDING_LOOK, command_on("ls -la", path), "'%s' has too many files to "
		      "look at them all, most of them of %s: what others want may not be seen; "
		      "their locks hold", path, name);
	else if (people->n_stray > 0)
		found(p, FINDING_LOOK, command_on("ls -la", path), "'%s' has %d file%s that do%s "
		      "not belong there, %sof %s", path, people->n_stray, one ? "" : "s",
		      one ? "es" : "", one ? "" : "most of them ", name);
}

static void check_shared(struct patient *p, const char *path)
{
	const struct device_list *list = p->config_err.exit_status ? NULL : patient_devices(p);
	struct people people;
	struct statvfs fs;
	struct err ignored;

	if (people_read(&p->paths, &people, &ignored) == 0) {
		note(p, "%s, %d other%s", path, people.count, plural(people.count));
		check_stray(p, path, &people);
		people_release(&people);
	}
	if (access(path, W_OK))
		found(p, FINDING_STOPS, command_on("ls -ld", path), "you may not write to '%s': "
		      "where it is for sharing devices alone, its mode is to be 1777", path);
	if (statvfs(path, &fs) == 0 &&
	    ((double)fs.f_bavail * (double)fs.f_frsize < LEAST_BYTES ||
	     (fs.f_files > 0 && fs.f_favail < LEAST_FILES)))
		found(p, FINDING_STOPS, command_on("df -h", path), "the file system of '%s' is "
		      "full: locks of devices, and what you want, cannot be written there", path);
	for (int i = 0; list && i < list->count; i++)	/* other sections report its failure */
		check_lock(p, path, &list->items[i]);
}

void check_people(struct patient *p)
{
	struct err err;
	autofree char *path = NULL;
	scoped(close_fd) int dir = shared_dir_open(&p->paths, &path, &err);

	if (dir == -1)
		found(p, FINDING_STOPS, mend_named(path), "%s", err.text);
	else if (dir == SHARED_DIR_NONE)
		check_absent(p, path);
	else
		check_shared(p, path);
}
