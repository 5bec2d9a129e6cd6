/* next_pass.c - see next_pass.h. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "later_pass.h"
#include "next_pass.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"

#define LOOK_S 5.0		/* the process that waits looks so often for an earlier time */
#define TEXT_BYTES 24

/* The file holds the time in ms; the process that waits has the lock on the file. */
static char *file_of(const struct paths *paths)
{
	return xasprintf("%s/next-pass", paths->dir);
}

static void write_time(const char *file, double time_s)
{
	char text[TEXT_BYTES + 1];
	long long time_ms = isfinite(time_s) ? llround(time_s * 1e3) : 0;
	int fd = file_open(file, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%*lld", TEXT_BYTES, time_ms);
	/* If that fails, the pass comes at the time that stands there, or at the next one. */
	if (pwrite(fd, text, TEXT_BYTES, 0) != TEXT_BYTES)
		(void)!ftruncate(fd, 0);
	close(fd);
}

/* Returns 0 if no pass is wanted. */
static double read_time(const char *file)
{
	char text[TEXT_BYTES + 1] = "";
	int fd = file_open(file, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, text, TEXT_BYTES, 0);
	close(fd);
	return n == TEXT_BYTES ? (double)strtoll(text, NULL, 10) / 1e3 : 0;
}

/* Returns false if no pass is wanted any more. */
static bool wait_for_time(const char *file)
{
	for (double time_s; (time_s = read_time(file)) > 0;) {
		double left_s = fmin(time_s - clock_wall_s(), LOOK_S);
		struct timespec pause = { .tv_sec = (time_t)left_s };

		if (left_s <= 0)
			return true;
		pause.tv_nsec = (long)((left_s - floor(left_s)) * 1e9);
		nanosleep(&pause, NULL);
	}
	return false;
}

void next_pass_await(const struct paths *paths, double next_s)
{
	char *file = file_of(paths);
	struct err ignored;
	int lock;

	write_time(file, next_s);
	lock = isfinite(next_s) ? lock_take(file, &ignored) : -1;
	if (lock >= 0) {
		if (wait_for_time(file))
			later_pass_become(paths, &ignored);	/* which drops the lock */
		lock_drop(lock);
	}
	free(file);
}
