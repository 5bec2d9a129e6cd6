/* store_run_end.c - the end of a run, in one transaction: its row and devices, what it adds to its
 * job, and the state that the job has next. */
#include <math.h>
#include <stdlib.h>

#include "journal.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

static void set_end_time(struct run *r)
{
	if (isnan(r->end_time_s))
		r->end_time_s = clock_wall_s();
	if (isnan(r->end_boot_s))
		r->end_boot_s = clock_boot_s();
}

/* If somebody removed the file of a run's lock, two supervisors may wait for the run. A supervisor
 * that never claimed the run must not end it if the other one has claimed it meanwhile. */
static int end_row(struct store *s, struct run *r, struct err *err)
{
	bool was_claimed = isfinite(r->launch_boot_s);
	int changed;

	r->state = RUN_ENDED;
	set_end_time(r);
	changed = rows_update(s, SOME_OF(runs_table, COLUMN_END), r, r->id,
			      was_claimed ? "state <> 'ended'" : "state = 'assigned'", err);
	if (changed < 0)
		return -1;
	if (changed != 1)
		return err_set(err, EX_SOFTWARE, "run %lld has ended already%s", (long long)r->id,
			       was_claimed ? "" : ", or another supervisor has started it");
	return sql_run(s, NULL, err, "UPDATE run_devices SET in_use = 0 WHERE run_id = ?", "i",
		       r->id);
}

/* A run that another plan, or a kind of device with more memory, would do for is no failure of its
 * job. */
static bool moves_to_more_memory(const struct run *r)
{
	return r->outcome == OUTCOME_FAILED && r->out_of_memory &&
	       (r->larger_kind || r->other_plan);
}

/* True if the job goes on without a try of its retries: elsewhere, or from another checkpoint. */
static bool is_no_failure(const struct run *r)
{
	return moves_to_more_memory(r) ||
	       (r->outcome == OUTCOME_FAILED && (r->former_checkpoint || r->forgiven));
}

static int add_totals(struct store *s, const struct run *r, struct err *err)
{
	bool asked = r->stop_reason == STOP_PREEMPT || r->stop_reason == STOP_REQUEUE;
	bool stopped = r->outcome == OUTCOME_STOPPED;
	bool failed = stopped ? r->stop_reason == STOP_DIVERGED
			      : r->outcome == OUTCOME_FAILED && !is_no_failure(r);
	bool seen = r->outcome == OUTCOME_COMPLETED || r->exit_code >= 0 || r->term_signal >= 0;
	/* The job goes on at the run's last checkpoint if the run was cut short. */
	double checkpoint = isfinite(r->checkpoint_samples) ? r->checkpoint_samples
							     : r->stands_at_samples;
	double samples = r->outcome == OUTCOME_COMPLETED || isnan(checkpoint) ? r->last_samples
									      : checkpoint;
	/* Checkpoints of the run may be there, which bind the job to the plan's group. */
	bool did_something = !r->out_of_memory || isfinite(r->first_step_s);

	/* Takes back what the launch counted: the run took its devices, but its command was not
	 * started, for example because another user's process was on a device. */
	if (r->outcome == OUTCOME_NOT_STARTED)
		return sql_run(s, NULL, err, "UPDATE jobs SET runs = runs - 1,"
			       " start_time_s = CASE WHEN runs > 1 THEN start_time_s END"
			       " WHERE id = ? AND runs > 0 AND EXISTS"
			       "  (SELECT 1 FROM runs WHERE id = ? AND launch_time_s IS NOT NULL)",
			       "ii", r->job_id, r->id);
	/* A run that told nothing changes nothing of what is known of the position. After such a
	 * doubt a run that was cut short may have shown a later checkpoint. */
	if (!(seen && isnan(r->first_samples)) &&
	    sql_run(s, NULL, err, "UPDATE jobs SET position_doubt = ?2, checkpoint_samples ="
		    " iif(?3 > checkpoint_samples, ?3, checkpoint_samples) WHERE id = ?1", "iid",
		    r->job_id, (int64_t)(seen ? POSITION_KNOWN : POSITION_AT_LEAST),
		    r->checkpoint_samples))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET run_time_s = run_time_s + ?,"
		       " attained_service_device_s = attained_service_device_s + ?,"
		       " preemptions = preemptions + ?, failures = failures + ?,"
		       " lost_samples = lost_samples + ?, lost_s = lost_s + ?,"
		       " samples = coalesce(?, samples), exit_code = ?, term_signal = ?,"
		       " saves_when_asked = coalesce(?, saves_when_asked),"
		       " saved_nothing = max(saved_nothing, ?),"
		       " plan = coalesce(nullif(?, ''), plan),"
		       " last_end_time_s = ? WHERE id = ?", "ddiidddmmmitdi", r->duration_s,
		       r->duration_s * r->configuration.replicas, (int64_t)(stopped && asked),
		       (int64_t)failed, r->lost_samples, r->lost_s, samples,
		       (int64_t)r->exit_code, (int64_t)r->term_signal,
		       (int64_t)r->saves_when_asked, (int64_t)r->saved_nothing,
		       did_something ? r->configuration.plan : "", clock_wall_s(), r->job_id);
}

static char *describe_end(const struct run *r)
{
	const char *why = r->diagnosis && *r->diagnosis ? r->diagnosis : "";
	const char *stopped = stop_reason_words(r->stop_reason);
	struct text t = TEXT_INIT;
	char name[SIGNAL_NAME_SIZE];

	if (r->outcome == OUTCOME_STOPPED)
		text_add(&t, stopped);
	else if (r->outcome == OUTCOME_NOT_STARTED && r->stop_reason != STOP_NONE)
		text_addf(&t, "%s before it started", stopped);
	else
		text_add(&t, run_outcome_name(r->outcome));
	if (r->outcome == OUTCOME_STOPPED || r->outcome == OUTCOME_NOT_STARTED)
		;
	else if (r->stop_reason != STOP_NONE && r->outcome != OUTCOME_COMPLETED)
		text_addf(&t, ", %s", stopped);
	else if (r->term_signal > 0)
		text_addf(&t, ": killed by %s", signal_name(name, r->term_signal));
	else if (r->exit_code > 0)
		text_addf(&t, ": exit status %d", r->exit_code);
	text_addf(&t, "%s%s", *why ? ": " : "", why);
	if (r->forgiven)
		text_add(&t, "; tried again without a try of its retries");
	else if (moves_to_more_memory(r) && r->other_plan)
		text_addf(&t, "; goes on under another plan than %s", r->configuration.plan);
	else if (moves_to_more_memory(r))
		text_addf(&t, "; goes to a %s than %s", text_starts_with(r->devices[0].id, "cpu:")
			  ? "larger slot" : "kind of device with more memory",
			  r->devices[0].kind);
	return text_detach(&t);
}

/* Adds to how the last run ended that the job had its retries, if it had any. */
static void add_retries(const struct job *job, char **text)
{
	int retries = job->declared.retries, tried = job->progress.failures - 1;
	char *end = *text;

	if (job->profile || retries == 0)
		return;
	*text = xasprintf("%s; after %d of %d retries", end, tried < retries ? tried : retries,
			  retries);
	free(end);
}

/* A command may kill its supervisor each time. The job fails after this many losses in a row, but
 * not before it has used its retries. */
#define SUPERVISOR_LOSSES 3

/* A job with another run (its next run is assigned already, or its last run is still being stopped)
 * stays running. The end of that other run then decides on the job's state. *text: how the run
 * ended; or, where that says less, why the job fails. */
static int end_job(struct store *s, const struct run *r, char **text, struct err *err)
{
	struct job job;
	enum job_state next;
	bool active, is_over;
	int losses = 0, rc = 0;

	if (sql_get(s, err, "SELECT 1 FROM runs WHERE job_id = ? AND state <> 'ended' LIMIT 1",
		    "b<i", &active, r->job_id))
		return -1;
	if (active)
		return 0;
	if (store_job_get(s, r->job_id, &job, err))
		return -1;
	next = job_state_after(r->outcome, r->stop_reason,
			       is_no_failure(r) ||
				       job.progress.failures <= job.declared.retries);
	if (!job.profile && next == JOB_QUEUED &&
	    (r->outcome == OUTCOME_LOST || r->stop_reason == STOP_ORPHAN))
		rc = store_job_supervisor_losses(s, r->job_id, &losses, err);
	if (losses >= SUPERVISOR_LOSSES && losses > job.declared.retries) {
		next = JOB_FAILED;
		free(*text);
		*text = xasprintf("its supervisor was killed %d times in a row, before a "
				  "checkpoint: does its command kill its parent?", losses);
	}
	if (next == JOB_FAILED && r->outcome == OUTCOME_FAILED)
		add_retries(&job, text);
	/* A run of 'pollux run' is not repeated. */
	if (job.interactive && next == JOB_QUEUED && r->outcome != OUTCOME_NOT_STARTED)
		next = JOB_CANCELLED;
	/* Its run was suspended to be held, and is lost. */
	if (job.held && next == JOB_QUEUED)
		next = JOB_HELD;
	/* The process of a profile decides what comes after a run. If that process was killed, a
	 * pass may have ended the job already, with a better reason. */
	is_over = job.profile && (next != JOB_CANCELLED || job_has_ended(job.state));
	job_release(&job);
	if (rc || is_over)
		return rc;
	return next == JOB_HELD ? store_job_hold(s, r->job_id, "held", err)
				: store_job_set_state(s, r->job_id, next, *text, err);
}

int run_end_in_transaction(struct store *s, const struct run *run, struct err *err)
{
	struct run r = *run;
	enum stop_reason stored;
	enum run_state state;
	bool taken_back;
	char *text;
	int rc;

	if (store_run_stop_reason(s, r.id, &stored, &state, err))
		return -1;
	/* A cancel that came after the supervisor's last look at the store counts, too, and so does
	 * the release of a job that was being held. */
	taken_back = r.stop_reason == STOP_HOLD && stored == STOP_REQUEUE;
	if (r.stop_reason != STOP_NONE && !taken_back &&
	    store_run_request_stop(s, r.id, r.stop_reason, r.stop_boot_s, err))
		return -1;
	if (store_run_stop_reason(s, r.id, &r.stop_reason, &state, err) ||
	    store_aside_forgives(s, &r, &r.forgiven, err))
		return -1;
	text = describe_end(&r);
	rc = end_row(s, &r, err) || add_totals(s, &r, err);
	/* A job that has ended or is held starts no run that is assigned. */
	if (rc == 0 && (job_state_after(r.outcome, r.stop_reason, true) != JOB_QUEUED ||
			r.outcome == OUTCOME_FAILED))
		rc = sql_run(s, NULL, err, "UPDATE runs SET state = 'ended',"
			     " outcome = 'not-started', end_time_s = ?"
			     " WHERE job_id = ? AND state = 'assigned'", "di", clock_wall_s(),
			     r.job_id);
	rc = rc || end_job(s, &r, &text, err) ||
	     store_event_add(s, r.job_id, r.id, "ended", text, err) ||
	     (!is_no_failure(&r) && store_group_hold_failing(s, &r, err)) ||
	     store_aside_tell(s, &r, err) ||
	     (r.stop_reason == STOP_SUSPENSION && store_workload_suspend_no_more(s, &r, err));
	free(text);
	return rc ? -1 : 0;
}

/* The columns that progress has, too, are written first: the end writes its own alone. */
int put_end(struct store *s, const struct told *t, struct err *err)
{
	if (rows_update(s, SOME_OF(runs_table, COLUMN_REPORT), &t->run, t->run.id,
			"state <> 'ended'", err) < 0)
		return -1;
	return run_end_in_transaction(s, &t->run, err);
}

/* Supervisors do not wait for the disk when they write measurements (STORE_OBSERVE), but they do
 * for the end of a run. What the end means for the job is found out by the store that takes the
 * journal. */
int store_run_end(struct store *s, const struct run *run, struct err *err)
{
	struct told told = { .run = *run };
	int rc;

	set_end_time(&told.run);
	if (store_make_durable(s, err) || store_begin(s, err))
		return -1;
	journal_pause(true);
	rc = run_end_in_transaction(s, &told.run, err);
	journal_pause(false);
	if (rc == 0)
		journal_tell(s, RECORD_END, &told);
	return store_finish(s, rc, err);
}
