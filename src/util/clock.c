/* clock.c - the boot clock, the wall clock, and which boot this is. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/open_file.h"

static double to_seconds(const struct timespec *t)
{
	return (double)t->tv_sec + (double)t->tv_nsec * 1e-9;
}

/* The clock and the boot of another machine, if clock_take_boot() was given them. */
static int64_t ahead_ns;
static char boot[BOOT_ID_SIZE];

int64_t clock_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + ahead_ns;
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
	ssize_t n = 0;
	int fd;

	if (boot[0])
		return boot;
	fd = file_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
	if (fd >= 0) {
		n = read(fd, boot, sizeof(boot) - 1);
		close(fd);
	}
	if (n != sizeof(boot) - 1)
		strcpy(boot, "unknown");
	return boot;
}

void clock_take_boot(const char *boot_id, double boot_s, double wall_s)
{
	if (!strcmp(boot_id, clock_boot_id()) || strlen(boot_id) >= sizeof(boot))
		return;
	ahead_ns += (int64_t)((boot_s + clock_wall_s() - wall_s - clock_boot_s()) * 1e9);
	strcpy(boot, boot_id);
}
