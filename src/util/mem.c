/* mem.c - allocation that ends the program when memory is exhausted. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "pollux/mem.h"

static void *check_pointer(void *p)
{
	static const char text[] = "pollux: out of memory\n";
	ssize_t n;

	if (p)
		return p;
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(EX_OSERR);
}

void *xmalloc(size_t bytes)
{
	return check_pointer(malloc(bytes ? bytes : 1));
}

void *xcalloc(size_t n, size_t bytes)
{
	return check_pointer(calloc(n ? n : 1, bytes ? bytes : 1));
}

void *xreallocarray(void *old, size_t n, size_t bytes)
{
	return check_pointer(reallocarray(old, n ? n : 1, bytes ? bytes : 1));
}

void *xgrow(void *items, int count, size_t bytes)
{
	size_t n = (size_t)count;

	return n & (n - 1) ? items : xreallocarray(items, n ? 2 * n : 1, bytes);
}

char *xstrdup(const char *s)
{
	return check_pointer(strdup(s));
}

void xreplace(char **text, const char *by)
{
	char *copy = by ? xstrdup(by) : *text;

	if (by)
		free(*text);
	*text = copy;
}

char *xasprintf(const char *format, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, format);
	n = vasprintf(&s, format, ap);
	va_end(ap);
	return check_pointer(n < 0 ? NULL : s);
}
