/* goodput_line.c - see goodput_line.h. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "goodput_line.h"
#include "pollux/mem.h"

/* A waiting job in line. */
struct waiting {
	int index;		/* of the curve */
	bool overdue, brief;
	int first;		/* put first: claims_first_rank */
	double turn_worth;	/* claims_turn_worth */
	double since_s;
	int before;		/* jobs that have waited longer, or as long and come first */
	double density;		/* worth per device, on the least number */
};

/* Running jobs that are not preemptible, or have a guarantee. */
struct keepers {
	struct job_names jobs;
	int devices;		/* that they keep */
	bool guaranteed;	/* some of them */
};

struct line {
	const struct goodput_decision *d;
	struct waiting *items;
	int n;
	/* of each kind: devices that nobody has; those that no job which is not preemptible has */
	int left[SCHED_KINDS], not_fixed[SCHED_KINDS];
	bool has_fixed;		/* jobs which are not preemptible exist, with devices or without */
	struct keepers behind;	/* those started behind the stuck job */
	struct keepers others;
	/* when the next job behind the first becomes overdue, or INFINITY */
	double overdue_s;
};

static const struct curve *curve_at(const struct line *line, int index)
{
	return &line->d->curves->items[index];
}

/* True if the job starts, or is relaunched, by this decision. */
static bool starts_now(const struct line *line, int index)
{
	const struct goodput_decision *d = line->d;

	return d->at[index] != d->curves->items[index].held || d->reconfigure[index];
}

static double slice_end_s(const struct line *line, int index)
{
	return claims_kept_until_s(line->d->curves, line->d->claims, curve_at(line, index),
				   starts_now(line, index));
}

/* True if the job keeps its devices for its whole slice, not only until it has settled. */
static bool has_slice(const struct line *line, int index)
{
	return slice_end_s(line, index) >= curve_slice_end_s(line->d->curves, curve_at(line, index),
							     starts_now(line, index));
}

/* The rate of a running job, in devices. */
static double rate_of(const struct line *line, int index)
{
	const struct curve *c = curve_at(line, index);

	return line->d->at[index] == c->held ? c->now : c->of[line->d->at[index]];
}

/* The worth per device of the devices that the job has, or would start with. */
static double density(const struct line *line, int index)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = curve_at(line, index);

	if (!d->at[index])
		return worth_per_device(d->worths, c);
	return worth_lost(d->worths, c, d->at[index], 0, starts_now(line, index)) /
	       curve_devices_at(d->curves, d->at[index]);
}

/* --- the order --- */

static int since_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->since_s < y->since_s || x->since_s > y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return x->index - y->index;
}

static int larger_first(double x, double y)
{
	return (x < y) - (x > y);
}

static int line_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	int order = larger_first(x->overdue, y->overdue);

	order = order ? order : larger_first(x->first, y->first);
	order = order ? order : larger_first(x->turn_worth, y->turn_worth);
	order = order ? order : larger_first(x->brief, y->brief);
	if (!order)
		order = x->overdue ? larger_first(y->since_s, x->since_s)
			: larger_first(x->density, y->density);
	return order ? order : x->index - y->index;
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
	autofree int64_t *ids = xcalloc((size_t)curves->in->n_jobs, sizeof(*ids));
	struct keepers keepers = { .devices = 0 };
	int n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		bool is_behind = d->claims->stuck >= 0 &&
				 claims_is_behind(curves, &d->claims->stuck_job, c);

		if (!curve_stays(c) || !d->at[i] || is_behind != behind)
			continue;
		ids[n++] = c->job->id;
		keepers.devices += curve_guaranteed_devices(curves, c, d->at[i]);
		keepers.guaranteed |= c->job->guaranteed;
	}
	keepers.jobs = job_names_of(ids, n);
	return keepers;
}

static void count_devices(struct line *line)
{
	const struct goodput_decision *d = line->d;
	bool any_fixed = false;

	for (int k = 0; k < d->curves->n_kinds; k++)
		line->left[k] = line->not_fixed[k] = d->curves->kinds[k].n;
	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		const struct curve *c = curve_at(line, i);
		int kind = curve_kind_at(d->curves, d->at[i]);
		int has = curve_devices_at(d->curves, d->at[i]);

		line->left[kind] -= has;
		if (!curve_stays(c))
			continue;
		line->not_fixed[kind] -= curve_guaranteed_devices(d->curves, c, d->at[i]);
		any_fixed |= has > 0;
		line->has_fixed |= c->least > 0;
	}
	if (any_fixed) {
		line->behind = find_keepers(d, true);
		line->others = find_keepers(d, false);
	}
}

/* Jobs that are not preemptible leave the job too few devices. Those that were started behind the
 * stuck job are told apart. */
static void tell_keepers(const struct line *line, int index, struct verdict *v)
{
	const struct keepers *others = &line->others, *behind = &line->behind;
	bool apart = others->jobs.n && index == line->d->claims->stuck;
	struct job_names jobs = apart ? others->jobs : job_names_join(others->jobs, behind->jobs);
	bool guaranteed = others->guaranteed || (!apart && behind->guaranteed);

	verdict_add(v, (struct fact){ FACT_NEEDS_OF, .devices = curve_at(line, index)->least,
				      .of = line->d->curves->n_devices });
	verdict_add(v, (struct fact){
		guaranteed ? FACT_KEPT_BY_GUARANTEED : FACT_KEPT_BY, .jobs = jobs,
		.n = others->devices + (apart ? 0 : behind->devices),
	});
	if (apart && behind->jobs.n)
		verdict_add(v, (struct fact){ FACT_RUN_MEANWHILE, .jobs = behind->jobs });
}

/* True if the job is outside the line: it never has a place here, jobs that are not preemptible
 * leave too few devices, or an earlier job waits for those jobs. Then the verdict says so. */
static bool is_outside(const struct line *line, int index, struct verdict *v)
{
	const struct claims *claims = line->d->claims;
	const struct curve *c = curve_at(line, index);

	if (!c->least)
		*v = verdict_unfit(line->d->curves, c);
	else if (!curve_least_within(line->d->curves, c, line->not_fixed))
		tell_keepers(line, index, v);
	else if (claims->stuck >= 0 && claims->items[index].kind == CLAIM_EXACT)
		verdict_add(v, (struct fact){ FACT_NOT_BEFORE,
					      .job = curve_at(line, claims->stuck)->job->id });
	else
		return false;
	return true;
}

/* --- whose end leaves the first in line enough devices --- */

/* The running job whose expected end is the first to leave enough devices, if that end is before
 * *start_s, which becomes that end. NULL: there is none. */
static const struct sched_job *ends_first(const struct line *line, const struct waiting *item,
					  double *start_s)
{
	const struct curves *curves = line->d->curves;
	const struct sched_job *first = NULL;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		int at = line->d->at[i], kind = curve_kind_at(curves, at);
		int least = curve_at(line, item->index)->least_on[kind];
		const struct curve *c = curve_at(line, i);
		double at_s, now_s = curves->in->now_s, grain_s;

		if (!at || !least || curve_devices_at(curves, at) + line->left[kind] < least)
			continue;
		/* Rounded up to the precision of the expectation, so that a model that moves a
		 * little changes nothing. */
		at_s = at == c->held ? c->job->launched_s : now_s;
		at_s = fmax(now_s, at_s + c->restart_s) + c->remaining_device_s / rate_of(line, i);
		grain_s = at_s - now_s > 600 ? 60 : at_s - now_s > 60 ? 10 : 1;
		at_s = ceil(at_s / grain_s) * grain_s;
		if (at_s < *start_s || (isnan(*start_s) && isfinite(at_s))) {
			*start_s = at_s;
			first = c->job;
		}
	}
	return first;
}

/* --- whose slices do --- */

/* A job within its slice that would make room for the first in line at the end of the slice. */
struct yield {
	double at_s;
	int64_t id;
	int freed;
	bool slice;		/* the whole of it, not only until the job has settled */
	double lost;
};

static int by_time(const void *a, const void *b)
{
	const struct yield *x = a, *y = b;

	if (x->at_s < y->at_s || x->at_s > y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static struct yield yield_of(const struct line *line, int index, int lacking)
{
	const struct curve *c = curve_at(line, index);
	int at = line->d->at[index], has = curve_devices_at(line->d->curves, at), first = at - has;
	int to = has > lacking ? has - lacking : 0;

	while (to > 0 && isnan(c->of[first + to]))
		to--;
	return (struct yield){
		.at_s = slice_end_s(line, index), .id = c->job->id, .freed = has - to,
		.slice = has_slice(line, index),
		.lost = worth_lost(line->d->worths, c, at, to ? first + to : 0,
				   starts_now(line, index)),
	};
}

/* True if the job is in its slice, what remains of it is known, and at the end of the slice no less
 * will remain of it than of the job that waits. */
static bool yields(const struct line *line, const struct waiting *item, int index,
		   const struct yield *y)
{
	const struct curves *curves = line->d->curves;
	const struct curve *c = curve_at(line, index), *waits = curve_at(line, item->index);
	double now_s = curves->in->now_s;
	double left_device_s = c->remaining_device_s - (y->at_s - now_s) * rate_of(line, index);

	return c->job->preemptible && y->at_s > now_s &&
	       !isnan(c->remaining_device_s) && y->lost < item->density * y->freed &&
	       !(left_device_s < worth_length_device_s(curves, waits));
}

/* Finds the jobs whose slices end soonest, as many as leave enough devices, among the jobs that
 * lose less than the first in line gains. False: too few jobs do, or their slices end after
 * *start_s or after another job is overdue. Otherwise *start_s becomes the end of the last one.
 * *slices: some of them have their whole slice. */
static bool slices_do(const struct line *line, const struct waiting *item, double *start_s,
		      struct job_names *jobs, bool *slices)
{
	const struct curves *curves = line->d->curves;
	size_t n_jobs = (size_t)curves->in->n_jobs;
	autofree struct yield *found = xcalloc(n_jobs, sizeof(*found));
	autofree int64_t *ids = xcalloc(n_jobs, sizeof(*ids));
	int kind = curve_nearest_kind(curves, curve_at(line, item->index), line->left);
	int lacking = curve_at(line, item->index)->least_on[kind] - line->left[kind];
	int n = 0, k = 0;
	bool enough;

	*slices = false;
	for (int i = 0; i < curves->in->n_jobs; i++) {
		if (!line->d->at[i] || curve_kind_at(curves, line->d->at[i]) != kind)
			continue;
		found[n] = yield_of(line, i, lacking);
		n += yields(line, item, i, &found[n]);
	}
	qsort(found, (size_t)n, sizeof(*found), by_time);
	for (; k < n && lacking > 0; k++) {
		lacking -= found[k].freed;
		ids[k] = found[k].id;
		*slices |= found[k].slice;
	}
	enough = k && lacking <= 0 && !(found[k - 1].at_s >= *start_s) &&
		 found[k - 1].at_s < line->overdue_s;
	if (enough) {
		*start_s = found[k - 1].at_s;
		*jobs = job_names_of(ids, k);
	}
	return enough;
}

/* When the first slice is over that leaves a brief job enough devices, where that is before
 * *start_s and no other job is overdue until then. */
static void slice_ends_for_brief(const struct line *line, const struct waiting *item,
				 double *start_s)
{
	const struct curves *curves = line->d->curves;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = curve_at(line, i);
		int at = line->d->at[i], kind = curve_kind_at(curves, at);
		int least = curve_at(line, item->index)->least_on[kind];
		double at_s;

		if (!at || curve_stays(c) || !least || curve_devices_at(curves, at) < least)
			continue;
		at_s = slice_end_s(line, i);
		if (!isnan(c->remaining_device_s))	/* about to end */
			at_s += CLAIMS_END_RESTARTS * c->restart_s;
		if (at_s < line->overdue_s && !(at_s >= *start_s))
			*start_s = at_s;
	}
}

/* --- who comes before --- */

/* The index of the running job that loses least per device by leaving its devices; -1: none. */
static int next_to_yield(const struct line *line)
{
	int index = -1;

	for (int i = 0; i < line->d->curves->in->n_jobs; i++)
		if (line->d->at[i] && curve_at(line, i)->job->preemptible &&
		    (index < 0 || density(line, i) < density(line, index)))
			index = i;
	return index;
}

/* Tells for whom the job waits. before: index of the job just before this one in line; -1: none. */
static void tell_before(const struct line *line, const struct waiting *item, int before,
			struct verdict *v)
{
	const struct goodput_decision *d = line->d;
	const struct curve *c = curve_at(line, item->index);
	const struct curve *first = before < 0 ? NULL : curve_at(line, before);

	if (first && first->weight > c->weight &&
	    item->density / c->weight > density(line, before) / first->weight)
		verdict_say(v, FACT_MORE_WEIGHT_FIRST);
	else if (first && first->remaining_device_s < c->remaining_device_s &&
		 d->worths->first_rank[before] > d->worths->first_rank[item->index])
		verdict_say(v, FACT_SHORTER_FIRST);
	else if (first && d->at[before] && slice_end_s(line, before) > d->curves->in->now_s)
		verdict_add(v, (struct fact){ has_slice(line, before) ? FACT_IN_SLICE
								      : FACT_SETTLES,
					      .job = first->job->id });
	else
		verdict_say(v, FACT_OTHERS_FIRST);
}

/* Tells the turn of a waiting job. Returns when it starts at the latest; NaN: that cannot be told.
 * previous: index of the job before it in line, which is not overdue; -1: none. */
static double tell_turn(const struct line *line, const struct waiting *item, bool is_first,
			int previous, struct verdict *v)
{
	const struct claims *claims = line->d->claims;
	const struct curve *c = curve_at(line, item->index);
	const struct sched_job *ends = NULL;
	struct job_names jobs;
	bool slices;
	/* The bound of policy.h on the wait, without the time between passes. */
	double start_s = line->has_fixed ? (double)NAN
		: item->since_s + claims->limits_s[item->index] +
		  (item->before + 1) * claims->turn_s;

	verdict_add_needs(v, c);
	if (is_first)
		ends = ends_first(line, item, &start_s);
	if (is_first && item->brief)
		slice_ends_for_brief(line, item, &start_s);
	if (is_first && slices_do(line, item, &start_s, &jobs, &slices))
		verdict_add(v, (struct fact){ slices ? FACT_WAITS_FOR_SLICES : FACT_WAITS_TO_SETTLE,
					      .jobs = jobs });
	else if (ends)
		verdict_add(v, (struct fact){ FACT_STARTS_AFTER, .job = ends->id });
	else if (item->brief)
		verdict_say(v, FACT_BRIEF);
	else
		tell_before(line, item, previous < 0 ? next_to_yield(line) : previous, v);
	return start_s;
}

/* Tells the turn of an overdue job. Each job behind the one that gathers may gather for as long. */
static double tell_overdue(const struct line *line, const struct waiting *item, int place,
			   struct verdict *v)
{
	const struct claims *claims = line->d->claims;
	const struct curve *c = curve_at(line, item->index);

	verdict_add(v, (struct fact){ FACT_NEEDS, .devices = c->least });
	if (c->job->guaranteed)
		verdict_say(v, FACT_GUARANTEED);
	else if (claims_first_rank(c) > 0)
		verdict_say(v, FACT_PUT_FIRST);
	else
		verdict_add(v, (struct fact){ FACT_WAITED,
					      .seconds = claims->limits_s[item->index] });
	if (item->index != claims->gathering)
		verdict_say(v, FACT_AS_THOSE_BEFORE);
	else if (claims->awaited < 0)
		verdict_say(v, FACT_GATHERS);
	else
		verdict_add(v, (struct fact){ FACT_LETS_END,
					      .job = curve_at(line, claims->awaited)->job->id });
	return claims->gathered_s + (place - 1) * claims->turn_s;
}

/* --- all --- */

void goodput_waits(const struct goodput_decision *d)
{
	const struct curves *curves = d->curves;
	struct line line = {
		.d = d, .items = xcalloc((size_t)curves->in->n_jobs, sizeof(*line.items)),
		.overdue_s = HUGE_VAL,
	};
	double latest_s = -HUGE_VAL;

	count_devices(&line);
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		if (d->at[i] || is_outside(&line, i, &goodput_choice(d, i)->verdict))
			continue;
		line.items[line.n++] = (struct waiting){
			.index = i, .overdue = d->claims->items[i].overdue,
			.brief = d->claims->items[i].brief,
			.first = claims_first_rank(c),
			.turn_worth = claims_turn_worth(curves, d->claims, c),
			/* The wait of a job that is stopped now begins now. */
			.since_s = c->held ? curves->in->now_s : claims_waiting_since_s(curves, c),
			.density = density(&line, i),
		};
	}
	sort_line(&line);
	for (int i = 0; i < line.n; i++) {
		const struct waiting *item = &line.items[i];
		struct sched_choice *choice = goodput_choice(d, item->index);
		int previous = i > 0 && !item[-1].overdue ? item[-1].index : -1;
		double start_s;

		verdict_add(&choice->verdict, (struct fact){ FACT_IN_LINE, .n = i + 1 });
		start_s = item->overdue ? tell_overdue(&line, item, i + 1, &choice->verdict)
			: tell_turn(&line, item, i == 0, previous, &choice->verdict);
		/* Nobody is told an earlier time than those before in line. */
		if (isfinite(start_s))
			latest_s = start_s = fmax(start_s, latest_s);
		choice->next_start_s = isfinite(start_s) ? start_s : (double)NAN;
	}
	free(line.items);
}
