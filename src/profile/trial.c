/* trial.c - tries one point: assigns a run, watches it until its step time is steady, and stops
 * it. */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/goodput.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "profile_state.h"

#define LOOK_S 0.1
#define COLLECT_S 2.0		/* the same where reports come by files of another machine */
#define LEAST_WINDOWS 2		/* windows needed for a step time */
/* the time after which a supervisor without a lock counts as dead */
#define SUPERVISOR_PATIENCE_S 3.0

double profile_left_s(const struct profile *p)
{
	return p->until_boot_s - clock_boot_s();
}

static int interruptions(const struct profile *p)
{
	return p->settings->interrupted ? p->settings->interrupted() : 0;
}

bool profile_is_interrupted(const struct profile *p)
{
	return interruptions(p) > 0;
}

/* --- assigning --- */

static double learning_rate_scale(const struct job *job, const struct configuration *c)
{
	const struct declaration *d = &job->declared;
	int64_t batch_size = configuration_batch_size(c);

	if (batch_size == d->batch.size)
		return 1;
	return goodput_lr_factor(job_lr_rule(job),
				 d->noise_scale > 0 ? d->noise_scale : (double)NAN,
				 (double)d->batch.size, (double)batch_size);
}

static void describe_choice(const struct experiment_choice *choice, struct text *t)
{
	const struct configuration *c = &choice->configuration;

	if (c->local_batch_size == 0) {
		text_addf(t, "%d device%s, its own batch", c->replicas,
			  c->replicas == 1 ? "" : "s");
		return;
	}
	text_add(t, "batch ");
	configuration_print(c, t);
	text_add(t, " (replicas, local batch, passes)");
}

static int add_run(struct profile *p, struct trial *t, struct err *err)
{
	const struct configuration *c = &t->choice.configuration;
	struct text reason = TEXT_INIT;
	struct run *run = &t->run;
	int rc;

	run->job_id = p->job->id;
	run->configuration = *c;
	if (p->plan) {
		memcpy(run->configuration.plan, p->plan->name, sizeof(p->plan->name));
		memcpy(run->plan_hash, p->plan->hash, sizeof(p->plan->hash));
		configuration_widen(&run->configuration, p->plan->width);
	}
	c = &run->configuration;
	run->configuration.tier = p->tiers[c->replicas];	/* of all devices, now widened */
	run->learning_rate_scale = learning_rate_scale(p->job, c);
	run->assigned_time_s = clock_wall_s();
	run->assigned_boot_s = clock_boot_s();
	run->devices = xcalloc((size_t)c->replicas, sizeof(*run->devices));
	memcpy(run->devices, p->devices, (size_t)c->replicas * sizeof(*run->devices));
	text_add(&reason, "a profile: tries ");
	describe_choice(&t->choice, &reason);
	if (p->plan)
		text_addf(&reason, " in plan %s", p->plan->name);
	rc = store_run_add(p->store, run, err) ||
			     store_event_add(p->store, run->job_id, run->id, "point",
					     experiment_why_name(t->choice.why), err) ||
			     store_job_set_reason(p->store, run->job_id, reason.data,
						  clock_wall_s() + profile_left_s(p), err)
		     ? -1
		     : 0;
	text_release(&reason);
	return rc;
}

/* Sets *ended if the job has ended. It may have been cancelled between two runs, and has then lost
 * its devices. */
int profile_has_ended(struct profile *p, bool *ended, struct err *err)
{
	struct job job;

	if (store_job_get(p->store, p->job->id, &job, err))
		return -1;
	*ended = job_has_ended(job.state);
	job_release(&job);
	return 0;
}

static int assign(struct profile *p, struct trial *t, struct err *err)
{
	int rc;

	if (store_begin(p->store, err))
		return -1;
	rc = profile_has_ended(p, &p->cancelled, err);
	if (rc == 0 && !p->cancelled)
		rc = add_run(p, t, err);
	if (rc || p->cancelled) {
		store_rollback(p->store);
		return rc;
	}
	return store_commit(p->store, err);
}

/* --- watching --- */

/* Takes in what the run has written elsewhere. */
static int collect_lines(const struct profile *p, const struct trial *t, struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	const struct engine *engine = engine_of(&t->run);
	struct strings lines = { 0 };
	int rc = engine->collect ? engine->collect(&at, &lines, err) : 0;

	for (size_t i = 0; i < lines.count; i++)
		dprintf(STDERR_FILENO, "pollux: %s\n", lines.items[i]);
	strings_release(&lines);
	return rc;
}

static int refresh(struct profile *p, struct trial *t, struct err *err)
{
	int64_t id = t->run.id;

	if (collect_lines(p, t, err))
		return -1;
	run_release(&t->run);
	if (store_run_get(p->store, id, &t->run, err))
		return -1;
	return store_observation_get(p->store, &t->run, &t->observation, err);
}

static bool has_launched(const struct trial *t)
{
	return isfinite(t->run.first_step_s);
}

static bool is_enough(const struct trial *t)
{
	const struct observation *o = &t->observation;

	if (t->choice.probe)
		return o->n_windows >= LEAST_WINDOWS && o->n_steps >= EXPERIMENT_PROBE_STEPS;
	return steady_reached(o);
}

/* True for the first measurement of the job's own sizes. They may use the whole budget, since the
 * model rests on them. */
static bool is_first_measurement(const struct profile *p, const struct trial *t)
{
	return t->choice.why == EXPERIMENT_OWN && p->n_measured == 0 &&
	       t->observation.n_windows < LEAST_WINDOWS;
}

static bool is_time_over(const struct profile *p, const struct trial *t)
{
	double now = clock_boot_s();

	if (has_launched(t) && is_first_measurement(p, t))
		return profile_left_s(p) <= 0;
	if (has_launched(t))
		return now >= t->run.launch_boot_s + t->run.first_step_s + t->measure_s;
	return now >= fmax(t->run.launch_boot_s, t->run.assigned_boot_s) + t->launch_limit_s;
}

/* asked_boot_s: the time of the request to stop; NaN: none. */
static void tell_progress(const struct profile *p, const struct trial *t, double asked_boot_s)
{
	struct profile_progress progress = {
		.stops_in_s = asked_boot_s + p->job->declared.grace_s +
			      engine_of(&t->run)->kill_wait_s - clock_boot_s(),
		.interrupted = interruptions(p) > 0,
		.n_points = p->n_points, .choice = &t->choice, .observation = &t->observation,
		.launched = has_launched(t), .left_s = profile_left_s(p),
	};

	if (p->settings->progress)
		p->settings->progress(&progress, p->settings->arg);
}

static void nap(double seconds)
{
	struct timespec pause = { .tv_sec = (time_t)seconds };

	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	nanosleep(&pause, NULL);
}

/* Replaces a supervisor that was killed, as a pass would. The new one stops what is left and ends
 * the run. */
static int see_to_supervisor(const struct profile *p, const struct trial *t, double *asked_boot_s,
			     struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	enum engine_answer answer;
	double now = clock_boot_s();

	if (now < *asked_boot_s + SUPERVISOR_PATIENCE_S)
		return 0;
	*asked_boot_s = now;
	if (engine_poll_one(&at, &t->run, &answer, err))
		return -1;
	return answer == ENGINE_UNATTENDED ? engine_attend(&at, &t->run, err) : 0;
}

static int ask_to_stop(struct profile *p, const struct trial *t, enum stop_reason reason,
		       struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };

	if (store_run_request_stop(p->store, t->run.id, reason, clock_boot_s(), err))
		return -1;
	engine_wake(&at, &t->run);
	return 0;
}

/* Looks for slowed devices while the run still works. Only GPUs are asked, which takes
 * milliseconds; CPU slots have counters that are read afterwards. */
static void look_at_devices(const struct profile *p, struct trial *t)
{
	const struct device_backend *backend = device_backend_of(p->devices[0].id);

	if (backend && backend->processes)
		t->slowed = machine_is_slowed(p->devices, t->run.configuration.replicas,
					      &p->settings->config, t->slowed_by,
					      sizeof(t->slowed_by));
}

/* Watches the run to its end. After a second interruption the supervisor ends the run and the job
 * alone. */
static int watch_run(struct profile *p, struct trial *t, struct err *err)
{
	double asked_boot_s = clock_boot_s();
	double stopping_boot_s = (double)NAN;

	while (t->run.state != RUN_ENDED && !p->abandoned) {
		nap(engine_of(&t->run)->collect ? COLLECT_S : LOOK_S);
		if (refresh(p, t, err) || see_to_supervisor(p, t, &asked_boot_s, err))
			return -1;
		tell_progress(p, t, stopping_boot_s);
		if (isnan(stopping_boot_s) &&
		    (is_enough(t) || is_time_over(p, t) || interruptions(p) > 0)) {
			stopping_boot_s = clock_boot_s();
			look_at_devices(p, t);
			if (ask_to_stop(p, t, STOP_MEASURED, err))
				return -1;
		}
		if (interruptions(p) > 1) {
			p->abandoned = true;
			if (ask_to_stop(p, t, STOP_CANCEL, err))
				return -1;
		}
	}
	p->cancelled |= p->abandoned;
	return 0;
}

/* --- the outcome --- */

static enum observation_outcome outcome_of(const struct trial *t)
{
	if (t->observation.n_windows > 0)
		return OBSERVATION_MEASURED;
	if (t->run.out_of_memory)
		return OBSERVATION_NO_MEMORY;
	return t->run.outcome == OUTCOME_FAILED || t->run.outcome == OUTCOME_COMPLETED
		? OBSERVATION_FAILED : OBSERVATION_TOO_SLOW;
}

int profile_try(struct profile *p, struct trial *t, struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	bool is_here;

	run_init(&t->run);
	observation_init(&t->observation);
	if (assign(p, t, err))
		return -1;
	if (p->cancelled)
		return 0;
	is_here = !engine_of(&t->run)->collect;
	if (is_here)
		t->before = machine_time_now();
	if (engine_attend(&at, &t->run, err) || watch_run(p, t, err))
		return -1;
	if (is_here)
		t->after = machine_time_now();
	t->outcome = outcome_of(t);
	p->cancelled |= t->run.stop_reason == STOP_CANCEL;
	return 0;
}
