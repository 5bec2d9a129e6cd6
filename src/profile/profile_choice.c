/* profile_choice.c - chooses the next point of a profile from all that is known of the workload,
 * and learns from the point. */
#include <math.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/store_jobs.h"
#include "pollux/supervise.h"
#include "profile_state.h"

/* The guess before any launch was timed. */
#define LAUNCH_GUESS_S 1.0
/* Growth may use this share of the budget. */
#define GROWTH_SHARE 0.5
/* A launch may take this multiple of the mean of earlier launches, plus a constant. The first may
 * take the whole budget. */
#define LAUNCH_PATIENCE 4.0
#define LAUNCH_PATIENCE_S 5.0

/* --- knowledge --- */

/* All that is known of the workload, also from runs of other jobs. */
struct known {
	struct knowledge knowledge;
	struct observation_list points;
};

static void add_point(struct known *k, struct observation point)
{
	struct observation_list *points = &k->points;

	points->items = xgrow(points->items, points->count, sizeof(*points->items));
	points->items[points->count++] = point;
}

static int read_known(struct profile *p, struct known *k, struct err *err)
{
	const char *workload = p->workload, *kind = p->devices[0].kind;
	const struct memory_bounds *b = &k->knowledge.memory;

	*k = (struct known){ 0 };
	if (knowledge_load(p->store, workload, kind, &k->knowledge, err) ||
	    knowledge_learn(p->store, workload, kind, "", &k->knowledge, err))
		return -1;
	for (int i = 0; i < k->knowledge.seen.count; i++) {
		struct observation point = k->knowledge.seen.items[i];
		const struct configuration *c = &point.configuration;

		/* An experiment has one kind of device, and its configurations do not name it. */
		point.configuration = configuration_at(configuration_place(c), c->local_batch_size,
						       c->accumulation_steps);
		add_point(k, point);
	}
	p->n_known = k->points.count;
	for (int i = 0; i < p->bad.count; i++)
		add_point(k, p->bad.items[i]);
	/* Where each device has its own memory, the number of replicas does not matter. */
	for (int i = 0; i < b->n_ran_out; i++)
		add_point(k, (struct observation){
			.configuration = {
				.replicas = b->shared ? b->ran_out[i].configuration.replicas : 0,
				.local_batch_size = b->ran_out[i].configuration.local_batch_size,
			},
			.outcome = OBSERVATION_NO_MEMORY,
		});
	return 0;
}

/* --- choosing --- */

/* The point's share of the rest of the budget, which is divided among the points still to come, or
 * among those that it suffices for, if these are fewer. */
static bool choose_trial(const struct profile *p, const struct known *k, struct trial *t)
{
	const struct declaration *d = &p->job->declared;
	double left = profile_left_s(p);
	double launch = p->n_launches > 0 ? p->launches_s / p->n_launches
		: isfinite(k->knowledge.restart_s) ? k->knowledge.restart_s : LAUNCH_GUESS_S;
	int most = p->settings->max_points > 0 ? p->settings->max_points : PROFILE_POINTS;
	double points = fmin(fmax(most - p->n_points, 1),
			     floor(left / (launch + EXPERIMENT_MEASURE_S)));
	int width = p->plan ? p->plan->width : 1;
	struct experiment e = {
		.limits = { .min_replicas = (d->min_replicas + width - 1) / width,
			    .max_replicas = p->n_devices / width, .batch = d->batch,
			    .shares_memory = device_backend_of(p->devices[0].id)->shares_memory },
		.points = k->points.items, .n_points = k->points.count,
		.fit = k->knowledge.model.fit, .launch_s = launch, .left_s = left,
		.growth_left_s = left - (1 - GROWTH_SHARE) * p->budget_s,
		.share_s = left / fmax(points, 1), .again = p->n_points == 0,
	};

	if (e.limits.max_replicas < e.limits.min_replicas ||
	    (p->n_points >= most && p->settings->max_points > 0))
		return false;
	/* Without a batch size there is only one point, which is measured once. */
	if (d->batch.size == 0 && p->n_measured > 0)
		return false;
	if (!experiment_next(&e, &t->choice))
		return false;
	t->measure_s = fmin(fmax(e.share_s, t->choice.expected_s), left) - launch;
	if (d->batch.size == 0)
		t->measure_s = left;
	t->launch_limit_s = p->n_launches == 0 ? left
		: fmin(left, LAUNCH_PATIENCE_S + LAUNCH_PATIENCE * launch);
	return true;
}

int profile_choose(struct profile *p, struct trial *t, bool *chosen, struct err *err)
{
	struct known k;
	int rc = read_known(p, &k, err);

	*chosen = rc == 0 && choose_trial(p, &k, t);
	knowledge_release(&k.knowledge);
	observation_list_release(&k.points);
	return rc;
}

/* ---- what a profile learns from a point, and why there is nothing to show ---- */

static void add_bad(struct profile *p, const struct trial *t)
{
	p->bad.items = xgrow(p->bad.items, p->bad.count, sizeof(*p->bad.items));
	p->bad.items[p->bad.count++] = (struct observation){
		.configuration = t->choice.configuration, .outcome = t->outcome,
	};
}

/* True if the supervisor was killed. The size is not the cause, so it is tried again. */
static bool lost_supervisor(const struct trial *t)
{
	return t->outcome != OBSERVATION_MEASURED &&
	       (t->run.outcome == OUTCOME_LOST || t->run.stop_reason == STOP_ORPHAN);
}

/* A size that lost PROFILE_MOST_LOST supervisors in a row is not tried again: it may be the cause
 * after all, and it would use up the budget. */
void profile_learn(struct profile *p, const struct trial *t)
{
	const struct configuration *c = &t->choice.configuration;
	double others_s = t->after.busy_s - t->before.busy_s - t->run.cpu_time_s;

	if (lost_supervisor(t)) {
		bool same = p->n_lost > 0 && configuration_equal(c, &p->lost);

		p->n_lost++;
		p->n_lost_there = same ? p->n_lost_there + 1 : 1;
		p->lost = *c;
		if (p->n_lost_there == PROFILE_MOST_LOST)
			add_bad(p, t);
		return;
	}
	p->n_points++;
	if (isfinite(t->run.first_step_s) && isfinite(t->run.stop_duration_s)) {
		p->launches_s += t->run.first_step_s + t->run.stop_duration_s;
		p->n_launches++;
	}
	if (isfinite(others_s)) {
		p->watched_s += t->after.boot_s - t->before.boot_s;
		p->others_s += fmax(others_s, 0);
		p->stolen_s += t->after.stolen_s - t->before.stolen_s;
		p->n_hot += t->after.n_hot - t->before.n_hot;
	}
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

/* Adds when the steps of a progress bar count. */
static void add_bar(struct text *text)
{
	text_addf(text, " (a progress bar counts after %g s, or at once if its total is --steps)",
		  PROFILE_BAR_LIFE_S);
}

/* Adds what to change in a command that ended by itself. */
static void add_mend(const struct profile *p, struct text *text)
{
	double steps = 0, samples = 0;		/* also where the store cannot be read */
	struct err ignored;
	struct job job;

	if (store_job_get(p->store, p->job->id, &job, &ignored) == 0) {
		steps = job.progress.steps;
		samples = job.progress.samples;
		job_release(&job);
	}
	if (isnan(steps) && isnan(samples)) {
		text_add(text, ": it printed or reported no step that pollux recognises");
		add_bar(text);
		text_add(text, "; 'pollux steps' shows which lines are steps, pollux-program(7) "
			 "how to report them");
		return;
	}
	if (steps > 0)
		text_addf(text, ", at step %.0f", steps);
	text_add(text, ": give it more to do, for at least half a second and two steps");
}

int profile_failed(const struct profile *p, const struct trial *t, struct err *err)
{
	const struct run *run = &t->run;
	bool started = run->outcome != OUTCOME_NOT_STARTED;
	scoped(text_release) struct text text = TEXT_INIT;

	if (!started) {
		text_add(&text, "the command could not be started");
		if (run->diagnosis && *run->diagnosis)
			text_addf(&text, ": %s", run->diagnosis);
	} else if (lost_supervisor(t)) {
		text_addf(&text, "its supervisor was killed, at %d point%s", p->n_lost,
			  plural(p->n_lost));
	} else if (t->outcome == OBSERVATION_TOO_SLOW) {
		text_addf(&text, "no step time in %.3g s: the program has to report its steps "
			  "(pollux-client(3), pollux-report(1)) or print them (pollux-steps(1)), "
			  "for at least half a second and two steps", run->duration_s);
		add_bar(&text);
	} else {
		text_add(&text, run->out_of_memory ? "even at its own sizes " : "the command ");
		profile_describe_end(run, &text);
	}
	if (started && !lost_supervisor(t) && t->outcome != OBSERVATION_TOO_SLOW &&
	    run->outcome == OUTCOME_COMPLETED)
		add_mend(p, &text);
	if (started)
		text_addf(&text, "; see 'pollux log %lld'", (long long)p->job->id);
	err_set(err, started ? EX_FAILED : EX_TEMPFAIL, "%s", text.data);
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
