/* profile.c - measures a command: chooses a point, tries it and learns, until the budget is used
 * up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/job_lock.h"
#include "pollux/mem.h"
#include "pollux/remove_tree.h"
#include "pollux/steady.h"
#include "pollux/store_events.h"
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

static const char *kind_of(const struct profile *p)
{
	return p->devices[0].kind;
}

static struct experiment_point point_of(const struct pool_entry *entry)
{
	const struct observation *o = &entry->observation;
	const struct configuration *c = &entry->configuration;

	/* An experiment has one kind of device, and its configurations do not name it. */
	return (struct experiment_point){
		.configuration = configuration_at(configuration_place(c), c->local_batch_size,
						  c->accumulation_steps),
		.outcome = EXPERIMENT_MEASURED, .sync_known = isfinite(o->sync_time_s),
		.weight = fit_weight(o->step_time_s, o->step_time_sd_s, o->n_windows),
	};
}

/* All that is known of the workload, also from runs of other jobs. */
struct known {
	struct knowledge knowledge;
	struct experiment_point *points;	/* owned */
	int n;
};

static void add_point(struct known *k, struct experiment_point point)
{
	k->points = xreallocarray(k->points, (size_t)k->n + 1, sizeof(*k->points));
	k->points[k->n++] = point;
}

static void release_known(struct known *k)
{
	knowledge_release(&k->knowledge);
	free(k->points);
}

/* Adds the points that ran out of memory. If each device has its own memory, their number of
 * replicas does not matter. */
static void add_ran_out(struct known *k)
{
	const struct memory_bounds *b = &k->knowledge.memory;

	for (int i = 0; i < b->n_ran_out; i++)
		add_point(k, (struct experiment_point){
			.configuration = {
				.replicas = b->shared ? b->ran_out[i].configuration.replicas : 0,
				.local_batch_size = b->ran_out[i].configuration.local_batch_size,
			},
			.outcome = EXPERIMENT_NO_MEMORY,
		});
}

static int read_known(struct profile *p, struct known *k, struct err *err)
{
	const char *workload = p->job->declared.workload;
	struct pool_entry *seen;
	int n;

	*k = (struct known){ 0 };
	if (knowledge_load(p->store, workload, kind_of(p), &k->knowledge, err) ||
	    knowledge_learn(p->store, workload, kind_of(p), "", &k->knowledge, err) ||
	    knowledge_observations(p->store, workload, kind_of(p), &seen, &n, err))
		return -1;
	for (int i = 0; i < n; i++)
		add_point(k, point_of(&seen[i]));
	free(seen);
	p->n_known = k->n;
	for (int i = 0; i < p->n_bad; i++)
		add_point(k, p->bad[i]);
	add_ran_out(k);
	return 0;
}

/* --- choosing --- */

static struct experiment_limits limits_of(const struct profile *p)
{
	const struct declaration *d = &p->job->declared;

	return (struct experiment_limits){
		.min_replicas = d->min_replicas, .max_replicas = p->n_devices,
		.batch_size = d->batch_size, .min_batch_size = d->min_batch_size,
		.max_batch_size = d->max_batch_size,
		.max_local_batch_size = d->max_local_batch_size, .accumulates = d->accumulates,
		.shares_memory = device_backend_of(p->devices[0].id)->shares_memory,
	};
}

static double launch_s(const struct profile *p, const struct known *k)
{
	if (p->n_launches > 0)
		return p->launches_s / p->n_launches;
	return isfinite(k->knowledge.restart_s) ? k->knowledge.restart_s : LAUNCH_GUESS_S;
}

static int max_points(const struct profile *p)
{
	return p->settings->max_points > 0 ? p->settings->max_points : PROFILE_POINTS;
}

/* The share of the rest of the budget for one point. It is divided among the points still to come,
 * or among those that it suffices for, if these are fewer. */
static double share_s(const struct profile *p, double launch, double left)
{
	double points = fmax(max_points(p) - p->n_points, 1);
	double affordable = floor(left / (launch + EXPERIMENT_MEASURE_S));

	return left / fmax(fmin(points, affordable), 1);
}

static bool choose(const struct profile *p, const struct known *k, struct trial *t)
{
	double left = profile_left_s(p), launch = launch_s(p, k);
	struct experiment e = {
		.limits = limits_of(p), .points = k->points, .n_points = k->n,
		.fit = k->knowledge.model.fit, .launch_s = launch, .left_s = left,
		.growth_left_s = left - (1 - GROWTH_SHARE) * p->settings->budget_s,
		.share_s = share_s(p, launch, left), .again = p->n_points == 0,
	};

	if (p->n_points >= max_points(p) && p->settings->max_points > 0)
		return false;
	/* Without a batch size there is only one point, which is measured once. */
	if (p->job->declared.batch_size == 0 && p->n_measured > 0)
		return false;
	if (!experiment_next(&e, &t->choice))
		return false;
	t->measure_s = fmin(fmax(e.share_s, t->choice.expected_s), left) - launch;
	if (p->job->declared.batch_size == 0)
		t->measure_s = left;
	t->launch_limit_s = p->n_launches == 0 ? left
		: fmin(left, LAUNCH_PATIENCE_S + LAUNCH_PATIENCE * launch);
	return true;
}

/* --- learning --- */

static void add_bad(struct profile *p, const struct trial *t)
{
	p->bad = xreallocarray(p->bad, (size_t)p->n_bad + 1, sizeof(*p->bad));
	p->bad[p->n_bad++] = (struct experiment_point){
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
	return t->outcome != EXPERIMENT_MEASURED &&
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

static void learn(struct profile *p, const struct trial *t)
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
	if (t->outcome != EXPERIMENT_MEASURED) {
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
	} else if (t->outcome == EXPERIMENT_TOO_SLOW) {
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

static int failed(const struct profile *p, const struct trial *t, struct err *err)
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

/* True if the command fails at its own sizes. Failures at other sizes do not end the profile. */
static bool is_hopeless(const struct profile *p, const struct trial *t)
{
	if (p->n_measured > 0 || p->interrupted || p->cancelled)
		return false;
	if (lost_supervisor(t))
		return p->n_lost >= PROFILE_MOST_LOST;
	return t->choice.why == EXPERIMENT_OWN &&
	       (t->outcome == EXPERIMENT_FAILED || t->outcome == EXPERIMENT_TOO_SLOW);
}

/* --- the loop --- */

static int one(struct profile *p, bool *more, struct trial *last, struct err *err)
{
	struct known k;
	int rc = read_known(p, &k, err);

	*more = false;
	if (rc == 0 && choose(p, &k, last)) {
		run_release(&last->run);
		rc = profile_try(p, last, err);
		*more = rc == 0 && !p->cancelled;
	}
	release_known(&k);
	if (!*more)
		return rc;
	p->interrupted = profile_is_interrupted(p);
	learn(p, last);
	return is_hopeless(p, last) ? failed(p, last, err) : 0;
}

static int loop(struct profile *p, struct err *err)
{
	struct trial last = { .outcome = EXPERIMENT_MEASURED };
	bool more = true;
	int rc = 0;

	run_init(&last.run);
	p->interrupted = profile_is_interrupted(p);
	while (rc == 0 && more && !p->interrupted && !p->cancelled)
		rc = one(p, &more, &last, err);
	if (rc == 0 && p->n_measured + p->n_known == 0 && !p->interrupted && !p->cancelled &&
	    last.outcome != EXPERIMENT_MEASURED)
		rc = failed(p, &last, err);
	run_release(&last.run);
	return rc;
}

/* --- the end --- */

/* Stores the model as a pass would, so that the next job finds it. */
static int keep_model(struct profile *p, struct err *err)
{
	const char *workload = p->job->declared.workload, *kind = kind_of(p);
	struct workload_stamp_list stamps;
	int rc = store_workload_stamps(p->store, kind, &stamps, err);

	for (int i = 0; rc == 0 && i < stamps.count; i++) {
		struct knowledge k;

		if (strcmp(stamps.items[i].workload, workload) != 0)
			continue;
		rc = knowledge_load(p->store, workload, kind, &k, err);
		if (rc)
			break;
		rc = knowledge_learn(p->store, workload, kind, stamps.items[i].observations_key, &k,
				     err);
		if (rc == 0 && k.modelled)
			rc = store_model_set(p->store, workload, kind, &k.model, err);
		p->model_error = k.modelled ? k.model.fit.rmse_step : 0;
		knowledge_release(&k);
	}
	workload_stamp_list_release(&stamps);
	return rc;
}

/* Stops a run that is left after an error of the profile. Its supervisor then ends the job. Returns
 * true if there is one. */
static bool stop_what_runs(struct profile *p)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	struct run_list runs;
	struct err ignored;
	bool any = false;

	if (store_runs_active(p->store, &runs, &ignored))
		return true;
	for (int i = 0; i < runs.count; i++) {
		if (runs.items[i].job_id != p->job->id)
			continue;
		any = true;
		store_run_request_stop(p->store, runs.items[i].id, STOP_CANCEL, clock_boot_s(),
				       &ignored);
		engine_wake(&at, &runs.items[i]);
	}
	run_list_release(&runs);
	return any;
}

static int set_state(struct profile *p, int failed, const struct err *why, struct err *err)
{
	enum job_state state = failed ? JOB_FAILED : p->interrupted ? JOB_CANCELLED : JOB_DONE;
	struct text t = TEXT_INIT;
	int rc;

	if (failed)
		text_add(&t, why->text);
	else if (p->n_points == 0 && !p->interrupted)
		text_add(&t,
			 "nothing was left to measure: none of its sizes is new and known to fit");
	else
		text_addf(&t, "%s%d point%s measured in %.0f s",
			  p->interrupted ? "interrupted; " : "", p->n_measured,
			  p->n_measured == 1 ? "" : "s", clock_boot_s() - p->start_boot_s);
	rc = store_job_set_state(p->store, p->job->id, state, t.data, err) ||
	     store_event_add(p->store, p->job->id, 0, "profile", t.data, err) ? -1 : 0;
	text_release(&t);
	return rc;
}

/* Ends the job, unless it was cancelled meanwhile. */
static int conclude(struct profile *p, int failed, const struct err *why, struct err *err)
{
	if (keep_model(p, err) || profile_warn(p, err) || store_begin(p->store, err))
		return -1;
	if (profile_has_ended(p, &p->cancelled, err) ||
	    (!p->cancelled && set_state(p, failed, why, err))) {
		store_rollback(p->store);
		return -1;
	}
	return store_commit(p->store, err);
}

/* Removes the scratch directory before the lock: as long as the lock is held no pass ends the
 * job. */
static void let_go(struct profile *p)
{
	char *scratch = paths_checkpoints(p->paths, p->job->id);

	remove_tree(scratch);
	job_lock_remove(p->paths, JOB_LOCK_PROFILE, p->job->id);
	close(p->lock);
	free(scratch);
}

static int finish(struct profile *p, int rc, struct err *err)
{
	struct err ignored = { 0 };

	if (stop_what_runs(p)) {
		close(p->lock);		/* the supervisor removes the lock and ends the job */
		return rc;
	}
	if (!p->cancelled && conclude(p, rc, err, rc ? &ignored : err))
		rc = -1;
	let_go(p);
	return rc;
}

int profile_run(struct store *store, struct job *job, const struct job_command *command,
		const struct profile_settings *settings, struct profile_end *end, struct err *err)
{
	struct profile p = {
		.paths = settings->paths, .store = store, .settings = settings, .job = job,
		.lock = -1,
		.start_boot_s = clock_boot_s(),
	};
	int rc = profile_reserve(&p, command, err);

	if (rc == 0)
		rc = finish(&p, loop(&p, err), err);
	*end = (struct profile_end){
		.n_points = p.n_points, .n_measured = p.n_measured, .interrupted = p.interrupted,
		.cancelled = p.cancelled, .abandoned = p.abandoned,
	};
	free(p.devices);
	free(p.missing);
	free(p.bad);
	return rc;
}
