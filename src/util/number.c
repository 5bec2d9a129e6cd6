/* number.c - strict numbers. strtod(3) alone takes blanks, "0x1p3", "inf" and "nan". */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pollux/err.h"
#include "pollux/text.h"

int number_parse_int(const char *text, int64_t *value)
{
	const char *digits = text + (*text == '-');
	long long n;
	char *end;

	_Static_assert(sizeof(n) == sizeof(*value), "strtoll reads an int64_t");
	if (!isdigit((unsigned char)*digits))
		return errno_set(EINVAL);
	errno = 0;
	n = strtoll(text, &end, 10);
	if (*end)
		return errno_set(EINVAL);
	if (errno)
		return errno_set(ERANGE);
	*value = n;
	return 0;
}

/* Reads the number that text begins with; *end: the text behind it. */
static int leading_number(const char *text, double *value, const char **end)
{
	size_t length = strspn(text, "0123456789.eE+-");
	char *stop;
	double x;

	if (!length || *text == '+')
		return errno_set(EINVAL);
	errno = 0;
	x = strtod(text, &stop);
	if (stop == text || stop > text + length)
		return errno_set(EINVAL);
	if (errno || !isfinite(x))
		return errno_set(ERANGE);
	*value = x;
	*end = stop;
	return 0;
}

int number_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int number_parse(const char *text, double *value)
{
	const char *end;
	double x;

	if (leading_number(text, &x, &end))
		return -1;
	if (*end)
		return errno_set(EINVAL);
	*value = x;
	return 0;
}

/* Reads the digits before one of the characters in ends; *end: that character. */
static int clock_field(const char **text, const char *ends, double *value, char *end)
{
	size_t n = strspn(*text, "0123456789");

	*end = (*text)[n];
	if (n == 0 || n > 9 || (*end && !strchr(ends, *end)))
		return errno_set(EINVAL);
	*value = strtod(*text, NULL);
	*text += n + (*end != '\0');
	return 0;
}

/* Reads a clock in Slurm's forms: "30:00", "2:00:00", "1-12", "1-12:30", "1-12:30:00". The first
 * field has no limit; the others are below 24 or 60. */
static int parse_clock(const char *text, double *seconds)
{
	double x, sum, unit_s, most = 60;
	const char *p = text;
	char end;

	if (clock_field(&p, "-:", &x, &end) || !end)
		return errno_set(EINVAL);
	if (end == '-') {
		sum = x * 86400;
		unit_s = 3600 * 60;
		most = 24;
	} else {
		unit_s = strchr(p, ':') ? 3600 : 60;
		sum = x * unit_s;
	}
	do {
		unit_s /= 60;
		if (unit_s < 1 || clock_field(&p, ":", &x, &end) || x >= most)
			return errno_set(EINVAL);
		sum += x * unit_s;
		most = 60;
	} while (end);
	*seconds = sum;
	return 0;
}

int number_parse_duration(const char *text, double *seconds)
{
	static const char units[] = "smhd";
	static const double unit_s[] = { 1, 60, 3600, 86400 };
	double x, sum = 0, last = HUGE_VAL;
	const char *p = text;

	if (number_parse(text, &sum) == 0) {
		if (signbit(sum))
			return errno_set(EINVAL);
		*seconds = sum;
		return 0;
	}
	if (parse_clock(text, seconds) == 0)
		return 0;
	sum = 0;
	do {
		const char *unit;

		if (leading_number(p, &x, &p))
			return -1;
		unit = *p ? strchr(units, *p) : NULL;
		if (!unit || unit_s[unit - units] >= last || signbit(x))
			return errno_set(EINVAL);
		last = unit_s[unit - units];
		sum += x * last;
	} while (*++p);
	if (!isfinite(sum))
		return errno_set(ERANGE);
	*seconds = sum;
	return 0;
}

int number_parse_size(const char *text, double *bytes)
{
	static const char units[] = "KMGT";
	const char *end, *unit;
	double x;

	if (leading_number(text, &x, &end))
		return -1;
	unit = *end ? strchr(units, *end) : NULL;
	if (!unit || end[1])
		return errno_set(EINVAL);
	*bytes = ldexp(x, 10 * (int)(unit - units + 1));
	return 0;
}

/* --- measured values --- */

#define DIGITS_MAX 17	/* a double has no more */

bool value_parse(const char *text, double *value)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	const char *first = text + strspn(text, letters);
	char *end;
	double x;

	/* "tensor(0.5)", "np.float64(nan)"; but strtod takes all of "nan(0x1)" */
	if (*first == '(' && isalpha((unsigned char)*text) && strncasecmp(text, "nan(", 4) != 0)
		first++;
	else
		first = text;
	if (isspace((unsigned char)*first))
		return false;
	x = strtod(first, &end);
	if (end == first)
		return false;
	/* what may stand behind a number that is an argument, and behind one in a sentence */
	if (first > text ? *end != ')' && *end != ',' : end[strspn(end, ".,;:)]}")] != '\0')
		return false;
	*value = x;
	return true;
}

const char *value_word(double value)
{
	if (isfinite(value))
		return NULL;
	return isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

struct value_text value_format(double value, int digits)
{
	const char *word = value_word(value);
	struct value_text t;

	if (word)
		snprintf(t.s, sizeof(t.s), "%s", word);
	else
		snprintf(t.s, sizeof(t.s), "%.*g", digits < DIGITS_MAX ? digits : DIGITS_MAX,
			 value);
	return t;
}

int value_compare(double a, double b, bool low_is_best)
{
	if (!isfinite(a) || !isfinite(b))
		return !isfinite(a) - !isfinite(b);
	if (low_is_best)
		return (a > b) - (a < b);
	return (a < b) - (a > b);
}
