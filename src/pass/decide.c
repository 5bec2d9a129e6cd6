/* decide.c - who may run at all, and what the policy makes of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pass_state.h"
#include "pollux/assign.h"
#include "pollux/clock.h"
#include "pollux/mem.h"

/* After the k-th failure a job waits 10 s * 2^(k-1) before it is tried again, 10 minutes at most. */
#define RETRY_WAIT_S 10.0
#define RETRY_WAIT_MAX_S 600.0

/* The run that holds devices for the job: assigned or running, and not told to stop. */
static const struct run *run_of(const struct pass_state *p, int64_t job_id)
{
	for (int i = 0; i < p->runs.count; i++)
		if (p->runs.items[i].job_id == job_id && p->runs.items[i].stop_reason == STOP_NONE)
			return &p->runs.items[i];
	return NULL;
}

/* Not to be started now: a person, or its time limit, is stopping it for good; or the run it was to have
 * next is being called off, and a job has one assigned run at most. */
static bool is_leaving(const struct pass_state *p, int64_t job_id)
{
	for (int i = 0; i < p->runs.count; i++) {
		const struct run *run = &p->runs.items[i];

		if (run->job_id != job_id || run->stop_reason == STOP_NONE)
			continue;
		if (run->state == RUN_ASSIGNED || run->stop_reason == STOP_CANCEL ||
		    run->stop_reason == STOP_HOLD || run->stop_reason == STOP_TIME_LIMIT)
			return true;
	}
	return false;
}

/* A wall-clock estimate this close to the one in the store is the same estimate. */
#define SAME_TIME_S 2.0

int pass_set_reason(struct pass_state *p, const struct job *job, const char *reason, double next_s,
		    struct err *err)
{
	bool same_time = (isnan(next_s) && isnan(job->next_start_s)) ||
			 fabs(next_s - job->next_start_s) < SAME_TIME_S;

	if (same_time && !strcmp(job->reason, reason))
		return 0;
	return store_job_set_reason(&p->store, job->id, reason, next_s, err);
}

static int wait_for(struct pass_state *p, const struct job *job, const char *reason, double next_s,
		    struct err *err)
{
	p->result->n_waiting++;
	if (p->mode == PASS_DRY_RUN)
		return 0;
	return pass_set_reason(p, job, reason, next_s, err);
}

/* The index of its first; they are in the order of the jobs. */
static int first_dependency(const struct dependency_list *list, int64_t job_id)
{
	int low = 0, high = list->count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (list->items[middle].job_id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double pass_dependencies_end(const struct pass_state *p, int64_t job_id)
{
	const struct dependency_list *list = &p->dependencies;
	double end = (double)NAN;

	for (int i = first_dependency(list, job_id);
	     i < list->count && list->items[i].job_id == job_id; i++)
		end = fmax(end, list->items[i].after_end_time_s);
	return end;
}

/* 1: the job waits for another (or never can run, and was cancelled), 0: nothing in its way. */
static int check_dependencies(struct pass_state *p, const struct job *job, struct err *err)
{
	const struct dependency_list *list = &p->dependencies;
	char reason[160];

	for (int i = first_dependency(list, job->id);
	     i < list->count && list->items[i].job_id == job->id; i++) {
		const struct dependency *d = &list->items[i];

		if (d->must_succeed && job_has_ended(d->after_state) && d->after_state != JOB_DONE) {
			snprintf(reason, sizeof(reason), "job %lld, which was to succeed first, is %s",
				 (long long)d->after_id, job_state_name(d->after_state));
			strings_addf(&p->result->actions, "job %lld: cancelled: %s",
				     (long long)job->id, reason);
			return p->mode == PASS_ACT &&
			       store_job_set_state(&p->store, job->id, JOB_CANCELLED, reason, err)
				? -1 : 1;
		}
		if (!job_has_ended(d->after_state)) {
			snprintf(reason, sizeof(reason), "after job %lld, which is %s",
				 (long long)d->after_id, job_state_name(d->after_state));
			return wait_for(p, job, reason, NAN, err) ? -1 : 1;
		}
	}
	return 0;
}

/* 1: it failed, or could not be started, a short while ago; 0: it may be tried. */
static int check_retry(struct pass_state *p, const struct job *job, struct err *err)
{
	struct setback setback;
	double wait_s, again_s;
	char reason[400];

	if (job->progress.launches == 0)
		return 0;
	if (store_job_setback(&p->store, job->id, clock_boot_id(), &setback, err))
		return -1;
	wait_s = fmin(RETRY_WAIT_S * pow(2, fmin(setback.n, 10) - 1), RETRY_WAIT_MAX_S);
	again_s = setback.end_boot_s + wait_s;
	if (setback.n == 0 || p->now_boot_s >= again_s)
		return 0;
	if (setback.failed)
		snprintf(reason, sizeof(reason), "failed %d time%s; retry %d of %d after a pause of "
			 "%g s", job->progress.failures, job->progress.failures == 1 ? "" : "s", job->progress.failures,
			 job->declared.retries, wait_s);
	else
		snprintf(reason, sizeof(reason), "could not be started; tried again after %g s: %s",
			 wait_s, setback.diagnosis);
	return wait_for(p, job, reason, p->now_wall_s + again_s - p->now_boot_s, err) ? -1 : 1;
}

/* The device as it was when it was given out, and usable. */
static int find_device(const struct device_list *list, const struct device *wanted)
{
	for (int d = 0; d < list->count; d++)
		if (device_is_same(&list->items[d], wanted))
			return list->items[d].usable ? d : -1;
	return -1;
}

static bool has_its_devices(const struct pass_state *p, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		if (find_device(&p->devices, &run->devices[i]) < 0)
			return false;
	return true;
}

static bool is_listed(const struct device_list *list, const char *id)
{
	for (int d = 0; d < list->count; d++)
		if (!strcmp(list->items[d].id, id))
			return true;
	return false;
}

/* Its command runs on GPUs of which the driver says nothing, not that they are lost. A driver that was updated
 * and not loaded again fails every new question, and those who compute already go on. */
static bool may_have_its_devices(const struct pass_state *p, const struct run *run)
{
	if (!p->devices.gpus_unknown || run->state == RUN_ASSIGNED)
		return false;
	for (int i = 0; i < run->configuration.replicas; i++) {
		const struct device *device = &run->devices[i];
		bool unknown = device_backend_of(device->id) == &device_gpu &&
			       !is_listed(&p->devices, device->id);

		if (!unknown && find_device(&p->devices, device) < 0)
			return false;
	}
	return true;
}

static bool may_be_preempted(const struct job *job, const struct run *run)
{
	if (job->declared.preemption == PREEMPT_SAVED)
		return isfinite(job->progress.checkpoint_samples) ||
		       (run && isfinite(run->checkpoint_boot_s));
	return job->declared.preemption == PREEMPT_ALWAYS;
}

/* Its devices are not on offer any more, as after a change of the slots; but it is not to be stopped, or not
 * for that. */
static bool stays_where_it_is(const struct pass_state *p, const struct job *job, const struct run *run)
{
	return run && !has_its_devices(p, run) &&
	       (!may_be_preempted(job, run) || may_have_its_devices(p, run));
}

/* No device that shares a core with the run's can be given out while it runs. */
static void withdraw_devices(struct pass_state *p, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		for (int d = 0; d < p->devices.count; d++) {
			struct device *device = &p->devices.items[d];

			if (device->usable && device_overlaps(device, &run->devices[i])) {
				device->usable = false;
				p->n_usable--;
			}
		}
}

static const struct run *run_of_running(const struct pass_state *p, const struct job *job)
{
	return job->state == JOB_RUNNING ? run_of(p, job->id) : NULL;
}

/* Who stays is found for all before any device is withdrawn: a run that has lost one of its devices is not to
 * lose the others by that. By job, owned by the caller. */
static bool *withdraw_for_those_who_stay(struct pass_state *p)
{
	bool *stays = xcalloc((size_t)p->jobs.count, sizeof(*stays));

	for (int i = 0; i < p->jobs.count; i++)
		stays[i] = stays_where_it_is(p, &p->jobs.items[i], run_of_running(p, &p->jobs.items[i]));
	for (int i = 0; i < p->jobs.count; i++) {
		const struct run *run = run_of_running(p, &p->jobs.items[i]);

		if (run && stays[i])
			withdraw_devices(p, run);
	}
	return stays;
}

static struct sched_job describe(const struct pass_state *p, const struct job *job,
				 const struct run *run)
{
	int max = job->declared.max_replicas > 0 ? job->declared.max_replicas : p->n_usable;
	struct sched_job s = {
		.id = job->id, .min_replicas = job->declared.min_replicas,
		.max_replicas = max > job->declared.min_replicas ? max : job->declared.min_replicas,
		.weight = job->declared.weight, .preemptible = may_be_preempted(job, run),
		.attained_service_device_s = job->progress.attained_service_device_s,
	};

	/* One that lost a device has to be relaunched anyway: it counts as waiting. */
	if (!run || !has_its_devices(p, run))
		return s;
	s.replicas = run->configuration.replicas;
	/* Its slice begins with its launch: the devices that it waits for may take longer than a slice to be left,
	 * and to revise the decision then would stop one job and start none. */
	s.launched_s = p->now_boot_s;
	if (isfinite(run->launch_boot_s)) {
		s.launched_s = run->launch_boot_s;
		s.attained_service_device_s += run->configuration.replicas * (p->now_boot_s - run->launch_boot_s);
	}
	return s;
}

/* 1: not to be decided on in this pass. */
static int is_passed_over(struct pass_state *p, const struct job *job, const struct run *run, struct err *err)
{
	int blocked = 0;

	if (is_leaving(p, job->id))
		return 1;
	if (!run)
		blocked = check_dependencies(p, job, err);
	if (!run && blocked == 0)
		blocked = check_retry(p, job, err);
	return blocked;
}

int pass_select(struct pass_state *p, struct err *err)
{
	size_t n = (size_t)p->jobs.count;
	bool *stays = withdraw_for_those_who_stay(p);
	int rc = 0;

	p->candidates = xcalloc(n, sizeof(*p->candidates));
	p->sched_jobs = xcalloc(n, sizeof(*p->sched_jobs));
	p->choices = xcalloc(n, sizeof(*p->choices));
	p->owner = xcalloc((size_t)p->devices.count, sizeof(*p->owner));
	p->wake = xcalloc((size_t)p->runs.count, sizeof(*p->wake));
	for (int i = 0; rc >= 0 && i < p->jobs.count; i++) {
		const struct job *job = &p->jobs.items[i];
		const struct run *run = run_of_running(p, job);

		rc = stays[i] ? 1 : is_passed_over(p, job, run, err);
		if (rc)
			continue;
		p->candidates[p->n_candidates] = (struct candidate){ .job = job, .run = run };
		p->sched_jobs[p->n_candidates++] = describe(p, job, run);
	}
	free(stays);
	return rc < 0 ? -1 : 0;
}

static void mark_held(const struct pass_state *p, const struct run *run, int holder_index,
		      int *holder)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		int d = find_device(&p->devices, &run->devices[i]);

		if (d >= 0)
			holder[d] = holder_index;
	}
}

/* Counts to devices. Runs on their way out hold theirs under an index of their own with a count of 0,
 * so that devices which are free now are given out first. */
static void assign(struct pass_state *p)
{
	int leaving = p->n_candidates;
	int *holder = xcalloc((size_t)p->devices.count, sizeof(int));
	int *count = xcalloc((size_t)p->n_candidates + 1, sizeof(int));

	for (int d = 0; d < p->devices.count; d++)
		holder[d] = p->devices.items[d].usable ? ASSIGN_FREE : ASSIGN_UNUSABLE;
	for (int i = 0; i < p->runs.count; i++)
		if (p->runs.items[i].stop_reason != STOP_NONE)
			mark_held(p, &p->runs.items[i], leaving, holder);
	for (int j = 0; j < p->n_candidates; j++) {
		count[j] = p->choices[j].replicas;
		if (p->candidates[j].run)
			mark_held(p, p->candidates[j].run, j, holder);
	}
	assign_devices(p->devices.count, holder, p->n_candidates + 1, count, p->devices.links,
		       p->owner);
	free(holder);
	free(count);
}

void pass_decide(struct pass_state *p)
{
	struct sched_input input = {
		.jobs = p->sched_jobs, .n_jobs = p->n_candidates, .n_devices = p->n_usable,
		.now_s = p->now_boot_s, .slice_s = p->config->slice_s,
	};

	pass_weigh(p);
	p->policy->decide(&input, p->choices);
	assign(p);
	pass_explain_blocked(p);
}
