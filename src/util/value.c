/* value.c - see value.h. */
#include "pollux/value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MAX 17	/* a double has no more */

/* Returns the argument of a text such as "tensor(0.5)" or "np.float64(nan)"; else the text. */
static const char *argument_of(const char *text)
{
	const char *p = text;

	while (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
		p++;
	return p > text && *p == '(' && isalpha((unsigned char)*text) ? p + 1 : text;
}

/* True if what stands behind a number does not belong to it. */
static bool ends_value(const char *rest, bool is_argument)
{
	if (is_argument)
		return *rest == ')' || *rest == ',';
	return rest[strspn(rest, ".,;:)]}")] == '\0';
}

bool value_parse(const char *text, double *value)
{
	const char *first = argument_of(text);
	char *end;
	double x;

	/* "nan(" begins what strtod takes whole, "nan(0x1)". */
	if (first > text && strncasecmp(text, "nan(", 4) == 0)
		first = text;
	if (isspace((unsigned char)*first))
		return false;
	x = strtod(first, &end);
	if (end == first || !ends_value(end, first > text))
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
