/* interactive.c - jobs of 'pollux run', called turns here: turns whose process is gone; when turns
 * come first; what other jobs are told of turns. */
#include <limits.h>
#include <math.h>

#include "actions.h"
#include "pollux/clock.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "stages.h"

/* A run that its 'pollux run' has not begun for so long is called off: that process was stopped. */
#define BEGIN_WITHIN_S 60.0

/* --- read --- */

int read_interactive(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	bool any = false;

	s->deserted = xcalloc((size_t)s->jobs.count + 1, sizeof(*s->deserted));
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];

		any = any || job->interactive;
		s->deserted[i] = job->interactive &&
				 !job_lock_is_held(at->paths, JOB_LOCK_INTERACTIVE, job->id);
		for (int r = 0; job->interactive && r < s->runs.count; r++) {
			const struct run *run = &s->runs.items[r];

			s->deserted[i] |= run->job_id == job->id && run->state == RUN_ASSIGNED &&
					  s->answers[r] == ENGINE_UNATTENDED &&
					  clock_boot_s() > run->assigned_boot_s + BEGIN_WITHIN_S;
		}
	}
	s->interactive_rest_boot_s = -HUGE_VAL;
	return any ? store_interactive_rest(at->store, &s->interactive_rest_boot_s, err) : 0;
}

/* --- decide --- */

bool is_deserted(const struct snapshot *s, const struct job *job, struct decision *d)
{
	if (!s->deserted || !s->deserted[job - s->jobs.items])
		return false;
	pass_over(d, job, (struct fact){ .kind = FACT_RUN_IS_GONE })->never = true;
	return true;
}

/* A turn comes before all jobs that wait. But if a turn would leave no device to the queue, it
 * comes first only after the queue has had the devices for as long as the last turns had them. */
void put_interactive_first(const struct snapshot *s, struct decision *d)
{
	bool rests = s->now_boot_s < s->interactive_rest_boot_s;
	int held = 0;

	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].job->interactive && d->candidates[j].run)
			held += run_held(d->candidates[j].run);
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];

		if (!c->job->interactive)
			continue;
		d->sched_jobs[j].preemptible = false;
		if (!c->run && (!rests || held + d->sched_jobs[j].min_replicas < d->n_usable))
			d->sched_jobs[j].first = INT_MAX;
	}
}

/* --- verdicts --- */

static bool has_turn(const struct decision *d, int j)
{
	return d->candidates[j].job->interactive && d->choices[j].replicas > 0;
}

/* The end of a turn, wall clock; a turn that has not begun counts from now. */
static double turn_end_s(const struct snapshot *s, const struct candidate *c)
{
	double begin_s = c->run ? c->run->launch_time_s : (double)NAN;

	return (isnan(begin_s) ? s->now_wall_s : begin_s) + c->job->declared.time_limit_s;
}

/* Tells each turn when it ends. Tells a waiting job that it waits for turns, if all devices without
 * the turns' would be too few for the job. */
void explain_interactive(const struct snapshot *s, struct decision *d)
{
	double end_s = -HUGE_VAL;		/* of the last turn */
	int held = 0;

	for (int j = 0; j < d->n; j++)
		if (has_turn(d, j)) {
			held += d->choices[j].replicas;
			end_s = fmax(end_s, turn_end_s(s, &d->candidates[j]));
		}
	for (int j = 0; held > 0 && j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];
		struct sched_choice *choice = &d->choices[j];
		int least = d->sched_jobs[j].min_replicas;

		if (has_turn(d, j)) {
			choice->verdict = verdict_of((struct fact){ FACT_INTERACTIVE,
								    .seconds = turn_end_s(s, c) });
		} else if (choice->replicas == 0 && least <= d->n_usable &&
			   least > d->n_usable - held) {
			choice->verdict = verdict_of((struct fact){ FACT_TURNS, .devices = held,
								    .seconds = end_s });
			choice->next_start_s = end_s - s->now_wall_s + s->now_boot_s;
		}
	}
}

/* --- actions --- */

/* Calls off runs that nobody is going to begin, as the 'pollux run' of the job is gone. Runs that
 * were begun are ended by their supervisors, which see the same. */
void call_off_deserted(const struct snapshot *s, struct actions *p)
{
	for (int i = 0; i < s->jobs.count; i++) {
		const struct run *run = snapshot_run_of(s, &s->jobs.items[i]);

		if (s->deserted && s->deserted[i] && run && run->state == RUN_ASSIGNED)
			actions_add(p, ACTION_CALL_OFF, run->job_id, run, NULL);
	}
}
