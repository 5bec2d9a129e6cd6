/* cmd_requeue.c - pollux requeue: run ended jobs again, or relaunch running ones, from their
 * checkpoints. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "job_change.h"
#include "pollux/environment.h"
#include "pollux/selection.h"
#include "pollux/store_dependencies.h"
#include "pollux/store_events.h"
#include "pollux/store_forget.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/submission.h"

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
