/* status.c - reads jobs and runs, and computes rates and times to the end from them; reads
 * everything about one job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/pass_files.h"
#include "pollux/store_groups.h"

/* --- what follows from what was read --- */

/* A job may have two runs that have not ended: one that is being stopped, and the next. */
static const struct run *run_of(const struct run_list *runs, int64_t job_id)
{
	const struct run *found = NULL;

	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];

		if (run->job_id == job_id && (!found || found->state == RUN_ASSIGNED))
			found = run;
	}
	return found;
}

static enum shown_state shown_state(const struct job *job, const struct run *run)
{
	static const enum shown_state of_job[N_JOB_STATES] = {
		[JOB_QUEUED] = SHOWN_QUEUED, [JOB_HELD] = SHOWN_HELD, [JOB_RUNNING] = SHOWN_RUNNING,
		[JOB_DONE] = SHOWN_DONE, [JOB_FAILED] = SHOWN_FAILED,
		[JOB_CANCELLED] = SHOWN_CANCELLED, [JOB_TIMEOUT] = SHOWN_TIMEOUT,
	};

	if (job_is_paused(job))
		return SHOWN_PAUSED;
	if (job->state != JOB_RUNNING || !run)
		return of_job[job->state];
	if (run->stop_reason != STOP_NONE || run->state == RUN_STOPPING)
		return SHOWN_STOPPING;
	if (job->held)
		return SHOWN_HELD;
	if (run->suspension > SUSPENSION_NONE)
		return SHOWN_SUSPENDED;
	return run->state == RUN_ASSIGNED ? SHOWN_STARTING : SHOWN_RUNNING;
}

double run_duration_now_s(const struct run *run, double now_boot_s)
{
	if (run->state == RUN_ASSIGNED)
		return 0;
	if (isfinite(run->launch_boot_s) && run_is_of_this_boot(run))
		return fmax(run_clock_s(run, now_boot_s) - run->launch_boot_s, 0);
	return run->duration_s;
}

/* Samples per second at the present configuration: the mean of the whole run would lag behind a
 * change of configuration. Until steps are timed at that configuration: samples per second since
 * the first report, since loading and compiling are not training. The stored duration is as old as
 * the stored samples. */
static double throughput_of(const struct run *run)
{
	double samples = run->last_samples - run->first_samples;
	double seconds = run->duration_s - run->first_step_s;

	if (configuration_batch_size(&run->configuration) > 0 && run->step_time_s > 0)
		return (double)configuration_batch_size(&run->configuration) / run->step_time_s;
	return samples > 0 && seconds > 0 ? samples / seconds : (double)NAN;
}

/* NaN if total or done is NaN, or if more was done than was declared. */
static double remaining(double total, double done)
{
	return done > total ? (double)NAN : total - done;
}

static double eta_of(const struct status_job *item)
{
	const struct job *job = item->job;
	double limit_s = job->declared.time_limit_s > 0 ? job->declared.time_limit_s : HUGE_VAL;
	double left_s;

	if (item->state != SHOWN_RUNNING)
		return NAN;
	if (job_total_samples(job) > 0)
		left_s = remaining(job_total_samples(job), job->progress.samples) /
			 item->throughput_eps;
	else
		left_s = remaining(job_total_steps(job), job->progress.steps) *
			 item->run->step_time_s;
	return left_s > limit_s - item->run_time_s ? fmax(limit_s - item->run_time_s, 0) : left_s;
}

/* The share that is done, by samples, else by steps, else by epochs: the position that was reported
 * last. NaN for a job that has reported its end and is not done: 100 % would say that it is. Such a
 * job failed, or is queued again: whether it begins anew or at a checkpoint is known with its next
 * report. A job beyond its declared end stays above 1, but for the rest of its last batch: no other
 * end is passed (training_total.h). */
static double done_ratio_of(const struct job *job, const struct run *run)
{
	const struct progress *p = &job->progress;
	struct training_total end = job_total(job);
	double total = end.amount.samples;
	double ratio = total > 0 ? p->samples / total
		       : end.amount.steps > 0 ? p->steps / end.amount.steps
					      : p->epoch / end.amount.epochs;
	int64_t batch = run ? configuration_batch_size(&run->configuration)
			    : job->declared.batch.size;
	bool reported = run && isfinite(run->first_step_s);

	if (ratio > 1 && (end.source != TOTAL_DECLARED ||
			  (total > 0 && p->samples < total + (double)batch)))
		ratio = 1;
	if (job_has_ended(job->state))
		return job->state != JOB_DONE && ratio >= 1 && ratio <= 1 ? (double)NAN : ratio;
	return ratio >= 1 && !reported ? (double)NAN : ratio;
}

/* What the clock alone changes. */
static void derive_times(const struct status *status, struct status_job *item)
{
	const struct progress *p = &item->job->progress;
	const struct run *run = item->run;
	double duration_s = run ? run_duration_now_s(run, status->now_boot_s) : 0;

	item->run_time_s = p->runs > 0 ? p->run_time_s + duration_s : (double)NAN;
	item->attained_service_device_s = p->attained_service_device_s +
					  (run ? run->configuration.replicas * duration_s : 0);
	item->eta_s = run && !item->stuck ? eta_of(item) : (double)NAN;
}

static void derive(const struct status *status, const struct job *job, struct status_job *item)
{
	const struct run *run = job->state == JOB_RUNNING ? run_of(&status->runs, job->id) : NULL;

	*item = (struct status_job){
		.job = job, .run = run, .state = shown_state(job, run),
		.done_ratio = done_ratio_of(job, run),
		.throughput_eps = run ? throughput_of(run) : (double)NAN,
		.likely_start_s = (double)NAN, .likely_end_s = (double)NAN,
		.end_from_s = (double)NAN, .end_to_s = (double)NAN,
	};
	item->expected_s = (double)NAN;
	derive_times(status, item);
}

void status_advance(struct status *status, double now_wall_s, double now_boot_s)
{
	status->now_wall_s = now_wall_s;
	status->now_boot_s = now_boot_s;
	for (int i = 0; i < status->jobs.count; i++)
		derive_times(status, &status->items[i]);
}

static int expect(struct store *s, struct status_job *item, struct err *err)
{
	const struct job *job = item->job;
	double samples, left;
	int n_jobs;

	if (item->state != SHOWN_RUNNING || job->profile || !(item->throughput_eps > 0) ||
	    job_total_samples(job) > 0 || job_total_steps(job) > 0)
		return 0;
	if (store_typical_samples(s, job->declared.workload, &samples, &n_jobs, err))
		return -1;
	left = samples - job->progress.samples;
	if (left > 0) {		/* false also if one of them is NaN */
		item->expected_s = left / item->throughput_eps;
		item->expected_jobs = n_jobs;
	}
	return 0;
}

/* A supervisor shows that it lives every 10 seconds; a longer silence than this is shown. */
#define SILENCE_S 30.0

/* True if nobody looks after a run of this machine that the store has as running. A supervisor
 * drops its lock after it has written the end, which the store may have got only now. */
static bool is_lost(const struct engine_context *at, const struct run *run)
{
	enum engine_answer answer;
	struct err ignored;
	struct run now;
	bool ended;

	if (run->state == RUN_ASSIGNED || !run->handle || !*run->handle ||
	    engine_of(run) != &engine_local || engine_poll_one(at, run, &answer, &ignored) ||
	    answer == ENGINE_UNKNOWN || answer == ENGINE_ALIVE ||
	    store_run_get(at->store, run->id, &now, &ignored))
		return false;
	ended = now.state == RUN_ENDED;
	run_release(&now);
	return !ended;
}

static void find_trouble(const struct engine_context *at, struct status_job *item)
{
	const struct engine *engine = item->run ? engine_of(item->run) : NULL;
	struct err ignored;

	item->silent_s = engine && engine->silent_s
		? engine->silent_s(at, item->run, &item->silent_pid) : (double)NAN;
	if (item->silent_s < SILENCE_S)
		item->silent_s = (double)NAN;
	item->stuck = engine && engine->stuck ? engine->stuck(at, item->run) : NULL;
	if (engine && is_lost(at, item->run))
		item->stuck = "its supervisor is gone: the next pass looks after the job";
	if (item->stuck)
		item->eta_s = item->expected_s = (double)NAN;
	if (item->run && device_backend_of(item->run->devices[0].id) == &device_nvidia)
		store_run_remark(at->store, item->job->id, item->run->id, &item->remark, &ignored);
}

/* --- counts --- */

static bool held_by_earlier(const struct run_list *runs, int until, const char *device)
{
	for (int i = 0; i < until; i++)
		for (int k = 0; k < run_held(&runs->items[i]); k++)
			if (!strcmp(runs->items[i].devices[k].id, device))
				return true;
	return false;
}

static void count_jobs(struct status *status)
{
	const struct run_list *runs = &status->runs;

	for (int i = 0; i < status->jobs.count; i++) {
		enum job_state state = status->jobs.items[i].state;
		bool suspended = status->items[i].state == SHOWN_SUSPENDED;
		bool paused = status->items[i].state == SHOWN_PAUSED;
		bool held = status->items[i].state == SHOWN_HELD;

		status->n_running += state == JOB_RUNNING && !suspended && !held;
		status->n_suspended += suspended;
		status->n_paused += paused;
		status->n_waiting += state == JOB_QUEUED && !paused;
		status->n_held += held;
		status->n_ended += job_has_ended(state);
	}
	for (int i = 0; i < runs->count; i++)
		status->n_cpu_jobs += run_has_no_device(&runs->items[i]);
	for (int i = 0; i < runs->count; i++)
		for (int k = 0; k < run_held(&runs->items[i]); k++)
			status->n_devices_in_use +=
				!held_by_earlier(runs, i, runs->items[i].devices[k].id);
}

/* --- reading --- */

static int read_jobs(struct session *s, const struct status_query *query, struct job_list *list,
		     struct err *err)
{
	if (!s->store.db)
		return query->by_ids && query->n_ids > 0
			? err_set(err, EX_NOINPUT, "no such job: %lld", (long long)query->ids[0])
			: 0;
	return query->by_ids
		? store_jobs_get(&s->store, query->ids, query->n_ids, list, err)
		: store_jobs_list(&s->store, query->filter, query->since_wall_s, list, err);
}

static int read_lines(struct session *s, struct status *status, struct err *err)
{
	int n = status->jobs.count;

	status->lines = xcalloc((size_t)n, sizeof(*status->lines));
	for (int i = 0; i < n; i++) {
		if (store_job_line_get(&s->store, status->jobs.items[i].id, &status->lines[i], err))
			return -1;
		status->items[i].line = &status->lines[i];
	}
	return 0;
}

int status_read(struct session *s, const struct status_query *query, struct status *status,
		struct err *err)
{
	int rc = 0;
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	struct lock_holder holder;
	struct err ignored;
	char *logs = xasprintf("%s/logs", s->paths.dir), why[300];
	double since_s;

	*status = (struct status){
		.now_wall_s = clock_wall_s(), .now_boot_s = clock_boot_s(),
		.ever_scheduled = access(s->paths.schedule_lock, F_OK) == 0,
		.passes_come = regular_passes_come(&s->paths, clock_wall_s()),
		.hung_pass = TEXT_INIT, .disk_full = TEXT_INIT, .outage = TEXT_INIT,
	};
	if (pass_find_hung(&s->paths, &holder))
		pass_describe_hung(&holder, &status->hung_pass);
	/* the store and the logs may be on two disks */
	if (!disk_nearly_full(s->paths.dir, &status->disk_full))
		disk_nearly_full(logs, &status->disk_full);
	free(logs);
	if (outage_read(&s->paths, why, sizeof(why), &since_s))
		text_addf(&status->outage, "since %s: %s",
			  format_time(since_s, status->now_wall_s).s, why);
	/* passes and 'pollux doctor' report errors of people_read */
	people_read(&s->paths, &status->people, &ignored);
	if ((s->store.db && store_runs_active(&s->store, &status->runs, err)) ||
	    read_jobs(s, query, &status->jobs, err)) {
		status_release(status);
		return -1;
	}
	status->items = xcalloc((size_t)status->jobs.count, sizeof(*status->items));
	for (int i = 0; i < status->jobs.count; i++)
		derive(status, &status->jobs.items[i], &status->items[i]);
	for (int i = 0; i < status->jobs.count && rc == 0; i++)
		rc = expect(&s->store, &status->items[i], err);
	for (int i = 0; i < status->jobs.count; i++)
		find_trouble(&at, &status->items[i]);
	count_jobs(status);
	if (rc == 0 && query->lines)
		rc = read_lines(s, status, err);
	if (rc == 0 && query->groups)
		rc = status_read_groups(&s->store, status, err);
	if (rc)
		status_release(status);
	return rc;
}

void status_release(struct status *status)
{
	for (int i = 0; status->lines && i < status->jobs.count; i++)
		job_line_release(&status->lines[i]);
	free(status->lines);
	for (int i = 0; status->items && i < status->jobs.count; i++)
		free(status->items[i].remark);
	job_list_release(&status->jobs);
	run_list_release(&status->runs);
	free(status->items);
	status_groups_release(status);
	people_release(&status->people);
	text_release(&status->hung_pass);
	text_release(&status->disk_full);
	text_release(&status->outage);
	*status = (struct status){ 0 };
}

/* --- everything about one job --- */

/* Turns one row for each run and configuration into one row for each configuration. */
static void merge_runs(struct observation_list *list)
{
	int kept = 0, into;

	for (int i = 0; i < list->count; i++) {
		for (into = 0; into < kept; into++)
			if (configuration_equal(&list->items[into].configuration,
						&list->items[i].configuration))
				break;
		if (into == kept)
			list->items[kept++] = list->items[i];
		else
			observation_merge(&list->items[into], &list->items[i]);
	}
	list->count = kept;
}

static int compare_use(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;

	return (x->update_time_s > y->update_time_s) - (x->update_time_s < y->update_time_s);
}

/* A repaired store may have lost the group. */
static int read_halving(struct session *s, const struct job *job, char **halving, struct err *err)
{
	struct job_group group;

	if (!job->group_id)
		return 0;
	if (store_group_get(&s->store, job->group_id, &group, err))
		return err->exit_status == EX_NOINPUT ? 0 : -1;
	*halving = group.halving;
	group.halving = NULL;
	job_group_release(&group);
	return 0;
}

int status_details_read(struct session *s, const struct job *job, struct status_details *d,
			struct err *err)
{
	int kept = 0;
	size_t n;
	struct engine_context at = { .paths = &s->paths, .store = &s->store };

	*d = (struct status_details){
		.log_path = paths_log(&s->paths, job->id), .manager = TEXT_INIT,
	};
	if (store_job_command_get(&s->store, job->id, &d->command, err) ||
	    store_runs_of_job(&s->store, job->id, &d->runs, err) ||
	    store_observations_of_job(&s->store, job->id, &d->observations, err) ||
	    store_events_of_job(&s->store, job->id, &d->events, err) ||
	    store_metrics_of_job(&s->store, job->id, &d->metrics, err) ||
	    store_dependencies_list(&s->store, &d->after, err) ||
	    read_halving(s, job, &d->halving, err)) {
		status_details_release(d);
		return -1;
	}
	n = (size_t)d->observations.count;
	d->of_runs = (struct observation_list){ .items = xcalloc(n, sizeof(*d->of_runs.items)),
					   .count = d->observations.count };
	if (n)
		memcpy(d->of_runs.items, d->observations.items, n * sizeof(*d->of_runs.items));
	qsort(d->of_runs.items, n, sizeof(*d->of_runs.items), compare_use);
	merge_runs(&d->observations);
	for (int i = 0; i < d->after.count; i++)
		if (d->after.items[i].job_id == job->id)
			d->after.items[kept++] = d->after.items[i];
	d->after.count = kept;
	for (int i = 0; i < d->runs.count; i++) {
		const struct run *run = &d->runs.items[i];

		if (run->state != RUN_ENDED && engine_of(run)->describe)
			engine_of(run)->describe(&at, run, &d->manager);
	}
	d->checkpoint_dir = d->command.checkpoint_dir ? xstrdup(d->command.checkpoint_dir)
						      : paths_checkpoints(&s->paths, job->id);
	return 0;
}

void status_details_release(struct status_details *d)
{
	job_command_release(&d->command);
	run_list_release(&d->runs);
	observation_list_release(&d->of_runs);
	observation_list_release(&d->observations);
	event_list_release(&d->events);
	job_metric_list_release(&d->metrics);
	dependency_list_release(&d->after);
	free(d->log_path);
	free(d->checkpoint_dir);
	free(d->halving);
	text_release(&d->manager);
	*d = (struct status_details){ 0 };
}
