/* format.c - short forms of numbers for tables. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "pollux/format.h"

static const char *unknown(char *buf, size_t size)
{
	snprintf(buf, size, "-");
	return buf;
}

static bool is_known(double x)
{
	return isfinite(x) && x >= 0;
}

const char *format_duration(char *buf, size_t size, double seconds)
{
	double days = floor(seconds / 86400);
	int s;

	if (!is_known(seconds))
		return unknown(buf, size);
	if (days >= 1000) {
		snprintf(buf, size, days < 1e7 ? "%.0fd" : "%.3gd", days);
		return buf;
	}
	s = (int)(seconds - days * 86400);
	if (days >= 1)
		snprintf(buf, size, "%.0fd%02dh", days, s / 3600);
	else if (s >= 3600)
		snprintf(buf, size, "%dh%02dm", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(buf, size, "%dm%02ds", s / 60, s % 60);
	else
		snprintf(buf, size, "%ds", s);
	return buf;
}

/* Decimals that leave three digits of x, 0 <= x < 1000 once rounded. */
static int decimals(double x)
{
	if (x < 9.995)
		return 2;
	return x < 99.95 ? 1 : 0;
}

const char *format_span(char *buf, size_t size, double seconds)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double n = seconds * 1e9;
	int unit = 0;

	if (!is_known(seconds) || seconds >= 99.95)
		return format_duration(buf, size, seconds);
	for (; n >= 999.5 && unit < 3; unit++)
		n /= 1000;
	if (seconds > 0)
		snprintf(buf, size, "%.*f%s", decimals(n), n, units[unit]);
	else
		snprintf(buf, size, "0");
	return buf;
}

const char *format_count(char *buf, size_t size, double n)
{
	static const char units[] = { 'k', 'M', 'G', 'T', 'P', 'E' };
	size_t unit = 0;

	if (!is_known(n))
		return unknown(buf, size);
	if (n < 999.5) {
		snprintf(buf, size, "%.*f", n < floor(n) || n > floor(n) ? decimals(n) : 0, n);
		return buf;
	}
	for (n /= 1000; n >= 999.5 && unit + 1 < sizeof(units); unit++)
		n /= 1000;
	if (n >= 999.5)
		snprintf(buf, size, "%.2e", n * 1e18);
	else
		snprintf(buf, size, "%.*f%c", decimals(n), n, units[unit]);
	return buf;
}

static bool is_near(double wall_s, double now_wall_s)
{
	return fabs(wall_s - now_wall_s) < 3600;
}

const char *format_time(char *buf, size_t size, double wall_s, double now_wall_s)
{
	time_t when = (time_t)0, now = (time_t)0;
	struct tm t, today;

	/* Beyond these a time_t or a struct tm could not hold it. */
	if (!is_known(wall_s) || wall_s > 1e15 || !is_known(now_wall_s) || now_wall_s > 1e15)
		return unknown(buf, size);
	when = (time_t)wall_s;
	now = (time_t)now_wall_s;
	tzset();
	if (!localtime_r(&when, &t) || !localtime_r(&now, &today))
		return unknown(buf, size);
	if (is_near(wall_s, now_wall_s))
		strftime(buf, size, "%H:%M:%S", &t);
	else if (t.tm_year == today.tm_year && t.tm_yday == today.tm_yday)
		strftime(buf, size, "%H:%M", &t);
	else
		strftime(buf, size, "%m-%d %H:%M", &t);
	return buf;
}
