/* preload_setsid.c - LD_PRELOAD: a process that makes a session of its own takes 300 ms to do
 * so. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

pid_t setsid(void)
{
	const struct timespec delay = { .tv_nsec = 300 * 1000000L };

	nanosleep(&delay, NULL);
	return (pid_t)syscall(SYS_setsid);
}
