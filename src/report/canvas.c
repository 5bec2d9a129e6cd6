/* canvas.c - cells of a screen, and texts in them. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "pollux/canvas.h"
#include "pollux/mem.h"

void canvas_init(struct canvas *g, int rows, int columns, bool utf8)
{
	*g = (struct canvas){
		.rows = rows, .columns = columns, .utf8 = utf8, .cursor_row = -1,
		.cells = xcalloc((size_t)rows * (size_t)columns + 1, sizeof(struct canvas_cell)),
	};
	canvas_blank(g, 0, 0, rows, columns);
}

void canvas_release(struct canvas *g)
{
	free(g->cells);
	*g = (struct canvas){ .cursor_row = -1 };
}

/* NULL: it is outside. */
static struct canvas_cell *cell_at(const struct canvas *g, int row, int column)
{
	bool inside = row >= 0 && row < g->rows && column >= 0 && column < g->columns;

	return inside ? &g->cells[(ptrdiff_t)row * g->columns + column] : NULL;
}

static void set_cell(struct canvas *g, int row, int column, int style, const char *s, size_t bytes)
{
	struct canvas_cell *cell = cell_at(g, row, column);

	if (!cell)
		return;
	memcpy(cell->s, s, bytes);
	cell->s[bytes] = '\0';
	cell->style = (unsigned char)style;
}

void canvas_blank(struct canvas *g, int row, int column, int rows, int columns)
{
	for (int r = row; r < row + rows; r++)
		for (int c = column; c < column + columns; c++)
			set_cell(g, r, c, STYLE_PLAIN, " ", 1);
}

void canvas_select(struct canvas *g, int row)
{
	for (int c = 0; c < g->columns && row >= 0 && row < g->rows; c++)
		cell_at(g, row, c)->style |= CANVAS_SELECTED;
}

/* --- texts --- */

/* The width of the valid character of n bytes. */
static int width_of(const char *s, size_t n)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	wchar_t c = (wchar_t)((unsigned char)s[0] & first_bits[n]);

	for (size_t i = 1; i < n; i++)
		c = (wchar_t)(c << 6 | ((unsigned char)s[i] & 0x3f));
	return wcwidth(c);
}

/* Adds the text with only what cells may have, each character one column wide or two. */
static void add_safe(const struct canvas *g, struct text *t, const char *s)
{
	const char *begin = s;
	char shown[UTF8_SHOWN_SIZE];

	while (*s && s - begin < OUTPUT_CLEAN_BYTES) {
		size_t n = utf8_shown(s, shown);
		bool is_itself = n > 1 && !strncmp(s, shown, n);
		int width = is_itself && g->utf8 ? width_of(s, n) : is_itself ? -1 : 1;

		s += n;
		if (width != 0)
			text_add(t, width < 0 ? "?" : shown);
	}
}

/* Of a safe text. */
static int character(const char *s, size_t *bytes)
{
	*bytes = utf8_length(s);
	return *bytes > 1 ? width_of(s, *bytes) : 1;
}

static int safe_width(const char *s)
{
	int width = 0;

	for (size_t n; *s; s += n)
		width += character(s, &n);
	return width;
}

/* Puts as much of the first bytes of a safe text as fits into a row of the box. Returns the
 * columns. */
static int put_safe(struct canvas *g, struct canvas_box box, int style, const char *s, size_t bytes)
{
	int at = 0;

	for (size_t n, done = 0; done < bytes; done += n) {
		int wide = character(s + done, &n);

		if (at + wide > box.columns)
			break;
		set_cell(g, box.row, box.column + at, style, s + done, n);
		if (wide == 2)
			set_cell(g, box.row, box.column + at + 1, style, "", 0);
		at += wide;
	}
	return at;
}

/* As much of it as fits, with ".." where it is cut. */
static int put_cut(struct canvas *g, int row, int column, int width, int style, const char *safe)
{
	int dots = width < 2 ? width : 2, at;
	struct canvas_box box = { row, column, 1, width };

	if (width <= 0)
		return 0;
	if (safe_width(safe) <= width)
		return put_safe(g, box, style, safe, strlen(safe));
	box.columns -= dots;
	at = put_safe(g, box, style, safe, strlen(safe));
	return at + put_safe(g, (struct canvas_box){ row, column + at, 1, dots }, style, "..", 2);
}

int canvas_put(struct canvas *g, int row, int column, int width, int style, const char *s)
{
	scoped(text_release) struct text t = TEXT_INIT;

	add_safe(g, &t, s);
	width = put_cut(g, row, column, width, style, t.data);
	return width;
}

int canvas_putf(struct canvas *g, int row, int column, int width, int style, const char *format,
		...)
{
	scoped(text_release) struct text t = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t, format, ap);
	va_end(ap);
	width = canvas_put(g, row, column, width, style, t.data);
	return width;
}

void canvas_put_right(struct canvas *g, int row, int column, int width, int style, const char *s)
{
	scoped(text_release) struct text t = TEXT_INIT;
	int least;

	add_safe(g, &t, s);
	least = safe_width(t.data);
	if (least < width) {
		column += width - least;
		width = least;
	}
	put_cut(g, row, column, width, style, t.data);
}

/* The bytes of a safe text that a line of this width has: up to a blank, if there is one. */
static size_t line_bytes(const char *s, int width)
{
	size_t fits = 0, at_blank = 0;

	for (size_t n; s[fits]; fits += n) {
		int wide = character(s + fits, &n);

		if (s[fits] == ' ')
			at_blank = fits;
		if ((width -= wide) < 0)
			return at_blank ? at_blank : fits;
	}
	return fits;
}

int canvas_wrap(struct canvas *g, struct canvas_box box, int style, const char *s)
{
	scoped(text_release) struct text t = TEXT_INIT;
	const char *rest;
	int used = 0;

	add_safe(g, &t, s);
	for (rest = t.data; *rest && used < box.rows && box.columns > 1; used++, box.row++) {
		size_t n = line_bytes(rest, box.columns);

		if (used == box.rows - 1)
			put_cut(g, box.row, box.column, box.columns, style, rest);
		else
			put_safe(g, box, style, rest, n);
		rest += n;
		rest += strspn(rest, " ");
	}
	return used;
}

void canvas_add_row(const struct canvas *g, int row, struct text *t)
{
	for (int c = 0; c < g->columns && row >= 0 && row < g->rows; c++)
		text_add(t, cell_at(g, row, c)->s);
	while (t->length && t->data[t->length - 1] == ' ')
		t->data[--t->length] = '\0';
}

/* --- lines and bars --- */

void canvas_rule(struct canvas *g, int row, const char *text)
{
	const char *line = g->utf8 ? "─" : "-";

	for (int c = 0; c < g->columns; c++)
		set_cell(g, row, c, STYLE_DIM, line, strlen(line));
	if (*text)
		canvas_putf(g, row, 2, g->columns - 4, STYLE_BOLD, " %s ", text);
}

void canvas_bar(struct canvas *g, int row, int column, int width, int style, double share)
{
	const char *full = g->utf8 ? "━" : "#", *half = g->utf8 ? "╸" : "#";
	const char *empty = g->utf8 ? "─" : ".";
	int halves;

	if (!(share >= 0))
		return;
	halves = share >= 1 ? 2 * width : (int)(share * 2 * width + 0.5);
	for (int c = 0; c < width; c++) {
		int here = halves - 2 * c;
		const char *s = here >= 2 ? full : here == 1 ? half : empty;

		set_cell(g, row, column + c, here > 0 ? style : STYLE_DIM, s, strlen(s));
	}
}
