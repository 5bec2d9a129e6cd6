/* device_lock.c - the locks of devices. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/device_users.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/people.h"

/* --- a kernel lock does not tell its holder; a second lock does --- */

static enum lock_state look_at_path(char *lock)
{
	enum lock_state state = lock_look(lock);

	free(lock);
	return state;
}

const char *device_lock_holder(const struct paths *paths, const char *device_id)
{
	enum lock_state state = look_at_path(paths_device_lock(paths, device_id)), measure;

	if (state == LOCK_IS_FREE)
		return NULL;
	measure = look_at_path(paths_measure_lock(paths, device_id));
	if (state == LOCK_CANNOT_BE_TOLD || measure == LOCK_CANNOT_BE_TOLD)
		return DEVICE_LOCK_UNKNOWN;
	return measure == LOCK_IS_HELD ? DEVICE_LOCK_MEASURE : DEVICE_LOCK_ENDED;
}

/* --- the lock that keeps other people's pollux from a device --- */

#define PROCESSOR_BYTES (1 << 20)	/* bytes of the file for each processor */
#define TRIES 5				/* tries, if somebody removes the file meanwhile */

/* --- which bytes of which file --- */

bool shared_lock_is_in_parts(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);

	return backend && backend->owns_binding;
}

struct file_name {
	char s[sizeof(SHARED_LOCK_PREFIX SHARED_LOCK_SUFFIX) + DEVICE_ID_SIZE];
};

static struct file_name name_of(const struct device *device)
{
	const char *id = shared_lock_is_in_parts(device) ? "cpu" : device->id;
	struct file_name name;

	snprintf(name.s, sizeof(name.s), "%s%.63s%s", SHARED_LOCK_PREFIX, id, SHARED_LOCK_SUFFIX);
	for (char *c = name.s; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

char *shared_lock_path(const char *directory, const struct device *device)
{
	return xasprintf("%s/%s", directory, name_of(device).s);
}

/* A walk over the bytes of a device's lock. */
struct walk {
	const char *spans;		/* of processors that are left; NULL: the whole file */
	bool has_ended;
	int part, parts;		/* of each processor */
	long processor, last;		/* the next one, and the last one of its span */
};

static struct walk walk_of(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);
	struct walk w = { .parts = 1, .last = -1 };

	if (!shared_lock_is_in_parts(device))
		return w;
	w.spans = device->binding;
	if (backend->part)
		backend->part(device, &w.part, &w.parts);
	return w;
}

static bool next_bytes(struct walk *w, struct flock *bytes)
{
	*bytes = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (!w->spans) {
		bool first = !w->has_ended;

		w->has_ended = true;
		return first;
	}
	if (w->processor > w->last && !device_next_span(&w->spans, &w->processor, &w->last))
		return false;
	if (w->processor < 0 || w->processor > w->last)
		return false;
	bytes->l_start = w->processor * PROCESSOR_BYTES +
			 (off_t)PROCESSOR_BYTES * w->part / w->parts;
	bytes->l_len = w->processor * PROCESSOR_BYTES +
		       (off_t)PROCESSOR_BYTES * (w->part + 1) / w->parts - bytes->l_start;
	w->processor++;
	return true;
}

bool shared_locks_meet(const struct device *a, const struct device *b)
{
	struct walk of_a = walk_of(a);
	struct flock x, y;

	if (strcmp(name_of(a).s, name_of(b).s) != 0)
		return false;
	while (next_bytes(&of_a, &x)) {
		struct walk of_b = walk_of(b);

		while (next_bytes(&of_b, &y))
			if ((x.l_len == 0 || y.l_start < x.l_start + x.l_len) &&
			    (y.l_len == 0 || x.l_start < y.l_start + y.l_len))
				return true;
	}
	return false;
}

/* --- taking --- */

/* Runs of one store that share a device lock the bytes of the device for reading, and one byte far
 * behind them for reading as well: that of their user and store. A run of another user or store
 * sees that byte, and leaves. Two that come at the same time may both leave, and try again. */
#define SHARERS_START ((off_t)1 << 61)		/* of the bytes of users, by processor */
#define SHARERS_BYTES ((off_t)1 << 42)		/* for each processor: user and store */
#define STORE_BITS 10
#define PROCESSORS_MAX (1 << 18)

static off_t sharers_of(const struct flock *bytes)
{
	return SHARERS_START + bytes->l_start / PROCESSOR_BYTES % PROCESSORS_MAX * SHARERS_BYTES;
}

/* The file of the store is the same for all of its processes. */
static off_t own_byte(const struct paths *paths)
{
	uint64_t user = (uint64_t)geteuid() << STORE_BITS;
	uint64_t store = 0;

	for (const char *c = paths->dir; *c; c++)
		store = store * 31 + (unsigned char)*c;
	return (off_t)(user | (store & ((1 << STORE_BITS) - 1)));
}

/* 1: somebody of another user or store has a byte there; -1: it cannot be told. */
static int has_others(int fd, off_t start, off_t own)
{
	struct flock before = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start,
				.l_len = own };
	struct flock behind = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
				.l_start = start + own + 1, .l_len = SHARERS_BYTES - own - 1 };

	if ((own > 0 && fcntl(fd, F_OFD_GETLK, &before)) || fcntl(fd, F_OFD_GETLK, &behind))
		return -1;
	return (own > 0 && before.l_type != F_UNLCK) || behind.l_type != F_UNLCK;
}

static int lock_shared(int fd, const struct paths *paths, struct flock bytes)
{
	struct flock mine = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	off_t start = sharers_of(&bytes), own = own_byte(paths);
	int others;

	mine.l_start = start + own;
	bytes.l_type = F_RDLCK;
	/* Where a lock of the whole file is asked for, the bytes of the users are left out. */
	if (bytes.l_len == 0)
		bytes.l_len = PROCESSOR_BYTES;
	if (fcntl(fd, F_OFD_SETLK, &bytes) || fcntl(fd, F_OFD_SETLK, &mine))
		return -1;
	others = has_others(fd, start, own);
	if (others > 0)
		errno = EAGAIN;
	return others ? -1 : 0;
}

/* On failure the lock may be held in part. */
static int lock_bytes(int fd, const struct paths *paths, const struct device *device)
{
	struct walk w = walk_of(device);
	struct flock bytes;

	while (next_bytes(&w, &bytes))
		if (device->seat ? lock_shared(fd, paths, bytes) : fcntl(fd, F_OFD_SETLK, &bytes))
			return -1;
	return 0;
}

bool shared_lock_again(int fd, const struct paths *paths, const struct device *device)
{
	if (lock_bytes(fd, paths, device) == 0)
		return true;
	lock_release(fd);
	return false;
}

/* True if fd is still the file of this name: somebody may have removed the file, and made
 * another. */
static bool is_still_there(int dir, const char *name, int fd)
{
	struct stat mine, there;

	return fstat(fd, &mine) == 0 && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

static int take_in(int dir, const struct paths *paths, const char *path,
		   const struct device *device, struct err *err)
{
	struct file_name name = name_of(device);
	const char *why = "somebody removes it again and again";
	bool is_held = false, has_failed = false;

	for (int i = 0; i < TRIES && !has_failed; i++) {
		int fd = shared_dir_open_file(dir, name.s, true, &why);

		has_failed = fd < 0 || lock_bytes(fd, paths, device);
		if (!has_failed && is_still_there(dir, name.s, fd))
			return fd;
		if (fd >= 0 && has_failed) {
			is_held = errno == EAGAIN || errno == EACCES;
			why = strerror(errno);
		}
		if (fd >= 0)
			lock_drop(fd);
	}
	if (is_held)
		return LOCK_HELD;
	return err_set(err, EX_CANTCREAT, "cannot use the lock '%s/%s': %s", path, name.s, why);
}

int shared_lock_take(const struct paths *paths, const struct device *device, struct err *err)
{
	char *path;
	int dir = shared_dir_open(paths, &path, err), fd = -1;

	if (dir == SHARED_DIR_NONE)
		fd = SHARED_LOCK_NONE;
	else if (dir >= 0)
		fd = take_in(dir, paths, path, device, err);
	if (dir >= 0)
		close(dir);
	free(path);
	return fd;
}

/* --- looking --- */

static enum lock_state look_in(int dir, const struct device *device)
{
	struct file_name name = name_of(device);
	enum lock_state state = LOCK_IS_FREE;
	struct walk w = walk_of(device);
	struct flock bytes;
	const char *why;
	int fd = shared_dir_open_file(dir, name.s, false, &why);

	if (fd < 0)
		return errno == ENOENT ? LOCK_IS_FREE : LOCK_CANNOT_BE_TOLD;
	/* A run could not take the lock of a file that another user keeps from being written. */
	if (faccessat(dir, name.s, W_OK, AT_EACCESS))
		state = LOCK_CANNOT_BE_TOLD;
	while (state == LOCK_IS_FREE && next_bytes(&w, &bytes))
		if (fcntl(fd, F_OFD_GETLK, &bytes))
			state = LOCK_CANNOT_BE_TOLD;
		else if (bytes.l_type != F_UNLCK)
			state = LOCK_IS_HELD;
	close(fd);
	return state;
}

enum lock_state shared_lock_look(const struct paths *paths, const struct device *device)
{
	struct err ignored;
	enum lock_state state;
	int dir = shared_dir_open(paths, NULL, &ignored);

	if (dir < 0)
		return dir == SHARED_DIR_NONE ? LOCK_IS_FREE : LOCK_CANNOT_BE_TOLD;
	state = look_in(dir, device);
	close(dir);
	return state;
}
