/* output.c - texts of others on our streams, and whether what was printed has arrived. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/output.h"
#include "pollux/table.h"
#include "pollux/text.h"
#include "pollux/utf8.h"

static void add_clean(struct text *t, const char *s)
{
	const char *start = s;
	size_t n;

	for (; *s && s - start < OUTPUT_CLEAN_BYTES; s += n) {
		n = utf8_length(s);
		if (n && !utf8_is_control(s, n)) {
			text_add_bytes(t, s, n);
			continue;
		}
		text_add(t, "?");
		n = n ? n : 1;
	}
	if (*s)
		text_add(t, "..");
}

void output_clean(FILE *out, const char *s)
{
	struct text t = TEXT_INIT;

	add_clean(&t, s);
	fwrite(t.data, 1, t.length, out);
	text_release(&t);
}

/* --- a line with a name --- */

#define INDENT 14

static int width_of(const char *s, size_t bytes)
{
	int n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* The blanks at which a line is broken go; the others stay, as they may be a command's. */
static void print_wrapped(FILE *out, int width, int indent, const char *s)
{
	int at = indent;

	while (*s) {
		size_t blanks = strspn(s, " "), bytes = blanks + strcspn(s + blanks, " ");

		if (at > indent && width > 0 && at + width_of(s, bytes) > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			s += blanks;
			bytes -= blanks;
		}
		fwrite(s, 1, bytes, out);
		at += width_of(s, bytes);
		s += bytes;
	}
	fputc('\n', out);
}

void output_wrapped(FILE *out, int width, int indent, const char *s)
{
	struct text t = TEXT_INIT;

	add_clean(&t, s);
	print_wrapped(out, width, indent, t.data);
	text_release(&t);
}

void output_line(FILE *out, int width, const char *name, const char *value)
{
	fprintf(out, "  %-*s", INDENT - 2, name);
	output_wrapped(out, width, INDENT, value && *value ? value : "-");
}

void output_message(const char *text)
{
	static const char name[] = "pollux: ";

	fputs(name, stderr);
	if (isatty(STDERR_FILENO))
		output_wrapped(stderr, terminal_width(stderr), (int)strlen(name), text);
	else
		fprintf(stderr, "%s\n", text);
}

void output_messagef(const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	output_message(text);
	free(text);
}

int output_flush(struct err *err)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	if (errno == EPIPE) {
		*err = (struct err){ .exit_status = EX_IOERR };
		return -1;
	}
	/* An earlier failure that the C library remembers only as a flag leaves no reason. */
	return err_set(err, EX_IOERR, "cannot write to standard output%s%s", errno ? ": " : "",
		       errno ? strerror(errno) : "");
}
