/* table_layout.h - which columns of a table are shown, and how wide. Inside report alone. */
#ifndef POLLUX_REPORT_TABLE_LAYOUT_H
#define POLLUX_REPORT_TABLE_LAYOUT_H

#include "pollux/table.h"

#define TABLE_GAP 2		/* blanks between columns */
#define TABLE_ONE_LINE 0x100	/* in a row's style: table_one_line was called for the row */

struct table_layout {
	int width;		/* its widest cell, later what it is given */
	int least;		/* it can be clipped down to this */
	bool empty;		/* "-" in every row */
	bool left_out;
	bool below;
};

/* layout: one for each column. width: of the output; 0: no limit. */
void table_lay_out(const struct table *t, int width, struct table_layout *layout);
bool table_is_shown(const struct table_layout *l);
/* True of a cell that is "" or "-". */
bool table_says_nothing(const struct table *t, const struct table_slice *cell);

#endif
