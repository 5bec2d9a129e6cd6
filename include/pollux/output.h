/* output.h - where views are printed, how texts of others are made safe to print, and whether the
 * output has arrived. */
#ifndef POLLUX_OUTPUT_H
#define POLLUX_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "pollux/err.h"
#include "pollux/text.h"

struct output {
	FILE *file;
	int width;		/* in characters; 0: no limit (a pipe) */
	bool color;
};

/* Standard output, as wide as its terminal. mode: see terminal_color. Call this before times are
 * formatted: it also sets TZ if that is unset, since the C library would else read the file of the
 * local time again for each time that is shown. */
struct output output_stdout(const char *mode);

/* $COLUMNS if that is a number above 0, whether or not out is a terminal; else the terminal's
 * columns; else 0. */
int terminal_width(FILE *out);
/* True if out is to be coloured. mode is "auto", "always" or "never"; "auto" colours a terminal if
 * TERM is set and not "dumb", and NO_COLOR is unset or empty. */
bool terminal_color(FILE *out, const char *mode);

/* Print a name or a command on one line of a terminal. A character that could move the cursor and
 * a byte that is part of no character become '?'. The text is clipped, since a command may be
 * megabytes long. */
#define OUTPUT_CLEAN_BYTES 4000
void output_clean(FILE *out, const char *s);
/* Prints a line in which texts of others stand, such as paths and names, cleaned likewise. */
void output_sayf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print the rest of a line of which indent characters are printed already, cleaned and clipped as
 * by output_clean. Unless the width is 0, the text is broken at blanks; further lines begin below
 * its first character. */
void output_wrapped(FILE *out, int width, int indent, const char *s);
/* "  NAME        VALUE", the value as by output_wrapped; NULL and "" are shown as "-". */
void output_line(const struct output *out, const char *name, const char *value);
/* The same with a text that was built for this line; afterwards the text is empty. */
void output_textline(const struct output *out, const char *name, struct text *value);
/* "MARK WORDS", broken at 80 columns; further lines begin with indent blanks. */
void output_remark(FILE *out, const char *mark, int indent, const char *words);

/* "pollux: TEXT" on standard error: broken to lines on a terminal, one line for programs. */
void output_message(const char *text);
void output_messagef(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Push out what was printed on standard output. If that fails: -1 with EX_IOERR; err->text is
 * empty if only the reader has gone (EPIPE), since then nothing is to be said. main.c calls this
 * at the end; commands that go on for long (--watch, --follow) call it after each round. */
int output_flush(struct err *err);

#endif
