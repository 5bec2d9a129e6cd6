/* output.c - widths and colours of terminals; texts of others; messages; flushing. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/text.h"

/* --- terminals --- */

int terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int64_t n;

	if (columns && number_parse_int(columns, &n) == 0 && n > 0 && n <= INT_MAX)
		return (int)n;
	if (ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col ? size.ws_col : 80;	/* a serial line does not know its width */
}

bool terminal_color(FILE *out, const char *mode)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (strcmp(mode, "auto") != 0)
		return strcmp(mode, "always") == 0;
	return !(no_color && *no_color) && isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

struct output output_stdout(const char *mode)
{
	setenv("TZ", ":/etc/localtime", 0);
	return (struct output){
		.file = stdout, .width = terminal_width(stdout),
		.color = terminal_color(stdout, mode),
	};
}

/* --- texts of others --- */

static void add_clean(struct text *t, const char *s)
{
	const char *start = s;
	char shown[UTF8_SHOWN_SIZE];

	while (*s && s - start < OUTPUT_CLEAN_BYTES) {
		s += utf8_shown(s, shown);
		text_add(t, shown);
	}
	if (*s)
		text_add(t, "..");
}

void output_clean(FILE *out, const char *s)
{
	scoped(text_release) struct text t = TEXT_INIT;

	add_clean(&t, s);
	fwrite(t.data, 1, t.length, out);
}

/* --- a line with a name --- */

#define INDENT 14		/* characters before the value of a line with a name */

void output_wrapped(FILE *out, int width, int indent, const char *s)
{
	scoped(text_release) struct text t = TEXT_INIT;
	int at = indent;

	add_clean(&t, s);
	/* Blanks at which a line is broken are dropped; others stay, since they may be part of a
	 * command. */
	for (s = t.data; *s;) {
		size_t blanks = strspn(s, " "), bytes = blanks + strcspn(s + blanks, " ");

		if (at > indent && width > 0 && at + utf8_width(s, bytes) > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			s += blanks;
			bytes -= blanks;
		}
		fwrite(s, 1, bytes, out);
		at += utf8_width(s, bytes);
		s += bytes;
	}
	fputc('\n', out);
}

void output_line(const struct output *out, const char *name, const char *value)
{
	fprintf(out->file, "  %-*s", INDENT - 2, name);
	output_wrapped(out->file, out->width, INDENT, value && *value ? value : "-");
}

void output_textline(const struct output *out, const char *name, struct text *value)
{
	output_line(out, name, value->data);
	text_clear(value);
}

void output_text_if(const struct output *out, const char *name, struct text *value)
{
	if (value->length)
		output_textline(out, name, value);
}

void output_words(FILE *out, int at, int indent, const char *words)
{
	while (*words) {
		int n = (int)strcspn(words, " "), blanks = at < indent ? indent - at : at > 0;

		if (at >= indent && at > 0 && at + 1 + n > REMARK_WIDTH) {
			fputc('\n', out);
			at = 0;
			blanks = indent;
		}
		at += fprintf(out, "%*s%.*s", blanks, "", n, words);
		words += n;
		words += strspn(words, " ");
	}
	fputc('\n', out);
}

void output_remark(FILE *out, const char *mark, int indent, const char *words)
{
	output_words(out, fprintf(out, "%s", mark), indent, words);
}

void output_message(const char *text)
{
	static const char name[] = "pollux: ";

	fputs(name, stderr);
	if (isatty(STDERR_FILENO))
		output_wrapped(stderr, terminal_width(stderr), (int)strlen(name), text);
	else
		output_sayf(stderr, "%s", text);
}

void output_messagef(const char *format, ...)
{
	scoped(text_release) struct text t = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t, format, ap);
	va_end(ap);
	output_message(t.data);
}

void output_sayf(FILE *out, const char *format, ...)
{
	scoped(text_release) struct text t = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t, format, ap);
	va_end(ap);
	output_clean(out, t.data);
	fputc('\n', out);
}

int output_flush(struct err *err)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	/* The C library remembers an earlier failure only as a flag, without errno: asks again.
	 * What was printed is cut off anyway. */
	if (errno == 0 && write(STDOUT_FILENO, "\n", 1) == 1)
		errno = 0;
	if (errno == EPIPE) {
		*err = (struct err){ .exit_status = EX_IOERR };
		return -1;
	}
	return err_set(err, EX_IOERR, "cannot write to standard output%s%s", errno ? ": " : "",
		       errno ? strerror(errno) : "");
}
