/* table.h - rows of text in aligned columns, for people, on any terminal or in a pipe.
 *
 *	struct table t;
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
#ifndef POLLUX_TABLE_H
#define POLLUX_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pollux/output.h"
#include "pollux/text.h"

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

#define table_begin(t, columns) \
	table_init(t, columns, (int)(sizeof(columns) / sizeof((columns)[0])))
void table_init(struct table *t, const struct table_column *columns, int n_columns);
void table_release(struct table *t);
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_text(struct table *t, const char *cell);
/* "-" in each of n cells. */
void table_dashes(struct table *t, int n);
/* An integer; "-" unless it is above 0. */
void table_positive(struct table *t, int64_t n);
/* Forms of format.h. */
void table_duration(struct table *t, double seconds);
void table_span(struct table *t, double seconds);
void table_count(struct table *t, double n);
void table_number(struct table *t, double x);
/* The style of the row to which the last cell belongs; used only when printing in colour. */
void table_style(struct table *t, enum table_style style);
void table_one_line(struct table *t);
void table_print(const struct table *t, const struct output *out);
void table_end(struct table *t, const struct output *out);

#endif
