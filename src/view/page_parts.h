/* page_parts.h - parts of the page; private to src/view. Each appends HTML. */
#ifndef POLLUX_VIEW_PAGE_PARTS_H
#define POLLUX_VIEW_PAGE_PARTS_H

#include "pollux/page.h"

/* Adds a text of others so that a browser shows its characters and no tags, and without control
 * characters and changes of the writing direction. */
void page_add_text(struct text *out, const char *s);

/* page_timeline.c: a line for each device, a bar for each turn. */
void page_add_timeline(struct text *out, const struct page *p);

/* page_chart.c: curves over samples, or over time where a position is unknown. */
struct chart_line {
	const struct curve *curve;
	/* sets the line's colour, and is its name if there are several lines */
	int64_t job_id;
};
void page_add_chart(struct text *out, const char *title, const struct chart_line *lines, int n);

/* The colour of a job, always the same: an angle of hsl(). */
int page_hue(int64_t job_id);

#endif
