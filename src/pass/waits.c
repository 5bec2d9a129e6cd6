/* waits.c - jobs that are not in question yet: they come after others, begin later, pause after a
 * failure, have no room on their disk, or wait for the one GPU on which they can go on. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "stages.h"

/* Returns the dependencies of the job, as they are after this pass; *n: their number. The list is
 * in the order of the jobs. */
static const struct dependency *dependencies_of(const struct decision *d, int64_t job_id, int *n)
{
	const struct dependency_list *list = &d->after;
	int low = 0, high = list->count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (list->items[middle].job_id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < list->count && list->items[low + *n].job_id == job_id; ++*n)
		;
	return list->items ? &list->items[low] : NULL;
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

struct passed_over *pass_over(struct decision *d, const struct job *job, struct fact why)
{
	struct passed_over *p = &d->passed_over[d->n_passed_over++];

	*p = (struct passed_over){ .job = job, .verdict = verdict_of(why),
				   .next_start_s = (double)NAN };
	return p;
}

/* True if the job that the dependency is of can never start. */
static bool is_broken(const struct dependency *d)
{
	return job_has_ended(d->after_state) &&
	       ((d->rule == AFTER_OK && d->after_state != JOB_DONE) ||
		(d->rule == AFTER_NOT_OK && d->after_state == JOB_DONE));
}

/* --- jobs that can never start, and those behind them --- */

/* Each round cancels a job, and those that wait for it see that in the next one. Most jobs wait for
 * earlier ones, so that one round finds nearly all. */
void find_dependencies(const struct snapshot *s, struct decision *d)
{
	const struct job *jobs = s->jobs.items;
	bool *cancelled = xcalloc((size_t)s->jobs.count, sizeof(*cancelled)), again = true;
	int n = s->dependencies.count;

	d->after.count = n;
	d->after.items = xcalloc((size_t)n, sizeof(*d->after.items));
	for (int i = 0; i < n; i++)
		d->after.items[i] = s->dependencies.items[i];
	for (int j = 0; s->deserted && j < s->jobs.count; j++)
		cancelled[j] = s->deserted[j] && may_start(s, &jobs[j]);
	while (again) {
		again = false;
		for (int i = 0; i < n; i++) {
			struct dependency *after = &d->after.items[i];
			const struct job *job = snapshot_job(s, after->job_id);
			const struct job *first = snapshot_job(s, after->after_id);

			if (first && cancelled[first - jobs]) {
				after->after_state = JOB_CANCELLED;
				after->after_end_time_s = s->now_wall_s;
			}
			/* a held job, which is not in the snapshot, is left to its holder */
			if (!job || cancelled[job - jobs] || !is_broken(after) ||
			    !may_start(s, job))
				continue;
			cancelled[job - jobs] = again = true;
		}
	}
	free(cancelled);
}

/* True if nothing more comes of the other job: it has ended, or is paused at a rung of a sweep that
 * is over, which is no failure. */
static bool is_over(const struct snapshot *s, const struct dependency *d)
{
	return job_has_ended(d->after_state) ||
	       rung_pause(s, d->after_id) == RUNG_PAUSE_FOR_GOOD;
}

static const char *state_of(const struct dependency *d)
{
	return job_state_clause(d->after_state, d->after_set_aside);
}

/* True if the job still waits for others; sets *why. */
static bool is_after(const struct snapshot *s, const struct dependency *after, int n,
		     struct fact *why)
{
	bool any_is_over = false;
	int n_any = 0;

	for (int i = 0; i < n; i++) {
		n_any += after[i].rule == AFTER_ANY;
		any_is_over |= after[i].rule == AFTER_ANY && is_over(s, &after[i]);
	}
	for (int i = 0; i < n; i++) {
		bool is_any = after[i].rule == AFTER_ANY, of_several = is_any && n_any > 1;

		if (is_over(s, &after[i]) || (is_any && any_is_over))
			continue;
		*why = (struct fact){ of_several ? FACT_AFTER_ANY : FACT_AFTER, .of = n_any,
				      .job = after[i].after_id, .why = state_of(&after[i]) };
		return true;
	}
	return false;
}

bool waits_for_another(const struct snapshot *s, const struct job *job, struct decision *d)
{
	int n;
	const struct dependency *after = dependencies_of(d, job->id, &n);
	struct fact why;

	for (int i = 0; i < n; i++)
		if (is_broken(&after[i])) {
			struct passed_over *p = pass_over(d, job, (struct fact){
				after[i].rule == AFTER_OK ? FACT_WAS_TO_SUCCEED : FACT_WAS_TO_FAIL,
				.job = after[i].after_id, .why = state_of(&after[i]),
			});

			p->never = true;
			p->cancelled_for = after[i].after_id;
			return true;
		}
	if (!is_after(s, after, n, &why))
		return false;
	pass_over(d, job, why);
	return true;
}

bool waits_to_begin(const struct snapshot *s, const struct job *job, struct decision *d)
{
	double begin_s = job->declared.begin_s;	/* NaN: at once */

	if (!(begin_s > s->now_wall_s))
		return false;
	pass_over(d, job, (struct fact){ FACT_BEGINS, .seconds = begin_s })->next_start_s = begin_s;
	return true;
}

/* --- retries --- */

/* After its k-th failure a job waits 10 s * 2^(k-1) before it is tried again, 10 minutes at
 * most. */
#define RETRY_WAIT_S 10.0
#define RETRY_WAIT_MAX_S 600.0
#define RETRY_DOUBLINGS_MAX 9

bool waits_for_retry(const struct snapshot *s, const struct job *job, struct decision *d)
{
	const struct setback *setback = &s->setbacks[job - s->jobs.items];
	bool lost = setback->kind == SETBACK_LOST;
	int n = lost ? setback->n_lost : setback->n;
	int doublings = n - 1 < RETRY_DOUBLINGS_MAX ? n - 1 : RETRY_DOUBLINGS_MAX;
	double wait_s = fmin(RETRY_WAIT_S * pow(2, doublings), RETRY_WAIT_MAX_S);
	double again_s = setback->end_boot_s + wait_s;
	int ran_out = 0, failures = job->progress.failures;
	struct fact why = { FACT_PAUSES, .seconds = wait_s };

	for (int i = 0; i < s->ran_out.count; i++)
		ran_out += s->ran_out.items[i].job_id == job->id;
	/* A job whose last runs all ran out of memory, each on another kind of device, moves on to
	 * more memory at once. A single loss may be an accident. */
	if (setback->n == 0 || s->now_boot_s >= again_s ||
	    (ran_out > 0 && ran_out >= setback->n) || (lost && n == 1))
		return false;
	if (lost) {
		why.kind = FACT_LOST;
		why.n = n;
	} else if (setback->kind != SETBACK_FAILED) {
		why.kind = FACT_NOT_STARTED;
		why.why = setback->diagnosis;
	} else if (failures > 0) {
		why.kind = FACT_FAILED;
		why.n = failures;
		why.of = job->declared.retries;
	}
	pass_over(d, job, why)->next_start_s = s->now_wall_s + again_s - s->now_boot_s;
	return true;
}

/* The verdict has no numbers where all jobs have the same: numbers change, and each change
 * would be written to the store for each job. 'pollux status' tells the numbers. */
bool waits_for_disk(const struct snapshot *s, const struct job *job, struct decision *d)
{
	const char *full = snapshot_full_disk(s, job);

	if (!s->disk_full && !full)
		return false;
	pass_over(d, job, (struct fact){ s->disk_full ? FACT_DISK_FULL : FACT_CANNOT_SAVE,
					 .why = full });
	return true;
}

/* --- a GPU that the settings leave out --- */

/* Such a GPU has no new runs. The runs that are there stay, and those that are suspended there,
 * which can go on nowhere else, go on one after the other. */

/* The first device of the run that is left out; -1: none. */
static int first_left_out(const struct snapshot *s, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		int device = snapshot_device(s, &run->devices[i]);

		if (device >= 0 && s->devices.items[device].left_out)
			return device;
	}
	return -1;
}

bool is_bound_to_left_out(const struct snapshot *s, const struct run *run)
{
	return run_is_bound(run) && first_left_out(s, run) >= 0;
}

/* The job of another run that has the device, or gets it in this pass; 0: none. */
static int64_t job_on(const struct snapshot *s, const struct decision *d,
		      const struct device *device)
{
	for (int r = 0; r < s->runs.count; r++)
		for (int i = 0; i < run_held(&s->runs.items[r]); i++)
			if (device_overlaps(&s->runs.items[r].devices[i], device))
				return s->runs.items[r].job_id;
	for (int p = 0; p < d->n_passed_over; p++) {
		const struct run *run = d->passed_over[p].resumes;

		for (int i = 0; run && i < run->configuration.replicas; i++)
			if (device_overlaps(&run->devices[i], device))
				return run->job_id;
	}
	return 0;
}

/* Tells if, and when, the run can have the device: FACT_GOES_ON: now. */
static struct fact when_on(const struct snapshot *s, const struct decision *d, int i)
{
	const struct device *device = i >= 0 ? &s->devices.items[i] : NULL;
	int64_t job_id = device ? job_on(s, d, device) : 0;

	if (job_id)
		return (struct fact){ FACT_GOES_ON_AFTER, .job = job_id };
	if (device && device_user_worst(&s->users, i))
		return (struct fact){ .kind = FACT_GOES_ON_ALONE };
	if (device && !(s->holds && s->holds[i].job_id) &&
	    (device->left_out ? device->keeps_runs : d->usable[i]))
		return (struct fact){ .kind = FACT_GOES_ON };
	return (struct fact){ device ? FACT_GOES_ON_USABLE : FACT_GOES_ON_ALL_USABLE,
			      .name = device ? device->name : NULL };
}

bool waits_on_left_out(const struct snapshot *s, const struct job *job, const struct run *run,
		       struct decision *d)
{
	const struct device *left_out;
	struct fact when = { .kind = FACT_GOES_ON };
	struct passed_over *p;

	if (!is_suspended(run) || !is_bound_to_left_out(s, run))
		return false;
	left_out = &s->devices.items[first_left_out(s, run)];
	for (int i = 0; when.kind == FACT_GOES_ON && i < run->configuration.replicas; i++)
		when = when_on(s, d, snapshot_device(s, &run->devices[i]));
	p = pass_over(d, job, (struct fact){ FACT_BOUND, .name = left_out->name,
					     .why = left_out->reason });
	verdict_add(&p->verdict, when);
	p->resumes = when.kind == FACT_GOES_ON ? run : NULL;
	return true;
}
