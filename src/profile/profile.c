/* profile.c - measures a command: chooses a point, tries it and learns, until the budget is used
 * up. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "profile_state.h"

/* --- the loop --- */

static int run_trials(struct profile *p, struct err *err)
{
	struct trial last = { .outcome = OBSERVATION_MEASURED };
	bool more = true;
	int rc = 0;

	run_init(&last.run);
	p->interrupted = profile_interruptions(p) > 0;
	while (rc == 0 && more && !p->interrupted && !p->cancelled) {
		rc = profile_choose(p, &last, &more, err);
		if (rc == 0 && more) {
			run_release(&last.run);
			rc = profile_try(p, &last, err);
			more = rc == 0 && !p->cancelled;
		}
		if (!more)
			break;
		p->interrupted = profile_interruptions(p) > 0;
		profile_learn(p, &last);
		rc = profile_is_hopeless(p, &last) ? profile_failed(p, &last, err) : 0;
	}
	if (rc == 0 && p->n_measured + p->n_known == 0 && !p->interrupted && !p->cancelled &&
	    last.outcome != OBSERVATION_MEASURED)
		rc = profile_failed(p, &last, err);
	run_release(&last.run);
	return rc;
}

/* --- each plan of a command in turn, within the budget --- */

/* Other plans than the first get their share of what the first leaves. */
#define FIRST_SHARE 0.5

/* Measures the command, or each of its plans, for which all is counted anew. A plan that does not
 * work leaves the others. */
static int measure_plans(struct profile *p, struct err *err)
{
	int n = p->plans.count, n_points = 0, n_measured = 0, rc = 0;

	if (n == 0)
		return run_trials(p, err);
	for (int i = 0; i < n && !p->interrupted && !p->cancelled; i++) {
		double left_s = p->start_boot_s + p->settings->budget_s - clock_boot_s();

		free(p->workload);
		p->plan = &p->plans.items[i];
		p->workload = execution_plan_workload(p->job->declared.workload, p->plan->name,
						      p->plan->hash);
		p->budget_s = i == 0 && n > 1 ? FIRST_SHARE * left_s : left_s / (n - i);
		p->until_boot_s = clock_boot_s() + p->budget_s;
		observation_list_release(&p->bad);
		p->n_points = p->n_measured = p->n_known = p->n_lost = p->n_lost_there = 0;
		p->n_launches = 0;
		p->launches_s = 0;
		rc = run_trials(p, err);
		n_points += p->n_points;
		n_measured += p->n_measured;
	}
	p->n_points = n_points;
	p->n_measured = n_measured;
	return n_measured > 0 ? 0 : rc;
}

/* --- the end --- */

/* Stores the model as a pass would, so that the next job finds it. */
static int keep_model_of(struct profile *p, const char *workload, struct err *err)
{
	const char *kind = p->devices[0].kind;
	scoped(workload_stamp_list_release) struct workload_stamp_list stamps = { 0 };
	int rc = store_workload_stamps(p->store, kind, p->plans.count > 0, NULL, &stamps, err);

	for (int i = 0; rc == 0 && i < stamps.count; i++) {
		scoped(knowledge_release) struct knowledge k = { 0 };

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
	}
	return rc;
}

/* Stops a run that is left after an error of the profile. Its supervisor then ends the job. Returns
 * true if there is one. */
static bool stop_what_runs(struct profile *p)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	scoped(run_list_release) struct run_list runs = { 0 };
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
	return any;
}

/* Ends the job, unless it was cancelled meanwhile. */
static int conclude_job(struct profile *p, int failed, const struct err *why, struct err *err)
{
	enum job_state state = failed ? JOB_FAILED : p->interrupted ? JOB_CANCELLED : JOB_DONE;
	scoped(text_release) struct text t = TEXT_INIT;
	int rc = p->plans.count ? 0 : keep_model_of(p, p->workload, err);

	for (int i = 0; rc == 0 && i < p->plans.count; i++) {
		const struct execution_plan *plan = &p->plans.items[i];
		autofree char *name = execution_plan_workload(p->job->declared.workload, plan->name,
							      plan->hash);

		rc = keep_model_of(p, name, err);
	}
	if (rc || profile_warn(p, err) || store_begin(p->store, err))
		return -1;
	if (failed)
		text_add(&t, why->text);
	else if (p->n_points == 0 && !p->interrupted)
		text_add(&t,
			 "nothing was left to measure: none of its sizes is new and known to fit");
	else
		text_addf(&t, "%s%d point%s measured in %.0f s",
			  p->interrupted ? "interrupted; " : "", p->n_measured,
			  plural(p->n_measured), clock_boot_s() - p->start_boot_s);
	rc = profile_has_ended(p, &p->cancelled, err);
	if (rc == 0 && !p->cancelled)
		rc = store_job_set_state(p->store, p->job->id, state, t.data, err) ||
		     store_event_add(p->store, p->job->id, 0, "profile", t.data, err) ? -1 : 0;
	if (rc == 0)
		return store_commit(p->store, err);
	store_rollback(p->store);
	return -1;
}

static int finish_profile(struct profile *p, int rc, struct err *err)
{
	struct err ignored = { 0 };
	autofree char *scratch = NULL;

	if (stop_what_runs(p)) {
		close(p->lock);		/* the supervisor removes the lock and ends the job */
		return rc;
	}
	if (!p->cancelled && conclude_job(p, rc, err, rc ? &ignored : err))
		rc = -1;
	/* before the lock goes: as long as it is held no pass ends the job */
	scratch = paths_checkpoints(p->paths, p->job->id);
	remove_tree(scratch);
	job_lock_remove(p->paths, JOB_LOCK_PROFILE, p->job->id);
	close(p->lock);
	return rc;
}

int profile_run(struct store *store, struct job *job, const struct job_command *command,
		const struct profile_settings *settings, struct profile_end *end, struct err *err)
{
	struct profile p = {
		.paths = settings->paths, .store = store, .settings = settings, .job = job,
		.lock = -1,
		.start_boot_s = clock_boot_s(), .budget_s = settings->budget_s,
	};
	int rc;

	if (execution_plans_parse(job->declared.plans, &p.plans, err))
		return -1;
	p.until_boot_s = p.start_boot_s + p.budget_s;
	p.workload = xstrdup(job->declared.workload);
	rc = profile_reserve(&p, command, err);
	if (rc == 0)
		rc = finish_profile(&p, measure_plans(&p, err), err);
	*end = (struct profile_end){
		.n_points = p.n_points, .n_measured = p.n_measured, .interrupted = p.interrupted,
		.cancelled = p.cancelled, .abandoned = p.abandoned,
	};
	execution_plans_release(&p.plans);
	free(p.workload);
	free(p.devices);
	free(p.tiers);
	free(p.missing);
	observation_list_release(&p.bad);
	return rc;
}
