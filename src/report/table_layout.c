/* table_layout.c - computes, when a table is printed, which columns are shown and how wide. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/text.h"

#define TABLE_GAP 2		/* blanks between columns */
#define WIDEST (1 << 20)	/* characters; a wider output is no limit, and must not overflow */

struct table_layout {
	int width;		/* its widest cell, later what it is given */
	int least;		/* it can be clipped down to this */
	bool empty;		/* "-" in every row */
	bool left_out;
	bool below;
};

/* True of a cell that is "" or "-". */
static bool table_says_nothing(const struct table *t, const struct table_slice *cell)
{
	return cell->bytes == 0 || (cell->bytes == 1 && t->text.data[cell->start] == '-');
}

static void measure_columns(const struct table *t, struct table_layout *layout)
{
	for (int c = 0; c < t->n_columns; c++) {
		const char *heading = t->columns[c].heading;

		layout[c] = (struct table_layout){
			.width = utf8_width(heading, strlen(heading)), .empty = true,
		};
	}
	for (int i = 0; i < t->n_cells; i++) {
		struct table_layout *l = &layout[i % t->n_columns];
		const struct table_slice *cell = &t->cells[i];
		int most = t->columns[i % t->n_columns].most;
		int width = most && most < cell->width ? most : cell->width;

		l->width = width > l->width ? width : l->width;
		l->empty &= cell->bytes > 0 && table_says_nothing(t, cell);
	}
}

static bool table_is_shown(const struct table_layout *l)
{
	return !l->left_out && !l->below;
}

/* Returns the width of the columns that are shown, in full, or with each column that has a room at
 * that width. */
static int needed(const struct table *t, const struct table_layout *layout, bool in_full)
{
	int sum = -TABLE_GAP;

	for (int c = 0; c < t->n_columns; c++) {
		int room = t->columns[c].room, width = layout[c].width;

		if (table_is_shown(&layout[c]))
			sum += TABLE_GAP + (room && room < width && !in_full ? room : width);
	}
	return sum;
}

/* Returns the column to leave out next, among the empty ones or the others; -1: none. */
static int next_to_go(const struct table *t, const struct table_layout *layout, bool empty)
{
	int best = -1;

	for (int c = 0; c < t->n_columns; c++)
		if (t->columns[c].leave_out && !layout[c].left_out && layout[c].empty == empty &&
		    (best < 0 || t->columns[c].leave_out < t->columns[best].leave_out))
			best = c;
	return best;
}

static void leave_out(const struct table *t, int width, bool empty, struct table_layout *layout)
{
	int c;

	while (needed(t, layout, empty) > width && (c = next_to_go(t, layout, empty)) >= 0)
		layout[c].left_out = true;
}

static void choose_columns(const struct table *t, int width, struct table_layout *layout)
{
	leave_out(t, width, true, layout);
	if (needed(t, layout, false) > width && t->columns[t->n_columns - 1].below) {
		/* Empty columns may have room once the last one is gone. */
		for (int c = 0; c < t->n_columns; c++)
			layout[c].left_out = false;
		layout[t->n_columns - 1].below = true;
		leave_out(t, width, true, layout);
	}
	leave_out(t, width, false, layout);
}

/* True if the column has a room, and wants no more than its part of what is left. */
static bool is_content(const struct table_column *column, const struct table_layout *l, int left,
		       int rooms)
{
	return column->room && l->least < 0 && l->width <= left * column->room / rooms;
}

/* Give the columns that are content what they want. Returns whether there was such a column: then
 * the part of the others has grown. */
static bool settle(const struct table *t, struct table_layout *layout, int *left, int *rooms)
{
	bool settled = false;

	for (int c = 0; c < t->n_columns; c++) {
		if (!is_content(&t->columns[c], &layout[c], *left, *rooms))
			continue;
		*left -= layout[c].least = layout[c].width;
		*rooms -= t->columns[c].room;
		settled = true;
	}
	return settled;
}

/* Divide what other columns leave among those with a room. No column gets more than it wants; what
 * it does not want goes to the rest. */
static void share_width(const struct table *t, int width, struct table_layout *layout)
{
	int rooms = 0, left = width + TABLE_GAP;

	for (int c = 0; c < t->n_columns; c++) {
		layout[c].least = layout[c].below ? 0 : -1;
		if (table_is_shown(&layout[c]))
			left -= TABLE_GAP + (t->columns[c].room ? 0 : layout[c].width);
		rooms += layout[c].below ? 0 : t->columns[c].room;
	}
	while (settle(t, layout, &left, &rooms))
		;
	for (int c = 0; c < t->n_columns; c++)
		if (t->columns[c].room && layout[c].least < 0)
			layout[c].least = left > 0 ? left * t->columns[c].room / rooms : 0;
}

/* Clip columns to the width, the last one that can be clipped first. */
static void clip(const struct table *t, int width, struct table_layout *layout)
{
	int over = needed(t, layout, true) - width;

	for (int c = t->n_columns - 1; over > 0 && c >= 0; c--) {
		const struct table_column *column = &t->columns[c];
		int heading = utf8_width(column->heading, strlen(column->heading));
		int least = column->flexible ? column->min_width : layout[c].least, give;

		if (!table_is_shown(&layout[c]) || (!column->flexible && !column->room))
			continue;
		least = least > heading ? least : heading;
		give = layout[c].width - least < over ? layout[c].width - least : over;
		if (give <= 0)
			continue;
		layout[c].width -= give;
		over -= give;
	}
}

/* layout: one for each column. width: of the output; 0: no limit. */
static void table_lay_out(const struct table *t, int width, struct table_layout *layout)
{
	measure_columns(t, layout);
	if (width <= 0)
		return;
	width = width < WIDEST ? width : WIDEST;
	choose_columns(t, width, layout);
	share_width(t, width, layout);
	clip(t, width, layout);
}

/* --- prints the rows of a table --- */

#define BELOW_LINES 4		/* lines of a text below a row; longer texts are clipped */
/* columns up to this leave_out number give way to a last cell on the line */
#define MINOR 2

/* Returns the number of bytes of the first n characters. */
static size_t bytes_of(const char *s, size_t bytes, int n)
{
	size_t i = 0;

	while (i < bytes && (((unsigned char)s[i] & 0xc0) == 0x80 || n-- > 0))
		i++;
	return i;
}

/* Adds the first and the last characters of a cell, with ".." between; width is at least 3. */
static void add_middle_cut(struct text *line, const char *s, const struct table_slice *span,
			   int width)
{
	size_t first = bytes_of(s, span->bytes, (width - 1) / 2);
	size_t last = bytes_of(s, span->bytes, span->width - (width - 2) / 2);

	text_add_bytes(line, s, first);
	text_add(line, "..");
	text_add_bytes(line, s + last, span->bytes - last);
}

static void add_cell(struct text *line, const char *s, const struct table_slice *span, int width,
		     bool right)
{
	size_t blanks = span->width < width ? (size_t)(width - span->width) : 0;

	if (span->width > width) {
		text_add_bytes(line, s, bytes_of(s, span->bytes, width > 2 ? width - 2 : 0));
		text_add_bytes(line, "..", width > 2 ? 2 : (size_t)width);
		return;
	}
	text_add_byte(line, ' ', right ? blanks : 0);
	text_add_bytes(line, s, span->bytes);
	text_add_byte(line, ' ', right ? 0 : blanks);
}

static void end_line(struct text *line)
{
	while (line->length && line->data[line->length - 1] == ' ')
		line->data[--line->length] = '\0';
}

/* Returns the number of bytes of s that fit on a line: as many characters as the room, or up to the
 * last blank among them. */
static size_t line_bytes(const char *s, size_t bytes, int room)
{
	size_t n = bytes_of(s, bytes, room), end = n;

	if (n == bytes)
		return n;
	while (end > 0 && s[end] != ' ')
		end--;
	return end > 0 ? end : n;
}

/* Build one line of a text below a row. Returns what is left for further lines. */
static struct table_slice build_below(const struct table *t, struct table_slice rest, int indent,
				     int room, bool last, struct text *line)
{
	const char *s = t->text.data + rest.start;
	size_t bytes = last ? rest.bytes : line_bytes(s, rest.bytes, room);
	struct table_slice part = { .start = rest.start, .bytes = bytes };

	text_clear(line);
	text_add_byte(line, ' ', (size_t)indent);
	part.width = utf8_width(s, bytes);
	add_cell(line, s, &part, last && part.width > room ? room : part.width, false);
	end_line(line);
	while (bytes < rest.bytes && s[bytes] == ' ')
		bytes++;
	return (struct table_slice){ .start = rest.start + bytes, .bytes = rest.bytes - bytes };
}

/* Builds the line of the first n columns of a row; row -1: the headings. */
static void build_line(const struct table *t, const struct table_layout *layout, int row, int n,
		       struct text *line)
{
	const char *gap = "";

	text_clear(line);
	for (int c = 0; c < n; c++) {
		const struct table_column *column = &t->columns[c];
		struct table_slice cell = { .bytes = strlen(column->heading) };
		const char *s = column->heading;

		if (!table_is_shown(&layout[c]))
			continue;
		text_add(line, gap);
		gap = "  ";
		if (row < 0) {
			cell.width = utf8_width(s, cell.bytes);
		} else {
			cell = t->cells[row * t->n_columns + c];
			s = t->text.data + cell.start;
		}
		if (column->most && cell.width > layout[c].width && layout[c].width > 2)
			add_middle_cut(line, s, &cell, layout[c].width);
		else
			add_cell(line, s, &cell, layout[c].width, column->right);
	}
	end_line(line);
}

static enum table_style style_of(const struct table *t, int row)
{
	if (row < 0)
		return STYLE_BOLD;
	if (row >= t->n_styles)
		return STYLE_PLAIN;
	return (enum table_style)(t->styles[row] & ~TABLE_ONE_LINE);
}

static void print_line(FILE *out, struct text *line, enum table_style style)
{
	static const char *const codes[] = {
		[STYLE_BOLD] = "1", [STYLE_DIM] = "2", [STYLE_GREEN] = "32",
		[STYLE_YELLOW] = "33", [STYLE_RED] = "31",
	};

	if (style != STYLE_PLAIN)
		fprintf(out, "\033[%sm", codes[style]);
	fwrite(line->data, 1, line->length, out);
	fputs(style == STYLE_PLAIN ? "\n" : "\033[0m\n", out);
}

/* Prints the last cell of a row under the second column. */
static void print_below(const struct table *t, const struct table_layout *layout, int row,
			const struct output *out)
{
	struct table_slice rest = t->cells[(row + 1) * t->n_columns - 1];
	int indent = layout[0].width + TABLE_GAP, room = out->width - indent;
	struct text line = TEXT_INIT;

	if (table_says_nothing(t, &rest))
		return;
	for (int n = 1; rest.bytes && room > 0 && n <= BELOW_LINES; n++) {
		rest = build_below(t, rest, indent, room, n == BELOW_LINES, &line);
		print_line(out->file, &line, STYLE_PLAIN);
	}
	text_release(&line);
}

/* Build the line of a row with the last cell behind the last of the others that says something.
 * Returns false if the row is not of that kind, or its line has no room for that. */
static bool build_one_line(const struct table *t, const struct table_layout *layout, int row,
			   int width, struct text *line)
{
	const struct table_slice *cells = &t->cells[(ptrdiff_t)row * t->n_columns];
	const struct table_slice *last = &cells[t->n_columns - 1];
	int n = t->n_columns - 1, room;
	bool gives_way;

	if (row >= t->n_styles || !(t->styles[row] & TABLE_ONE_LINE))
		return false;
	do {
		while (n > 1 && (!table_is_shown(&layout[n - 1]) ||
				 table_says_nothing(t, &cells[n - 1])))
			n--;
		build_line(t, layout, row, n, line);
		room = width - utf8_width(line->data, line->length) - TABLE_GAP;
		gives_way = n > 1 && t->columns[n - 1].leave_out &&
			    t->columns[n - 1].leave_out <= MINOR;
		n -= gives_way;
	} while (room < last->width && gives_way);
	if (room < last->width)
		return false;
	text_add_byte(line, ' ', TABLE_GAP);
	add_cell(line, t->text.data + last->start, last, last->width, false);
	end_line(line);
	return true;
}

static void print_row(const struct table *t, const struct table_layout *layout, int row,
		      const struct output *out, struct text *line)
{
	bool below = row >= 0 && layout[t->n_columns - 1].below;
	bool whole = below && build_one_line(t, layout, row, out->width, line);

	if (!whole)
		build_line(t, layout, row, t->n_columns, line);
	print_line(out->file, line, out->color ? style_of(t, row) : STYLE_PLAIN);
	if (below && !whole)
		print_below(t, layout, row, out);
}

void table_print(const struct table *t, const struct output *out)
{
	struct table_layout *layout = xcalloc((size_t)t->n_columns, sizeof(*layout));
	struct text line = TEXT_INIT;

	assert(t->n_cells % t->n_columns == 0);
	table_lay_out(t, out->width, layout);
	for (int row = -1, n = t->n_cells / t->n_columns; row < n; row++)
		print_row(t, layout, row, out, &line);
	text_release(&line);
	free(layout);
}

void table_end(struct table *t, const struct output *out)
{
	table_print(t, out);
	table_release(t);
}
