/* clock.c - the boot clock, the wall clock, and which boot this is. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"

static double to_seconds(const struct timespec *t)
{
	return (double)t->tv_sec + (double)t->tv_nsec * 1e-9;
}

int64_t clock_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_boot_s(void)
{
	return (double)clock_boot_ns() * 1e-9;
}

double clock_wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return to_seconds(&t);
}

const char *clock_boot_id(void)
{
	static char id[BOOT_ID_SIZE];
	ssize_t n = 0;
	int fd;

	if (id[0])
		return id;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, id, sizeof(id) - 1);
		close(fd);
	}
	if (n != sizeof(id) - 1)
		strcpy(id, "unknown");
	return id;
}
