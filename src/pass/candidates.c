/* candidates.c - which jobs the policy is asked about, and why the others are not in question. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "pollux/mem.h"
#include "tiers.h"

/* After its k-th failure a job waits 10 s * 2^(k-1) before it is tried again, 10 minutes at
 * most. */
#define RETRY_WAIT_S 10.0
#define RETRY_WAIT_MAX_S 600.0
#define RETRY_DOUBLINGS_MAX 9

/* True if the job is not to be started now: a person or its time limit is stopping the job for
 * good, or its assigned run is being called off, and a job has at most one assigned run. */
static bool is_leaving(const struct snapshot *s, int64_t job_id)
{
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];

		if (run->job_id != job_id || run->stop_reason == STOP_NONE)
			continue;
		if (run->state == RUN_ASSIGNED || run->stop_reason == STOP_CANCEL ||
		    run->stop_reason == STOP_HOLD || run->stop_reason == STOP_TIME_LIMIT ||
		    run->stop_reason == STOP_DIVERGED)
			return true;
	}
	return false;
}

bool may_start(const struct snapshot *s, const struct job *job)
{
	return !snapshot_run_of(s, job) && !is_leaving(s, job->id);
}

/* --- retries --- */

static char *describe_setback(const struct job *job, const struct setback *setback, double wait_s)
{
	int failures = job->progress.failures;

	if (setback->kind == SETBACK_LOST)
		return xasprintf("lost its supervisor %d times in a row; again after a pause of "
				 "%g s", setback->n, wait_s);
	if (setback->kind == SETBACK_FAILED && failures == 0)
		return xasprintf("tried again after a pause of %g s", wait_s);
	if (setback->kind == SETBACK_FAILED)
		return xasprintf("failed %d time%s; retry %d of %d after a pause of %g s", failures,
				 failures == 1 ? "" : "s", failures, job->declared.retries, wait_s);
	return xasprintf("could not be started; tried again after %g s: %s", wait_s,
			 setback->diagnosis);
}

/* True if the job's last runs all ran out of memory, each on another kind of device. */
static bool moves_to_more_memory(const struct snapshot *s, const struct job *job,
				 const struct setback *setback)
{
	int n = 0;

	for (int i = 0; i < s->ran_out.count; i++)
		n += s->ran_out.items[i].job_id == job->id;
	return n > 0 && n >= setback->n;
}

/* True if the job failed, or could not be started, a short while ago. */
static bool waits_for_retry(const struct snapshot *s, const struct job *job,
			    const struct setback *setback, struct decision *d)
{
	int doublings = setback->n - 1 < RETRY_DOUBLINGS_MAX ? setback->n - 1 : RETRY_DOUBLINGS_MAX;
	double wait_s = fmin(RETRY_WAIT_S * pow(2, doublings), RETRY_WAIT_MAX_S);
	double again_s = setback->end_boot_s + wait_s;

	/* a single loss may be an accident */
	if (setback->n == 0 || s->now_boot_s >= again_s || moves_to_more_memory(s, job, setback) ||
	    (setback->kind == SETBACK_LOST && setback->n == 1))
		return false;
	pass_over(d, job, false, describe_setback(job, setback, wait_s),
		  s->now_wall_s + again_s - s->now_boot_s);
	return true;
}

/* --- devices that are not on offer --- */

static bool has_its_devices(const struct snapshot *s, const struct decision *d,
			    const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		if (decision_find_device(s, d, &run->devices[i]) < 0)
			return false;
	return true;
}

/* True if the driver of the run's devices does not answer, which does not mean that the devices are
 * lost. A driver that was updated and not loaded again fails every new question, while programs
 * that compute already go on. */
static bool may_have_its_devices(const struct snapshot *s, const struct decision *d,
				 const struct run *run)
{
	if (run->state == RUN_ASSIGNED)
		return false;
	for (int i = 0; i < run->configuration.replicas; i++) {
		const struct device *device = &run->devices[i];

		if (!devices_may_lack(&s->devices, device->id) &&
		    decision_find_device(s, d, device) < 0)
			return false;
	}
	return true;
}

/* True if a relaunch goes on where the job was stopped. */
static bool saves(const struct snapshot *s, const struct job *job, const struct run *run)
{
	return job_may_be_preempted(job, run) && !(run && run_loses(s, run));
}

/* True if the job leaves its devices by being suspended. This is asked of the job's run, where
 * memory allows a suspension, or of the run that the job is to have. */
static bool suspends(const struct snapshot *s, const bool *suspendable, const struct job *job,
		     const struct run *run)
{
	if (run && run->state == RUN_RUNNING && run->suspension > SUSPENSION_ASKED)
		return true;
	if (job->declared.suspend == SUSPEND_NEVER ||
	    (job->declared.suspend == SUSPEND_AUTO && saves(s, job, run)))
		return false;
	return run ? suspendable[run - s->runs.items] : s->suspends;
}

/* True of runs that a version made which did not know kinds. */
static bool has_several_kinds(const struct run *run)
{
	for (int i = 1; i < run->configuration.replicas; i++)
		if (strcmp(run->devices[i].kind, run->devices[0].kind) != 0)
			return true;
	return false;
}

/* True if the devices of the run are not on offer any more, as after a change of the slots, and the
 * run stays on them all the same. If it were suspended on a GPU that is left out, it would have to
 * go on there. */
static bool stays_where_it_is(const struct snapshot *s, const struct decision *d,
			      const bool *suspendable, const struct job *job,
			      const struct run *run)
{
	bool suspended = run && suspends(s, suspendable, job, run);
	bool may_leave = run && !(suspended && is_bound_to_left_out(s, run)) &&
			 (job_may_be_preempted(job, run) || (!is_resident(s, run) && suspended));

	return run && run_held(run) > 0 &&
	       (!has_its_devices(s, d, run) ||
		(kinds_are_told_apart(s) && has_several_kinds(run))) &&
	       (!may_leave || may_have_its_devices(s, d, run));
}

/* No device that shares a core with the run's can be given out while it runs. */
static void withdraw_devices(const struct snapshot *s, struct decision *d, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		for (int k = 0; k < s->devices.count; k++)
			if (d->usable[k] &&
			    device_overlaps(&s->devices.items[k], &run->devices[i])) {
				d->usable[k] = false;
				d->n_usable--;
			}
}

/* Withdraws the devices of the runs that stay where they are. All such runs are found before any
 * device is withdrawn: otherwise a run that has lost one device could lose its other devices
 * because of the first. Returns, by job, whether its run stays; the caller frees it. */
static bool *withdraw_for_those_who_stay(const struct snapshot *s, const bool *suspendable,
					 struct decision *d)
{
	bool *stays = xcalloc((size_t)s->jobs.count, sizeof(*stays));

	for (int i = 0; i < s->jobs.count; i++)
		stays[i] = stays_where_it_is(s, d, suspendable, &s->jobs.items[i],
					     snapshot_run_of(s, &s->jobs.items[i]));
	for (int i = 0; i < s->jobs.count; i++)
		if (stays[i])
			withdraw_devices(s, d, snapshot_run_of(s, &s->jobs.items[i]));
	return stays;
}

/* --- for the policy --- */

/* A run that is suspended with its memory comes back on as many devices as it had. */
static void keep_replicas(const struct candidate *c, struct sched_job *out)
{
	const struct run *run = run_of(c);

	if (run && c->suspends && (!c->relaunchable || c->suspended))
		out->min_replicas = out->max_replicas = run->configuration.replicas;
}

/* How long the run has run. */
static double ran_s(const struct snapshot *s, const struct run *run)
{
	if (!run || !isfinite(run->launch_boot_s))
		return 0;
	return run_clock_s(run, s->now_boot_s) - run->launch_boot_s;
}

static double service_of(const struct snapshot *s, const struct run *run)
{
	return run ? run->configuration.replicas * ran_s(s, run) : 0;
}

/* When the run's slice began: when the run was launched, or continued. Where the helper knows that
 * the program trains, the slice begins with the first step, and at the latest a slice after the
 * launch: in its slice a program that takes long to start would otherwise teach nothing. */
static double slice_began_s(const struct snapshot *s, const struct run *run)
{
	double started_s = run->launch_boot_s + run->first_step_s;

	if (run->suspension == SUSPENSION_RESUMING)
		return s->now_boot_s;
	if (isfinite(run->resumed_boot_s))
		return run->resumed_boot_s;
	if (!run->framework[0])
		return run->launch_boot_s;
	return fmin(isnan(started_s) ? s->now_boot_s : started_s,
		    run->launch_boot_s + s->config->slice_s);
}

/* Why a job may not be stopped once it runs, if that may change. NULL: it may be stopped, or its
 * submitter said that it never may. */
static const char *why_kept(const struct job *job, const struct run *run)
{
	if (job_may_be_preempted(job, run))
		return NULL;
	if (job->progress.saved_nothing)
		return "it saved nothing when it was asked to stop";
	if (job->declared.preemption != PREEMPT_SAVED)
		return NULL;
	return job_has_saved(job, run)
		? "it was never seen to resume (--preempt says that it does)"
		: "it has saved nothing";
}

/* The most devices that the job may have; no more than now where more would not end it sooner. */
static int most_replicas(const struct decision *d, const struct candidate *c)
{
	const struct declaration *declared = &c->job->declared;

	if (job_keeps_replicas(c->job))
		return c->run ? c->run->configuration.replicas : declared->min_replicas;
	return declared->max_replicas > 0 ? declared->max_replicas
					  : most_devices(d);
}

static struct sched_job describe_job(const struct snapshot *s, const struct decision *d,
				     const struct candidate *c)
{
	const struct job *job = c->job;
	const struct run *run = c->run;
	int least = job->declared.min_replicas;
	int most = most_replicas(d, c);
	struct sched_job out = {
		.id = job->id, .min_replicas = least, .max_replicas = most > least ? most : least,
		.weight = job->declared.weight,
		/* To call off a run that was not launched yet loses nothing. */
		.preemptible = c->relaunchable || c->suspends ||
			       (run && run->state == RUN_ASSIGNED),
		.attained_service_device_s = job->progress.attained_service_device_s +
					     service_of(s, run ? run : c->suspended),
		.time_left_s = job->declared.time_limit_s - job->progress.run_time_s -
			       ran_s(s, run ? run : c->suspended),
	};

	out.first = run ? 0 : job->declared.first_rank;
	out.why_kept = why_kept(job, run);
	keep_replicas(c, &out);
	/* A job that lost a device has to leave the others anyway: the job counts as waiting. */
	if (!run || !(s->weighs_only || has_its_devices(s, d, run)))
		return out;
	out.replicas = run->configuration.replicas;
	/* The slice of an assigned run has not begun: others may take longer than a slice to leave
	 * its devices. If the decision were revised meanwhile, a job would stop and none start. */
	out.launched_s = s->now_boot_s;
	if (isfinite(run->launch_boot_s))
		out.launched_s = slice_began_s(s, run);
	return out;
}

/* Nothing is decided on such a run before it has left its devices. */
static bool is_being_suspended(const struct run *run)
{
	return run && run->suspension == SUSPENSION_ASKED;
}

/* True if there is no room on the disk of the store, or where the job saves. The reason has no
 * numbers where all jobs have the same reason: numbers change, and each change would be written to
 * the store for each job. 'pollux status' tells the numbers. */
static bool waits_for_disk(const struct snapshot *s, const struct job *job, struct decision *d)
{
	const char *full = snapshot_full_disk(s, job);

	if (!s->disk_full && !full)
		return false;
	pass_over(d, job, false, s->disk_full
		  ? xstrdup("no run starts while the disk is nearly full")
		  : xasprintf("does not start, as it could not save: %s", full), (double)NAN);
	return true;
}

static void add_candidate(const struct snapshot *s, struct decision *d, const bool *suspendable,
			  const struct job *job)
{
	const struct run *run = snapshot_run_of(s, job);
	struct candidate c = {
		.job = job, .relaunchable = job_may_be_preempted(job, run),
		.suspends = suspends(s, suspendable, job, run),
	};

	if (run && is_suspended(run))
		c.suspended = run;
	else
		c.run = run;
	d->candidates[d->n] = c;
	d->sched_jobs[d->n++] = describe_job(s, d, &c);
}

void select_candidates(const struct snapshot *s, struct decision *d)
{
	bool *suspendable = suspendable_runs(s);
	bool *stays;

	if (s->weighs_only) {
		for (int i = 0; i < s->jobs.count; i++)
			add_candidate(s, d, suspendable, &s->jobs.items[i]);
		free(suspendable);
		return;
	}
	stays = withdraw_for_those_who_stay(s, suspendable, d);
	find_dependencies(s, d);
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];
		const struct run *run = snapshot_run_of(s, job);

		if (stays[i] || is_leaving(s, job->id) || is_being_suspended(run))
			continue;
		if (run && waits_on_left_out(s, job, run, d)) {
			if (d->passed_over[d->n_passed_over - 1].resumes)
				withdraw_devices(s, d, run);
			continue;
		}
		if (!run && (is_deserted(s, job, d) || waits_for_another(s, job, d) ||
			     waits_to_begin(s, job, d) || waits_for_disk(s, job, d) ||
			     waits_for_kind(s, job, d) || waits_for_tier(s, job, d) ||
			     waits_for_retry(s, job, &s->setbacks[i], d)))
			continue;
		add_candidate(s, d, suspendable, job);
	}
	halve_sweeps(s, d);
	limit_groups(s, d);
	put_interactive_first(s, d);
	free(stays);
	free(suspendable);
}
