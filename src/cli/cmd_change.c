/* cmd_change.c - the commands that change what becomes of jobs: cancel, hold, release, first,
 * clear, requeue. */
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/environment.h"
#include "pollux/secret.h"
#include "pollux/store_groups.h"

/* --- pollux cancel: end jobs for good --- */

int cancel_job(struct session *s, const struct job *job, const struct asked_change *o,
	       struct run_list *runs, struct err *err)
{
	(void)o;
	if (refuse_ended(job, err) || stop_runs_of_job(s, job->id, STOP_CANCEL, runs, err) ||
	    store_event_add(&s->store, job->id, 0, "cancel", "asked to cancel", err))
		return -1;
	/* A running job is cancelled when its processes are gone. */
	return runs->count ? 0
		: store_job_set_state(&s->store, job->id, JOB_CANCELLED, "cancelled", err);
}

static const struct job_change change_cancel = {
	.act = cancel_job, .done = "cancelled",
	.stopping = "asked to stop, to be cancelled", .loss = LOSS_ASKED,
	.unrecorded = STOP_CANCEL,
	.then_pass = true,	/* for jobs that come after this one */
	.then_on_end = true,
};

const struct command cmd_cancel = {
	.name = "cancel", .synopsis = "[--force] [--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "end jobs for good; running ones may save first",
	.example = "pollux cancel 3 4\n"
		   "pollux cancel 15-20\n"
		   "pollux cancel 'lr*' --state queued --dry-run",
	.options = stop_options, .takes_jobs = true, .job_use = USE_CANCEL,
	.change = &change_cancel,
};

/* --- pollux hold: keep jobs from running; running ones are stopped first, or suspended --- */

static int hold(struct session *s, const struct job *job, const struct asked_change *o,
		struct run_list *runs, struct err *err)
{
	enum stop_reason pending;

	if (refuse_ended(job, err) ||
	    refuse_odd(job, ", which cannot be held",
		       "cannot be held: its terminal waits for it", err))
		return -1;
	if (job->state == JOB_HELD || (job->held && !o->force))
		return 0;
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (stop_is_for_good(pending))
		return err_set(err, EX_FAILED, "job %lld is being stopped for good, which wins: %s",
			       (long long)job->id, stop_reason_words(pending));
	if (o->suspends)
		return hold_suspend(s, job, o->freezes, runs, err);
	if (stop_runs_of_job(s, job->id, STOP_HOLD, runs, err) ||
	    store_event_add(&s->store, job->id, 0, "hold", "asked to hold", err))
		return -1;
	return runs->count ? 0
		: store_job_hold(&s->store, job->id, "held", err);
}

static const struct job_change change_hold = {
	.act = hold, .done = "held", .stopping = "asked to stop, to be held",
	.loss = LOSS_REFUSED, .unrecorded = STOP_HOLD, .suspends = true,
};

const struct command cmd_hold = {
	.name = "hold", .synopsis = "[--force] [--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "keep jobs from running until they are released", .example = "pollux hold 3",
	.options = stop_options, .takes_jobs = true, .job_use = USE_HOLD,
	.change = &change_hold,
};

/* --- pollux release: let held jobs go, and jobs that are paused at a rung --- */

static int release_job(struct session *s, const struct job *job, const struct asked_change *o,
		       struct run_list *runs, struct err *err)
{
	const char *reason = "released";
	enum stop_reason pending;

	(void)o;
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (job->held && stop_is_for_good(pending))
		return err_set(err, EX_FAILED, "job %lld is being stopped for good, which wins: %s",
			       (long long)job->id, stop_reason_words(pending));
	if (job->held && store_job_release_suspended(&s->store, job->id, err))
		return -1;
	if (job->state == JOB_RUNNING && pending == STOP_HOLD) {
		if (store_runs_take_back_hold(&s->store, job->id, err) ||
		    store_event_add(&s->store, job->id, 0, "release",
				    "released while it stops: to be queued again", err))
			return -1;
		/* A weaker reason changes nothing: this collects the runs, whose supervisors are
		 * woken. */
		return stop_runs_of_job(s, job->id, STOP_PREEMPT, runs, err);
	}
	if (job->held)
		return store_event_add(&s->store, job->id, 0, "release", reason, err);
	if (job_is_paused(job)) {
		reason = "released from its rung";
		if (store_job_pass_all_rungs(&s->store, job->id, err))
			return -1;
	} else if (job->state != JOB_HELD) {
		return err_set(err, EX_FAILED, "job %lld is not held: %s", (long long)job->id,
			       job_state_name(job->state));
	}
	if (store_event_add(&s->store, job->id, 0, "release", reason, err))
		return -1;
	return store_job_set_state(&s->store, job->id, JOB_QUEUED, reason, err);
}

static const struct job_change change_release = {
	.act = release_job, .done = "released", .then_pass = true,
	.stopping = "released: queued again when it has stopped",
};

const struct command cmd_release = {
	.name = "release", .synopsis = "[--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "let held jobs go, and those paused at a rung",
	.example = "pollux release 3\n"
		   "pollux release --state held --yes",
	.options = change_options, .takes_jobs = true, .job_use = USE_RELEASE,
	.change = &change_release,
};

/* --- pollux first: the next in line, under every policy --- */

/* If several jobs are named, the first one named comes first. */
static int put_first(struct session *s, const struct job *job, const struct asked_change *o,
		     struct run_list *runs, struct err *err)
{
	static int rank;	/* of the next job */

	(void)runs;
	if (refuse_odd(job, ", which waits for nobody", "comes first without that", err))
		return -1;
	if (job->state == JOB_RUNNING)
		return err_set(err, EX_FAILED, "job %lld is not in line: it has started already",
			       (long long)job->id);
	if (refuse_ended(job, err) || refuse_paused(job, err) ||
	    store_event_add(&s->store, job->id, 0, "first", "put first in line", err) ||
	    store_job_put_first(&s->store, job->id, o->n_jobs, &rank, err))
		return -1;
	if (job->declared.begin_s > clock_wall_s() && !o->dry_run)
		output_messagef("job %lld waits for its --begin, %s, all the same; 'pollux edit "
				"%lld --begin now' lets it start", (long long)job->id,
				format_time(job->declared.begin_s, clock_wall_s()).s,
				(long long)job->id);
	return 0;
}

static const struct job_change change_first = {
	.act = put_first, .done = "first in line", .then_pass = true,
};

const struct command cmd_first = {
	.name = "first", .synopsis = "[--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "give waiting jobs devices before any other waiting job",
	.example = "pollux first 7", .options = change_options, .takes_jobs = true,
	.job_use = USE_FIRST, .change = &change_first,
};

/* --- pollux clear: ended jobs out of sight --- */

static int clear_job(struct session *s, const struct job *job, const struct asked_change *o,
		     struct run_list *runs, struct err *err)
{
	(void)o;
	(void)runs;
	if (!job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has not ended: %s", (long long)job->id,
			       job_state_name(job->state));
	return store_job_clear(&s->store, job->id, err);
}

static const struct job_change change_clear = {
	.act = clear_job, .done = "cleared", .means_all = true,
};

const struct command cmd_clear = {
	.name = "clear", .synopsis = "[--dry-run] [SELECTION] [JOB...]",
	.summary = "take ended jobs out of sight; what they left and taught stays",
	.example = "pollux clear\n"
		   "pollux clear --state failed",
	.options = change_options, .takes_jobs = true, .job_use = USE_CLEAR,
	.change = &change_clear,
};

/* --- pollux requeue: run ended jobs again, or relaunch running ones, from their checkpoints --- */

/* Gives the job this shell's values of the credentials that the store no longer has. Fails if this
 * shell lacks one. */
static int renew_secrets(struct session *s, int64_t id, struct job_command *c,
			 const struct strings *here, struct err *err)
{
	struct text taken = TEXT_INIT, lacking = TEXT_INIT;
	int rc = 0;

	secrets_refill(&c->env, here, &taken, &lacking);
	if (lacking.length)
		rc = err_set(err, EX_FAILED, "job %lld: %s left the store when the job ended, and "
			     "is not set here: set it, or 'pollux requeue --take-env %lld' goes "
			     "without", (long long)id, lacking.data, (long long)id);
	else if (taken.length)
		rc = store_environment_replace(&s->store, id, &c->env, true, err);
	if (rc == 0 && taken.length)
		output_messagef("job %lld gets %s from this shell: they left the store when it "
				"ended", (long long)id, taken.data);
	text_release(&taken);
	text_release(&lacking);
	return rc;
}

/* Gives the job the environment of this shell, if that was asked for. Fails if the store no longer
 * has the values of its own. */
static int renew_environment(struct session *s, const struct job *job,
			     const struct asked_change *o, struct err *err)
{
	long long id = job->id;
	struct job_command command;
	struct text lacking = TEXT_INIT;
	struct strings here = { 0 };
	int rc = 0;

	if (store_job_command_get(&s->store, job->id, &command, err))
		return -1;
	environment_capture(environ, &here);
	if (o->take_env) {
		strings_set_variable(&here, "PWD", command.directory);
		rc = store_environment_replace(&s->store, job->id, &here, false, err);
		if (rc == 0 && add_lacking_variables(&lacking, &command.env, &here))
			fprintf(stderr, "pollux: job %lld: variables that it had and that are not "
				"set here: %s\n", id, lacking.data);
	} else if (command.env_names_only && command.env.count == 0) {
		rc = err_set(err, EX_FAILED, "the environment of job %lld was lost: 'pollux "
			     "requeue --take-env %lld' takes that of this shell", id, id);
	} else if (command.env_names_only) {
		add_lacking_variables(&lacking, &command.env, &here);
		rc = err_set(err, EX_FAILED,
			     "job %lld ended more than a day ago, and the values of its %zu "
			     "variables are no longer stored: 'pollux requeue --take-env %lld' "
			     "takes those of this shell, which %s%s", id, command.env.count, id,
			     lacking.length ? "lacks " : "has them all", lacking.data);
	} else {
		rc = renew_secrets(s, job->id, &command, &here, err);
	}
	strings_release(&here);
	text_release(&lacking);
	job_command_release(&command);
	return rc;
}

static int requeue_one(struct session *s, const struct job *job, const struct asked_change *o,
		       struct run_list *runs, struct err *err)
{
	bool waits = job->state == JOB_QUEUED || job_state_told(job) == JOB_HELD;
	enum stop_reason pending;

	if (refuse_odd(job, ": 'pollux profile' makes another",
		       "had its terminal: 'pollux run' makes another", err) ||
	    refuse_paused(job, err))
		return -1;
	if (waits)
		return err_set(err, EX_FAILED, "job %lld %s: nothing to requeue",
			       (long long)job->id, job_state_clause(job_state_told(job), false));
	/* A stop for another reason is stronger than a requeue. */
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (pending == STOP_HOLD)
		return err_set(err, EX_FAILED,
			       "job %lld is being held, which wins; 'pollux release %lld' has it "
			       "queued again", (long long)job->id, (long long)job->id);
	if (stop_is_for_good(pending))
		return err_set(err, EX_FAILED,
			       "job %lld is being stopped for good, which wins: %s; requeue it "
			       "when it has stopped", (long long)job->id,
			       stop_reason_words(pending));
	if (renew_environment(s, job, o, err) ||
	    store_event_add(&s->store, job->id, 0, "requeue", "asked to requeue", err) ||
	    store_job_forgive(&s->store, job->id, err))
		return -1;
	if (job->state == JOB_RUNNING)
		return stop_runs_of_job(s, job->id, STOP_REQUEUE, runs, err);
	if (store_job_requeue(&s->store, job->id, err))
		return -1;
	return o->force ? 0 : shared_checkpoints_check(&s->store, job->id, job->id, err);
}

/* With --dependents a job that was queued again before stays as it is. */
static int requeue(struct session *s, const struct job *job, const struct asked_change *o,
		   struct run_list *runs, struct err *err)
{
	struct id_list one = { (int64_t[]){ job->id }, 1 };
	bool waits = job->state == JOB_QUEUED || job_state_told(job) == JOB_HELD;
	struct run_list none = { 0 };		/* the dependents have ended */

	if (o->dependents && store_dependents_cancelled(&s->store, job->id, o->also, err))
		return -1;
	if (!(waits && o->also->count) && requeue_one(s, job, o, runs, err))
		return -1;
	for (int i = 0; i < o->also->count; i++) {
		struct job dependent;
		int rc = store_job_get(&s->store, o->also->items[i], &dependent, err);

		if (rc)
			return rc;
		rc = requeue_one(s, &dependent, o, &none, err);
		job_release(&dependent);
		if (rc)
			return rc;
	}
	return store_dependencies_check(&s->store, &one, err) ||
	       store_dependencies_check(&s->store, o->also, err) ? -1 : 0;
}

static const struct job_change change_requeue = {
	.act = requeue, .done = "queued again", .then_pass = true,
	.stopping = "asked to stop, to be queued again",
	.loss = LOSS_REFUSED,
	.unrecordable = "runs on: stopped now, it could not be started again",
};

const struct command cmd_requeue = {
	.name = "requeue",
	.synopsis = "[--force] [--take-env] [--failed] [--dependents] [--dry-run] [--yes] "
		    "[SELECTION] [JOB...]",
	.summary = "run ended jobs again, or relaunch running ones",
	.example = "pollux requeue 3\n"
		   "pollux requeue --failed --dependents group:3\n"
		   "pollux requeue --state failed --since 1d",
	.options = requeue_options, .takes_jobs = true, .job_use = USE_REQUEUE,
	.change = &change_requeue,
};
