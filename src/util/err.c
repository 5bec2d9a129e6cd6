/* err.c - messages carried upward. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pollux/err.h"

/* A file name may hold a newline or an escape sequence: an error is one line all the same. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

int err_set(struct err *err, int exit_status, const char *format, ...)
{
	va_list ap;

	err->exit_status = exit_status;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	make_one_line(err->text);
	return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	make_one_line(err->text);
	return -1;
}
