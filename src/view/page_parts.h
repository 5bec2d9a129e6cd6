/* page_parts.h - parts of the page; private to src/view. Each appends HTML. */
#ifndef POLLUX_VIEW_PAGE_PARTS_H
#define POLLUX_VIEW_PAGE_PARTS_H

#include "pollux/page.h"

/* Any text of others, so that a browser shows it as it is: never as a tag, and without characters
 * that control something or turn the direction of writing. */
void page_add_text(struct text *out, const char *s);

/* page_timeline.c: a line for each device, a bar for each turn. */
void page_add_timeline(struct text *out, const struct page *p);

/* page_chart.c: curves over samples, or over time where a position is unknown. */
struct chart_line {
	const struct curve *curve;
	int64_t job_id;		/* says its colour, and is named if there are several lines */
};
void page_add_chart(struct text *out, const char *title, const struct chart_line *lines, int n);

/* A colour that stays a job's: an angle of hsl(). */
int page_hue(int64_t job_id);

#endif
