/* cmd_change.c - the commands that change what becomes of jobs: cancel, hold, release, first,
 * requeue. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/environment.h"
#include "pollux/report.h"
#include "pollux/selection.h"
#include "pollux/store_groups.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/submission.h"

/* --- pollux cancel: end jobs for good --- */

int cancel_job(struct session *s, const struct job *job, struct run_list *runs, struct err *err)
{
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			       job_state_name(job->state));
	if (stop_runs_of_job(s, job->id, STOP_CANCEL, runs, err) ||
	    store_event_add(&s->store, job->id, 0, "cancel", "asked to cancel", err))
		return -1;
	/* A running job is cancelled when its processes are gone. */
	return runs->count ? 0
		: store_job_set_state(&s->store, job->id, JOB_CANCELLED, "cancelled", err);
}

static int cancel(struct session *s, const struct job *job, const struct asked_change *o,
		  struct run_list *runs, struct err *err)
{
	(void)o;
	return cancel_job(s, job, runs, err);
}

static int main_cancel(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = cancel, .done = "cancelled", .stopping = "asked to stop, to be cancelled",
		.loss = LOSS_ASKED, .unrecorded = STOP_CANCEL,
		.then_pass = true,	/* for jobs that come after this one */
	};
	int rc = change_jobs(&cmd_cancel, &change, argc, argv, err);

	if (rc == 0)
		on_end_look();
	return rc;
}

const struct command cmd_cancel = {
	.name = "cancel", .synopsis = "[--force] [--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "end jobs for good; running ones may save first",
	.example = "pollux cancel 3 4\n"
		   "pollux cancel 15-20\n"
		   "pollux cancel 'lr*' --state queued --dry-run",
	.options = stop_options, .takes_jobs = true, .job_use = USE_CANCEL,
	.run = main_cancel,
};

/* --- pollux hold: keep jobs from running; running ones are stopped first --- */

static int hold(struct session *s, const struct job *job, const struct asked_change *o,
		struct run_list *runs, struct err *err)
{
	enum stop_reason pending;

	(void)o;
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			       job_state_name(job->state));
	if (job->profile)
		return err_set(err, EX_FAILED, "job %lld is a profile, which cannot be held",
			       (long long)job->id);
	if (job->interactive)
		return err_set(err, EX_FAILED, "job %lld is of 'pollux run', which cannot "
			       "be held: its terminal waits for it", (long long)job->id);
	if (job->state == JOB_HELD)
		return 0;
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (pending == STOP_CANCEL || pending == STOP_TIME_LIMIT || pending == STOP_DIVERGED)
		return err_set(err, EX_FAILED, "job %lld is being stopped for good, which wins: %s",
			       (long long)job->id, stop_reason_words(pending));
	if (stop_runs_of_job(s, job->id, STOP_HOLD, runs, err) ||
	    store_event_add(&s->store, job->id, 0, "hold", "asked to hold", err))
		return -1;
	return runs->count ? 0
		: store_job_hold(&s->store, job->id, "held", err);
}

static int main_hold(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = hold, .done = "held", .stopping = "asked to stop, to be held",
		.loss = LOSS_REFUSED, .unrecorded = STOP_HOLD,
	};

	return change_jobs(&cmd_hold, &change, argc, argv, err);
}

const struct command cmd_hold = {
	.name = "hold", .synopsis = "[--force] [--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "keep jobs from running until they are released", .example = "pollux hold 3",
	.options = stop_options, .takes_jobs = true, .job_use = USE_HOLD,
	.run = main_hold,
};

/* --- pollux release --- */

/* Lets held jobs go, and jobs that are paused at a rung; a hold that is still at work is taken
 * back. */

static int take_back(struct session *s, const struct job *job, struct run_list *runs,
		     struct err *err)
{
	if (store_runs_take_back_hold(&s->store, job->id, err) ||
	    store_event_add(&s->store, job->id, 0, "release",
			    "released while it stops: to be queued again", err))
		return -1;
	/* A weaker reason changes nothing: this collects the runs, whose supervisors are woken. */
	return stop_runs_of_job(s, job->id, STOP_PREEMPT, runs, err);
}

static int pass_rungs(struct session *s, const struct job *job, struct err *err)
{
	return store_job_pass_all_rungs(&s->store, job->id, err) ||
	       store_event_add(&s->store, job->id, 0, "release", "released from its rung", err) ||
	       store_job_set_state(&s->store, job->id, JOB_QUEUED, "released from its rung",
				   err) ? -1 : 0;
}

static int release_job(struct session *s, const struct job *job, const struct asked_change *o,
		       struct run_list *runs, struct err *err)
{
	enum stop_reason pending;

	(void)o;
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (job->state == JOB_RUNNING && pending == STOP_HOLD)
		return take_back(s, job, runs, err);
	if (job_is_paused(job))
		return pass_rungs(s, job, err);
	if (job->state != JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is not held: %s", (long long)job->id,
			       job_state_name(job->state));
	if (store_event_add(&s->store, job->id, 0, "release", "released", err))
		return -1;
	return store_job_set_state(&s->store, job->id, JOB_QUEUED, "released", err);
}

static int main_release(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = release_job, .done = "released", .then_pass = true,
		.stopping = "released: queued again when it has stopped",
	};

	return change_jobs(&cmd_release, &change, argc, argv, err);
}

const struct command cmd_release = {
	.name = "release", .synopsis = "[--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "let held jobs go, and those paused at a rung",
	.example = "pollux release 3\n"
		   "pollux release --state held --yes",
	.options = change_options, .takes_jobs = true, .job_use = USE_RELEASE,
	.run = main_release,
};

/* --- pollux first: the next in line, under every policy --- */

/* If several jobs are named, the first one named comes first. */
static int put_first(struct session *s, const struct job *job, const struct asked_change *o,
		     struct run_list *runs, struct err *err)
{
	static int rank;	/* of the next job */

	(void)runs;
	if (job->profile)
		return err_set(err, EX_FAILED, "job %lld is a profile, which waits for nobody",
			       (long long)job->id);
	if (job->interactive)
		return err_set(err, EX_FAILED, "job %lld is of 'pollux run', "
			       "which comes first without that", (long long)job->id);
	if (job->state == JOB_RUNNING)
		return err_set(err, EX_FAILED, "job %lld is not in line: it has started already",
			       (long long)job->id);
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			       job_state_name(job->state));
	if (job_is_paused(job))
		return refuse_paused(job, err);
	if (store_event_add(&s->store, job->id, 0, "first", "put first in line", err))
		return -1;
	if (store_job_put_first(&s->store, job->id, o->n_jobs, &rank, err))
		return -1;
	if (job->declared.begin_s > clock_wall_s() && !o->dry_run)
		output_messagef("job %lld waits for its --begin, %s, all the same; 'pollux edit "
				"%lld --begin now' lets it start", (long long)job->id,
				format_time(job->declared.begin_s, clock_wall_s()).s,
				(long long)job->id);
	return 0;
}

static int main_first(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = put_first, .done = "first in line", .then_pass = true,
	};

	return change_jobs(&cmd_first, &change, argc, argv, err);
}

const struct command cmd_first = {
	.name = "first", .synopsis = "[--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "give waiting jobs devices before any other waiting job",
	.example = "pollux first 7", .options = change_options, .takes_jobs = true,
	.job_use = USE_FIRST, .run = main_first,
};

/* --- pollux requeue: run ended jobs again, or relaunch running ones, from their checkpoints --- */

/* A stop for another reason is stronger than a requeue. */
static int refuse_if_stopping(struct session *s, int64_t job_id, struct err *err)
{
	enum stop_reason pending;

	if (pending_stop(s, job_id, &pending, err))
		return -1;
	if (pending == STOP_HOLD)
		return err_set(err, EX_FAILED,
			       "job %lld is being held, which wins; 'pollux release %lld' has it "
			       "queued again", (long long)job_id, (long long)job_id);
	if (pending == STOP_CANCEL || pending == STOP_TIME_LIMIT || pending == STOP_DIVERGED)
		return err_set(err, EX_FAILED,
			       "job %lld is being stopped for good, which wins: %s; requeue it "
			       "when it has stopped", (long long)job_id,
			       stop_reason_words(pending));
	return 0;
}

/* --- the job's environment --- */

static int say_forgotten(const struct job *job, const struct job_command *command, struct err *err)
{
	struct text lacking = TEXT_INIT;
	struct strings here = { 0 };

	if (command->env.count == 0)
		return err_set(err, EX_FAILED, "the environment of job %lld was lost: 'pollux "
			       "requeue --take-env %lld' takes that of this shell",
			       (long long)job->id, (long long)job->id);
	environment_capture(environ, &here);
	add_lacking_variables(&lacking, &command->env, &here);
	err_set(err, EX_FAILED,
		"job %lld ended more than a day ago, and the values of its %zu variables are no "
		"longer stored: 'pollux requeue --take-env %lld' takes those of this shell, which "
		"%s%s", (long long)job->id, command->env.count, (long long)job->id,
		*lacking.data ? "lacks " : "has them all", lacking.data);
	strings_release(&here);
	text_release(&lacking);
	return -1;
}

static int take_environment(struct session *s, const struct job *job,
			    const struct job_command *command, struct err *err)
{
	struct text missing = TEXT_INIT;
	struct strings env = { 0 };
	int rc;

	environment_capture(environ, &env);
	strings_set_variable(&env, "PWD", command->directory);
	rc = store_environment_replace(&s->store, job->id, &env, err);
	if (rc == 0 && add_lacking_variables(&missing, &command->env, &env))
		fprintf(stderr, "pollux: job %lld: variables that it had and that are not set "
			"here: %s\n", (long long)job->id, missing.data);
	text_release(&missing);
	strings_release(&env);
	return rc;
}

static int see_to_environment(struct session *s, const struct job *job,
			      const struct asked_change *o, struct err *err)
{
	struct job_command command;
	int rc = 0;

	if (store_job_command_get(&s->store, job->id, &command, err))
		return -1;
	if (o->take_env)
		rc = take_environment(s, job, &command, err);
	else if (command.env_names_only)
		rc = say_forgotten(job, &command, err);
	job_command_release(&command);
	return rc;
}

/* --- one job, and those that were cancelled for it --- */

static int refuse(const struct job *job, struct err *err)
{
	if (job->profile)
		return err_set(err, EX_FAILED,
			       "job %lld is a profile: 'pollux profile' makes another",
			       (long long)job->id);
	if (job->interactive)
		return err_set(err, EX_FAILED, "job %lld is of 'pollux run', which had its "
			       "terminal: 'pollux run' makes another", (long long)job->id);
	if (job_is_paused(job))
		return refuse_paused(job, err);
	if (job->state == JOB_QUEUED || job->state == JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is %s: nothing to requeue",
			       (long long)job->id, job_state_name(job->state));
	return 0;
}

static int requeue_one(struct session *s, const struct job *job, const struct asked_change *o,
		       struct run_list *runs, struct err *err)
{
	if (refuse(job, err) || refuse_if_stopping(s, job->id, err) ||
	    see_to_environment(s, job, o, err))
		return -1;
	if (store_event_add(&s->store, job->id, 0, "requeue", "asked to requeue", err) ||
	    store_job_forgive(&s->store, job->id, err))
		return -1;
	if (job->state == JOB_RUNNING)
		return stop_runs_of_job(s, job->id, STOP_REQUEUE, runs, err);
	if (store_job_requeue(&s->store, job->id, err))
		return -1;
	return o->force ? 0 : shared_checkpoints_check(&s->store, job->id, job->id, err);
}

static int requeue_dependents(struct session *s, const struct asked_change *o, struct err *err)
{
	struct run_list none = { 0 };		/* the jobs have ended */
	int rc = 0;

	for (int i = 0; rc == 0 && i < o->also->count; i++) {
		struct job job;

		rc = store_job_get(&s->store, o->also->items[i], &job, err);
		if (rc)
			break;
		rc = requeue_one(s, &job, o, &none, err);
		job_release(&job);
	}
	return rc;
}

/* With --dependents a job that was queued again before stays as it is. */
static int requeue(struct session *s, const struct job *job, const struct asked_change *o,
		   struct run_list *runs, struct err *err)
{
	struct id_list one = { (int64_t[]){ job->id }, 1 };
	bool waits = job->state == JOB_QUEUED || job->state == JOB_HELD;

	if (o->dependents && store_dependents_cancelled(&s->store, job->id, o->also, err))
		return -1;
	if (!(waits && o->also->count) && requeue_one(s, job, o, runs, err))
		return -1;
	return requeue_dependents(s, o, err) || store_dependencies_check(&s->store, &one, err) ||
	       store_dependencies_check(&s->store, o->also, err) ? -1 : 0;
}

static int main_requeue(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = requeue, .done = "queued again", .then_pass = true,
		.stopping = "asked to stop, to be queued again",
		.loss = LOSS_REFUSED,
		.unrecordable = "runs on: stopped now, it could not be started again",
	};

	return change_jobs(&cmd_requeue, &change, argc, argv, err);
}

const struct command cmd_requeue = {
	.name = "requeue",
	.synopsis = "[--force] [--take-env] [--dependents] [--dry-run] [--yes] [SELECTION] "
		    "[JOB...]",
	.summary = "run ended jobs again, or relaunch running ones",
	.example = "pollux requeue 3\n"
		   "pollux requeue --dependents 3\n"
		   "pollux requeue --state failed --since 1d",
	.options = requeue_options, .takes_jobs = true, .job_use = USE_REQUEUE,
	.run = main_requeue,
};
