/* die.c - messages and memory: what ends the program when it cannot go on. */
#include "die.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

__attribute__((format(printf, 1, 0)))
static void print_line(const char *format, va_list ap)
{
	fputs("train: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void die(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(format, ap);
	va_end(ap);
	exit(status);
}

void complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(format, ap);
	va_end(ap);
}

void failure_set(struct failure *failure, int status, const char *format, ...)
{
	va_list ap;

	if (failure->status)
		return;
	failure->status = status;
	va_start(ap, format);
	vsnprintf(failure->text, sizeof(failure->text), format, ap);
	va_end(ap);
}

void *allocate(size_t n, size_t size)
{
	enum { ALIGNMENT = 64 };

	if (n > (SIZE_MAX - ALIGNMENT) / size)
		die(EX_OSERR, "%zu x %zu bytes are more than memory can hold", n, size);
	size_t bytes = (n * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
	void *p = aligned_alloc(ALIGNMENT, bytes);
	if (!p)
		die(EX_OSERR, "cannot allocate %zu MiB: out of memory", bytes >> 20);
	memset(p, 0, bytes);
	return p;
}
