/* canvas.h - a screen as cells, each with one character and a style: texts that are safe to show,
 * bars, curves. What draws it on a terminal only copies cells.
 *
 *	struct canvas g;
 *	canvas_init(&g, rows, columns, utf8);
 *	canvas_put(&g, 0, 0, columns, STYLE_BOLD, name);
 *	...
 *	canvas_release(&g);
 *
 * A text of others cannot leave its place: control characters, changes of the writing direction and
 * bytes that are no UTF-8 are shown by numbers (utf8_shown), a character that the terminal has no
 * glyph for is '?', and one that has no width is left out. What lies outside of the canvas is left
 * out. Widths are those of wcwidth(3), by the locale. */
#ifndef POLLUX_CANVAS_H
#define POLLUX_CANVAS_H

#include <stdbool.h>

#include "pollux/report.h"
#include "pollux/text.h"

#define CANVAS_SELECTED 0x80	/* beside a style: the cell is of what is chosen */

struct canvas_cell {
	char s[5];		/* one character of UTF-8; "": covered by the wide one before it */
	unsigned char style;	/* enum table_style, and CANVAS_SELECTED */
};

struct canvas {
	int rows, columns;
	bool utf8;		/* else each cell has a character of ASCII */
	struct canvas_cell *cells;	/* owned */
	int cursor_row, cursor_column;	/* where a person types; -1: nowhere */
};

/* A part of it. */
struct canvas_box {
	int row, column, rows, columns;
};

/* All blank. */
void canvas_init(struct canvas *g, int rows, int columns, bool utf8);
void canvas_release(struct canvas *g);

/* Puts a text on a row, cut to the width, where ".." ends it. Returns the columns that it takes. */
int canvas_put(struct canvas *g, int row, int column, int width, int style, const char *s);
int canvas_putf(struct canvas *g, int row, int column, int width, int style, const char *format,
		...) __attribute__((format(printf, 6, 7)));
/* The same at the right end of the width. */
void canvas_put_right(struct canvas *g, int row, int column, int width, int style, const char *s);
/* Puts a text into a box, broken at blanks. Returns the rows that it takes. */
int canvas_wrap(struct canvas *g, struct canvas_box box, int style, const char *s);
/* Puts blanks, or marks cells as chosen. */
void canvas_blank(struct canvas *g, int row, int column, int rows, int columns);
void canvas_select(struct canvas *g, int row);

/* A line over the whole row, with a text in it. */
void canvas_rule(struct canvas *g, int row, const char *text);
/* A bar that is full at share 1; nothing for NaN. */
void canvas_bar(struct canvas *g, int row, int column, int width, int style, double share);

struct canvas_point {
	double x, y;
};
/* A curve over points in ascending x, from the lowest to the highest y; a point that is not finite
 * interrupts it. */
void canvas_curve(struct canvas *g, struct canvas_box box, int style,
		  const struct canvas_point *points, int n);

/* Adds the text of a row, without blanks at its end. */
void canvas_add_row(const struct canvas *g, int row, struct text *t);

#endif
