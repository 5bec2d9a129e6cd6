/* top_parts.h - the parts of the screen of 'pollux top'. */
#ifndef POLLUX_VIEW_TOP_PARTS_H
#define POLLUX_VIEW_TOP_PARTS_H

#include "pollux/top.h"

/* top_devices.c: at most so many rows, a heading among them. Returns the rows that it takes. */
int top_put_devices(const struct top *t, struct canvas *g, int row, int rows);

/* top_queue.c: a heading, and the jobs below; t->at is in sight. */
void top_put_queue(struct top *t, struct canvas *g, int row, int rows);

/* top_pane.c: a line with the name of what is chosen, and below what is known of it. */
void top_put_pane(const struct top *t, const struct status_row *chosen, struct canvas *g, int row,
		  int rows);
/* The log alone, with such a line. */
void top_put_log(struct top *t, const struct status_row *chosen, struct canvas *g, int row,
		 int rows);

#endif
