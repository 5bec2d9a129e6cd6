/* candidates.c - which jobs the policy is asked about, and why the others are not in question. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "stages.h"

/* True if the job is not to be started now: a person or its time limit is stopping the job for
 * good; or the end of a run that lost its supervisor will tell whether the job pauses, or has
 * failed; or its assigned run is being called off, and a job has at most one assigned run. */
static bool is_leaving(const struct snapshot *s, int64_t job_id)
{
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];

		if (run->job_id != job_id || run->stop_reason == STOP_NONE)
			continue;
		if (run->state == RUN_ASSIGNED || run->stop_reason == STOP_CANCEL ||
		    run->stop_reason == STOP_HOLD || run->stop_reason == STOP_TIME_LIMIT ||
		    run->stop_reason == STOP_DIVERGED || run->stop_reason == STOP_ORPHAN)
			return true;
	}
	return false;
}

bool may_start(const struct snapshot *s, const struct job *job)
{
	return !snapshot_run_of(s, job) && !is_leaving(s, job->id);
}

/* --- devices that are not on offer --- */

/* True if the run has devices that are on offer, all of one kind: a version that did not know kinds
 * made others. */
static bool has_its_devices(const struct snapshot *s, const struct decision *d,
			    const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		if (decision_find_device(s, d, &run->devices[i]) < 0 ||
		    (kinds_are_told_apart(s) &&
		     strcmp(run->devices[i].kind, run->devices[0].kind) != 0))
			return false;
	return true;
}

/* True if the job leaves its devices by being suspended. This is asked of the job's run, where
 * memory allows a suspension, or of the run that the job is to have. */
static bool suspends(const struct snapshot *s, const bool *suspendable, const struct job *job,
		     const struct run *run)
{
	if (run && run->state == RUN_RUNNING && run->suspension > SUSPENSION_ASKED)
		return true;
	/* a relaunch that goes on where the job was stopped is as good */
	if (job->declared.suspend == SUSPEND_NEVER ||
	    (job->declared.suspend == SUSPEND_AUTO && job_may_be_preempted(job, run) &&
	     !(run && run_loses(s, run))))
		return false;
	return run ? suspendable[run - s->runs.items] : s->suspends;
}

/* True if the devices of the run are not on offer any more, as after a change of the slots, and the
 * run stays on them all the same. If it were suspended on a GPU that is left out, it would have to
 * go on there. */
static bool stays_where_it_is(const struct snapshot *s, const struct decision *d,
			      const bool *suspendable, const struct job *job,
			      const struct run *run)
{
	bool suspended = run && suspends(s, suspendable, job, run), may_leave;

	if (!run || run_held(run) == 0 || has_its_devices(s, d, run))
		return false;
	may_leave = !(suspended && is_bound_to_left_out(s, run)) &&
		    (job_may_be_preempted(job, run) || (!is_resident(s, run) && suspended));
	/* A driver that does not answer does not mean that the devices are lost. One that was
	 * updated and not loaded again fails every new question, while programs that compute
	 * already go on. */
	for (int i = 0; i < run->configuration.replicas; i++)
		if (may_leave && !devices_may_lack(&s->devices, run->devices[i].id) &&
		    decision_find_device(s, d, &run->devices[i]) < 0)
			return false;
	return !may_leave || run->state != RUN_ASSIGNED;
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

/* --- for the policy --- */

/* How long the run has run. */
static double ran_s(const struct snapshot *s, const struct run *run)
{
	if (!run || !isfinite(run->launch_boot_s))
		return 0;
	return run_clock_s(run, s->now_boot_s) - run->launch_boot_s;
}

/* When the run's slice began: when the run was launched, or continued. Where the helper knows that
 * the program trains, the slice begins with the first step, and at the latest a slice after the
 * launch: in its slice a program that takes long to start would otherwise teach nothing. The slice
 * of an assigned run has not begun: others may take longer than a slice to leave its devices. If
 * the decision were revised meanwhile, a job would stop and none start. */
static double slice_began_s(const struct snapshot *s, const struct run *run)
{
	double started_s = run->launch_boot_s + run->first_step_s;

	if (!isfinite(run->launch_boot_s) || run->suspension == SUSPENSION_RESUMING)
		return s->now_boot_s;
	if (isfinite(run->resumed_boot_s))
		return run->resumed_boot_s;
	if (!run->framework[0])
		return run->launch_boot_s;
	return fmin(isnan(started_s) ? s->now_boot_s : started_s,
		    run->launch_boot_s + s->config->slice_s);
}

/* Why a job may not be stopped once it runs. */
static enum why_kept why_kept(const struct job *job, const struct run *run)
{
	if (job_may_be_preempted(job, run))
		return KEPT_BY_WISH;
	if (job->progress.saved_nothing)
		return KEPT_SAVED_NOTHING;
	if (job->declared.preemption != PREEMPT_SAVED)
		return KEPT_BY_WISH;
	return job_has_saved(job, run) ? KEPT_NEVER_RESUMED : KEPT_UNSAVED;
}

static struct sched_job describe_job(const struct snapshot *s, const struct decision *d,
				     const struct candidate *c)
{
	const struct job *job = c->job;
	const struct run *run = c->run, *own = run_of(c);
	int least = job->declared.min_replicas, most = job->declared.max_replicas;
	struct sched_job out = {
		.id = job->id, .weight = job->declared.weight,
		.first = run ? 0 : job->declared.first_rank, .why_kept = why_kept(job, run),
		/* To call off a run that was not launched yet loses nothing. */
		.preemptible = c->relaunchable || c->suspends ||
			       (run && run->state == RUN_ASSIGNED),
		.attained_service_device_s = job->progress.attained_service_device_s +
			(own ? own->configuration.replicas * ran_s(s, own) : 0),
		.time_left_s = job->declared.time_limit_s - job->progress.run_time_s -
			       ran_s(s, own),
	};

	if (job_keeps_replicas(job))
		most = run ? run->configuration.replicas : least;
	else if (most <= 0)
		most = most_devices(d);
	/* A run that is suspended with its memory comes back on as many devices as it had. */
	if (own && c->suspends && (!c->relaunchable || c->suspended))
		least = most = own->configuration.replicas;
	out.min_replicas = least;
	out.max_replicas = most > least ? most : least;
	/* A job that lost a device has to leave the others anyway: the job counts as waiting. */
	if (!run || !(s->weighs_only || has_its_devices(s, d, run)))
		return out;
	out.replicas = run->configuration.replicas;
	out.launched_s = slice_began_s(s, run);
	return out;
}

static bool is_passed_over(const struct snapshot *s, const struct job *job, const struct run *run,
			   struct decision *d)
{
	if (!run)
		return is_deserted(s, job, d) || waits_for_another(s, job, d) ||
		       waits_to_begin(s, job, d) || waits_for_disk(s, job, d) ||
		       (!job->declared.cpu_cores &&
			(waits_for_kind(s, job, d) || waits_for_tier(s, job, d))) ||
		       waits_for_retry(s, job, d);
	if (!waits_on_left_out(s, job, run, d))
		return false;
	if (d->passed_over[d->n_passed_over - 1].resumes)
		withdraw_devices(s, d, run);
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
	bool *stays;		/* by job */

	if (s->weighs_only) {
		for (int i = 0; i < s->jobs.count; i++)
			add_candidate(s, d, suspendable, &s->jobs.items[i]);
		free(suspendable);
		return;
	}
	stays = xcalloc((size_t)s->jobs.count, sizeof(*stays));
	/* All runs that stay where they are are found before any device is withdrawn: otherwise a
	 * run that has lost one device could lose its other devices because of the first. */
	for (int i = 0; i < s->jobs.count; i++)
		stays[i] = stays_where_it_is(s, d, suspendable, &s->jobs.items[i],
					     snapshot_run_of(s, &s->jobs.items[i]));
	for (int i = 0; i < s->jobs.count; i++)
		if (stays[i])
			withdraw_devices(s, d, snapshot_run_of(s, &s->jobs.items[i]));
	find_dependencies(s, d);
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];
		const struct run *run = snapshot_run_of(s, job);

		/* nothing is decided on a run that is to leave its devices before it has left */
		if (stays[i] || job->held || is_leaving(s, job->id) ||
		    (run && run_has_no_device(run)) ||
		    (run && run->suspension == SUSPENSION_ASKED) || is_passed_over(s, job, run, d))
			continue;
		add_candidate(s, d, suspendable, job);
	}
	halve_sweeps(s, d);
	limit_groups(s, d);
	put_interactive_first(s, d);
	free(stays);
	free(suspendable);
}
