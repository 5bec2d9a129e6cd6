/* columns.c - which columns fit, and then table.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/columns.h"
#include "pollux/format.h"
#include "pollux/mem.h"

#define GAP 2		/* as between the columns of table.h */
#define WIDEST (1 << 20)	/* more is no limit, nor a reason to overflow */

void columns_init(struct columns *t, const struct column *columns, int n)
{
	assert(n <= COLUMNS_MAX);
	*t = (struct columns){ .columns = columns, .n = n };
	text_init(&t->text);
}

void columns_release(struct columns *t)
{
	text_release(&t->text);
	free(t->starts);
	free(t->styles);
	*t = (struct columns){ .text = TEXT_INIT };
}

static void begin_cell(struct columns *t)
{
	if (t->n_cells == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->starts = xreallocarray(t->starts, (size_t)t->capacity, sizeof(*t->starts));
	}
	t->starts[t->n_cells++] = t->text.length;
}

void columns_text(struct columns *t, const char *cell)
{
	begin_cell(t);
	text_add_bytes(&t->text, cell, strlen(cell) + 1);
}

void columns_cell(struct columns *t, const char *format, ...)
{
	va_list ap;

	begin_cell(t);
	va_start(ap, format);
	text_vaddf(&t->text, format, ap);
	va_end(ap);
	text_add_byte(&t->text, '\0', 1);
}

void columns_span(struct columns *t, double seconds)
{
	char buf[FORMAT_SIZE];

	columns_text(t, format_span(buf, sizeof(buf), seconds));
}

void columns_count(struct columns *t, double n)
{
	char buf[FORMAT_SIZE];

	columns_text(t, format_count(buf, sizeof(buf), n));
}

static const char *cell_at(const struct columns *t, int i)
{
	return t->text.data + t->starts[i];
}

static int n_rows(const struct columns *t)
{
	return t->n_cells / t->n;
}

void columns_style(struct columns *t, enum table_style style)
{
	if (style == STYLE_PLAIN)
		return;
	t->styles = xreallocarray(t->styles, (size_t)t->n_styles + 1, sizeof(*t->styles));
	t->styles[t->n_styles].row = (t->n_cells - 1) / t->n;
	t->styles[t->n_styles++].style = (int)style;
}

/* What is known of a column's cells. */
struct extent {
	int widest;
	bool empty;	/* "-" in every row */
	bool left_out;
	bool below;
};

/* Characters, not bytes. */
static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void measure(const struct columns *t, struct extent *extents)
{
	for (int c = 0; c < t->n; c++)
		extents[c] = (struct extent){ .widest = width_of(t->columns[c].heading), .empty = true };
	for (int i = 0; i < t->n_cells; i++) {
		struct extent *e = &extents[i % t->n];
		int width = width_of(cell_at(t, i));

		e->widest = width > e->widest ? width : e->widest;
		e->empty &= !strcmp(cell_at(t, i), "-");
	}
}

/* What the columns still in the table come to: in full, or with the flexible ones at their room. */
static int needed(const struct columns *t, const struct extent *extents, bool in_full)
{
	int sum = -GAP;

	for (int c = 0; c < t->n; c++) {
		int room = t->columns[c].room, widest = extents[c].widest;

		if (!extents[c].left_out && !extents[c].below)
			sum += GAP + (room && room < widest && !in_full ? room : widest);
	}
	return sum;
}

/* The next to go: -1 where all that are left have to stay. */
static int next_to_go(const struct columns *t, const struct extent *extents, bool empty)
{
	int best = -1;

	for (int c = 0; c < t->n; c++)
		if (t->columns[c].leave_out && !extents[c].left_out && extents[c].empty == empty &&
		    (best < 0 || t->columns[c].leave_out < t->columns[best].leave_out))
			best = c;
	return best;
}

static void leave_out_empty(const struct columns *t, int width, struct extent *extents)
{
	int c;

	while (needed(t, extents, true) > width && (c = next_to_go(t, extents, true)) >= 0)
		extents[c].left_out = true;
}

/* The empty ones stay where there is room for them without it. */
static void put_below(const struct columns *t, int width, struct extent *extents)
{
	for (int c = 0; c < t->n; c++)
		extents[c].left_out = false;
	extents[t->n - 1].below = true;
	leave_out_empty(t, width, extents);
}

static void leave_out(const struct columns *t, int width, struct extent *extents)
{
	int c;

	leave_out_empty(t, width, extents);
	if (needed(t, extents, false) > width && t->columns[t->n - 1].below)
		put_below(t, width, extents);
	while (needed(t, extents, false) > width && (c = next_to_go(t, extents, false)) >= 0)
		extents[c].left_out = true;
}

/* What the others leave for the flexible ones, whose shares are then to be found (-1); *rooms is their sum. */
static int left_to_share(const struct columns *t, const struct extent *extents, int width, int *shares, int *rooms)
{
	int left = width + GAP;

	*rooms = 0;
	for (int c = 0; c < t->n; c++) {
		shares[c] = extents[c].below ? 0 : -1;
		if (extents[c].below)
			continue;
		if (!extents[c].left_out)
			left -= GAP + (t->columns[c].room ? 0 : extents[c].widest);
		*rooms += t->columns[c].room;
	}
	return left;
}

/* Divide what the others leave among the flexible columns: none gets more than it wants, and what it does not
 * want goes to the rest. */
static void share(const struct columns *t, const struct extent *extents, int width, int *shares)
{
	int rooms, left = left_to_share(t, extents, width, shares, &rooms);
	bool settled = true;

	while (settled) {
		settled = false;
		for (int c = 0; c < t->n; c++) {
			int room = t->columns[c].room;

			if (!room || shares[c] >= 0 || extents[c].widest > left * room / rooms)
				continue;
			left -= shares[c] = extents[c].widest;
			rooms -= room;
			settled = true;
		}
	}
	for (int c = 0; c < t->n; c++)
		if (t->columns[c].room && shares[c] < 0)
			shares[c] = left > 0 ? left * t->columns[c].room / rooms : 0;
}

static bool says_something(const char *cell)
{
	return *cell && strcmp(cell, "-") != 0;
}

static bool is_shown(const struct extent *e)
{
	return !e->left_out && !e->below;
}

static void fill(const struct columns *t, const struct extent *extents, struct table *table)
{
	int next = 0;

	for (int row = 0, n = n_rows(t); row < n; row++) {
		for (int c = 0; c < t->n; c++)
			if (is_shown(&extents[c]))
				table_text(table, cell_at(t, row * t->n + c));
		if (extents[t->n - 1].below && says_something(cell_at(t, row * t->n + t->n - 1)))
			table_below(table, cell_at(t, row * t->n + t->n - 1));
		if (next < t->n_styles && t->styles[next].row == row)
			table_style(table, (enum table_style)t->styles[next++].style);
	}
}

void columns_print(const struct columns *t, FILE *out, int width, bool color)
{
	struct table_column kept[COLUMNS_MAX];
	struct extent extents[COLUMNS_MAX] = { { 0 } };
	int shares[COLUMNS_MAX], n = 0;
	struct table table;

	measure(t, extents);
	if (width > WIDEST)
		width = WIDEST;
	if (width > 0)
		leave_out(t, width, extents);
	share(t, extents, width, shares);
	for (int c = 0; c < t->n; c++)
		if (is_shown(&extents[c]))
			kept[n++] = (struct table_column){
				.heading = t->columns[c].heading, .right = t->columns[c].right,
				.flexible = t->columns[c].room > 0,
				.min_width = shares[c],
			};
	table_init(&table, kept, n);
	fill(t, extents, &table);
	table_print(&table, out, width, color);
	table_release(&table);
}
