/* format.c - short forms of numbers, cells of tables in these forms, and fields of CSV. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pollux/report.h"
#include "pollux/text.h"

/* --- short forms of numbers for tables and sentences --- */

static const struct formatted unknown = { "-" };

static struct formatted form(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct formatted form(const char *format, ...)
{
	struct formatted f;
	va_list ap;

	va_start(ap, format);
	vsnprintf(f.s, sizeof(f.s), format, ap);
	va_end(ap);
	return f;
}

static bool is_known(double x)
{
	return isfinite(x) && x >= 0;
}

struct formatted format_duration(double seconds)
{
	double days = floor(seconds / 86400);
	int s;

	if (!is_known(seconds))
		return unknown;
	if (days >= 1000)
		return days < 1e7 ? form("%.0fd", days) : form("%.3gd", days);
	s = (int)(seconds - days * 86400);
	if (days >= 1)
		return form("%.0fd%02dh", days, s / 3600);
	if (s >= 3600)
		return form("%dh%02dm", s / 3600, s / 60 % 60);
	if (s >= 60)
		return form("%dm%02ds", s / 60, s % 60);
	return form("%ds", s);
}

/* Decimals that leave three digits of x, 0 <= x < 1000 once rounded. */
static int decimals(double x)
{
	if (x < 9.995)
		return 2;
	return x < 99.95 ? 1 : 0;
}

struct formatted format_number(double x)
{
	if (!isfinite(x))
		return unknown;
	return form("%.*f", decimals(x), x);
}

struct formatted format_span(double seconds)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double n = seconds * 1e9;
	int unit = 0;

	if (!is_known(seconds) || seconds >= 99.95)
		return format_duration(seconds);
	for (; n >= 999.5 && unit < 3; unit++)
		n /= 1000;
	if (seconds > 0)
		return form("%.*f%s", decimals(n), n, units[unit]);
	return (struct formatted){ "0" };
}

struct formatted format_count(double n)
{
	static const char units[] = { 'k', 'M', 'G', 'T', 'P', 'E' };
	size_t unit = 0;

	if (!is_known(n))
		return unknown;
	if (n < 999.5)
		return form("%.*f", n < floor(n) || n > floor(n) ? decimals(n) : 0, n);
	for (n /= 1000; n >= 999.5 && unit + 1 < sizeof(units); unit++)
		n /= 1000;
	if (n >= 999.5)
		return form("%.2e", n * 1e18);
	return form("%.*f%c", decimals(n), n, units[unit]);
}

struct formatted format_bytes(double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t unit = 0;

	if (!is_known(bytes))
		return unknown;
	for (; bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		bytes /= 1024;
	if (bytes >= 1023.5)
		return form("%.2g EiB", bytes);
	return form("%.*f %s", unit > 0 && bytes < 9.95 ? 1 : 0, bytes, units[unit]);
}

struct formatted format_energy(double joules)
{
	static const char *const units[] = { "mWh", "Wh", "kWh", "MWh", "GWh" };
	double n = joules / 3.6;
	size_t unit = 0;

	if (!is_known(joules))
		return unknown;
	for (; n >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		n /= 1000;
	if (n >= 999.5)
		return form("%.2e %s", n, units[unit]);
	return form("%.*f %s", decimals(n), n, units[unit]);
}

static struct formatted time_form(double wall_s, double now_wall_s, bool soon)
{
	struct formatted f;
	struct tm t, today;
	time_t when, now;

	/* Beyond these a time_t or a struct tm could not hold it. */
	if (!is_known(wall_s) || wall_s > 1e15 || !is_known(now_wall_s) || now_wall_s > 1e15)
		return unknown;
	when = (time_t)wall_s;
	now = (time_t)now_wall_s;
	if (!localtime_r(&when, &t) || (!soon && !localtime_r(&now, &today)))
		return unknown;
	strftime(f.s, sizeof(f.s), soon ? "%H:%M:%S" :
		 t.tm_year == today.tm_year && t.tm_yday == today.tm_yday
		 ? "%H:%M" : "%m-%d %H:%M", &t);
	return f;
}

struct formatted format_time(double wall_s, double now_wall_s)
{
	return time_form(wall_s, now_wall_s, fabs(wall_s - now_wall_s) < 3600);
}

struct formatted format_minute(double wall_s, double now_wall_s)
{
	return time_form(wall_s, now_wall_s, false);
}

/* --- cells of tables in these forms --- */

void table_dashes(struct table *t, int n)
{
	while (n-- > 0)
		table_text(t, "-");
}

void table_positive(struct table *t, int64_t n)
{
	if (n > 0)
		table_cell(t, "%lld", (long long)n);
	else
		table_text(t, "-");
}

void table_duration(struct table *t, double seconds)
{
	table_text(t, format_duration(seconds).s);
}

void table_span(struct table *t, double seconds)
{
	table_text(t, format_span(seconds).s);
}

void table_count(struct table *t, double n)
{
	table_text(t, format_count(n).s);
}

void table_number(struct table *t, double x)
{
	table_text(t, format_number(x).s);
}

/* --- fields of comma-separated values --- */

void csv_add(struct text *t, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		text_add(t, s);
		return;
	}
	text_add(t, "\"");
	for (; *s; s++)
		text_addf(t, *s == '"' ? "%c\"" : "%c", *s);
	text_add(t, "\"");
}

void csv_add_number(struct text *t, double x)
{
	if (isfinite(x))
		text_addf(t, "%.15g", x);
}

void csv_add_value(struct text *t, double x)
{
	text_add(t, value_format(x, 15).s);
}
