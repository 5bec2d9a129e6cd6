/* err.c - messages carried upward. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pollux/err.h"
#include "pollux/text.h"

/* The text, which may be that of *err, as one line of printable characters; what does not fit is
 * left out. */
static void set_line(struct err *err, const char *text)
{
	char line[sizeof(err->text)], shown[UTF8_SHOWN_SIZE];
	size_t n = 0;

	while (*text) {
		size_t size;

		text += utf8_shown(text, shown);
		size = strlen(shown);
		if (n + size >= sizeof(line))
			break;
		memcpy(line + n, shown, size);
		n += size;
	}
	memcpy(err->text, line, n);
	err->text[n] = '\0';
}

int err_set(struct err *err, int exit_status, const char *format, ...)
{
	va_list ap;

	err->exit_status = exit_status;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	set_line(err, err->text);
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
	set_line(err, err->text);
	return -1;
}

int errno_set(int error)
{
	errno = error;
	return -1;
}
