/* trial.c - tries one point: assigns a run, watches it until its step time is steady, and stops
 * it. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/file.h"
#include "pollux/goodput.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "profile_state.h"

static const struct timespec look_pause = { .tv_nsec = 100000000 };
/* where reports come by files of another machine */
static const struct timespec collect_pause = { .tv_sec = 2 };
#define LEAST_WINDOWS 2		/* windows needed for a step time */
/* the time after which a supervisor without a lock counts as dead */
#define SUPERVISOR_PATIENCE_S 3.0

/* --- the machine's clocks --- */

/* Reads the times of the processors, "cpu user nice system idle iowait irq softirq steal ..." in
 * ticks, the time for which a quota of the container held back its processes, and how often heat
 * slowed a core. */
static struct machine_time machine_time_now(void)
{
	enum { USER, NICE, SYSTEM, IDLE, WAIT, IRQ, SOFTIRQ, STEAL, N };
	double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK), s[N] = { 0 };
	struct machine_time t = { .boot_s = clock_boot_s() };
	char line[512], *p = line;
	glob_t files;

	if (file_find_line("/proc/stat", "cpu ", line, sizeof(line)))
		for (int i = 0; i < N; i++)
			s[i] = (double)strtoull(p, &p, 10) * tick_s;
	t.busy_s = s[USER] + s[NICE] + s[SYSTEM] + s[IRQ] + s[SOFTIRQ];
	file_find_line("/sys/fs/cgroup/cpu.stat", "throttled_usec ", line, sizeof(line));
	t.stolen_s = s[STEAL] + 1e-6 * (double)strtoull(line, NULL, 10);
	if (glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count", 0, NULL,
		 &files))
		return t;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		file_find_line(files.gl_pathv[i], "", line, sizeof(line));
		t.n_hot += strtoll(line, NULL, 10);
	}
	globfree(&files);
	return t;
}

/* --- the profile's --- */

double profile_left_s(const struct profile *p)
{
	return p->until_boot_s - clock_boot_s();
}

int profile_interruptions(const struct profile *p)
{
	return p->settings->interrupted ? p->settings->interrupted() : 0;
}

/* --- assigning --- */

static void describe_choice(const struct profile *p, const struct experiment_choice *choice,
			    struct text *t)
{
	const struct configuration *c = &choice->configuration;

	text_add(t, "a profile: tries ");
	if (c->local_batch_size == 0) {
		text_addf(t, "%d device%s, its own batch", c->replicas, plural(c->replicas));
	} else {
		text_add(t, "batch ");
		configuration_print(c, t);
		text_add(t, " (replicas, local batch, passes)");
	}
	if (p->plan)
		text_addf(t, " in plan %s", p->plan->name);
}

static int add_run(struct profile *p, struct trial *t, struct err *err)
{
	const struct declaration *d = &p->job->declared;
	struct run *run = &t->run;
	struct configuration *c = &run->configuration;
	scoped(text_release) struct text reason = TEXT_INIT;
	double batch_size;

	run->job_id = p->job->id;
	*c = t->choice.configuration;
	if (p->plan) {
		memcpy(c->plan, p->plan->name, sizeof(p->plan->name));
		memcpy(run->plan_hash, p->plan->hash, sizeof(p->plan->hash));
		configuration_widen(c, p->plan->width);
	}
	c->tier = p->tiers[c->replicas];	/* of all devices, now widened */
	batch_size = (double)configuration_batch_size(c);
	run->learning_rate_scale = configuration_batch_size(c) == d->batch.size ? 1
		: goodput_lr_factor(job_lr_rule(p->job),
				    d->noise_scale > 0 ? d->noise_scale : (double)NAN,
				    (double)d->batch.size, batch_size);
	run->assigned_time_s = clock_wall_s();
	run->assigned_boot_s = clock_boot_s();
	run->devices = xcalloc((size_t)c->replicas, sizeof(*run->devices));
	memcpy(run->devices, p->devices, (size_t)c->replicas * sizeof(*run->devices));
	describe_choice(p, &t->choice, &reason);
	return store_run_add(p->store, run, err) ||
	       store_event_add(p->store, run->job_id, run->id, "point",
			       experiment_why_name(t->choice.why), err) ||
	       store_job_set_reason(p->store, run->job_id, reason.data,
				    clock_wall_s() + profile_left_s(p), err) ? -1 : 0;
}

/* Sets *ended if the job has ended. It may have been cancelled between two runs, and has then lost
 * its devices. */
int profile_has_ended(struct profile *p, bool *ended, struct err *err)
{
	scoped(job_release) struct job job = { 0 };

	if (store_job_get(p->store, p->job->id, &job, err))
		return -1;
	*ended = job_has_ended(job.state);
	return 0;
}

/* --- watching --- */

/* Reads how far the run is, with what it has written elsewhere. */
static int refresh(struct profile *p, struct trial *t, struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	const struct engine *engine = engine_of(&t->run);
	scoped(strings_release) struct strings lines = { 0 };
	int64_t id = t->run.id;
	int rc = engine->collect ? engine->collect(&at, &lines, err) : 0;

	for (size_t i = 0; i < lines.count; i++)
		dprintf(STDERR_FILENO, "pollux: %s\n", lines.items[i]);
	if (rc)
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

/* True if the point is measured, or its time is over. The first measurement of the job's own sizes
 * may use the whole budget, since the model rests on it. */
static bool is_over(const struct profile *p, const struct trial *t)
{
	const struct observation *o = &t->observation;
	double now = clock_boot_s();

	if (t->choice.probe ? o->n_windows >= LEAST_WINDOWS && o->n_steps >= EXPERIMENT_PROBE_STEPS
			    : steady_reached(o))
		return true;
	if (!has_launched(t))
		return now >= fmax(t->run.launch_boot_s, t->run.assigned_boot_s) +
			      t->launch_limit_s;
	if (t->choice.why == EXPERIMENT_OWN && p->n_measured == 0 && o->n_windows < LEAST_WINDOWS)
		return profile_left_s(p) <= 0;
	return now >= t->run.launch_boot_s + t->run.first_step_s + t->measure_s;
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

static int ask_to_stop(struct profile *p, struct trial *t, enum stop_reason reason,
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
	scoped(devices_release) struct device_list list = { 0 };
	struct err ignored;

	t->slowed = false;
	if (!backend || !backend->processes ||
	    engine_devices(&p->settings->config, true, &list, &ignored))
		return;
	for (int d = 0; d < list.count; d++)
		for (int i = 0; i < t->run.configuration.replicas; i++)
			if (list.items[d].now.slowed_by &&
			    !strcmp(list.items[d].id, p->devices[i].id)) {
				t->slowed = true;
				snprintf(t->slowed_by, sizeof(t->slowed_by), "%s",
					 list.items[d].now.slowed_by);
			}
}

/* Watches the run to its end. After a second interruption the supervisor ends the run and the job
 * alone. */
static int watch_run(struct profile *p, struct trial *t, struct err *err)
{
	double asked_boot_s = clock_boot_s(), stopping_boot_s = (double)NAN;

	while (t->run.state != RUN_ENDED && !p->abandoned) {
		bool elsewhere = engine_of(&t->run)->collect;

		nanosleep(elsewhere ? &collect_pause : &look_pause, NULL);
		if (refresh(p, t, err) || see_to_supervisor(p, t, &asked_boot_s, err))
			return -1;
		if (p->settings->progress)
			p->settings->progress(&(struct profile_progress){
				.stops_in_s = stopping_boot_s + p->job->declared.grace_s +
					      engine_of(&t->run)->kill_wait_s - clock_boot_s(),
				.interrupted = profile_interruptions(p) > 0,
				.n_points = p->n_points, .choice = &t->choice,
				.observation = &t->observation, .launched = has_launched(t),
				.left_s = profile_left_s(p),
			}, p->settings->arg);
		if (isnan(stopping_boot_s) && (is_over(p, t) || profile_interruptions(p) > 0)) {
			stopping_boot_s = clock_boot_s();
			look_at_devices(p, t);
			if (ask_to_stop(p, t, STOP_MEASURED, err))
				return -1;
		}
		p->abandoned = profile_interruptions(p) > 1;
		if (p->abandoned && ask_to_stop(p, t, STOP_CANCEL, err))
			return -1;
	}
	p->cancelled |= p->abandoned;
	return 0;
}

int profile_try(struct profile *p, struct trial *t, struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	bool is_here;
	int rc;

	run_init(&t->run);
	observation_init(&t->observation);
	if (store_begin(p->store, err))
		return -1;
	rc = profile_has_ended(p, &p->cancelled, err);
	if (rc == 0 && !p->cancelled)
		rc = add_run(p, t, err);
	if (rc || p->cancelled) {
		store_rollback(p->store);
		return rc;
	}
	if (store_commit(p->store, err))
		return -1;
	is_here = !engine_of(&t->run)->collect;
	if (is_here)
		t->before = machine_time_now();
	if (engine_attend(&at, &t->run, err) || watch_run(p, t, err))
		return -1;
	if (is_here)
		t->after = machine_time_now();
	if (t->observation.n_windows > 0)
		t->outcome = OBSERVATION_MEASURED;
	else if (t->run.out_of_memory)
		t->outcome = OBSERVATION_NO_MEMORY;
	else
		t->outcome = t->run.outcome == OUTCOME_FAILED || t->run.outcome == OUTCOME_COMPLETED
			? OBSERVATION_FAILED : OBSERVATION_TOO_SLOW;
	p->cancelled |= t->run.stop_reason == STOP_CANCEL;
	return 0;
}
