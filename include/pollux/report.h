/* report.h - the ways to show something: text that is safe to print, short forms of numbers,
 * tables, JSON, CSV, pictures. */
#ifndef POLLUX_REPORT_H
#define POLLUX_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pollux/err.h"
#include "pollux/field.h"
#include "pollux/text.h"

/* --- where views are printed, in texts that are safe to print, and whether it has arrived --- */

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

/* Print a name or a command on one line of a terminal, each character as by utf8_shown(). The text
 * is clipped, since a command may be megabytes long. */
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
/* The same; nothing where the text is empty. */
void output_text_if(const struct output *out, const char *name, struct text *value);
#define REMARK_WIDTH 80
/* Prints words from column indent on, or behind a blank if the cursor stands at column `at` beyond
 * it, and breaks the line at 80 columns. A word too long for a line sticks out. */
void output_words(FILE *out, int at, int indent, const char *words);
/* "MARK WORDS", likewise; further lines begin with indent blanks. */
void output_remark(FILE *out, const char *mark, int indent, const char *words);

/* "pollux: TEXT" on standard error: broken to lines on a terminal, one line for programs. */
void output_message(const char *text);
void output_messagef(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Push out what was printed on standard output. If that fails: -1 with EX_IOERR; err->text is
 * empty if only the reader has gone (EPIPE), since then nothing is to be said. main.c calls this
 * at the end; commands that go on for long (--watch, --follow) call it after each round. */
int output_flush(struct err *err);

/* --- short forms of numbers, for tables and sentences --- */

/*	table_text(&t, format_span(seconds).s);
 *
 * A form is returned by value and lives to the end of the statement that asked for it. */

struct formatted {
	char s[16];
};

/* 59s 12m30s 3h05m 2d04h; the rest is cut off, not rounded. "-" unless finite and >= 0. */
struct formatted format_duration(double seconds);
/* 0 10.0ns 12.3us 4.56ms 1.23s: three digits; from 100 s on as format_duration. "-" unless finite
 * and >= 0. */
struct formatted format_span(double seconds);
/* 950, 12.3k, 4.56M: three digits from 1000 on; below, whole numbers whole. "-" unless finite and
 * >= 0. */
struct formatted format_count(double n);
/* 512 B, 4.0 KiB, 12 MiB, 1.2 GiB: two digits. "-" unless finite and >= 0. */
struct formatted format_bytes(double bytes);
/* 4.56 mWh, 45.6 Wh, 456 kWh: three digits, of an energy in joules. "-" unless finite and >= 0. */
struct formatted format_energy(double joules);
/* 4.56, 45.6, 456: three digits, or as many as there are before the point. "-" unless finite. */
struct formatted format_number(double x);
/* Local time, by the zone of the last tzset(3): 14:20:31 less than an hour from now, where events
 * follow each other; else 14:20 when within today, else 11-20 14:20. "-" for NaN. */
struct formatted format_time(double wall_s, double now_wall_s);
/* The same without seconds. */
struct formatted format_minute(double wall_s, double now_wall_s);

/* --- rows of text in aligned columns, for people, on any terminal or in a pipe --- */

/*	struct table t;
 *	table_begin(&t, columns);		// an array, borrowed; it must outlive t
 *	table_cell(&t, "%lld", id);		// as many cells as columns make a row
 *	table_text(&t, name);			// the same without a format; faster
 *	table_style(&t, STYLE_GREEN);		// the row of the last cell
 *	...
 *	table_end(&t, &output);			// prints it and releases it
 *
 * Every column is as wide as its widest cell, and columns are two blanks apart. Where the sum
 * exceeds the width of the output, columns are left out or clipped, in this order:
 *
 *   - Columns with a leave_out number in which nothing is known ("-" in every row) are left out,
 *     the smallest number first.
 *   - If the last column is one that goes below, its cells go below the rows, each on lines of
 *     their own under the second column, broken at blanks; the fourth line is clipped. A cell that
 *     is "" or "-" takes no line. The last cell of a row that table_one_line was called for stays
 *     on the row's line instead, behind the last cell that says something (cells of columns with
 *     leave_out numbers 1 and 2 give way to it), and is clipped; where that leaves it less than 16
 *     characters it goes below like the others.
 *   - Other columns with a leave_out number are left out, the smallest number first.
 *   - Columns with a room share what the others leave, in proportion to their rooms.
 *   - Flexible columns are clipped, the last one first, down to their min_width or their heading,
 *     whichever is wider.
 *
 * A clipped cell ends in "..", or has them in its middle. Control characters and invalid bytes are
 * shown as '?'; widths count characters of UTF-8, not bytes. No line has trailing blanks. */

struct table_column {
	const char *heading;
	bool right;		/* numbers */
	bool flexible;
	int min_width;		/* of a flexible column, in characters */
	int leave_out;		/* 1: the first to be left out; 0: never left out */
	/* in characters: the column is narrowed for others only down to this width, and gets a
	 * share of what is left in proportion to it; 0: no room */
	int room;
	bool below;		/* only for the last column */
	int most;		/* in characters: cells are cut in the middle, to this width at
				   most; 0: they are cut at their ends, and only where they must */
};

struct table_slice {
	size_t start, bytes;	/* in the text */
	int width;		/* in characters */
};

struct table {
	const struct table_column *columns;
	int n_columns;
	struct text text;	/* of all cells, one after the other */
	struct table_slice *cells;	/* owned */
	int n_cells;
	int *styles;		/* owned; of each row up to the last that was given one */
	int n_styles;
};

enum table_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GREEN, STYLE_YELLOW, STYLE_RED };
#define TABLE_ONE_LINE 0x100	/* beside a row's style: table_one_line was called for the row */

#define table_begin(t, columns) \
	table_init(t, columns, (int)(sizeof(columns) / sizeof((columns)[0])))
void table_init(struct table *t, const struct table_column *columns, int n_columns);
void table_release(struct table *t);
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "-" unless known. */
void table_cell_if(struct table *t, bool known, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void table_text(struct table *t, const char *cell);
/* "-" in each of n cells. */
void table_dashes(struct table *t, int n);
/* An integer; "-" unless it is above 0. */
void table_positive(struct table *t, int64_t n);
/* The short forms above. */
void table_duration(struct table *t, double seconds);
void table_span(struct table *t, double seconds);
void table_count(struct table *t, double n);
void table_number(struct table *t, double x);
/* The style of the row to which the last cell belongs; used only when printing in colour. */
void table_style(struct table *t, enum table_style style);
void table_one_line(struct table *t);
void table_print(const struct table *t, const struct output *out);
void table_end(struct table *t, const struct output *out);

/* --- JSON --- */

/* Writes JSON (RFC 8259), always valid: invalid UTF-8 in a string becomes U+FFFD, and a number that
 * is not finite becomes null.
 *
 *	struct json j;
 *	json_init(&j, stdout);
 *	json_object(&j, NULL);			// key NULL: the top, or inside an array
 *	json_integer(&j, "id", 17);
 *	json_array(&j, "runs"); ... json_end(&j);
 *	json_end(&j);				// the last one writes a newline
 *
 * Each level is indented by two blanks. An end without its beginning fails an assertion. */

#define JSON_DEPTH 16

struct json {
	FILE *out;
	bool one_line;		/* set after json_init(): for JSON Lines */
	int depth;
	bool array[JSON_DEPTH], any[JSON_DEPTH];
};

void json_init(struct json *j, FILE *out);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
void json_string(struct json *j, const char *key, const char *value);	/* NULL: null */
void json_text(struct json *j, const char *key, const char *value);	/* NULL and "": null */
void json_strings(struct json *j, const char *key, const struct strings *list);	/* an array */
void json_integer(struct json *j, const char *key, int64_t value);
/* null unless known. */
void json_integer_if(struct json *j, const char *key, int64_t value, bool known);
void json_positive(struct json *j, const char *key, int64_t value);	/* null unless above 0 */
/* The shortest form that reads back as the same number, at most %.17g. */
void json_number(struct json *j, const char *key, double value);
/* A value that a program measured (text.h): a number, or the text "nan", "inf" or "-inf". jq sorts
 * texts behind all numbers. */
void json_value(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
/* A member of a struct, by its description; null where its value is unknown. */
void json_field(struct json *j, const struct field *field, const void *member);

/* --- comma-separated values (RFC 4180) --- */

/* A text as a field, in quotes where needed: names of files and jobs may contain any character. */
void csv_add(struct text *t, const char *s);
/* Adds a measured value (text.h): a number, nan, inf or -inf. */
void csv_add_value(struct text *t, double x);
/* A number as a field, so that it reads back as the same number; nothing if it is not finite. */
void csv_add_number(struct text *t, double x);

/* --- a file drawn by gnuplot, if that is installed --- */

/* "svg" or "png", by the end of the file's name; NULL: neither. */
const char *picture_format(const char *path);

/* Fails unless gnuplot is there, draws pictures of this format, and the file could be written now.
 * For use before work that takes long. Errors as those of picture_draw. */
int picture_check(const char *path, struct err *err);

/* Have gnuplot draw by the script, which must not redirect its output. Afterwards the file is
 * complete, or as it was before; path NULL: there is no file. EX_UNAVAILABLE: there is no gnuplot,
 * or gnuplot failed; EX_CANTCREAT: the file cannot be written. */
int picture_draw(const char *script, const char *path, struct err *err);

/* Begin a script with the terminal for the format and the style that all pictures share. */
void picture_add_style(struct text *script, const char *format);

/* The unit for an axis of times up to so many seconds. */
struct picture_unit {
	const char *name;		/* plural */
	double seconds;
};
struct picture_unit picture_time_unit(double largest_s);

/* Add at most so many characters of a name, to stand between single quotes in a script. There,
 * only a quote means something to gnuplot; a backquote is replaced to be safe. */
void picture_add_quoted(struct text *script, const char *s, int characters);

#endif
