/* read.c - makes the snapshot: the machine first, then the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "snapshot.h"

/* --- runs --- */

const struct run *snapshot_run_of(const struct snapshot *s, const struct job *job)
{
	for (int i = 0; job->state == JOB_RUNNING && i < s->runs.count; i++)
		if (s->runs.items[i].job_id == job->id && s->runs.items[i].stop_reason == STOP_NONE)
			return &s->runs.items[i];
	return NULL;
}

/* Counts windows, up to POOL_WINDOWS, of the runs that can change their configuration while they
 * run. */
static int read_windows(struct store *store, struct snapshot *s, struct err *err)
{
	s->windows = xcalloc((size_t)s->runs.count, sizeof(*s->windows));
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		struct observation o;

		if (run->state != RUN_RUNNING || !run->takes_configs)
			continue;
		if (store_observation_get(store, run, &o, err))
			return -1;
		s->windows[i] = (int)(o.n_windows < POOL_WINDOWS ? o.n_windows : POOL_WINDOWS);
	}
	return 0;
}

/* True if the run could be relaunched: then it matters whether a stopped run saves. */
static bool may_lose(const struct job *job, const struct run *run)
{
	return run && run->state == RUN_RUNNING && job_may_be_preempted(job, run);
}

/* A program that does not heed its stop signal cannot save when it gets the signal. */
static bool dies_of_stop(const struct job *job, const struct run *run)
{
	const struct engine *engine = engine_of(run);

	return engine->dies_of && engine->dies_of(run, job->declared.stop_signal);
}

static void look_for_losses(struct snapshot *s)
{
	s->loses = xcalloc((size_t)s->runs.count, sizeof(*s->loses));
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];
		const struct run *run = snapshot_run_of(s, job);

		if (may_lose(job, run))
			s->loses[run - s->runs.items] = job->progress.saves_when_asked == 0 ||
							dies_of_stop(job, run);
	}
}

/* --- jobs --- */

static int read_setbacks(struct store *store, struct snapshot *s, struct err *err)
{
	s->setbacks = xcalloc((size_t)s->jobs.count, sizeof(*s->setbacks));
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];

		if (job->progress.launches > 0 && !snapshot_run_of(s, job) &&
		    store_job_setback(store, job->id, &s->setbacks[i], err))
			return -1;
	}
	return 0;
}

static int read_largest_waiting(struct store *store, struct snapshot *s, struct err *err)
{
	s->memory.largest_waiting_bytes = 0;
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];
		int64_t bytes = 0;

		if (job->state == JOB_QUEUED && job->progress.launches > 0 &&
		    store_job_peak_memory(store, job->id, &bytes, err))
			return -1;
		if (bytes > s->memory.largest_waiting_bytes)
			s->memory.largest_waiting_bytes = bytes;
	}
	return 0;
}

static int64_t need_before(const struct snapshot *s, int i)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(s->jobs.items[k].declared.workload, s->jobs.items[i].declared.workload))
			return s->device_needs[k];
	return -1;
}

/* Asks the store once for each workload, and only where devices have memory of their own. */
static int read_device_needs(struct store *store, struct snapshot *s, struct err *err)
{
	if (!s->suspends || s->devices.items[0].memory_bytes == 0)
		return 0;
	s->device_needs = xcalloc((size_t)s->jobs.count, sizeof(*s->device_needs));
	for (int i = 0; i < s->jobs.count; i++) {
		int64_t known = need_before(s, i);

		s->device_needs[i] = known;
		if (known < 0 && store_device_memory(store, s->jobs.items[i].declared.workload,
						     &s->device_needs[i], err))
			return -1;
	}
	return 0;
}

static int host_need(struct store *store, const struct snapshot *s, int i, struct err *err)
{
	const struct job *job = &s->jobs.items[i];
	int64_t own = 0, of_workload = 0;
	char *name;
	int rc;

	for (int k = 0; k < i; k++)
		if (!job->declared.plans && !s->jobs.items[k].declared.plans &&
		    !strcmp(s->jobs.items[k].declared.workload, job->declared.workload) &&
		    s->jobs.items[k].progress.launches == 0 && job->progress.launches == 0) {
			s->host_needs[i] = s->host_needs[k];
			return 0;
		}
	name = job_knowledge_name(job, NULL);	/* under its last plan, or its first */
	rc = store_share_memory(store, name, &of_workload, err);
	free(name);
	if (rc ||
	    (job->progress.launches > 0 && !job->declared.plans &&
	     store_job_peak_memory(store, job->id, &own, err)))
		return -1;
	s->host_needs[i] = own > of_workload ? own : of_workload;
	return 0;
}

/* Only for the policy that heeds it. */
static int read_host_needs(struct store *store, struct snapshot *s, struct err *err)
{
	if (s->policy != &policy_goodput || s->memory.total_bytes <= 0)
		return 0;
	s->host_needs = xcalloc((size_t)s->jobs.count, sizeof(*s->host_needs));
	for (int i = 0; i < s->jobs.count; i++)
		if (host_need(store, s, i, err))
			return -1;
	return 0;
}

/* --- workloads --- */

/* The workloads of jobs that have sizes to choose, and their names under plans. */
static void name_workloads(const struct snapshot *s, struct strings *names)
{
	strings_init(names);
	for (int i = 0; i < s->jobs.count; i++) {
		const struct declaration *declared = &s->jobs.items[i].declared;

		if (declared->batch.size > 0 && !names_contain(names, declared->workload))
			strings_add(names, declared->workload);
		if (declared->plans)
			name_plans(declared, names);
	}
}

static bool is_new_kind(const struct snapshot *s, int d)
{
	for (int e = 0; e < d; e++)
		if (!strcmp(s->devices.items[e].kind, s->devices.items[d].kind))
			return false;
	return true;
}

/* load: workloads_learn or workloads_refresh. first: the kind that is read before those of the
 * devices; NULL: none. */
static int read_workloads(struct store *store, struct snapshot *s, const char *first,
			  __typeof__(&workloads_learn) load, struct err *err)
{
	struct strings names;
	int rc = 0;

	name_workloads(s, &names);
	if (first)
		rc = load(store, first, &names, s->policy->models_goodput, &s->workloads, err);
	for (int d = 0; rc == 0 && s->jobs.count > 0 && d < s->devices.count; d++)
		if (is_new_kind(s, d))
			rc = load(store, s->devices.items[d].kind, &names,
				  s->policy->models_goodput, &s->workloads, err);
	strings_release(&names);
	if (rc == 0) {
		workloads_tie_plans(&s->workloads);
		limit_plans(s);
	}
	return rc;
}

/* What 'pollux profile --devices' measured, to tell how much faster a kind is than another. */
static int read_speeds(struct store *store, struct snapshot *s, struct err *err)
{
	int n_kinds = 0;

	for (int d = 0; d < s->devices.count; d++)
		n_kinds += is_new_kind(s, d);
	for (int d = 0; n_kinds > 1 && s->jobs.count > 0 && d < s->devices.count; d++) {
		const char *kind = s->devices.items[d].kind;
		struct kind_speed *speed;

		if (!is_new_kind(s, d))
			continue;
		s->speeds = xgrow(s->speeds, s->n_speeds, sizeof(*s->speeds));
		speed = &s->speeds[s->n_speeds];
		snprintf(speed->kind, sizeof(speed->kind), "%s", kind);
		if (store_device_measurements_get(store, kind, &speed->list, err))
			return -1;
		s->n_speeds++;
	}
	return 0;
}

static void forget_speeds(struct snapshot *s)
{
	for (int i = 0; i < s->n_speeds; i++)
		device_measurement_list_release(&s->speeds[i].list);
	free(s->speeds);
	s->speeds = NULL;
	s->n_speeds = 0;
}

/* --- the whole --- */

static int read_sweeps(struct store *store, struct snapshot *s, struct err *err)
{
	s->sweeps = xcalloc((size_t)s->groups.count + 1, sizeof(*s->sweeps));
	for (int i = 0; i < s->groups.count; i++)
		if (s->groups.items[i].halving &&
		    store_halving_read(store, s->groups.items[i].id, &s->sweeps[i], err))
			return -1;
	return 0;
}

static int read_groups(struct store *store, struct snapshot *s, struct err *err)
{
	for (int i = 0; i < s->jobs.count; i++)
		if (s->jobs.items[i].group_id)
			return store_groups_list(store, true, &s->groups, err) ||
			       read_sweeps(store, s, err) ? -1 : 0;
	return 0;
}

static void look_for_containers(struct snapshot *s)
{
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct device_backend *backend = device_backend_of(run->devices[0].id);
		const struct engine *engine = engine_of(run);

		if (run->state == RUN_ASSIGNED || !backend || !backend->resident ||
		    !engine->container)
			continue;
		if (!s->starts_containers)
			s->starts_containers = xcalloc((size_t)s->runs.count,
						       sizeof(*s->starts_containers));
		s->starts_containers[i] = engine->container(run, "", 0) != CONTAINER_OF_OTHERS;
	}
}

static int read_jobs(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	struct store *store = at->store;

	if (store_data_version(store, &s->data_version, err) ||
	    store_runs_active(store, &s->runs, err))
		return -1;
	s->answers = xcalloc((size_t)s->runs.count + 1, sizeof(*s->answers));
	if (engine_poll(at, &s->runs, s->answers, err))
		return -1;
	if (s->look_failed)
		return 0;
	if (store_jobs_list(store, JOBS_SCHEDULABLE, 0, &s->jobs, err))
		return -1;
	s->jobs_came = !s->listed && s->jobs.count > 0;
	if (s->jobs_came)
		job_list_release(&s->jobs);
	if (store_dependencies_list(store, &s->dependencies, err) || read_groups(store, s, err) ||
	    read_interactive(at, s, err) || read_remarks(store, s, err) ||
	    read_setbacks(store, s, err) || read_windows(store, s, err) ||
	    read_freezable(store, s, err) || read_disks(at, s, err) ||
	    store_ran_out_list(store, &s->ran_out, err) || read_speeds(store, s, err) ||
	    store_locality_list(store, &s->tier_past, &s->n_tier_past, err) ||
	    (s->suspends && read_largest_waiting(store, s, err)))
		return -1;
	look_for_losses(s);
	look_for_containers(s);
	if (s->jobs.count == 0)
		return 0;
	s->n_ended = store_ended_services(store, s->ended_device_s, SNAPSHOT_ENDED, err);
	if (s->n_ended < 0 || read_share(store, s, err) || read_device_needs(store, s, err) ||
	    read_host_needs(store, s, err))
		return -1;
	return pass_judge_devices(at, s, err);
}

/* The clock is read last: a run may have been launched since the pass began. */
static void tell_time(struct snapshot *s)
{
	s->now_boot_s = clock_boot_s();
	s->now_wall_s = clock_wall_s();
}

int pass_read(const struct engine_context *at, const struct config *config, struct snapshot *s,
	      struct err *err)
{
	int rc;

	*s = (struct snapshot){
		.config = config, .policy = policy_find(config->policy),
		.workloads.min_efficiency = config->min_efficiency,
	};
	if (pass_look_at_machine(at, s, err) || store_begin_read(at->store, err))
		return -1;
	rc = read_jobs(at, s, err) || read_workloads(at->store, s, NULL, workloads_learn, err) ||
	     store_commit(at->store, err) ? -1 : 0;
	if (rc)
		store_rollback(at->store);
	tell_time(s);
	return rc;
}

static int read_job(const struct engine_context *at, int64_t job_id, const char *kind,
		    struct snapshot *s, struct err *err)
{
	struct store *store = at->store;
	struct declaration *declared;

	s->jobs.items = xcalloc(1, sizeof(*s->jobs.items));
	if (store_job_get(store, job_id, &s->jobs.items[0], err))
		return -1;
	s->jobs.count = 1;
	declared = &s->jobs.items[0].declared;
	s->workloads.only = declared->workload;
	/* A profile's --kind says where it measures, not what jobs of its workload may have. */
	if (s->jobs.items[0].profile) {
		free(declared->kind);
		free(declared->not_kind);
		declared->kind = declared->not_kind = NULL;
	}
	if (store_runs_active(store, &s->runs, err) || read_freezable(store, s, err) ||
	    store_ran_out_list(store, &s->ran_out, err) || read_speeds(store, s, err) ||
	    read_device_needs(store, s, err) || read_host_needs(store, s, err))
		return -1;
	look_for_losses(s);
	look_for_containers(s);
	return read_workloads(store, s, kind, workloads_learn, err);
}

static void begin_weighing(const struct config *config, struct snapshot *s)
{
	*s = (struct snapshot){
		.weighs_only = true, .config = config, .policy = policy_find(config->policy),
		.workloads.min_efficiency = config->min_efficiency,
	};
	if (!s->policy || !s->policy->models_goodput)
		s->policy = &policy_goodput;
}

int pass_read_job(const struct engine_context *at, const struct config *config, int64_t job_id,
		  const char *kind, struct snapshot *s, struct err *err)
{
	begin_weighing(config, s);
	if (engine_devices(config, false, &s->devices, err) || store_begin_read(at->store, err))
		return -1;
	pass_look_for_suspension(s);
	if (read_job(at, job_id, kind, s, err) || store_commit(at->store, err)) {
		store_rollback(at->store);
		return -1;
	}
	tell_time(s);
	return 0;
}

int pass_read_jobs(const struct engine_context *at, const struct config *config,
		   const struct outlook_jobs *jobs, struct snapshot *s, struct err *err)
{
	begin_weighing(config, s);
	if (outlook_read_devices(at->store, &s->devices, err))
		return -1;
	if (s->devices.count == 0)
		return 0;
	pass_look_for_suspension(s);
	s->jobs = jobs->jobs;
	s->runs = *jobs->runs;
	s->now_boot_s = jobs->now_boot_s;
	s->now_wall_s = jobs->now_wall_s;
	s->n_ended = store_ended_services(at->store, s->ended_device_s, SNAPSHOT_ENDED, err);
	return s->n_ended < 0 || store_ran_out_list(at->store, &s->ran_out, err) ||
	       read_speeds(at->store, s, err) ||
	       read_workloads(at->store, s, NULL, workloads_refresh, err) ? -1 : 0;
}

int snapshot_is_current(const struct snapshot *s, struct store *store, bool *current,
			struct err *err)
{
	int64_t version;

	if (store_data_version(store, &version, err))
		return -1;
	*current = version == s->data_version;
	return 0;
}

static void forget_jobs(struct snapshot *s)
{
	forget_disks(s);
	forget_share(s);
	free(s->holds);
	free(s->elsewhere);
	free(s->setbacks);
	free(s->answers);
	free(s->windows);
	free(s->loses);
	free(s->deserted);
	s->deserted = NULL;
	free(s->device_needs);
	s->device_needs = NULL;
	free(s->host_needs);
	s->host_needs = NULL;
	s->holds = NULL;
	s->elsewhere = NULL;
	s->setbacks = NULL;
	s->answers = NULL;
	s->windows = NULL;
	s->loses = NULL;
	forget_speeds(s);
	free(s->tier_past);
	s->tier_past = NULL;
	s->n_tier_past = 0;
	free(s->ran_out.items);
	s->ran_out = (struct ran_out_list){ 0 };
	ignored_list_release(&s->gone);
	forget_remarks(s);
	free(s->starts_containers);
	s->starts_containers = NULL;
	job_list_release(&s->jobs);
	run_list_release(&s->runs);
	dependency_list_release(&s->dependencies);
	for (int i = 0; s->sweeps && i < s->groups.count; i++)
		halving_sweep_release(&s->sweeps[i]);
	free(s->sweeps);
	s->sweeps = NULL;
	job_group_list_release(&s->groups);
}

int pass_read_again(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	int rc;

	forget_jobs(s);
	if (s->devices.count > 0)
		memcpy(s->devices.items, s->listed, (size_t)s->devices.count * sizeof(*s->listed));
	for (int i = 0; i < s->users.count; i++) {
		s->users.items[i].job_id = 0;
		s->users.items[i].in_place = s->users.items[i].supposed = false;
	}
	rc = read_jobs(at, s, err) ||
	     read_workloads(at->store, s, NULL, workloads_refresh, err) ? -1 : 0;
	tell_time(s);
	return rc;
}

void snapshot_release(struct snapshot *s)
{
	forget_jobs(s);
	devices_release(&s->devices);
	free(s->listed);
	free(s->move_s_per_byte);
	people_release(&s->people);
	device_user_list_release(&s->users);
	workload_list_release(&s->workloads);
}
