/* group_limit.c - groups of which only so many jobs may run at a time: as many as submit
 * --max-running says, and of a sweep with rungs as many as there are devices, so that its runs do
 * not take turns: a run keeps its device from rung to rung. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "stages.h"

/* Counts the runs on which the policy does not decide: they stay where they are, or are ending. */
static int count_others(const struct snapshot *s, const struct decision *d, int64_t group)
{
	int n = 0;

	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct job *job = snapshot_job(s, run->job_id);
		int j = 0;

		if (!job || job->group_id != group || is_suspended(run))
			continue;
		while (j < d->n && d->candidates[j].run != run)
			j++;
		n += j == d->n;
	}
	return n;
}

/* Jobs that run come first, then those that wait with their memory, then those that ran before.
 * Those that go on from a rung follow by their turns, then new ones. */
enum place { PLACE_RUNS, PLACE_SUSPENDED, PLACE_STARTED, PLACE_TURNS };

static int place_in_group(const struct candidate *c)
{
	if (c->run)
		return PLACE_RUNS;
	if (c->suspended)
		return PLACE_SUSPENDED;
	if (c->turn)
		return PLACE_TURNS + c->turn;
	return c->job->progress.runs > 0 ? PLACE_STARTED : INT_MAX;
}

struct placed {
	int place, candidate;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->candidate - y->candidate;
}

/* Marks the candidates that are beyond the limits of their groups; jobs with a run never are. */
static void mark_beyond(const struct snapshot *s, const struct decision *d, int64_t group,
			int most, bool *beyond)
{
	struct placed *placed = xcalloc((size_t)d->n + 1, sizeof(*placed));
	int taken = count_others(s, d, group), n = 0;

	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].job->group_id == group)
			placed[n++] = (struct placed){ place_in_group(&d->candidates[j]), j };
	qsort(placed, (size_t)n, sizeof(*placed), by_place);
	for (int i = 0; i < n; i++) {
		bool *is = &beyond[placed[i].candidate];

		*is = placed[i].place > PLACE_SUSPENDED && taken >= most;
		taken += !*is;
	}
	free(placed);
}

/* 0: any number. */
static int limit_of(const struct snapshot *s, const struct decision *d, int g)
{
	int most = s->groups.items[g].max_running, devices = most_devices(d);

	if (!s->sweeps || s->sweeps[g].halving.n_rungs == 0)
		return most;
	devices = devices > 1 ? devices : 1;
	return most > 0 && most < devices ? most : devices;
}

void limit_groups(const struct snapshot *s, struct decision *d)
{
	bool *beyond;
	int n = 0;

	if (s->groups.count == 0)
		return;
	beyond = xcalloc((size_t)d->n + 1, sizeof(*beyond));
	for (int g = 0; g < s->groups.count; g++)
		if (limit_of(s, d, g) > 0)
			mark_beyond(s, d, s->groups.items[g].id, limit_of(s, d, g), beyond);
	for (int j = 0; j < d->n; j++)
		if (beyond[j])
			pass_over(d, d->candidates[j].job,
				  (struct fact){ .kind = FACT_GROUP_FULL })->beyond_limit = true;
		else
			keep_candidate(d, j, &n);
	d->n = n;
	free(beyond);
}

void explain_group_limits(const struct snapshot *s, struct decision *d)
{
	const struct passed_over *last = NULL;

	for (int i = 0; i < d->n_passed_over; i++) {
		struct passed_over *p = &d->passed_over[i];
		int64_t group = p->job->group_id;
		int running, most = 0;

		if (!p->beyond_limit)
			continue;
		if (last && last->job->group_id == group) {
			p->verdict = last->verdict;
			continue;
		}
		for (int g = 0; g < s->groups.count; g++)
			if (s->groups.items[g].id == group)
				most = limit_of(s, d, g);
		running = count_others(s, d, group);
		for (int j = 0; j < d->n; j++)
			running += d->candidates[j].job->group_id == group &&
				   d->choices[j].replicas > 0;
		for (int k = 0; k < d->n_passed_over; k++)
			running += d->passed_over[k].job->group_id == group &&
				   d->passed_over[k].processors;
		p->verdict = verdict_of((struct fact){
			running >= most ? FACT_GROUP_FULL : FACT_GROUP_BEHIND,
			.n = running, .of = most,
		});
		last = p;
	}
}

/* --- sweeps whose runs are paused at rungs --- */

/* NULL: the job is of no sweep with rungs. */
static const struct halving_sweep *sweep_of(const struct snapshot *s, const struct job *job)
{
	for (int g = 0; job->group_id && s->sweeps && g < s->groups.count; g++)
		if (s->groups.items[g].id == job->group_id && s->sweeps[g].halving.n_rungs > 0)
			return &s->sweeps[g];
	return NULL;
}

enum rung_pause rung_pause(const struct snapshot *s, int64_t job_id)
{
	for (int g = 0; s->sweeps && g < s->groups.count; g++) {
		const struct halving_run *run = halving_sweep_find(&s->sweeps[g], job_id);

		if (run && run->state == HALVING_PAUSED)
			return s->sweeps[g].over ? RUNG_PAUSE_FOR_GOOD : RUNG_PAUSE_FOR_NOW;
	}
	return RUNG_PAUSE_NONE;
}

void halve_sweeps(const struct snapshot *s, struct decision *d)
{
	int n = 0;

	for (int j = 0; j < d->n; j++) {
		struct candidate *c = &d->candidates[j];
		const struct halving_sweep *sweep = c->run ? NULL : sweep_of(s, c->job);
		const struct halving_run *run = sweep ? halving_sweep_find(sweep, c->job->id)
						      : NULL;
		bool paused = run && run->state == HALVING_PAUSED;

		c->turn = paused ? run->turn : 0;
		if (!paused || run->goes_on) {
			keep_candidate(d, j, &n);
			continue;
		}
		pass_over(d, c->job, (struct fact){
			FACT_PAUSED, .rung = { &sweep->halving, run },
		});
	}
	d->n = n;
}

/* A run that is this far beyond a rung, and reported no metric, is told that it was not paused
 * there. */
#define BEYOND 1.1

/* Tells a running job why it was not paused at the rung that it passed, if it passed any. */
static void tell_passed(const struct halving *h, const struct job *job, const struct run *run,
			struct verdict *v)
{
	int next = job->rung;		/* index of the rung after the last one */

	if (isnan(run->last_samples) && isnan(job->progress.samples) && job->progress.steps > 0)
		verdict_put_first(v, (struct fact){ .kind = FACT_RUNG_NO_POSITION });
	else if (job->rung > job->passed_rungs)
		verdict_put_first(v, (struct fact){ FACT_RUNG_UNSAVED, .n = job->rung,
						    .of = h->n_rungs });
	/* The comparison is false for a position that is not known. */
	else if (next < h->n_rungs && job->passed_rungs <= h->n_rungs &&
		 run->last_samples > BEYOND * h->rungs[next])
		verdict_put_first(v, (struct fact){ FACT_RUNG_NO_METRIC, .n = next + 1,
						    .of = h->n_rungs, .name = h->metric });
}

void explain_rungs(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];
		const struct halving_sweep *sweep = c->run ? sweep_of(s, c->job) : NULL;

		if (sweep && c->run->state == RUN_RUNNING)
			tell_passed(&sweep->halving, c->job, c->run, &d->choices[j].verdict);
	}
}
