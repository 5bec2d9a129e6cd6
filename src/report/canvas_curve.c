/* canvas_curve.c - curves in cells: dots of Braille characters, or three heights of ASCII. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/canvas.h"
#include "pollux/mem.h"

/* --- a curve as heights over columns of dots --- */

/* The range of what is finite; false: there is none. */
static bool range_of(const struct canvas_point *points, int n, struct canvas_point *low,
		     struct canvas_point *high)
{
	*low = (struct canvas_point){ INFINITY, INFINITY };
	*high = (struct canvas_point){ -INFINITY, -INFINITY };
	for (int i = 0; i < n; i++) {
		if (!isfinite(points[i].x) || !isfinite(points[i].y))
			continue;
		low->x = fmin(low->x, points[i].x);
		low->y = fmin(low->y, points[i].y);
		high->x = fmax(high->x, points[i].x);
		high->y = fmax(high->y, points[i].y);
	}
	return low->x <= high->x;
}

/* From 0 to 1; the middle where all are equal. */
static double part_of(double value, double low, double high)
{
	return high > low ? (value - low) / (high - low) : 0.5;
}

/* heights[0..n) become the heights of the curve over columns of dots, from 0 to 1; NaN: there is
 * nothing. */
static void sample(const struct canvas_point *points, int n_points, double *heights, int n)
{
	struct canvas_point low, high, last = { NAN, NAN };
	bool any = range_of(points, n_points, &low, &high);

	for (int i = 0; i < n; i++)
		heights[i] = (double)NAN;
	for (int i = 0; any && i < n_points; i++) {
		struct canvas_point at = {
			part_of(points[i].x, low.x, high.x) * (n - 1),
			part_of(points[i].y, low.y, high.y),
		};
		int to = isfinite(at.x) ? (int)at.x : 0;
		int from = isfinite(last.x) && isfinite(last.y) ? (int)last.x + 1 : to;

		if (!isfinite(at.x) || !isfinite(at.y)) {
			last = at;
			continue;
		}
		for (int c = from; c < to && at.x > last.x; c++)
			heights[c] = last.y + (at.y - last.y) * (c - last.x) / (at.x - last.x);
		if (to >= 0 && to < n)
			heights[to] = at.y;
		last = at;
	}
}

/* --- cells --- */

static int level_of(double height, int levels)
{
	int level = (int)floor(height * levels);

	return level >= levels ? levels - 1 : level;
}

/* Dots of U+2800 + bits, from the top of a cell: two columns of four. */
static const unsigned char dots[2][4] = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } };

static void put_braille(struct canvas *g, int row, int column, int style, unsigned bits)
{
	if (row >= 0 && row < g->rows && column >= 0 && column < g->columns) {
		struct canvas_cell *cell = &g->cells[(ptrdiff_t)row * g->columns + column];

		cell->s[0] = (char)0xe2;
		cell->s[1] = (char)(0xa0 | bits >> 6);
		cell->s[2] = (char)(0x80 | (bits & 0x3f));
		cell->s[3] = '\0';
		cell->style = (unsigned char)style;
	}
}

/* Sets the dots of a column from one level to another. */
static void set_dots(unsigned char *bits, const struct canvas_box *box, int column, int from,
		     int to)
{
	int step = from < to ? 1 : -1;

	for (int l = from; l != to + step; l += step) {
		int top = 4 * box->rows - 1 - l;

		bits[top / 4 * box->columns + column / 2] |= dots[column % 2][top % 4];
	}
}

/* The curve goes up or down between two columns without a gap. */
static void draw_braille(struct canvas *g, struct canvas_box box, int style, const double *heights)
{
	autofree unsigned char *bits = xcalloc((size_t)box.rows * (size_t)box.columns, 1);
	int levels = 4 * box.rows, last = -1;

	for (int c = 0; c < 2 * box.columns; c++) {
		int level = isnan(heights[c]) ? -1 : level_of(heights[c], levels);
		int from = last < 0 ? level : level > last ? last + 1 : level < last ? last - 1
			: level;

		if (level >= 0)
			set_dots(bits, &box, c, from, level);
		last = level;
	}
	for (int i = 0; i < box.rows * box.columns; i++)
		if (bits[i])
			put_braille(g, box.row + i / box.columns, box.column + i % box.columns,
				    style, bits[i]);
}

static void draw_ascii(struct canvas *g, struct canvas_box box, int style, const double *heights)
{
	static const char *const signs[] = { ".", "-", "'" };

	for (int c = 0; c < box.columns; c++) {
		const double *two = &heights[(ptrdiff_t)2 * c];
		double height = isnan(two[0]) ? two[1] : two[0];
		int level = isnan(height) ? -1 : level_of(height, 3 * box.rows);

		if (level >= 0)
			canvas_put(g, box.row + box.rows - 1 - level / 3, box.column + c, 1, style,
				   signs[level % 3]);
	}
}

void canvas_curve(struct canvas *g, struct canvas_box box, int style,
		  const struct canvas_point *points, int n)
{
	double *heights;

	if (box.rows < 1 || box.columns < 1)
		return;
	heights = xcalloc(2 * (size_t)box.columns, sizeof(*heights));
	sample(points, n, heights, 2 * box.columns);
	(g->utf8 ? draw_braille : draw_ascii)(g, box, style, heights);
	free(heights);
}
