/* goodput_line_first.c - whose end, or whose slices, leave the first in line enough devices. */
#include <math.h>
#include <stdlib.h>

#include "goodput_line_first.h"
#include "pollux/mem.h"

/* --- an end --- */

static double end_s(const struct line *line, int index)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = line_curve_at(line, index);
	bool runs_on = d->at[index] == c->held;
	double now_s = d->curves->in->now_s, launched_s = runs_on ? c->job->launched_s : now_s;
	double rate = runs_on ? c->now : c->of[d->at[index]];

	return fmax(now_s, launched_s + c->restart_s) + c->remaining_device_s / rate;
}

/* Rounds an expected end up to the precision of the expectation, so that a model that moves a
 * little changes nothing. */
static double rounded_up(double now_s, double s)
{
	double left_s = s - now_s, grain_s = left_s > 600 ? 60 : left_s > 60 ? 10 : 1;

	return ceil(s / grain_s) * grain_s;
}

/* True if the end of a running job leaves a waiting one enough devices of its kind. */
static bool is_enough(const struct line *line, int running, int waiting)
{
	const struct curves *curves = line->d->curves;
	int at = line->d->at[running], kind = curve_kind_at(curves, at);
	int least = line_curve_at(line, waiting)->least_on[kind];

	return least && curve_devices_at(curves, at) + line->left[kind] >= least;
}

int line_ends_first(const struct line *line, struct wait *w)
{
	const struct goodput_decision *d = line->d;
	int first = -1;

	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		double at_s;

		if (!d->at[i] || !is_enough(line, i, w->index))
			continue;
		at_s = rounded_up(d->curves->in->now_s, end_s(line, i));
		if (at_s < w->start_s || (isnan(w->start_s) && isfinite(at_s))) {
			w->start_s = at_s;
			first = i;
		}
	}
	return first;
}

/* --- slices --- */

/* A job within its slice that would make room for the first in line at the end of the slice. */
struct yield {
	double at_s;
	int64_t id;
	int freed;
	double lost;
};

static int by_time(const void *a, const void *b)
{
	const struct yield *x = a, *y = b;

	if (x->at_s < y->at_s || x->at_s > y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

bool line_starts_now(const struct line *line, int index)
{
	const struct goodput_decision *d = line->d;

	return d->at[index] != line_curve_at(line, index)->held || d->reconfigure[index];
}

double line_slice_end_s(const struct line *line, int index)
{
	return curve_slice_end_s(line->d->curves, line_curve_at(line, index),
				 line_starts_now(line, index));
}

static struct yield yield_of(const struct line *line, int index, int lacking)
{
	const struct curve *c = line_curve_at(line, index);
	const struct curves *curves = line->d->curves;
	int at = line->d->at[index], has = curve_devices_at(curves, at), first = at - has;
	int to = has > lacking ? has - lacking : 0;

	while (to > 0 && isnan(c->of[first + to]))
		to--;
	return (struct yield){
		.at_s = line_slice_end_s(line, index), .id = c->job->id, .freed = has - to,
		.lost = worth_lost(line->d->worths, c, at, to ? first + to : 0,
				   line_starts_now(line, index)),
	};
}

/* True if the job is in its slice, what remains of it is known, and at the end of the slice no less
 * will remain of it than of the job that waits. */
static bool yields(const struct line *line, const struct waiting *item, int index,
		   const struct yield *y)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = line_curve_at(line, index);
	const struct curve *waits = line_curve_at(line, item->index);
	double now_s = d->curves->in->now_s;
	double rate = d->at[index] == c->held ? c->now : c->of[d->at[index]];
	double left_device_s = c->remaining_device_s - (y->at_s - now_s) * rate;

	return c->job->preemptible && y->at_s > now_s &&
	       !isnan(c->remaining_device_s) && y->lost < item->density * y->freed &&
	       !(left_device_s < worth_length_device_s(d->curves, waits));
}

static int find_yields(const struct line *line, const struct waiting *item, int kind, int lacking,
		       struct yield *found)
{
	const struct goodput_decision *d = line->d;
	int n = 0;

	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		if (!d->at[i] || curve_kind_at(d->curves, d->at[i]) != kind)
			continue;
		found[n] = yield_of(line, i, lacking);
		n += yields(line, item, i, &found[n]);
	}
	qsort(found, (size_t)n, sizeof(*found), by_time);
	return n;
}

bool line_slices_do(const struct line *line, const struct waiting *item, struct wait *w)
{
	size_t n_jobs = (size_t)line->d->curves->in->n_jobs;
	struct yield *found = xcalloc(n_jobs, sizeof(*found));
	int64_t *ids = xcalloc(n_jobs, sizeof(*ids));
	int kind = curve_nearest_kind(line->d->curves, line_curve_at(line, w->index), line->left);
	int lacking = line_curve_at(line, w->index)->least_on[kind] - line->left[kind];
	int n = find_yields(line, item, kind, lacking, found), k = 0;
	bool enough;

	for (; k < n && lacking > 0; k++) {
		lacking -= found[k].freed;
		ids[k] = found[k].id;
	}
	enough = k && lacking <= 0 && !(found[k - 1].at_s >= w->start_s) &&
		 found[k - 1].at_s < line->overdue_s;
	if (enough) {
		w->kind = WAIT_SLICES;
		w->start_s = found[k - 1].at_s;
		w->jobs = job_names_of(ids, k);
	}
	free(ids);
	free(found);
	return enough;
}
