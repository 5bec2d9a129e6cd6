/* lock.c - open-file-description locks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

/* The bytes of a place: 0 is the whole file. */
static struct flock bytes_of(int place)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place,
			       .l_len = place ? 1 : 0 };
}

int lock_take(const char *path, struct err *err)
{
	return lock_take_place(path, 0, err);
}

int lock_take_place(const char *path, int place, struct err *err)
{
	struct flock bytes = bytes_of(place);
	int fd = file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_set(err, EX_CANTCREAT, "cannot open '%s': %s", path,
			       file_open_why(errno));
	if (fcntl(fd, F_OFD_SETLK, &bytes) == 0)
		return fd;
	if (errno == EAGAIN) {
		close(fd);
		return LOCK_HELD;
	}
	err_set(err, EX_OSERR, "cannot lock '%s': %s", path, strerror(errno));
	close(fd);
	return -1;
}

void lock_release(int fd)
{
	struct flock whole = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &whole);
}

bool lock_again(int fd, int place)
{
	struct flock bytes = bytes_of(place);

	return fcntl(fd, F_OFD_SETLK, &bytes) == 0;
}

void lock_drop(int fd)
{
	lock_release(fd);
	close(fd);
}

enum lock_state lock_look(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	/* on a read-only disk too */
	scoped(close_fd) int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);

	if (fd < 0)
		return errno == ENOENT ? LOCK_IS_FREE : LOCK_CANNOT_BE_TOLD;
	if (fcntl(fd, F_OFD_GETLK, &whole))
		return LOCK_CANNOT_BE_TOLD;
	return whole.l_type == F_UNLCK ? LOCK_IS_FREE : LOCK_IS_HELD;
}

/* --- who holds a lock --- */

/* A line with pid, start of the process, time of the signature, and boot. Its length is fixed, so
 * that the file needs room on the disk only once. */
#define LINE_SIZE 112

static void put_line(int fd, const char *text, off_t at)
{
	char line[LINE_SIZE + 1];
	ssize_t n;

	snprintf(line, sizeof(line), "%-*s\n", LINE_SIZE - 1, text);
	n = pwrite(fd, line, LINE_SIZE, at);
	(void)n;
}

void lock_holder_sign(int fd)
{
	char text[LINE_SIZE];

	snprintf(text, sizeof(text), "%lld %lld %.12g %s", (long long)getpid(),
		 (long long)proc_start_ticks(getpid()), clock_boot_s(), clock_boot_id());
	put_line(fd, text, 0);
}

void lock_holder_clear(int fd)
{
	put_line(fd, "", 0);
}

/* Reads n numbers, of which "nan" is one. *rest is what follows them. */
static bool read_numbers(const char *line, double *numbers, int n, const char **rest)
{
	char *end;

	for (int i = 0; i < n; i++, line = end) {
		numbers[i] = strtod(line, &end);
		if (end == line)
			return false;
	}
	*rest = line + strspn(line, " ");
	return true;
}

bool lock_holder_find(const char *path, struct lock_holder *h)
{
	const char *boot = clock_boot_id(), *rest;
	double numbers[3];	/* pids and ticks are far below 2^53 */
	char line[LINE_SIZE];
	pid_t pid;

	*h = (struct lock_holder){ 0 };
	if (lock_look(path) != LOCK_IS_HELD || file_read_head(path, 0, line, LINE_SIZE) <= 0 ||
	    !read_numbers(line, numbers, 3, &rest) || strncmp(rest, boot, strlen(boot)) != 0)
		return false;
	pid = (pid_t)numbers[0];
	h->pid = pid;
	h->since_boot_s = numbers[2];
	h->is_stopped = proc_state(pid) == 'T' || proc_state(pid) == 't';
	return proc_lives(pid) && proc_start_ticks(pid) == (int64_t)numbers[1];
}

bool lock_holds_through(pid_t pid, const char *fd)
{
	char name[280], rest[8];

	snprintf(name, sizeof(name), "fdinfo/%s", fd);
	return proc_find_line(pid, name, "lock:", rest, sizeof(rest));
}

void lock_holders(const char *path, struct pid_list *holders)
{
	proc_users_of_file(path, lock_holds_through, holders);
}

bool lock_holder_search(const char *path, struct lock_holder *h)
{
	scoped(pid_list_release) struct pid_list holders = { 0 };
	struct stat ours, its;
	char exe[32];

	*h = (struct lock_holder){ 0 };
	if (lock_look(path) != LOCK_IS_HELD || stat("/proc/self/exe", &ours))
		return false;
	lock_holders(path, &holders);
	for (int i = 0; i < holders.count && h->pid == 0; i++) {
		snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)holders.items[i]);
		if (stat(exe, &its) == 0 && file_stat_same(&its, &ours))
			h->pid = holders.items[i];
	}
	if (h->pid == 0)
		return false;
	h->is_stopped = proc_state((pid_t)h->pid) == 'T' || proc_state((pid_t)h->pid) == 't';
	h->since_boot_s = (double)NAN;
	return true;
}

/* A note repeats the signature of the holder that it is about. */
void lock_note_read(const char *path, const struct lock_holder *h, struct lock_note *note)
{
	double numbers[3];
	char line[LINE_SIZE];
	const char *rest;

	*note = (struct lock_note){ (double)NAN, (double)NAN };
	if (file_read_head(path, LINE_SIZE, line, LINE_SIZE) > 0 &&
	    read_numbers(line, numbers, 3, &rest) &&
	    fabs(numbers[0] - h->since_boot_s) < 1e-6)
		*note = (struct lock_note){ numbers[1], numbers[2] };
}

void lock_note_write(const char *path, const struct lock_holder *h, const struct lock_note *note)
{
	scoped(close_fd) int fd = file_open(path, O_WRONLY | O_NOFOLLOW, 0);
	char text[LINE_SIZE];

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%.12g %.12g %.12g", h->since_boot_s, note->first_boot_s,
		 note->continued_boot_s);
	put_line(fd, text, LINE_SIZE);
}

/* --- the locks of commands of jobs --- */

static char *job_lock_path(const struct paths *paths, enum job_lock lock, int64_t job_id)
{
	const char *command = lock == JOB_LOCK_PROFILE ? "profile" : "interactive";

	return xasprintf("%s/run/%s-%lld.lock", paths->dir, command, (long long)job_id);
}

int job_lock_take(const struct paths *paths, enum job_lock lock, int64_t job_id, struct err *err)
{
	autofree char *path = job_lock_path(paths, lock, job_id);

	return lock_take(path, err);
}

bool job_lock_is_held(const struct paths *paths, enum job_lock lock, int64_t job_id)
{
	autofree char *path = job_lock_path(paths, lock, job_id);

	return lock_look(path) != LOCK_IS_FREE;
}

void job_lock_remove(const struct paths *paths, enum job_lock lock, int64_t job_id)
{
	autofree char *path = job_lock_path(paths, lock, job_id);

	unlink(path);
}

/* --- a queue made of locks on the bytes of a file --- */

/* tries to lock a byte: if two processes come in the same nanosecond, one of them has to try
 * again */
#define TRIES 100

bool turn_join(struct turn *t, const char *path)
{
	int fd = file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);

	*t = TURN_NONE;
	for (int i = 0; fd >= 0 && i < TRIES; i++) {
		int64_t now = clock_boot_ns();
		struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = now,
				      .l_len = 1 };

		if (fcntl(fd, F_OFD_SETLK, &byte) == 0) {
			*t = (struct turn){ .fd = fd, .came_ns = now };
			return true;
		}
	}
	if (fd >= 0)
		close(fd);
	return false;
}

bool turn_is_next(const struct turn *t)
{
	struct flock before = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = t->came_ns };

	return t->fd < 0 || fcntl(t->fd, F_OFD_GETLK, &before) || before.l_type == F_UNLCK;
}

void turn_leave(struct turn *t)
{
	if (t->fd >= 0)
		close(t->fd);
	*t = TURN_NONE;
}
