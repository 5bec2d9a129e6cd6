/* preload_clock.c - LD_PRELOAD: a wall clock that is off by as many seconds as the file named in
 * CLOCK_OFFSET_FILE says now, as when somebody sets it; and a boot clock that is BOOT_OFFSET
 * seconds ahead, as for a process that comes later, or as many as BOOT_OFFSET_FILE says now, as
 * when the time has passed. ALARM_FACTOR shortens alarms. The other clocks are as they are. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t offset(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return (time_t)strtoll(text, NULL, 10);
}

/* libc's own names for these parameters are reserved.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	long rc = syscall(SYS_clock_gettime, clock, t);

	if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec += offset(getenv("CLOCK_OFFSET_FILE"));
	if (rc == 0 && clock == CLOCK_MONOTONIC && getenv("BOOT_OFFSET"))
		t->tv_sec += (time_t)strtoll(getenv("BOOT_OFFSET"), NULL, 10);
	if (rc == 0 && clock == CLOCK_MONOTONIC && getenv("BOOT_OFFSET_FILE"))
		t->tv_sec += offset(getenv("BOOT_OFFSET_FILE"));
	return (int)rc;
}

unsigned alarm(unsigned seconds)
{
	const char *factor = getenv("ALARM_FACTOR");
	double s = seconds * (factor ? strtod(factor, NULL) : 1);
	struct itimerval timer = {
		.it_value = { (time_t)s, (suseconds_t)((s - (double)(time_t)s) * 1e6) },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
	return 0;
}

int gettimeofday(struct timeval *t, void *zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
