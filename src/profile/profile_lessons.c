/* profile_lessons.c - what a profile learns from a point, and how it says why there is nothing to
 * show. */
#include <math.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/store_jobs.h"
#include "pollux/supervise.h"
#include "profile_state.h"

static void add_bad(struct profile *p, const struct trial *t)
{
	p->bad.items = xgrow(p->bad.items, p->bad.count, sizeof(*p->bad.items));
	p->bad.items[p->bad.count++] = (struct observation){
		.configuration = t->choice.configuration, .outcome = t->outcome,
	};
}

static void add_launch(struct profile *p, const struct trial *t)
{
	if (!isfinite(t->run.first_step_s) || !isfinite(t->run.stop_duration_s))
		return;
	p->launches_s += t->run.first_step_s + t->run.stop_duration_s;
	p->n_launches++;
}

/* Adds the processor time that other programs used during this run. */
static void add_others(struct profile *p, const struct trial *t)
{
	double others_s = t->after.busy_s - t->before.busy_s - t->run.cpu_time_s;

	if (!isfinite(others_s))
		return;
	p->watched_s += t->after.boot_s - t->before.boot_s;
	p->others_s += fmax(others_s, 0);
	p->stolen_s += t->after.stolen_s - t->before.stolen_s;
	p->n_hot += t->after.n_hot - t->before.n_hot;
}

/* True if the supervisor was killed. The size is not the cause, so it is tried again. */
static bool lost_supervisor(const struct trial *t)
{
	return t->outcome != OBSERVATION_MEASURED &&
	       (t->run.outcome == OUTCOME_LOST || t->run.stop_reason == STOP_ORPHAN);
}

/* Counts a killed supervisor. A size that lost PROFILE_MOST_LOST in a row is not tried again: it
 * may be the cause after all, and it would use up the budget. */
static void add_lost(struct profile *p, const struct trial *t)
{
	const struct configuration *c = &t->choice.configuration;
	bool same = p->n_lost > 0 && configuration_equal(c, &p->lost);

	p->n_lost++;
	p->n_lost_there = same ? p->n_lost_there + 1 : 1;
	p->lost = *c;
	if (p->n_lost_there == PROFILE_MOST_LOST)
		add_bad(p, t);
}

void profile_learn(struct profile *p, const struct trial *t)
{
	if (lost_supervisor(t)) {
		add_lost(p, t);
		return;
	}
	p->n_points++;
	add_launch(p, t);
	add_others(p, t);
	if (t->slowed) {
		p->n_slowed++;
		memcpy(p->slowed_by, t->slowed_by, sizeof(p->slowed_by));
	}
	if (t->outcome != OBSERVATION_MEASURED) {
		add_bad(p, t);
		return;
	}
	p->n_measured++;
	if (t->choice.probe || p->interrupted)
		return;
	p->n_lasting++;
	p->n_unsteady += !steady_reached(&t->observation);
}

/* --- failing --- */

/* Adds the step that the job reached. */
static void add_steps(const struct profile *p, struct text *text)
{
	struct err ignored;
	struct job job;

	if (store_job_get(p->store, p->job->id, &job, &ignored))
		return;
	if (job.progress.steps > 0)
		text_addf(text, ", at step %.0f", job.progress.steps);
	job_release(&job);
}

/* Describes in one line why there is nothing to show. */
static void describe_failure(const struct profile *p, const struct trial *t, struct text *text)
{
	const struct run *run = &t->run;

	if (run->outcome == OUTCOME_NOT_STARTED) {
		text_add(text, "the command could not be started");
		if (run->diagnosis && *run->diagnosis)
			text_addf(text, ": %s", run->diagnosis);
	} else if (lost_supervisor(t)) {
		text_addf(text, "its supervisor was killed, at %d point%s", p->n_lost,
			  p->n_lost == 1 ? "" : "s");
	} else if (t->outcome == OBSERVATION_TOO_SLOW) {
		text_addf(text, "no step time in %.3g s: the program has to report its steps "
			  "(pollux-client(3), pollux-report(1)) or print them (pollux-steps(1)), "
			  "for at least half a second and two steps (a progress bar counts after "
			  "%g s, or at once if its total is --steps)", run->duration_s,
			  PROFILE_BAR_LIFE_S);
	} else {
		text_add(text, run->out_of_memory ? "even at its own sizes " : "the command ");
		profile_describe_end(run, text);
		if (run->outcome == OUTCOME_COMPLETED) {
			add_steps(p, text);
			text_add(text,
				 ": give it more to do, for at least half a second and two steps");
		}
	}
}

int profile_failed(const struct profile *p, const struct trial *t, struct err *err)
{
	bool started = t->run.outcome != OUTCOME_NOT_STARTED;
	struct text text = TEXT_INIT;

	describe_failure(p, t, &text);
	if (started)
		text_addf(&text, "; see 'pollux log %lld'", (long long)p->job->id);
	err_set(err, started ? EX_FAILED : EX_TEMPFAIL, "%s", text.data);
	text_release(&text);
	return -1;
}

bool profile_is_hopeless(const struct profile *p, const struct trial *t)
{
	if (p->n_measured > 0 || p->interrupted || p->cancelled)
		return false;
	if (lost_supervisor(t))
		return p->n_lost >= PROFILE_MOST_LOST;
	return t->choice.why == EXPERIMENT_OWN &&
	       (t->outcome == OBSERVATION_FAILED || t->outcome == OBSERVATION_TOO_SLOW);
}
