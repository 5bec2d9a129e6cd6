/* output.h - texts of others on our streams, and whether what was printed has arrived. */
#ifndef POLLUX_OUTPUT_H
#define POLLUX_OUTPUT_H

#include <stdio.h>

#include "pollux/err.h"

/* A name or a command on one line of a terminal: what could move the cursor, and what is no character, as
 * '?'; clipped, since a command may be megabytes long. */
#define OUTPUT_CLEAN_BYTES 4000
void output_clean(FILE *out, const char *s);
/* The rest of a line of which indent characters are printed, cleaned and clipped likewise; broken at blanks to lines
 * of the width that begin below it, unless that is 0. */
void output_wrapped(FILE *out, int width, int indent, const char *s);
/* "  NAME        VALUE", the value likewise. NULL and "" are "-". */
void output_line(FILE *out, int width, const char *name, const char *value);

/* "pollux: TEXT" on standard error: broken to lines where that is a terminal, one line for programs. */
void output_message(const char *text);
void output_messagef(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Push out what was printed on stdout. -1 where it could not be written, with EX_IOERR; err->text is
 * empty where only the reader has gone (EPIPE), as nothing is to be said then. main.c does this at the
 * end; commands that go on for long (--watch, --follow) do it after each round. */
int output_flush(struct err *err);

#endif
