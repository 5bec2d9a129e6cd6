/* waits.c - jobs that are not in question yet: they come after others, or begin later. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "decision.h"
#include "pollux/mem.h"

/* Returns the index of the first dependency of the job, or where it would be, in a list that is in
 * the order of the jobs. */
static int first_dependency(const struct dependency_list *list, int64_t job_id)
{
	int low = 0, high = list->count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (list->items[middle].job_id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the dependencies of the job, as they are after this pass; *n: their number. */
static const struct dependency *dependencies_of(const struct decision *d, int64_t job_id, int *n)
{
	const struct dependency_list *list = &d->after;
	int first = first_dependency(list, job_id);

	for (*n = 0; first + *n < list->count && list->items[first + *n].job_id == job_id; ++*n)
		;
	return list->items ? &list->items[first] : NULL;
}

double dependencies_end(const struct decision *d, int64_t job_id)
{
	double end = (double)NAN, any = (double)NAN;
	int n;
	const struct dependency *after = dependencies_of(d, job_id, &n);

	for (int i = 0; i < n; i++)
		if (after[i].rule == AFTER_ANY)
			any = fmin(any, after[i].after_end_time_s);
		else
			end = fmax(end, after[i].after_end_time_s);
	return fmax(end, any);
}

void pass_over(struct decision *d, const struct job *job, bool never, char *reason,
	       double next_start_s)
{
	struct passed_over *p = &d->passed_over[d->n_passed_over++];

	*p = (struct passed_over){ .job = job, .never = never, .next_start_s = next_start_s };
	p->reason = reason;
}

/* True if the job that the dependency is of can never start. */
static bool is_broken(const struct dependency *d)
{
	return job_has_ended(d->after_state) &&
	       ((d->rule == AFTER_OK && d->after_state != JOB_DONE) ||
		(d->rule == AFTER_NOT_OK && d->after_state == JOB_DONE));
}

/* Returns the dependency for which the job never starts; NULL: it may. */
static const struct dependency *why_never(const struct dependency *after, int n)
{
	for (int i = 0; i < n; i++)
		if (is_broken(&after[i]))
			return &after[i];
	return NULL;
}

static char *never_in_words(const struct dependency *d)
{
	return d->rule == AFTER_OK
		? xasprintf("job %lld, which was to succeed first, is %s", (long long)d->after_id,
			    job_state_name(d->after_state))
		: xasprintf("job %lld, which was to fail first, is done", (long long)d->after_id);
}

/* --- jobs that can never start, and those behind them --- */

/* The jobs that this pass cancels, and the dependencies in the order of the jobs waited for. */
struct closure {
	const struct snapshot *s;
	struct dependency_list *after;
	struct dependency **behind;
	bool *cancelled;		/* by job of the snapshot */
	int64_t *ids;			/* of the cancelled ones, as they were found */
	int n;
};

static int by_after(const void *a, const void *b)
{
	const struct dependency *x = *(struct dependency *const *)a;
	const struct dependency *y = *(struct dependency *const *)b;

	return (x->after_id > y->after_id) - (x->after_id < y->after_id);
}

static int by_job_id(const void *id, const void *job)
{
	int64_t a = *(const int64_t *)id, b = ((const struct job *)job)->id;

	return (a > b) - (a < b);
}

/* Adds the job, if it waits: a held one is left to the person who holds it. */
static void add_cancelled(struct closure *c, int64_t job_id)
{
	const struct job_list *jobs = &c->s->jobs;
	const struct job *job = bsearch(&job_id, jobs->items, (size_t)jobs->count, sizeof(*job),
					by_job_id);

	if (!job || c->cancelled[job - jobs->items] || !may_start(c->s, job))
		return;
	c->cancelled[job - jobs->items] = true;
	c->ids[c->n++] = job_id;
}

/* Those that wait for the job see it cancelled. */
static void cancel_behind(struct closure *c, int64_t job_id)
{
	int low = 0, high = c->after->count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (c->behind[middle]->after_id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->after->count && c->behind[low]->after_id == job_id; low++) {
		struct dependency *d = c->behind[low];

		d->after_state = JOB_CANCELLED;
		d->after_end_time_s = c->s->now_wall_s;
		if (is_broken(d))
			add_cancelled(c, d->job_id);
	}
}

void find_dependencies(const struct snapshot *s, struct decision *d)
{
	size_t n = (size_t)s->dependencies.count;
	struct closure c = { .s = s, .after = &d->after };

	d->after.count = s->dependencies.count;
	d->after.items = xcalloc(n, sizeof(*d->after.items));
	c.behind = xcalloc(n, sizeof(struct dependency *));
	c.cancelled = xcalloc((size_t)s->jobs.count, sizeof(*c.cancelled));
	c.ids = xcalloc((size_t)s->jobs.count, sizeof(*c.ids));
	for (size_t i = 0; i < n; i++) {
		d->after.items[i] = s->dependencies.items[i];
		c.behind[i] = &d->after.items[i];
	}
	if (n)
		qsort(c.behind, n, sizeof(struct dependency *), by_after);
	for (int j = 0; s->deserted && j < s->jobs.count; j++)
		if (s->deserted[j])
			add_cancelled(&c, s->jobs.items[j].id);
	for (size_t i = 0; i < n; i++)
		if (is_broken(&d->after.items[i]))
			add_cancelled(&c, d->after.items[i].job_id);
	for (int i = 0; i < c.n; i++)
		cancel_behind(&c, c.ids[i]);
	free(c.ids);
	free(c.cancelled);
	free(c.behind);
}

/* True if nothing more comes of the other job: it has ended, or is paused at a rung of a sweep that
 * is over. A job that was to succeed is waited for until somebody releases it from its rung. */
static bool is_over(const struct snapshot *s, const struct dependency *d)
{
	return job_has_ended(d->after_state) ||
	       (d->rule != AFTER_OK && rung_pause(s, d->after_id) == RUNG_PAUSE_FOR_GOOD);
}

static bool one_is_over(const struct snapshot *s, const struct dependency *after, int n)
{
	for (int i = 0; i < n; i++)
		if (after[i].rule == AFTER_ANY && is_over(s, &after[i]))
			return true;
	return false;
}

static const char *state_in_words(const struct snapshot *s, const struct dependency *d)
{
	return rung_pause(s, d->after_id) == RUNG_PAUSE_NONE ? job_state_name(d->after_state)
							     : "paused at a rung";
}

/* Returns why the job still waits for others; NULL: it does not. */
static char *why_after(const struct snapshot *s, const struct dependency *after, int n)
{
	bool any_is_over = one_is_over(s, after, n);
	int n_any = 0;

	for (int i = 0; i < n; i++)
		n_any += after[i].rule == AFTER_ANY;
	for (int i = 0; i < n; i++) {
		bool is_any = after[i].rule == AFTER_ANY;

		if (is_over(s, &after[i]) || (is_any && any_is_over))
			continue;
		if (is_any && n_any > 1)
			return xasprintf("after any of %d jobs, of which job %lld is %s", n_any,
					 (long long)after[i].after_id,
					 state_in_words(s, &after[i]));
		return xasprintf("after job %lld, which is %s", (long long)after[i].after_id,
				 state_in_words(s, &after[i]));
	}
	return NULL;
}

bool waits_for_another(const struct snapshot *s, const struct job *job, struct decision *d)
{
	int n;
	const struct dependency *after = dependencies_of(d, job->id, &n), *never;
	char *reason;

	never = why_never(after, n);
	reason = never ? never_in_words(never) : why_after(s, after, n);
	if (!reason)
		return false;
	pass_over(d, job, never, reason, (double)NAN);
	if (never)
		d->passed_over[d->n_passed_over - 1].cancelled_for = never->after_id;
	return true;
}

/* Returns a reason with the date in local time, so that the reason stays the same while the job
 * waits. */
static char *why_later(double begin_s)
{
	time_t begin = (time_t)begin_s;
	char when[64] = "a later time";
	struct tm tm;

	if (localtime_r(&begin, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	return xasprintf("begins at %s", when);
}

bool waits_to_begin(const struct snapshot *s, const struct job *job, struct decision *d)
{
	double begin_s = job->declared.begin_s;

	if (!(begin_s > s->now_wall_s))
		return false;
	pass_over(d, job, false, why_later(begin_s), begin_s);
	return true;
}
