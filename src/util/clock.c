/* clock.c - the readers of time, and times that people type. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "pollux/clock.h"
#include "pollux/err.h"
#include "pollux/file.h"
#include "pollux/text.h"

/* --- the boot clock, the wall clock, and which boot this is --- */

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
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *clock_boot_id(void)
{
	if (!boot[0] && file_read_head("/proc/sys/kernel/random/boot_id", 0, boot, sizeof(boot)) !=
				sizeof(boot) - 1)
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

/* Reads "8pm", "8:30pm" or "12am", up to the end of the text. */
static int read_half_day(const char *p, struct tm *tm)
{
	bool two = isdigit((unsigned char)p[0]) && isdigit((unsigned char)p[1]);

	tm->tm_min = tm->tm_sec = 0;
	p = read_digits(p, two ? 2 : 1, &tm->tm_hour);
	if (p && *p == ':')
		p = read_digits(p + 1, 2, &tm->tm_min);
	if (!p || (strcasecmp(p, "am") != 0 && strcasecmp(p, "pm") != 0) || tm->tm_hour < 1 ||
	    tm->tm_hour > 12 || tm->tm_min > 59)
		return errno_set(EINVAL);
	tm->tm_hour = tm->tm_hour % 12 + (tolower((unsigned char)*p) == 'p' ? 12 : 0);
	return 0;
}

/* Reads "22:00", "22:00:30", "8pm", "noon" or "midnight", up to the end of the text. */
static int read_clock(const char *p, struct tm *tm)
{
	const char *digits = p;

	if (!strcmp(p, "noon") || !strcmp(p, "midnight")) {
		tm->tm_hour = *p == 'n' ? 12 : 0;
		tm->tm_min = tm->tm_sec = 0;
		return 0;
	}
	p = read_digits(p, 2, &tm->tm_hour);
	if (!p || *p != ':' || !(p = read_digits(p + 1, 2, &tm->tm_min)))
		return read_half_day(digits, tm);
	tm->tm_sec = 0;
	if (*p == ':' && !(p = read_digits(p + 1, 2, &tm->tm_sec)))
		return errno_set(EINVAL);
	if (*p)
		return read_half_day(digits, tm);
	if (tm->tm_hour > 23 || tm->tm_min > 59 || tm->tm_sec > 59)
		return errno_set(EINVAL);
	return 0;
}

static double wall_of(const struct tm *tm)
{
	struct tm copy = *tm;

	copy.tm_isdst = -1;
	return (double)mktime(&copy);
}

static int read_date(const char *p, double now_s, double *wall_s)
{
	struct tm tm = { .tm_hour = 12 }, day;

	p = read_digits(p, 4, &tm.tm_year);
	if (!p || *p != '-' || !(p = read_digits(p + 1, 2, &tm.tm_mon)) || *p != '-' ||
	    !(p = read_digits(p + 1, 2, &tm.tm_mday)))
		return errno_set(EINVAL);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	day = tm;
	day.tm_isdst = -1;
	if (tm.tm_mon < 0 || tm.tm_mon > 11 || mktime(&day) == (time_t)-1 ||
	    day.tm_mday != tm.tm_mday || day.tm_mon != tm.tm_mon)
		return errno_set(EINVAL);	/* the month has no such day */
	tm.tm_hour = 0;
	if ((*p && *p != ' ' && *p != 'T') || (*p && read_clock(p + 1, &tm)))
		return errno_set(EINVAL);
	if (wall_of(&tm) <= now_s)
		return errno_set(ERANGE);
	*wall_s = wall_of(&tm);
	return 0;
}

/* Reads "1hour" or "2days", as sbatch(1) has them. */
static int read_spelled(const char *p, double *s)
{
	static const struct {
		const char *name;
		double s;
	} units[] = {
		{ "second", 1 }, { "minute", 60 }, { "hour", 3600 }, { "day", 86400 },
		{ "week", 7 * 86400.0 },
	};
	char number[16];
	size_t n = strspn(p, "0123456789");

	if (n == 0 || n >= sizeof(number))
		return errno_set(EINVAL);
	memcpy(number, p, n);
	number[n] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t length = strlen(units[i].name);

		if (strncmp(p + n, units[i].name, length) != 0 ||
		    (p[n + length] && strcmp(p + n + length, "s") != 0))
			continue;
		if (number_parse(number, s))
			return -1;
		*s *= units[i].s;
		return 0;
	}
	return errno_set(EINVAL);
}

int when_parse(const char *text, double now_s, double *wall_s)
{
	time_t now = (time_t)floor(now_s);
	struct tm tm;
	double s;

	tzset();
	if (!strcmp(text, "now")) {
		*wall_s = (double)NAN;
		return 0;
	}
	if (*text == '+' || text_starts_with(text, "now+")) {
		const char *span = strchr(text, '+') + 1;

		if (number_parse_duration(span, &s) && read_spelled(span, &s))
			return -1;
		if (s > LONGEST_S)
			return errno_set(ERANGE);
		*wall_s = now_s + s;
		return 0;
	}
	if (strchr(text, '-'))
		return read_date(text, now_s, wall_s);
	if (!localtime_r(&now, &tm))
		return errno_set(EINVAL);
	if (text_starts_with(text, "tomorrow")) {
		const char *clock = text + strlen("tomorrow");

		if ((*clock && *clock != ' ') || read_clock(*clock ? clock + 1 : "midnight", &tm))
			return errno_set(EINVAL);
		tm.tm_mday++;
	} else if (read_clock(text, &tm)) {
		return errno_set(EINVAL);
	}
	if (wall_of(&tm) <= now_s)
		tm.tm_mday++;		/* tomorrow */
	*wall_s = wall_of(&tm);
	return 0;
}
