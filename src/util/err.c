/* err.c - messages carried upward. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pollux/err.h"
#include "pollux/text.h"

/* Replaces by '?' what would not be one line of printable text, as in the name of a file. */
static void make_one_line(char *text)
{
	char *out = text;

	while (*text) {
		size_t n = utf8_length(text);

		if (n && !utf8_is_control(text, n)) {
			memmove(out, text, n);
			out += n;
		} else {
			*out++ = '?';
		}
		text += n ? n : 1;
	}
	*out = '\0';
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

int errno_set(int error)
{
	errno = error;
	return -1;
}
