/* csv_field.c - fields of comma-separated values. */
#include <math.h>
#include <string.h>

#include "pollux/csv_field.h"
#include "pollux/value.h"

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
