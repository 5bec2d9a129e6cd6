/* preload_fsync.c - LD_PRELOAD: a disk that takes 300 ms to keep what was written. */
#include <time.h>
#include <unistd.h>

static int slow(void)
{
	const struct timespec delay = { .tv_nsec = 300 * 1000000L };

	return nanosleep(&delay, NULL);
}

int fsync(int fd)
{
	(void)fd;
	return slow();
}

int fdatasync(int fildes)
{
	(void)fildes;
	return slow();
}
