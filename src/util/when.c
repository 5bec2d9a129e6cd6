/* when.c - see when.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pollux/number.h"
#include "pollux/text.h"
#include "pollux/when.h"

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
