/* table_layout.c - computes, when a table is printed, which columns are shown and how wide. */
#include <string.h>

#include "pollux/utf8.h"
#include "table_layout.h"

#define WIDEST (1 << 20)	/* characters; a wider output is no limit, and must not overflow */

bool table_says_nothing(const struct table *t, const struct table_slice *cell)
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

bool table_is_shown(const struct table_layout *l)
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

void table_lay_out(const struct table *t, int width, struct table_layout *layout)
{
	measure_columns(t, layout);
	if (width <= 0)
		return;
	width = width < WIDEST ? width : WIDEST;
	choose_columns(t, width, layout);
	share_width(t, width, layout);
	clip(t, width, layout);
}
