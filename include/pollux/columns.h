/* columns.h - a table that leaves columns out rather than overrun a terminal.
 *
 *	struct columns t;
 *	columns_init(&t, columns, n);		// columns: borrowed, must outlive t
 *	columns_cell(&t, "%lld", id);		// n cells make a row
 *	columns_text(&t, name);			// likewise, faster
 *	columns_style(&t, STYLE_GREEN);		// of the row of the last cell
 *	columns_print(&t, out, width, color);	// width 0: all columns, as wide as they want
 *	columns_release(&t);
 *
 * Where the width does not do for all in full, those columns go first in which nothing is known ("-" in every
 * row). Where it does not even do for the room of the flexible ones, more go, the smallest number first. Only
 * columns with a number are left out.
 *
 * The last column may be one that goes below: where the others, in full, do not leave it its room, each row has
 * its cell on a line of its own, and the rest of the table the width to itself. */
#ifndef POLLUX_COLUMNS_H
#define POLLUX_COLUMNS_H

#include "pollux/table.h"

#define COLUMNS_MAX 16

struct column {
	const char *heading;
	bool right;		/* numbers */
	int leave_out;		/* 1: the first to go; 0: stays */
	int room;		/* of a flexible column: what the others must leave it, and its share of
				   what there is among flexible ones; 0: not flexible */
	bool below;		/* the last only; "" or "-" takes no line */
};

struct columns {
	const struct column *columns;
	int n;
	struct text text;	/* all cells, one after the other, each with its terminator */
	size_t *starts;		/* owned; where in the text each begins */
	int n_cells, capacity;
	struct { int row, style; } *styles;	/* owned; only of rows that were given one */
	int n_styles;
};

void columns_init(struct columns *t, const struct column *columns, int n);
void columns_release(struct columns *t);
void columns_cell(struct columns *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void columns_text(struct columns *t, const char *cell);
/* As format_span and format_count of format.h have them. */
void columns_span(struct columns *t, double seconds);
void columns_count(struct columns *t, double n);
void columns_style(struct columns *t, enum table_style style);
void columns_print(const struct columns *t, FILE *out, int width, bool color);

#endif
