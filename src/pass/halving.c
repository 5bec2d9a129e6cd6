/* halving.c - sweeps whose runs are paused at rungs: who stays paused, and who goes on. */
#include <math.h>
#include <stdlib.h>

#include "decision.h"
#include "pollux/mem.h"

static const struct halving_sweep *sweep_of(const struct snapshot *s, const struct job *job)
{
	for (int g = 0; job->group_id && s->sweeps && g < s->groups.count; g++)
		if (s->groups.items[g].id == job->group_id && s->sweeps[g].halving.n_rungs > 0)
			return &s->sweeps[g];
	return NULL;
}

/* The run at a rung of a job that is paused. NULL: the job is not at a rung, or its run is still
 * there and goes on. */
static const struct halving_run *paused_run(const struct snapshot *s, const struct candidate *c)
{
	const struct halving_sweep *sweep = sweep_of(s, c->job);
	const struct halving_run *run = sweep ? halving_sweep_find(sweep, c->job->id) : NULL;

	return run && run->state == HALVING_PAUSED && !c->run ? run : NULL;
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
		const struct halving_run *run = paused_run(s, c);

		if (run && !run->goes_on) {
			struct text why = TEXT_INIT;

			halving_describe(&sweep_of(s, c->job)->halving, run, &why);
			pass_over(d, c->job, false, text_detach(&why), (double)NAN);
			continue;
		}
		c->turn = run ? run->turn : 0;
		d->candidates[n] = *c;
		d->sched_jobs[n++] = d->sched_jobs[j];
	}
	d->n = n;
}

/* A run that is this far beyond a rung, and reported no metric, is told that it was not paused
 * there. */
#define BEYOND 1.1

/* Says why a running job was not paused at the rung that it passed. NULL: it passed no rung. */
static char *describe_passed(const struct halving *h, const struct job *job, const struct run *run)
{
	int next = job->rung;		/* index of the rung after the last one */

	if (isnan(run->last_samples) && isnan(job->progress.samples) && job->progress.steps > 0)
		return xasprintf("passes its rungs: without --batch its position in samples is not "
				 "known");
	if (job->rung > job->passed_rungs)
		return xasprintf("goes on beyond rung %d of %d: it has saved nothing to be paused "
				 "with", job->rung, h->n_rungs);
	/* The comparison is false for a position that is not known. */
	if (next < h->n_rungs && job->passed_rungs <= h->n_rungs &&
	    run->last_samples > BEYOND * h->rungs[next])
		return xasprintf("goes on beyond rung %d of %d: it reported no %s there", next + 1,
				 h->n_rungs, h->metric);
	return NULL;
}

void explain_rungs(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];
		const struct halving_sweep *sweep = c->run ? sweep_of(s, c->job) : NULL;
		char *why = sweep && c->run->state == RUN_RUNNING
			? describe_passed(&sweep->halving, c->job, c->run) : NULL;

		if (why)
			put_reason_first(d->choices[j].reason, why);
		free(why);
	}
}
