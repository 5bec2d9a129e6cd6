/* goodput_line.c - see goodput_line.h. */
#include <math.h>
#include <stdlib.h>

#include "backfill.h"
#include "goodput_line_first.h"
#include "pollux/mem.h"

/* --- the order --- */

static int since_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->since_s < y->since_s || x->since_s > y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return x->index - y->index;
}

static int line_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->overdue != y->overdue)
		return x->overdue ? -1 : 1;
	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	if (x->overdue && (x->since_s < y->since_s || x->since_s > y->since_s))
		return x->since_s < y->since_s ? -1 : 1;
	if (!x->overdue && (x->density < y->density || x->density > y->density))
		return x->density > y->density ? -1 : 1;
	return x->index - y->index;
}

static void sort_line(struct line *line)
{
	qsort(line->items, (size_t)line->n, sizeof(*line->items), since_order);
	for (int i = 0; i < line->n; i++)
		line->items[i].before = i;
	qsort(line->items, (size_t)line->n, sizeof(*line->items), line_order);
	for (int i = 1; i < line->n; i++) {
		const struct waiting *item = &line->items[i];

		line->overdue_s = fmin(line->overdue_s,
				       item->since_s + line->d->claims->limits_s[item->index]);
	}
}

/* --- jobs that cannot start for as long as others run that are not preemptible --- */

static struct keepers find_keepers(const struct goodput_decision *d, bool behind)
{
	const struct curves *curves = d->curves;
	int64_t *ids = xcalloc((size_t)curves->in->n_jobs, sizeof(*ids));
	struct keepers keepers = { .devices = 0 };
	int n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		bool is_behind = d->claims->stuck >= 0 &&
				 backfill_is_behind(curves, &d->claims->stuck_job, c);

		if (!curve_stays(c) || !d->at[i] || is_behind != behind)
			continue;
		ids[n++] = c->job->id;
		keepers.devices += curve_guaranteed_devices(curves, c, d->at[i]);
		keepers.guaranteed |= c->job->guaranteed;
	}
	keepers.jobs = job_names_of(ids, n);
	free(ids);
	return keepers;
}

static void set_keepers(const struct line *line, struct wait *w)
{
	w->kind = WAIT_KEEPERS;
	if (line->others.jobs.n && w->index == line->d->claims->stuck) {
		w->jobs = line->others.jobs;
		w->devices = line->others.devices;
		w->guaranteed = line->others.guaranteed;
		w->meanwhile = line->behind.jobs;
	} else {
		w->jobs = job_names_join(line->others.jobs, line->behind.jobs);
		w->devices = line->others.devices + line->behind.devices;
		w->guaranteed = line->others.guaranteed || line->behind.guaranteed;
	}
}

/* True if the job is outside the line: jobs that are not preemptible leave too few devices, or an
 * earlier job waits for those jobs. */
static bool is_stuck(const struct line *line, struct wait *w)
{
	const struct claims *claims = line->d->claims;

	if (!curve_least_within(line->d->curves, line_curve_at(line, w->index), line->not_fixed)) {
		set_keepers(line, w);
		return true;
	}
	if (claims->stuck < 0 || claims->items[w->index].kind != CLAIM_EXACT)
		return false;
	w->kind = WAIT_STUCK;
	w->id = line_curve_at(line, claims->stuck)->job->id;
	return true;
}

/* --- who comes before --- */

/* The bound of policy.h on the wait, without the time between passes; NaN: no bound holds. */
static double bound_s(const struct line *line, const struct waiting *item)
{
	const struct claims *claims = line->d->claims;

	if (line->has_fixed)
		return (double)NAN;
	return item->since_s + claims->limits_s[item->index] +
	       (item->before + 1) * claims->turn_s;
}

/* The worth per device of the devices that the job has, or would start with. */
static double density(const struct line *line, int index)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = line_curve_at(line, index);

	if (!d->at[index])
		return worth_launched(d->worths, c, c->least_at) / c->least;
	return worth_lost(d->worths, c, d->at[index], 0, line_starts_now(line, index)) /
	       curve_devices_at(d->curves, d->at[index]);
}

/* The index of the running job that loses least per device by leaving its devices; -1: none. */
static int next_to_yield(const struct line *line)
{
	int index = -1;

	for (int i = 0; i < line->d->curves->in->n_jobs; i++)
		if (line->d->at[i] && line_curve_at(line, i)->job->preemptible &&
		    (index < 0 || density(line, i) < density(line, index)))
			index = i;
	return index;
}

/* Sets for whom the job waits. before: index of the job just before this one in line; -1: none. */
static void set_before(const struct line *line, const struct waiting *item, int before,
		       struct wait *w)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = line_curve_at(line, w->index);
	const struct curve *first = before < 0 ? NULL : line_curve_at(line, before);

	w->kind = WAIT_OTHERS;
	if (!first)
		return;
	if (first->weight > c->weight &&
	    item->density / c->weight > density(line, before) / first->weight) {
		w->kind = WAIT_WEIGHT;
	} else if (!isnan(c->remaining_device_s) &&
		   d->worths->first_rank[before] > d->worths->first_rank[w->index]) {
		w->kind = WAIT_SHORTER;
	} else if (d->at[before] && line_slice_end_s(line, before) > d->curves->in->now_s) {
		w->kind = WAIT_SLICE;
		w->id = first->job->id;
	}
}

/* Sets the turn of a waiting job. previous: index of the job before it in line, which is not
 * overdue; -1: none. */
static void set_turn(const struct line *line, const struct waiting *item, int previous,
		     struct wait *w)
{
	int first;

	w->start_s = bound_s(line, item);
	first = w->place == 1 ? line_ends_first(line, w) : -1;
	if (w->place == 1 && line_slices_do(line, item, w))
		return;
	if (first < 0) {
		set_before(line, item, previous < 0 ? next_to_yield(line) : previous, w);
		return;
	}
	w->kind = WAIT_END;
	w->id = line_curve_at(line, first)->job->id;
}

static void set_overdue(const struct line *line, struct wait *w)
{
	const struct claims *claims = line->d->claims;

	/* Each job behind the one that gathers may gather for as long. */
	w->start_s = claims->gathered_s + (w->place - 1) * claims->turn_s;
	w->kind = WAIT_OVERDUE;
	if (w->index != claims->gathering)
		return;
	w->kind = claims->awaited < 0 ? WAIT_GATHERS : WAIT_GATHERS_END;
	if (claims->awaited >= 0)
		w->id = line_curve_at(line, claims->awaited)->job->id;
}

static void set_place(const struct line *line, int place)
{
	const struct waiting *item = &line->items[place - 1];
	struct wait *w = item->wait;

	w->place = place;
	if (item->overdue)
		set_overdue(line, w);
	else
		set_turn(line, item, place > 1 && !item[-1].overdue ? item[-1].index : -1, w);
	if (!isfinite(w->start_s))
		w->start_s = (double)NAN;
}

/* --- all --- */

static void count_devices(struct line *line)
{
	const struct goodput_decision *d = line->d;

	for (int k = 0; k < d->curves->n_kinds; k++)
		line->left[k] = line->not_fixed[k] = d->curves->kinds[k].n;
	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		const struct curve *c = line_curve_at(line, i);
		bool fixed = curve_stays(c);
		int kind = curve_kind_at(d->curves, d->at[i]);
		int has = curve_devices_at(d->curves, d->at[i]);

		line->left[kind] -= has;
		line->not_fixed[kind] -=
			fixed ? curve_guaranteed_devices(d->curves, c, d->at[i]) : 0;
		line->any_fixed |= fixed && has;
		line->has_fixed |= fixed && c->least;
	}
	if (line->any_fixed) {
		line->behind = find_keepers(d, true);
		line->others = find_keepers(d, false);
	}
}

static struct waiting waiting_of(const struct line *line, struct wait *w)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = line_curve_at(line, w->index);

	return (struct waiting){
		.wait = w, .index = w->index, .overdue = d->claims->items[w->index].overdue,
		/* The wait of a job that is stopped now begins now. */
		.first = claims_first_rank(c),
		.since_s = c->held ? d->curves->in->now_s : claims_waiting_since_s(d->curves, c),
		.density = worth_launched(d->worths, c, c->least_at) / c->least,
	};
}

int goodput_waits(const struct goodput_decision *d, struct wait *waits)
{
	int n_jobs = d->curves->in->n_jobs, n = 0;
	struct line line = {
		.d = d, .items = xcalloc((size_t)n_jobs, sizeof(*line.items)),
		.overdue_s = HUGE_VAL,
	};

	count_devices(&line);
	for (int i = 0; i < n_jobs; i++) {
		struct wait *w = &waits[n];

		if (d->at[i])
			continue;
		n++;
		*w = (struct wait){
			.kind = WAIT_IMPOSSIBLE, .index = i, .start_s = (double)NAN,
		};
		if (line_curve_at(&line, i)->least && !is_stuck(&line, w))
			line.items[line.n++] = waiting_of(&line, w);
	}
	sort_line(&line);
	for (int place = 1; place <= line.n; place++)
		set_place(&line, place);
	free(line.items);
	return n;
}
