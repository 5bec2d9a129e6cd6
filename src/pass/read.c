/* read.c - makes the snapshot: the machine first, then the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "snapshot.h"

const struct job *snapshot_job(const struct snapshot *s, int64_t id)
{
	for (int low = 0, high = s->jobs.count; low < high;) {
		int middle = low + (high - low) / 2;
		const struct job *job = &s->jobs.items[middle];

		if (job->id == id)
			return job;
		if (job->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

int snapshot_device(const struct snapshot *s, const struct device *wanted)
{
	for (int i = 0; i < s->devices.count; i++)
		if (device_is_same(&s->devices.items[i], wanted))
			return i;
	return -1;
}

static bool is_among(const struct run *run, int n, const struct device *device)
{
	for (int i = 0; i < n; i++)
		if (device_is_same(&run->devices[i], device))
			return true;
	return false;
}

bool run_holds(const struct run *run, const struct device *device)
{
	return is_among(run, run_held(run), device);
}

bool run_has(const struct run *run, const struct device *device)
{
	return is_among(run, run->configuration.replicas, device);
}

const struct run *snapshot_run_of(const struct snapshot *s, const struct job *job)
{
	for (int i = 0; job->state == JOB_RUNNING && i < s->runs.count; i++)
		if (s->runs.items[i].job_id == job->id && s->runs.items[i].stop_reason == STOP_NONE)
			return &s->runs.items[i];
	return NULL;
}

/* --- workloads --- */

/* The workloads of jobs that have sizes to choose, and their names under plans. */
static void name_workloads(const struct snapshot *s, struct strings *names)
{
	strings_init(names);
	for (int i = 0; i < s->jobs.count; i++) {
		const struct declaration *declared = &s->jobs.items[i].declared;
		struct execution_plans plans;
		struct err ignored;

		if (declared->batch.size > 0)
			strings_add_once(names, declared->workload);
		if (!declared->plans || execution_plans_parse(declared->plans, &plans, &ignored))
			continue;
		for (int k = 0; k < plans.count; k++) {
			char *name = execution_plan_workload(declared->workload,
							     plans.items[k].name,
							     plans.items[k].hash);

			strings_add_once(names, name);
			free(name);
		}
		execution_plans_release(&plans);
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
	if (rc)
		return rc;
	workloads_tie_plans(&s->workloads);
	for (int i = 0; i < s->workloads.count; i++) {
		struct workload *w = &s->workloads.items[i];

		for (int d = 0; d < s->devices.count; d++)
			if (!strcmp(s->devices.items[d].kind, w->kind))
				knowledge_limit_memory(&w->k, s->devices.items[d].memory_bytes,
						       s->memory.total_bytes);
	}
	return 0;
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

/* --- the whole --- */

static int read_groups(struct store *store, struct snapshot *s, struct err *err)
{
	bool any = false;

	for (int i = 0; i < s->jobs.count; i++)
		any |= s->jobs.items[i].group_id != 0;
	if (any && store_groups_list(store, true, &s->groups, err))
		return -1;
	if (any)
		s->sweeps = xcalloc((size_t)s->groups.count + 1, sizeof(*s->sweeps));
	for (int i = 0; i < s->groups.count; i++)
		if (s->groups.items[i].halving &&
		    store_halving_read(store, s->groups.items[i].id, &s->sweeps[i], err))
			return -1;
	return 0;
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
	    read_runs(store, s, err) || read_freezable(store, s, err) ||
	    read_of_jobs(store, s, err) || read_disks(at, s, err) ||
	    store_ran_out_list(store, &s->ran_out, err) || read_speeds(store, s, err) ||
	    store_locality_list(store, &s->tier_past, &s->n_tier_past, err))
		return -1;
	if (s->jobs.count == 0)
		return 0;
	if (read_past_lengths(store, s, err) || read_share(store, s, err) ||
	    read_device_needs(store, s, err) ||
	    read_host_needs(store, s, err))
		return -1;
	return pass_judge_devices(at, s, err);
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
	/* The clock is read last: a run may have been launched since the pass began. */
	s->now_boot_s = clock_boot_s();
	s->now_wall_s = clock_wall_s();
	return rc;
}

/* --- to look, and not to decide: outlook.h --- */

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
	if (store_runs_active(store, &s->runs, err))
		return -1;
	/* A job without a device is weighed as if it had one. */
	if (declared->cpu_cores) {
		declared->cpu_cores = 0;
		declared->min_replicas = declared->max_replicas = 1;
		run_list_release(&s->runs);
	}
	return read_freezable(store, s, err) ||
	       read_runs(store, s, err) || read_of_jobs(store, s, err) ||
	       store_ran_out_list(store, &s->ran_out, err) || read_speeds(store, s, err) ||
	       read_device_needs(store, s, err) || read_host_needs(store, s, err) ||
	       read_workloads(store, s, kind, workloads_learn, err) ? -1 : 0;
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
	s->now_boot_s = clock_boot_s();
	s->now_wall_s = clock_wall_s();
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
	return read_past_lengths(at->store, s, err) ||
	       store_ran_out_list(at->store, &s->ran_out, err) ||
	       read_speeds(at->store, s, err) ||
	       read_workloads(at->store, s, NULL, workloads_refresh, err) ? -1 : 0;
}

/* Reads the machine, and of the store what tells whether runs can be suspended. */
int pass_read_running(const struct engine_context *at, const struct config *config,
		      struct snapshot *s, struct err *err)
{
	struct store *store = at->store;

	begin_weighing(config, s);
	if (engine_devices(config, false, &s->devices, err) || store_begin_read(store, err))
		return -1;
	pass_look_for_suspension(s);
	if (store_runs_active(store, &s->runs, err) ||
	    store_jobs_list(store, JOBS_SCHEDULABLE, 0, &s->jobs, err) ||
	    read_freezable(store, s, err) || read_runs(store, s, err) ||
	    read_of_jobs(store, s, err) || read_device_needs(store, s, err) ||
	    store_commit(store, err)) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

/* --- again --- */

int snapshot_is_current(const struct snapshot *s, struct store *store, bool *current,
			struct err *err)
{
	int64_t version;

	if (store_data_version(store, &version, err))
		return -1;
	*current = version == s->data_version;
	return 0;
}

/* Releases all but the machine and the fits. */
static void forget_jobs(struct snapshot *s)
{
	void *const owned[] = {
		s->holds, s->elsewhere, s->setbacks, s->answers, s->windows, s->loses, s->deserted,
		s->device_needs, s->host_needs, s->speeds, s->tier_past, s->ran_out.items,
		s->remarks, s->starts_containers, s->sweeps, s->job_disks, s->disk_full,
		s->checkpoints_full, s->share.need_bytes, s->share.of_runs, s->share.of_others,
		s->share.alone, s->families,
	};

	for (int i = 0; i < s->n_speeds; i++)
		device_measurement_list_release(&s->speeds[i].list);
	for (int i = 0; s->sweeps && i < s->groups.count; i++)
		halving_sweep_release(&s->sweeps[i]);
	for (int i = 0; i < s->n_job_disks; i++)
		free(s->job_disks[i].full);
	for (int i = 0; s->remarks && i < s->runs.count; i++)
		free(s->remarks[i]);
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		free(owned[i]);
	strings_release(&s->share.workloads);
	strings_release(&s->cores);
	ignored_list_release(&s->gone);
	job_list_release(&s->jobs);
	run_list_release(&s->runs);
	dependency_list_release(&s->dependencies);
	job_group_list_release(&s->groups);
	*s = (struct snapshot){
		.weighs_only = s->weighs_only, .config = s->config, .policy = s->policy,
		.look_failed = s->look_failed,
		.failure = s->failure, .jobs_came = s->jobs_came, .devices = s->devices,
		.people = s->people, .suspends = s->suspends, .memory = s->memory,
		.move_s_per_byte = s->move_s_per_byte, .listed = s->listed, .users = s->users,
		.workloads = s->workloads,
	};
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
	/* The clock is read last: a run may have been launched since the pass began. */
	s->now_boot_s = clock_boot_s();
	s->now_wall_s = clock_wall_s();
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
