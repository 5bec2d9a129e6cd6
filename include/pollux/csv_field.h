/* csv_field.h - comma-separated values (RFC 4180). */
#ifndef POLLUX_CSV_FIELD_H
#define POLLUX_CSV_FIELD_H

#include "pollux/text.h"

/* A text as a field, in quotes where needed: names of files and jobs may contain any character. */
void csv_add(struct text *t, const char *s);
/* A number as a field, so that it reads back as the same number; nothing if it is not finite. */
/* Adds a measured value (value.h): a number, nan, inf or -inf. */
void csv_add_value(struct text *t, double x);
void csv_add_number(struct text *t, double x);

#endif
