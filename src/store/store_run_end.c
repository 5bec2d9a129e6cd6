/* store_run_end.c - the end of a run, in one transaction: its row and devices, what it adds to its
 * job, and the state that the job has next. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "journal.h"
#include "pollux/clock.h"
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

/* Takes back what the launch counted: the run took its devices, but its command was not started,
 * for example because another user's process was on a device. */
static int uncount(struct store *s, const struct run *r, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET runs = runs - 1,"
		       " start_time_s = CASE WHEN runs > 1 THEN start_time_s END"
		       " WHERE id = ? AND runs > 0 AND EXISTS"
		       "  (SELECT 1 FROM runs WHERE id = ? AND launch_time_s IS NOT NULL)", "ii",
		       r->job_id,
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

/* True if checkpoints of the run may be there, which bind the job to the plan's group. */
static bool did_something(const struct run *r)
{
	return !r->out_of_memory || isfinite(r->first_step_s);
}

/* A run that told nothing changes nothing of what is known. */
static int doubt_position(struct store *s, const struct run *r, struct err *err)
{
	bool seen = r->outcome == OUTCOME_COMPLETED || r->exit_code >= 0 || r->term_signal >= 0;

	if (seen && isnan(r->first_samples))
		return 0;
	/* after such a doubt a run that was cut short may have shown a later checkpoint */
	return sql_run(s, NULL, err, "UPDATE jobs SET position_doubt = ?2, checkpoint_samples ="
		       " iif(?3 > checkpoint_samples, ?3, checkpoint_samples) WHERE id = ?1", "iid",
		       r->job_id, (int64_t)(seen ? POSITION_KNOWN : POSITION_AT_LEAST),
		       r->checkpoint_samples);
}

static bool is_failure(const struct run *r)
{
	if (r->outcome == OUTCOME_STOPPED)
		return r->stop_reason == STOP_DIVERGED;
	return r->outcome == OUTCOME_FAILED && !is_no_failure(r);
}

static int add_totals(struct store *s, const struct run *r, struct err *err)
{
	bool stopped = r->outcome == OUTCOME_STOPPED &&
		       (r->stop_reason == STOP_PREEMPT || r->stop_reason == STOP_REQUEUE);

	/* The job goes on at the run's last checkpoint if the run was cut short. */
	double checkpoint = isfinite(r->checkpoint_samples) ? r->checkpoint_samples
							     : r->stands_at_samples;
	double samples = r->outcome == OUTCOME_COMPLETED || isnan(checkpoint) ? r->last_samples
									      : checkpoint;

	if (r->outcome == OUTCOME_NOT_STARTED)
		return uncount(s, r, err);
	if (doubt_position(s, r, err))
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
		       r->duration_s * r->configuration.replicas, (int64_t)stopped,
		       (int64_t)is_failure(r),
		       r->lost_samples, r->lost_s,
		       samples, (int64_t)r->exit_code, (int64_t)r->term_signal,
		       (int64_t)r->saves_when_asked, (int64_t)r->saved_nothing,
		       did_something(r) ? r->configuration.plan : "", clock_wall_s(),
		       r->job_id);
}

static void describe_end(const struct run *r, char *text, size_t size)
{
	const char *why = r->diagnosis && *r->diagnosis ? r->diagnosis : "";
	const char *colon = *why ? ": " : "";
	const char *stopped = stop_reason_words(r->stop_reason);
	char name[SIGNAL_NAME_SIZE];

	if (r->outcome == OUTCOME_STOPPED)
		snprintf(text, size, "%s%s%s", stopped, colon, why);
	else if (r->outcome == OUTCOME_NOT_STARTED && r->stop_reason != STOP_NONE)
		snprintf(text, size, "%s before it started%s%s", stopped, colon, why);
	else if (r->stop_reason != STOP_NONE && r->outcome != OUTCOME_COMPLETED)
		snprintf(text, size, "%s, %s%s%s", run_outcome_name(r->outcome), stopped, colon,
			 why);
	else if (r->term_signal > 0)
		snprintf(text, size, "%s: killed by %s%s%s", run_outcome_name(r->outcome),
			 signal_name(name, r->term_signal), colon, why);
	else if (r->exit_code > 0)
		snprintf(text, size, "%s: exit status %d%s%s", run_outcome_name(r->outcome),
			 r->exit_code, colon, why);
	else
		snprintf(text, size, "%s%s%s", run_outcome_name(r->outcome), colon, why);
}

static int has_active_run(struct store *s, int64_t job_id, bool *has, struct err *err)
{
	int64_t answer;
	int rc = sql_ask(s, &answer, err, "SELECT 1 FROM runs WHERE job_id = ? AND state <> 'ended'"
			 " LIMIT 1", "i", job_id);

	*has = answer;
	return rc;
}

/* A command may kill its supervisor each time. The job fails after this many losses in a row, but
 * not before it has used its retries. */
#define SUPERVISOR_LOSSES 3

/* Fails a job that loses its supervisor again and again. */
static int bound_losses(struct store *s, const struct run *r, const struct job *job,
			enum job_state *next, int *losses, struct err *err)
{
	int n = 0;

	*losses = 0;
	if (*next != JOB_QUEUED || (r->outcome != OUTCOME_LOST && r->stop_reason != STOP_ORPHAN))
		return 0;
	if (store_job_supervisor_losses(s, r->job_id, &n, err))
		return -1;
	if (n < SUPERVISOR_LOSSES || n <= job->declared.retries)
		return 0;
	*next = JOB_FAILED;
	*losses = n;
	return 0;
}

/* A job with another run (its next run is assigned already, or its last run is still being stopped)
 * stays running. The end of that other run then decides on the job's state. */
static int end_job(struct store *s, const struct run *r, char *text, size_t size, struct err *err)
{
	struct job job;
	enum job_state next;
	int losses = 0;
	bool active;

	if (has_active_run(s, r->job_id, &active, err))
		return -1;
	if (active)
		return 0;
	if (store_job_get(s, r->job_id, &job, err))
		return -1;
	next = job_state_after(r->outcome, r->stop_reason,
			       is_no_failure(r) ||
				       job.progress.failures <= job.declared.retries);
	if (!job.profile && bound_losses(s, r, &job, &next, &losses, err)) {
		job_release(&job);
		return -1;
	}
	/* A run of 'pollux run' is not repeated. */
	if (job.interactive && next == JOB_QUEUED && r->outcome != OUTCOME_NOT_STARTED)
		next = JOB_CANCELLED;
	if (losses > 0)
		snprintf(text, size, "its supervisor was killed %d times in a row, before a "
			 "checkpoint: does its command kill its parent?", losses);
	/* The process of a profile decides what comes after a run. If that process was killed, a
	 * pass may have ended the job already, with a better reason. */
	if (job.profile && (next != JOB_CANCELLED || job_has_ended(job.state))) {
		job_release(&job);
		return 0;
	}
	job_release(&job);
	return next == JOB_HELD ? store_job_hold(s, r->job_id, "held", err)
				: store_job_set_state(s, r->job_id, next, text, err);
}

/* Calls off the job's assigned runs once the job has ended or is held. */
static int call_off_assigned(struct store *s, const struct run *r, struct err *err)
{
	enum job_state next = job_state_after(r->outcome, r->stop_reason, true);

	if (next == JOB_QUEUED && r->outcome != OUTCOME_FAILED)
		return 0;
	return sql_run(s, NULL, err, "UPDATE runs SET state = 'ended', outcome = 'not-started',"
		       " end_time_s = ? WHERE job_id = ? AND state = 'assigned'", "di",
		       clock_wall_s(), r->job_id);
}

static void add_move(const struct run *r, char *text, size_t size)
{
	struct text t = TEXT_INIT;

	if (r->forgiven)
		text_addf(&t, "%s; tried again without a try of its retries", text);
	else if (r->other_plan)
		text_addf(&t, "%s; goes on under another plan than %s", text,
			  r->configuration.plan);
	else
		text_addf(&t, "%s; goes to a %s than %s", text,
			  strncmp(r->devices[0].id, "cpu:", 4) == 0
			  ? "larger slot" : "kind of device with more memory",
			  r->devices[0].kind);
	snprintf(text, size, "%s", t.data);
	text_release(&t);
}

int run_end_in_transaction(struct store *s, const struct run *run, struct err *err)
{
	struct run r = *run;
	enum stop_reason stored;
	enum run_state state;
	bool taken_back;
	char text[1024];

	if (store_run_stop_reason(s, r.id, &stored, &state, err))
		return -1;
	/* A cancel that came after the supervisor's last look at the store counts, too, and so does
	 * the release of a job that was being held. */
	taken_back = r.stop_reason == STOP_HOLD && stored == STOP_REQUEUE;
	if (r.stop_reason != STOP_NONE && !taken_back &&
	    store_run_request_stop(s, r.id, r.stop_reason, r.stop_boot_s, err))
		return -1;
	if (store_run_stop_reason(s, r.id, &r.stop_reason, &state, err))
		return -1;
	if (store_aside_forgives(s, &r, &r.forgiven, err))
		return -1;
	describe_end(&r, text, sizeof(text));
	if (r.forgiven || moves_to_more_memory(&r))
		add_move(&r, text, sizeof(text));
	if (end_row(s, &r, err) || add_totals(s, &r, err) || call_off_assigned(s, &r, err) ||
	    end_job(s, &r, text, sizeof(text), err))
		return -1;
	return store_event_add(s, r.job_id, r.id, "ended", text, err) ||
	       store_aside_tell(s, &r, err) ? -1 : 0;
}

/* The columns that progress has, too, are written first: the end writes its own alone. */
int put_end(struct store *s, const struct told *t, struct err *err)
{
	if (rows_update(s, SOME_OF(runs_table, COLUMN_REPORT), &t->run, t->run.id,
			"state <> 'ended'", err) < 0)
		return -1;
	return run_end_in_transaction(s, &t->run, err);
}

int store_run_end(struct store *s, const struct run *run, struct err *err)
{
	struct told told = { .run = *run };
	int rc;

	set_end_time(&told.run);
	/* Supervisors do not wait for the disk when they write measurements (STORE_OBSERVE), but
	 * they do for the end of a run. */
	if (sql_run(s, NULL, err, "PRAGMA synchronous = FULL", ""))
		return -1;
	if (store_begin(s, err))
		return -1;
	/* What the end means for the job is found out by the store that takes the journal. */
	journal_pause(true);
	rc = run_end_in_transaction(s, &told.run, err);
	journal_pause(false);
	if (rc) {
		store_rollback(s);
		return -1;
	}
	journal_tell(s, RECORD_END, &told);
	return store_commit(s, err);
}
