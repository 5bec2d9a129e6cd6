/* clock.c - the readers of time, and times that people type. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/text.h"

/* --- the boot clock, the wall clock, and which boot this is --- */

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

/* --- times that people type --- */

#define LONGEST_S 1e9

static int set_errno(int error)
{
	errno = error;
	return -1;
}

/* Reads exactly so many digits. Returns what follows them; NULL: there are fewer, or more. */
static const char *read_digits(const char *p, int n, int *value)
{
	*value = 0;
	for (int i = 0; i < n; i++, p++) {
		if (!isdigit((unsigned char)*p))
			return NULL;
		*value = 10 * *value + (*p - '0');
	}
	return isdigit((unsigned char)*p) ? NULL : p;
}

/* Reads "22:00" or "22:00:30", up to the end of the text. */
static int read_clock(const char *p, struct tm *tm)
{
	p = read_digits(p, 2, &tm->tm_hour);
	if (!p || *p != ':' || !(p = read_digits(p + 1, 2, &tm->tm_min)))
		return set_errno(EINVAL);
	tm->tm_sec = 0;
	if (*p == ':' && !(p = read_digits(p + 1, 2, &tm->tm_sec)))
		return set_errno(EINVAL);
	if (*p || tm->tm_hour > 23 || tm->tm_min > 59 || tm->tm_sec > 59)
		return set_errno(EINVAL);
	return 0;
}

static double wall_of(const struct tm *tm)
{
	struct tm copy = *tm;

	copy.tm_isdst = -1;
	return (double)mktime(&copy);
}

/* True if the month has such a day. */
static bool is_day(const struct tm *tm)
{
	struct tm copy = { .tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday,
			   .tm_hour = 12, .tm_isdst = -1 };

	return tm->tm_mon >= 0 && tm->tm_mon < 12 && mktime(&copy) != (time_t)-1 &&
	       copy.tm_mday == tm->tm_mday && copy.tm_mon == tm->tm_mon;
}

static int read_date(const char *p, double now_s, double *wall_s)
{
	struct tm tm = { 0 };
	double s;

	p = read_digits(p, 4, &tm.tm_year);
	if (!p || *p != '-' || !(p = read_digits(p + 1, 2, &tm.tm_mon)) || *p != '-' ||
	    !(p = read_digits(p + 1, 2, &tm.tm_mday)))
		return set_errno(EINVAL);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	if (!is_day(&tm) || (*p && *p != ' ' && *p != 'T') || (*p && read_clock(p + 1, &tm)))
		return set_errno(EINVAL);
	s = wall_of(&tm);
	if (s <= now_s)
		return set_errno(ERANGE);
	*wall_s = s;
	return 0;
}

static int read_time_of_day(const char *text, double now_s, double *wall_s)
{
	time_t now = (time_t)floor(now_s);
	struct tm tm;

	if (!localtime_r(&now, &tm) || read_clock(text, &tm))
		return set_errno(EINVAL);
	if (wall_of(&tm) <= now_s)
		tm.tm_mday++;
	*wall_s = wall_of(&tm);
	return 0;
}

int when_parse(const char *text, double now_s, double *wall_s)
{
	double s;

	tzset();
	if (!strcmp(text, "now")) {
		*wall_s = (double)NAN;
		return 0;
	}
	if (*text == '+') {
		if (number_parse_duration(text + 1, &s))
			return -1;
		if (s > LONGEST_S)
			return set_errno(ERANGE);
		*wall_s = now_s + s;
		return 0;
	}
	if (strchr(text, '-'))
		return read_date(text, now_s, wall_s);
	return read_time_of_day(text, now_s, wall_s);
}
