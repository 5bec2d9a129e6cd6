/* waits.c - jobs that are not in question yet: they come after others, or begin later. */
#include <math.h>
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

/* Returns the dependencies of the job; *n: their number. */
static const struct dependency *dependencies_of(const struct snapshot *s, int64_t job_id, int *n)
{
	const struct dependency_list *list = &s->dependencies;
	int first = first_dependency(list, job_id);

	for (*n = 0; first + *n < list->count && list->items[first + *n].job_id == job_id; ++*n)
		;
	return list->items ? &list->items[first] : NULL;
}

double dependencies_end(const struct snapshot *s, int64_t job_id)
{
	double end = (double)NAN, any = (double)NAN;
	int n;
	const struct dependency *after = dependencies_of(s, job_id, &n);

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

/* Returns why the job never runs; NULL: it may. */
static char *why_never(const struct dependency *after, int n)
{
	for (int i = 0; i < n; i++) {
		enum job_state state = after[i].after_state;

		if (!job_has_ended(state))
			continue;
		if (after[i].rule == AFTER_OK && state != JOB_DONE)
			return xasprintf("job %lld, which was to succeed first, is %s",
					 (long long)after[i].after_id, job_state_name(state));
		if (after[i].rule == AFTER_NOT_OK && state == JOB_DONE)
			return xasprintf("job %lld, which was to fail first, is done",
					 (long long)after[i].after_id);
	}
	return NULL;
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
	const struct dependency *after = dependencies_of(s, job->id, &n);
	char *never = why_never(after, n), *reason = never ? never : why_after(s, after, n);

	if (reason)
		pass_over(d, job, never, reason, (double)NAN);
	return reason;
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
