/* top_queue.c - the jobs on the screen of 'pollux top', in the order of status. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "top_parts.h"

#define GAP 2
#define WIDE 110		/* columns of a screen where every row has all figures */

/* Columns of figures, behind number, name and state. The width does not depend on the jobs: columns
 * stay where they are. */
enum figure { FIGURE_DONE, FIGURE_TIME, FIGURE_DEVICES, FIGURE_ETA, FIGURE_STEP, N_FIGURES };
static const struct {
	const char *heading;
	int width;
} figures[N_FIGURES] = {
	{ "DONE", 5 }, { "TIME", 6 }, { "DEV", 3 }, { "ETA", 6 }, { "MS/STEP", 7 },
};
#define STATE_WIDTH 9		/* "suspended" */

struct queue_form {
	int id, name;		/* widths */
	int name_at, state_at, figures_at, reason_at;
	int n_figures;
	int rest_at;		/* the reason of a job that has no figures but what is done */
};

static struct queue_form form_of(const struct top *t, int columns)
{
	struct queue_form f = { .id = 3, .n_figures = columns < WIDE ? FIGURE_ETA + 1 : N_FIGURES };
	int64_t greatest = 999;
	int at;

	for (int i = 0; i < t->status.jobs.count; i++)
		for (; t->status.jobs.items[i].id > greatest; greatest = greatest * 10 + 9)
			f.id++;
	f.name = columns < 100 ? columns / 5 : columns / 5 < 30 ? columns / 5 : 30;
	f.name_at = 1 + f.id + GAP;
	f.state_at = f.name_at + f.name + GAP;
	at = f.figures_at = f.state_at + STATE_WIDTH + GAP;
	for (int i = 0; i < f.n_figures; i++)
		at += figures[i].width + GAP;
	f.reason_at = at;
	f.rest_at = columns < WIDE ? f.figures_at + figures[FIGURE_DONE].width + GAP : at;
	return f;
}

static void put_figures(const struct queue_form *f, struct canvas *g, int row, int style,
			const struct status_job *item, int n)
{
	int at = f->figures_at;
	double step_s = item->run ? item->run->step_time_s : (double)NAN;
	scoped(text_release) struct text done = TEXT_INIT;
	struct formatted cells[N_FIGURES] = {
		[FIGURE_TIME] = format_duration(item->run_time_s),
		[FIGURE_DEVICES] = status_devices(item),
		[FIGURE_ETA] = status_eta(item),
		[FIGURE_STEP] = format_number(step_s * 1e3),
	};

	status_add_done(&done, item);
	for (int i = 0; i < n; i++) {
		canvas_put_right(g, row, at, figures[i].width, style,
				 i == FIGURE_DONE ? done.data : cells[i].s);
		at += figures[i].width + GAP;
	}
}

static void put_job(const struct top *t, const struct queue_form *f, struct canvas *g, int row,
		    const struct status_job *item)
{
	int style = (int)status_style(item->state);
	bool has_figures = item->run || f->rest_at == f->reason_at;
	int at = has_figures ? f->reason_at : f->rest_at;
	scoped(text_release) struct text cell = TEXT_INIT;

	text_addf(&cell, "%lld", (long long)item->job->id);
	canvas_put_right(g, row, 1, f->id, style, cell.data);
	text_clear(&cell);
	status_add_name(&cell, &t->status, item->job);
	canvas_put(g, row, f->name_at, f->name, style, cell.data);
	text_clear(&cell);
	canvas_put(g, row, f->state_at, STATE_WIDTH, style, shown_state_name(item->state));
	put_figures(f, g, row, style, item, has_figures ? f->n_figures : 1);
	status_add_why(&cell, &t->status, item);
	canvas_put(g, row, at, g->columns - at, style, cell.data);
}

static void put_group(const struct queue_form *f, struct canvas *g, int row,
		      const struct status_group *group)
{
	scoped(text_release) struct text cell = TEXT_INIT;

	canvas_put_right(g, row, 1, f->id, STYLE_PLAIN, "-");
	text_addf(&cell, "group:%lld ", (long long)group->id);
	status_add_group_name(&cell, group->name);
	canvas_put(g, row, f->name_at, f->name, STYLE_PLAIN, cell.data);
	text_clear(&cell);
	canvas_put(g, row, f->state_at, STATE_WIDTH, STYLE_PLAIN, status_group_state(group));
	status_add_group(&cell, group);
	canvas_put(g, row, f->rest_at, g->columns - f->rest_at, STYLE_PLAIN, cell.data);
}

/* The places of the rows that are shown stand at its end. */
static void put_heading(const struct top *t, const struct queue_form *f, struct canvas *g, int row,
			int shown, int n)
{
	scoped(text_release) struct text place = TEXT_INIT;
	int at = f->figures_at;

	canvas_put_right(g, row, 1, f->id, STYLE_BOLD, "ID");
	canvas_put(g, row, f->name_at, f->name, STYLE_BOLD, "NAME");
	canvas_put(g, row, f->state_at, STATE_WIDTH, STYLE_BOLD, "STATE");
	for (int i = 0; i < f->n_figures; i++) {
		canvas_put_right(g, row, at, figures[i].width, STYLE_BOLD, figures[i].heading);
		at += figures[i].width + GAP;
	}
	canvas_put(g, row, f->reason_at, g->columns - f->reason_at, STYLE_BOLD, "REASON");
	if (n > shown)
		text_addf(&place, "%d-%d of %d", t->first + 1, t->first + shown, n);
	at = f->reason_at + (int)strlen("REASON") + GAP;
	canvas_put_right(g, row, at, g->columns - at, STYLE_DIM, place.data);
}

/* Moves what is shown as little as it takes. */
static void follow(struct top *t, int shown, int n)
{
	if (t->first > t->at)
		t->first = t->at;
	if (t->first + shown <= t->at)
		t->first = t->at - shown + 1;
	if (t->first + shown > n)
		t->first = n - shown;
	if (t->first < 0)
		t->first = 0;
}

void top_put_queue(struct top *t, struct canvas *g, int row, int rows)
{
	struct queue_form f = form_of(t, g->columns);
	struct status_row *all;
	int n, shown;

	if (rows < 2)
		return;
	all = top_rows(t, &n);
	shown = n < rows - 1 ? n : rows - 1;
	follow(t, shown, n);
	put_heading(t, &f, g, row, shown, n);
	for (int i = 0; i < shown; i++) {
		const struct status_row *r = &all[t->first + i];

		if (r->group)
			put_group(&f, g, row + 1 + i, r->group);
		else
			put_job(t, &f, g, row + 1 + i, r->item);
		if (t->first + i == t->at) {
			canvas_put(g, row + 1 + i, 0, 1, STYLE_BOLD, ">");
			canvas_select(g, row + 1 + i);
		}
	}
	if (n == 0 && t->filter[0])
		canvas_putf(g, row + 2, 1, g->columns - 2, STYLE_DIM, "No job has '%s'.",
			    t->filter);
	else if (n == 0)
		canvas_put(g, row + 2, 1, g->columns - 2, STYLE_DIM,
			 "No jobs; 'pollux submit' queues one.");
	free(all);
}
