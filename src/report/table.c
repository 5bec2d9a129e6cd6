/* table.c - aligned columns: the cells; and, when a table is printed, which columns are shown and
 * how wide. A cell is cleaned when it is added, so that every byte that is not a continuation byte
 * is one character on the screen. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/text.h"

void table_init(struct table *t, const struct table_column *columns, int n_columns)
{
	*t = (struct table){ .columns = columns, .n_columns = n_columns };
	text_init(&t->text);
}

void table_release(struct table *t)
{
	text_release(&t->text);
	free(t->cells);
	free(t->styles);
	*t = (struct table){ .text = TEXT_INIT };
}

/* --- cells --- */

/* Makes a cell of what was added to the text from start on, cleaned as by output_clean. */
static void end_cell(struct table *t, size_t start)
{
	struct table_slice span = { .start = start, .bytes = t->text.length - start };
	const char *s = t->text.data + start;
	size_t plain = 0;

	while (plain < span.bytes && (unsigned char)(s[plain] - ' ') <= '~' - ' ')
		plain++;
	span.width = (int)span.bytes;
	if (plain < span.bytes) {
		char *raw = xstrdup(s), shown[UTF8_SHOWN_SIZE];

		t->text.length = start;
		for (const char *from = raw; *from;) {
			from += utf8_shown(from, shown);
			text_add(&t->text, shown);
		}
		free(raw);
		span.bytes = t->text.length - start;
		span.width = utf8_width(t->text.data + start, span.bytes);
	}
	t->cells = xgrow(t->cells, t->n_cells, sizeof(*t->cells));
	t->cells[t->n_cells++] = span;
}

void table_text(struct table *t, const char *cell)
{
	size_t start = t->text.length;

	text_add(&t->text, cell);
	end_cell(t, start);
}

void table_cell(struct table *t, const char *format, ...)
{
	size_t start = t->text.length;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t->text, format, ap);
	va_end(ap);
	end_cell(t, start);
}

void table_cell_if(struct table *t, bool known, const char *format, ...)
{
	size_t start = t->text.length;
	va_list ap;

	va_start(ap, format);
	if (known)
		text_vaddf(&t->text, format, ap);
	else
		text_add(&t->text, "-");
	va_end(ap);
	end_cell(t, start);
}

/* What is known of the row of the last cell: its style, and TABLE_ONE_LINE. */
static int *last_row(struct table *t)
{
	int row = (t->n_cells - 1) / t->n_columns;

	assert(t->n_cells > 0);
	if (row >= t->n_styles) {
		t->styles = xreallocarray(t->styles, (size_t)row * 2 + 1, sizeof(*t->styles));
		while (t->n_styles < row * 2 + 1)
			t->styles[t->n_styles++] = STYLE_PLAIN;
	}
	return &t->styles[row];
}

void table_style(struct table *t, enum table_style style)
{
	*last_row(t) = (*last_row(t) & TABLE_ONE_LINE) | (int)style;
}

void table_one_line(struct table *t)
{
	*last_row(t) |= TABLE_ONE_LINE;
}

/* --- columns --- */

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

static void leave_out(const struct table *t, int width, bool empty, struct table_layout *layout)
{
	int next;

	do {
		next = -1;
		if (needed(t, layout, empty) <= width)
			return;
		for (int c = 0; c < t->n_columns; c++)
			if (t->columns[c].leave_out && !layout[c].left_out &&
			    layout[c].empty == empty &&
			    (next < 0 || t->columns[c].leave_out < t->columns[next].leave_out))
				next = c;
		if (next >= 0)
			layout[next].left_out = true;
	} while (next >= 0);
}

/* Gives the columns that want no more than their part of what is left what they want. Returns
 * whether there was such a column: then the part of the others has grown. */
static bool settle(const struct table *t, struct table_layout *layout, int *left, int *rooms)
{
	bool settled = false;

	for (int c = 0; c < t->n_columns; c++) {
		struct table_layout *l = &layout[c];
		int room = t->columns[c].room;

		if (!room || l->least >= 0 || l->width > *left * room / *rooms)
			continue;
		*left -= l->least = l->width;
		*rooms -= room;
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
	int last = t->n_columns - 1;

	measure_columns(t, layout);
	if (width <= 0)
		return;
	width = width < WIDEST ? width : WIDEST;
	leave_out(t, width, true, layout);
	if (needed(t, layout, false) > width && t->columns[last].below) {
		/* Empty columns may have room once the last one is gone. */
		for (int c = 0; c < t->n_columns; c++)
			layout[c].left_out = false;
		layout[last].below = true;
		leave_out(t, width, true, layout);
	}
	leave_out(t, width, false, layout);
	share_width(t, width, layout);
	clip(t, width, layout);
}

/* --- rows --- */

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
		if (column->most && cell.width > layout[c].width && layout[c].width > 2) {
			/* the first and the last characters, with ".." between */
			int first = (layout[c].width - 1) / 2, end = (layout[c].width - 2) / 2;
			size_t rest = bytes_of(s, cell.bytes, cell.width - end);

			text_add_bytes(line, s, bytes_of(s, cell.bytes, first));
			text_add(line, "..");
			text_add_bytes(line, s + rest, cell.bytes - rest);
		} else {
			add_cell(line, s, &cell, layout[c].width, column->right);
		}
	}
	end_line(line);
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

/* Prints the last cell of a row under the second column, broken at blanks. */
static void print_below(const struct table *t, const struct table_layout *layout, int row,
			const struct output *out)
{
	struct table_slice rest = t->cells[(row + 1) * t->n_columns - 1];
	int indent = layout[0].width + TABLE_GAP, room = out->width - indent;
	scoped(text_release) struct text line = TEXT_INIT;

	if (table_says_nothing(t, &rest))
		return;
	for (int n = 1; rest.bytes && room > 0 && n <= BELOW_LINES; n++) {
		const char *s = t->text.data + rest.start;
		bool last = n == BELOW_LINES;
		size_t fits = last ? rest.bytes : bytes_of(s, rest.bytes, room), bytes = fits;
		struct table_slice part = { .start = rest.start };

		while (bytes > 0 && fits < rest.bytes && s[bytes] != ' ')
			bytes--;
		part.bytes = bytes = bytes ? bytes : fits;
		part.width = utf8_width(s, bytes);
		text_clear(&line);
		text_add_byte(&line, ' ', (size_t)indent);
		add_cell(&line, s, &part, last && part.width > room ? room : part.width, false);
		end_line(&line);
		print_line(out->file, &line, STYLE_PLAIN);
		while (bytes < rest.bytes && s[bytes] == ' ')
			bytes++;
		rest.start += bytes;
		rest.bytes -= bytes;
	}
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

void table_print(const struct table *t, const struct output *out)
{
	autofree struct table_layout *layout = xcalloc((size_t)t->n_columns, sizeof(*layout));
	scoped(text_release) struct text line = TEXT_INIT;

	assert(t->n_cells % t->n_columns == 0);
	table_lay_out(t, out->width, layout);
	for (int row = -1, n = t->n_cells / t->n_columns; row < n; row++) {
		bool below = row >= 0 && layout[t->n_columns - 1].below;
		bool whole = below && build_one_line(t, layout, row, out->width, &line);
		int style = !out->color ? STYLE_PLAIN : row < 0 ? STYLE_BOLD
			: row < t->n_styles ? t->styles[row] & ~TABLE_ONE_LINE : STYLE_PLAIN;

		if (!whole)
			build_line(t, layout, row, t->n_columns, &line);
		print_line(out->file, &line, (enum table_style)style);
		if (below && !whole)
			print_below(t, layout, row, out);
	}
}

void table_end(struct table *t, const struct output *out)
{
	table_print(t, out);
	table_release(t);
}
