/* top_pane.c - the chosen job on the screen of 'pollux top': words, a curve, the end of its log. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "top_parts.h"

#define LABELS 8		/* columns of the numbers beside a curve */
#define NAMED_DEVICES 4

/* --- words --- */

static void add(struct text *t, const char *before, const char *what, const char *after)
{
	text_addf(t, "%s%s%s%s", status_separator(t), before, what, after);
}

/* Where it stands, in figures. */
static void add_facts(const struct top *t, const struct status_job *item, struct text *facts)
{
	const struct job *job = item->job;
	double batch = status_batch(item);
	bool waits = item->state == SHOWN_QUEUED || item->state == SHOWN_HELD;

	if (waits) {
		add(facts, "submitted ",
		    format_time(job->submit_time_s, t->status.now_wall_s).s, "");
		add(facts, "has waited ",
		    format_duration(status_waited_s(&t->status, item)).s, "");
	}
	if (isfinite(batch))
		add(facts, "batch ", format_count(batch).s, "");
	if (item->run && isfinite(item->run->step_time_s))
		add(facts, "", format_span(item->run->step_time_s).s, "/step");
	if (isfinite(item->throughput_eps))
		add(facts, "", format_number(item->throughput_eps).s, " samples/s");
	status_add_loss(facts, &job->progress);
	if (t->job.id == job->id && t->job.metrics.count) {
		scoped(text_release) struct text metrics = TEXT_INIT;

		status_add_metrics(&metrics, &t->job.metrics);
		if (metrics.length)
			add(facts, "", metrics.data, "");
	}
	if (job->progress.runs > 1)
		text_addf(facts, "%s%d runs", status_separator(facts), job->progress.runs);
	if (isfinite(item->likely_end_s)) {
		add(facts, "ends ", "", "");
		status_add_ends(facts, &t->status, item);
	}
}

/* By their short names: the list of devices stands above. */
static void add_devices(const struct top *t, const struct run *run, struct text *title)
{
	int n = run_held(run);

	if (n > NAMED_DEVICES)
		text_addf(title, " on %d devices", n);
	for (int k = 0; k < n && n <= NAMED_DEVICES; k++) {
		const char *name = run->devices[k].id;

		for (int i = 0; i < t->n_devices; i++)
			if (!strcmp(t->devices[i].id, name))
				name = t->devices[i].name;
		text_addf(title, "%s%s", k ? "," : " on ", name);
	}
}

static void add_title(const struct top *t, const struct status_row *row, struct text *title)
{
	if (row->group) {
		text_addf(title, "group:%lld ", (long long)row->group->id);
		status_add_group_name(title, row->group->name);
		return;
	}
	text_addf(title, "job %lld: ", (long long)row->item->job->id);
	status_add_name(title, &t->status, row->item->job);
	text_addf(title, ", %s", shown_state_name(row->item->state));
	if (row->item->run)
		add_devices(t, row->item->run, title);
}

/* --- the curve --- */

static bool has_curve(const struct top *t, const struct status_row *row)
{
	return !row->group && t->job.id == row->item->job->id && t->job.curves.count > 0;
}

static int rank_of(const struct curve *c)
{
	return !strcmp(c->name, CURVE_THROUGHPUT) ? -1 : !strcmp(c->name, CURVE_BATCH_SIZE) ? -2
		: metric_rank(c->name);
}

/* The curve that a person wants to see before others, or one so many behind it. */
static const struct curve *choose_curve(const struct curve_list *list, int nth)
{
	const struct curve *chosen = NULL;
	int left = nth % list->count;

	for (int rank = 2; rank >= -2; rank--)
		for (int i = 0; i < list->count; i++)
			if (rank_of(&list->items[i]) == rank && left-- == 0)
				chosen = &list->items[i];
	return chosen ? chosen : &list->items[0];
}

static const char *curve_name(const struct curve *c)
{
	return !strcmp(c->name, CURVE_THROUGHPUT) ? "samples/s"
		: !strcmp(c->name, CURVE_BATCH_SIZE) ? "batch size" : c->name;
}

/* Over samples, or over time where a position is unknown. */
static struct canvas_point *points_of(const struct curve *c)
{
	struct canvas_point *points = xcalloc((size_t)c->n + 1, sizeof(*points));
	bool samples = true;

	for (int i = 0; i < c->n; i++)
		samples &= isfinite(c->points[i].samples);
	for (int i = 0; i < c->n; i++)
		points[i] = (struct canvas_point){
			samples ? c->points[i].samples : c->points[i].time_s, c->points[i].value,
		};
	return points;
}

static void put_title(const struct top *t, const struct curve *c, struct canvas *g, int row,
		      int column, int width)
{
	scoped(text_release) struct text title = TEXT_INIT;

	text_addf(&title, "%s %s", curve_name(c),
		  c->n ? value_format(c->points[c->n - 1].value, 4).s : "");
	for (int i = 0; i < t->job.metrics.count; i++) {
		const struct job_metric *m = &t->job.metrics.items[i];
		double best = metric_low_is_best(m->name) ? m->lowest : m->highest;

		if (!strcmp(m->name, c->name) && isfinite(best))
			text_addf(&title, ", best %s", value_format(best, 4).s);
	}
	if (t->job.curves.count > 1)
		text_addf(&title, " (m: %d more)", t->job.curves.count - 1);
	canvas_put(g, row, column, width, STYLE_PLAIN, title.data);
}

static void put_curve(const struct top *t, struct canvas *g, int row, int column, int rows,
		      int width)
{
	const struct curve *c = choose_curve(&t->job.curves, t->curve);
	autofree struct canvas_point *points = points_of(c);
	double low = INFINITY, high = -INFINITY;

	for (int i = 0; i < c->n; i++)
		if (isfinite(points[i].y)) {
			low = fmin(low, points[i].y);
			high = fmax(high, points[i].y);
		}
	put_title(t, c, g, row, column, width);
	if (rows > 2 && low < high)
		canvas_put_right(g, row + rows - 1, column, LABELS, STYLE_DIM,
			       value_format(low, 4).s);
	if (rows > 1 && low <= high)
		canvas_put_right(g, row + 1, column, LABELS, STYLE_DIM, value_format(high, 4).s);
	canvas_curve(g, (struct canvas_box){ row + 1, column + LABELS + 1, rows - 1,
		     width - LABELS - 1 }, STYLE_GREEN, points, c->n);
}

/* --- all of it --- */

static void put_log_rows(const struct top *t, struct canvas *g, int row, int column, int rows,
			 int back)
{
	int n = (int)t->job.log.count - back, first = n > rows ? n - rows : 0;

	for (int i = first; i < n; i++)
		canvas_put(g, row + i - first, column, g->columns - column, STYLE_PLAIN,
			 t->job.log.items[i]);
}

/* Words first, then the curve beside the log. */
static void put_job(const struct top *t, const struct status_row *chosen, struct canvas *g, int row,
		    int rows)
{
	bool curve = has_curve(t, chosen), log = t->job.log.count > 0;
	int words = curve || log ? (rows < 9 ? 1 : 2) : rows / 2, width = g->columns - 2, used;
	int left = curve && log ? g->columns / 2 : curve ? g->columns - 1 : 0;
	scoped(text_release) struct text t1 = TEXT_INIT;

	add_facts(t, chosen->item, &t1);
	used = canvas_wrap(g, (struct canvas_box){ row, 1, words, width }, STYLE_PLAIN, t1.data);
	text_clear(&t1);
	status_add_why(&t1, &t->status, chosen->item);
	used += canvas_wrap(g, (struct canvas_box){ row + used, 1, words, width }, STYLE_PLAIN,
			    t1.data);
	if (rows - used < 1)
		return;
	if (curve)
		put_curve(t, g, row + used, 1, rows - used, left - 2);
	for (int i = used; curve && log && i < rows; i++)
		canvas_put(g, row + i, left, 1, STYLE_DIM, g->utf8 ? "│" : "|");
	if (log)
		put_log_rows(t, g, row + used, curve ? left + 2 : 1, rows - used, 0);
}

void top_put_pane(const struct top *t, const struct status_row *chosen, struct canvas *g, int row,
		  int rows)
{
	scoped(text_release) struct text title = TEXT_INIT;

	add_title(t, chosen, &title);
	canvas_rule(g, row, title.data);
	text_clear(&title);
	if (chosen->group) {
		status_add_group(&title, chosen->group);
		canvas_wrap(g, (struct canvas_box){ row + 1, 1, rows - 1, g->columns - 2 },
			    STYLE_PLAIN, title.data);
	} else {
		put_job(t, chosen, g, row + 1, rows - 1);
	}
}

void top_put_log(struct top *t, const struct status_row *chosen, struct canvas *g, int row,
		 int rows)
{
	int most = (int)t->job.log.count - (rows - 1);
	scoped(text_release) struct text title = TEXT_INIT;

	t->log_back = t->log_back < most ? t->log_back : most;
	t->log_back = t->log_back > 0 ? t->log_back : 0;
	text_add(&title, "log of ");
	add_title(t, chosen, &title);
	if (t->log_back > 0)
		text_addf(&title, "; %d rows back", t->log_back);
	canvas_rule(g, row, title.data);
	if (t->job.log.count)
		put_log_rows(t, g, row + 1, 0, rows - 1, t->log_back);
	else
		canvas_put(g, row + 2, 1, g->columns - 2, STYLE_DIM, "It has no log yet.");
}
