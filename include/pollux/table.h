/* table.h - rows of text in aligned columns, for people, on any terminal or in a pipe.
 *
 *	struct table t;
 *	table_init(&t, columns, n_columns);	// columns: borrowed, must outlive t
 *	table_cell(&t, "%lld", id);		// n_columns cells make a row
 *	table_text(&t, name);			// likewise, faster
 *	...
 *	table_print(&t, stdout, width, color);	// width 0: as wide as it wants (a pipe)
 *	table_release(&t);
 *
 * Every column is as wide as its widest cell. Where the sum exceeds the width, the columns marked
 * flexible give way (the last first), down to their minimum or their heading, whichever is wider, and
 * their cells end in "..". Columns are two blanks apart.
 * A row is one line, and some more where it has a text below it; control characters in cells are shown as '?'; widths count characters of
 * UTF-8, not bytes, and invalid bytes are shown as '?'. No line has trailing blanks. */
#ifndef POLLUX_TABLE_H
#define POLLUX_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "pollux/text.h"

struct table_column {
	const char *heading;
	bool right;		/* numbers */
	bool flexible;
	int min_width;		/* of a flexible column */
};

struct table_span {
	size_t start, bytes;	/* in the text */
	int width;
};

struct table {
	const struct table_column *columns;
	int n_columns;
	struct text text;	/* of all cells, one after the other */
	struct table_span *cells;	/* owned */
	int n_cells, capacity;
	int *styles;		/* per row that was given one; owned */
	int n_styles;
	struct { int row; struct table_span span; } *below;	/* owned; only of rows that were given one */
	int n_below;
};

enum table_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GREEN, STYLE_YELLOW, STYLE_RED };

void table_init(struct table *t, const struct table_column *columns, int n_columns);
void table_release(struct table *t);
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_text(struct table *t, const char *cell);
/* Style of the row to which the last cell belongs; used only when printing in colour. */
void table_style(struct table *t, enum table_style style);
/* Lines of its own below the row to which the last cell belongs, under the second column and broken at blanks; once
 * for a row at most. It has no part in the widths of columns. The fourth line is clipped. */
void table_below(struct table *t, const char *text);
void table_print(const struct table *t, FILE *out, int width, bool color);

/* $COLUMNS where that is a number above 0, be out a terminal or not; else the terminal's columns; else
 * 0. */
int terminal_width(FILE *out);
/* Whether to colour out: mode is "auto", "always" or "never"; auto: a terminal, TERM set and
 * not "dumb", NO_COLOR unset or empty. */
bool terminal_color(FILE *out, const char *mode);

#endif
