/* top.c - composes the screen of 'pollux top'. */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/text.h"
#include "top_parts.h"

#define ROWS_LEAST 12
#define COLUMNS_LEAST 50
#define QUESTION_ROWS 3

/* --- the last rows --- */

static void put_keys(const struct top *t, struct canvas *g, int row)
{
	static const char *const keys[][3][2] = {
		[TOP_JOBS] = { { NULL } },
		[TOP_LOG] = { { "l", "back" }, { "up PgUp", "earlier" }, { "End", "latest" } },
		[TOP_HELP] = { { "?", "back" }, { "q", "quit" } },
	};
	static const char *const jobs[][2] = {
		{ "l", "log" }, { "h", "hold" }, { "r", "release" }, { "f", "first" },
		{ "c", "cancel" }, { "/", "filter" }, { "m", "metric" }, { "?", "help" },
		{ "q", "quit" },
	};
	const char *const (*list)[2] = t->mode == TOP_JOBS ? jobs : keys[t->mode];
	size_t n = t->mode == TOP_JOBS ? sizeof(jobs) / sizeof(jobs[0]) : 3;
	int at = 1;

	for (size_t i = 0; i < n && list[i][0]; i++) {
		at += canvas_put(g, row, at, g->columns - at, STYLE_BOLD, list[i][0]) + 1;
		at += canvas_put(g, row, at, g->columns - at, STYLE_DIM, list[i][1]) + 2;
	}
}

/* Returns the rows that it takes, at the end of the screen. */
static int put_end(const struct top *t, struct canvas *g)
{
	int width = g->columns - 2, rows;
	struct canvas trial;

	if (!t->says) {
		put_keys(t, g, g->rows - 1);
		return 1;
	}
	canvas_init(&trial, QUESTION_ROWS, g->columns, g->utf8);
	rows = canvas_wrap(&trial, (struct canvas_box){ 0, 1, QUESTION_ROWS, width }, STYLE_BOLD,
			   t->says);
	rows = rows > 0 ? rows : 1;
	canvas_release(&trial);
	canvas_wrap(g, (struct canvas_box){ g->rows - rows, 1, rows, width }, STYLE_BOLD, t->says);
	if (t->is_question) {
		scoped(text_release) struct text line = TEXT_INIT;
		int last;

		canvas_add_row(g, g->rows - 1, &line);
		last = utf8_width(line.data, line.length) + 1;
		g->cursor_row = g->rows - 1;
		g->cursor_column = last < g->columns ? last : g->columns - 1;
	}
	return rows;
}

/* --- the first rows --- */

static int put_head(const struct top *t, struct canvas *g)
{
	scoped(text_release) struct text line = TEXT_INIT;
	scoped(strings_release) struct strings hints = { 0 };
	int row = 1;

	if (t->trouble)
		text_addf(&line, "Nothing can be read: %s", t->trouble);
	else
		status_add_summary(&line, &t->status);
	canvas_put(g, 0, 1, g->columns - 12, t->trouble ? STYLE_RED : STYLE_BOLD, line.data);
	canvas_put_right(g, 0, g->columns - 10, 9, STYLE_DIM,
		       format_time(t->status.now_wall_s, t->status.now_wall_s).s);
	text_clear(&line);
	status_add_people(&line, &t->status);
	if (line.length)
		canvas_put(g, row++, 1, g->columns - 2, STYLE_PLAIN, line.data);
	text_clear(&line);
	status_add_hints(&hints, &t->status);
	for (size_t i = 0; i < hints.count; i++)
		text_addf(&line, "%s%s", i ? " " : "", hints.items[i]);
	for (char *c = line.data; *c; c++)
		if (*c == '\n')
			*c = ' ';
	row += canvas_wrap(g, (struct canvas_box){ row, 1, 2, g->columns - 2 }, STYLE_YELLOW,
			   line.data);
	return row;
}

static void put_help(struct canvas *g)
{
	static const char *const lines[][2] = {
		{ "up, down, k, j", "the job above, below; PgUp, PgDn, Home, End" },
		{ "l, Enter", "its log, which is followed; again: back" },
		{ "m", "another curve of it" },
		{ "h", "hold it: it does not run until it is released" },
		{ "r", "release it" },
		{ "f", "first in line" },
		{ "c", "cancel it, after a question; of a group all jobs" },
		{ "/", "only rows that have a text: number, name or state; Esc: all" },
		{ "?", "this help" },
		{ "q", "quit" },
	};

	canvas_rule(g, 0, "pollux top");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		canvas_put(g, (int)i + 2, 2, 14, STYLE_BOLD, lines[i][0]);
		canvas_put(g, (int)i + 2, 18, g->columns - 19, STYLE_PLAIN, lines[i][1]);
	}
	canvas_wrap(g, (struct canvas_box){ (int)(sizeof(lines) / sizeof(lines[0])) + 3, 2, 4,
		    g->columns - 4 }, STYLE_PLAIN,
		    "Jobs are in the order of 'pollux status': what runs, what waits as it will "
		    "start, what is held, what has ended. USE is the part of the time in which the "
		    "device, or its processors, computed.");
}

/* --- all of it --- */

static int pane_rows(int room)
{
	int rows = room * 9 / 20;

	return rows < 6 ? 0 : rows < 18 ? rows : 18;
}

static void put_jobs(struct top *t, const struct status_row *chosen, bool any, struct canvas *g,
		     int end)
{
	int row = put_head(t, g), pane, devices;

	devices = top_put_devices(t, g, row + 1, g->rows / 4 + 1);
	row += devices > 0 ? devices + 1 : 0;
	if (t->filter[0])
		canvas_putf(g, row, 1, g->columns - 2, STYLE_YELLOW,
			    "only rows with '%s'; Esc shows all", t->filter);
	pane = any ? pane_rows(g->rows - row - 1 - end) : 0;
	top_put_queue(t, g, row + 1, g->rows - row - 1 - end - pane);
	if (pane)
		top_put_pane(t, chosen, g, g->rows - end - pane, pane);
}

void top_compose(struct top *t, struct canvas *g)
{
	struct status_row chosen = { NULL, NULL };
	int n, end;
	bool any = top_find_row(t, &chosen, &n);

	if (g->rows < ROWS_LEAST || g->columns < COLUMNS_LEAST) {
		canvas_putf(g, 0, 0, g->columns, STYLE_PLAIN, "top wants a larger terminal");
		return;
	}
	end = put_end(t, g);
	if (t->mode == TOP_HELP)
		put_help(g);
	else if (t->mode == TOP_LOG && any)
		top_put_log(t, &chosen, g, 0, g->rows - end);
	else
		put_jobs(t, &chosen, any, g, end);
}

int top_page(const struct top *t, const struct canvas *g)
{
	return t->mode == TOP_LOG ? g->rows - 3 : g->rows / 3;
}
