/* job_change.c - act on jobs, and on the runs that they have. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/mem.h"
#include "pollux/pause.h"

#define FLAG(member) OPTION_FLAG, NULL, .offset = offsetof(struct asked_change, member), 0, 0
#define FORCE { "force", 'f', FLAG(force), "also where work would be lost; do not ask" }
#define ALL_HAVE \
	{ "dry-run", 'n', FLAG(dry_run), "print what would be done, do nothing" }, \
	{ "yes", 'y', FLAG(yes), \
	  "do not ask where several jobs are meant that were not given by number" }, \
	SELECTION_OPTIONS(offsetof(struct asked_change, which)), \
	{ .name = NULL }

const struct option_spec stop_options[] = { FORCE, ALL_HAVE };
const struct option_spec change_options[] = { ALL_HAVE };
const struct option_spec requeue_options[] = {
	FORCE,
	{ "take-env", 0, FLAG(take_env),
	  "give the jobs the present environment in place of theirs" },
	{ "failed", 0, FLAG(failed), "only jobs that have failed or reached their time limit" },
	{ "dependents", 0, FLAG(dependents),
	  "also the jobs that were cancelled as these did not end as they had to" },
	ALL_HAVE
};

/* --- jobs that a command leaves as they are --- */

int refuse_ended(const struct job *job, struct err *err)
{
	return !job_has_ended(job->state) ? 0
		: err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			  job_state_name(job->state));
}

int refuse_paused(const struct job *job, struct err *err)
{
	return !job_is_paused(job) ? 0
		: err_set(err, EX_FAILED, "job %lld is paused at a rung: 'pollux release %lld' "
			  "lets it go on", (long long)job->id, (long long)job->id);
}

int refuse_odd(const struct job *job, const char *profile, const char *interactive, struct err *err)
{
	if (job->profile)
		return err_set(err, EX_FAILED, "job %lld is a profile%s", (long long)job->id,
			       profile);
	if (job->interactive)
		return err_set(err, EX_FAILED, "job %lld is of 'pollux run', which %s",
			       (long long)job->id, interactive);
	return 0;
}

bool stop_is_for_good(enum stop_reason reason)
{
	return reason == STOP_CANCEL || reason == STOP_TIME_LIMIT || reason == STOP_DIVERGED;
}

int stop_runs_of_job(struct session *s, int64_t job_id, enum stop_reason reason,
		     struct run_list *runs, struct err *err)
{
	int rc = store_runs_active_of(&s->store, job_id, runs, err);

	for (int i = 0; rc == 0 && i < runs->count; i++)
		rc = store_run_request_stop(&s->store, runs->items[i].id, reason, clock_boot_s(),
					    err);
	return rc;
}

int pending_stop(struct session *s, int64_t job_id, enum stop_reason *reason, struct err *err)
{
	static const int weights[N_STOP_REASONS] = {
		[STOP_CANCEL] = 4, [STOP_TIME_LIMIT] = 3, [STOP_DIVERGED] = 3,
		[STOP_HOLD] = 2, [STOP_REQUEUE] = 1,
	};
	struct run_list runs;

	*reason = STOP_NONE;
	if (store_runs_active_of(&s->store, job_id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++)
		if (weights[runs.items[i].stop_reason] > weights[*reason])
			*reason = runs.items[i].stop_reason;
	run_list_release(&runs);
	return 0;
}

/* --- may it lose work? --- */

/* What became of a job. */
struct changed {
	int64_t job_id;
	struct run_list runs;
	struct id_list also;
	struct job_loss loss;
	bool refused;		/* its loss was not accepted */
	bool suspends, freezes;	/* as in struct asked_change */
	int rc;
	struct err err;
};

/* Asks the person whether work may be lost, or refuses. why_not: why the run is not suspended
 * instead; "": the command suspends none. */
static int ask_about_loss(int64_t job_id, const struct job_loss *loss, const char *why_not,
			  bool asks, struct err *err)
{
	struct formatted work = format_duration(loss->work_s);
	const char *separator = *why_not ? "; " : "";
	char answer[16] = "";

	if (!asks)
		return err_set(err, EX_FAILED, "job %lld %s; %s of work would be lost%s%s; --force "
			       "goes on", (long long)job_id, loss->why, work.s, separator, why_not);
	fprintf(stderr, "pollux: job %lld %s; %s of work would be lost%s%s\ngo on? [y/N] ",
		(long long)job_id, loss->why, work.s, separator, why_not);
	if (fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y'))
		return 0;
	return err_set(err, EX_FAILED, "job %lld was left as it is", (long long)job_id);
}

/* Looks at the loss without a lock, so that nothing waits while a person thinks about the answer;
 * asks the person, or refuses, as the command's rule for losses says. The transaction that follows
 * sees what has happened meanwhile. */
static int look_at_loss(struct session *s, struct changed *c, const struct job_change *change,
			const struct asked_change *o, struct hold_work *hold)
{
	bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO), skips;
	struct job_loss *loss = &c->loss;
	struct text why_not = TEXT_INIT;
	struct job job;
	int rc;

	*loss = (struct job_loss){ .work_s = NAN };
	if (change->loss == LOSS_IMPOSSIBLE)
		return 0;
	if (store_job_get(&s->store, c->job_id, &job, &c->err))
		return -1;
	/* The user of a terminal sees what its program has done. A job that is held already loses
	 * nothing: it is left as it is. */
	skips = job.interactive || (job.held && change->loss == LOSS_REFUSED && !o->force);
	rc = skips ? 0 : job_loss_read(s, &job, loss, &c->err);
	job_release(&job);
	if (rc || !isfinite(loss->work_s) || o->force)
		return rc;
	if (change->suspends) {
		rc = hold_may_suspend(s, hold, c->job_id, &c->freezes, &why_not, &c->err);
		c->suspends = rc == 0 && why_not.length == 0;
	}
	if (rc == 0 && !c->suspends && !o->dry_run &&
	    !(change->loss == LOSS_ASKED && (!asks || loss->work_s <= LOSS_ASKED_S)))
		rc = ask_about_loss(c->job_id, loss, why_not.data, asks, &c->err);
	text_release(&why_not);
	return rc;
}

static bool cannot_write(const struct err *err)
{
	return err->exit_status == EX_IOERR || err->exit_status == EX_NOPERM ||
	       err->exit_status == EX_TEMPFAIL || err->exit_status == EX_CANTCREAT;
}

/* The runs of the job are stopped all the same: their supervisors are told. Where the command stops
 * none, it says why. *err is why the store cannot be written, and becomes what was done in spite of
 * that. */
static void stop_unrecorded(struct session *s, int64_t job_id, const struct job_change *change,
			    struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	struct err ignored, failed = { 0 };
	struct run_list runs;
	int n = 0;

	if (!cannot_write(err) || store_runs_active_of(&s->store, job_id, &runs, &ignored))
		return;
	if (change->unrecorded == STOP_NONE && runs.count > 0)
		err_prefix(err, "job %lld %s", (long long)job_id, change->unrecordable);
	for (int i = 0; change->unrecorded != STOP_NONE && !failed.exit_status && i < runs.count;
	     i++) {
		const struct run *run = &runs.items[i];
		const struct engine *engine = engine_of(run);

		if (!engine->stop_unrecorded)
			continue;
		n++;
		engine->stop_unrecorded(&at, run, change->unrecorded, &failed);
	}
	if (n > 0 && failed.exit_status)
		err_prefix(err, "job %lld was not stopped (%s)", (long long)job_id, failed.text);
	else if (n > 0)
		err_prefix(err, "job %lld is being stopped, but it is not recorded yet that it was "
			   "to be %s: its supervisor records that when it can", (long long)job_id,
			   change->unrecorded == STOP_HOLD ? "held" : "cancelled");
	run_list_release(&runs);
}

/* Changes the job in a part of the transaction, which is taken back after a failure, and with
 * --dry-run. */
static int act_in_part(struct session *s, struct changed *c, const struct job_change *change,
		       const struct asked_change *asked)
{
	struct asked_change o = *asked;
	struct err ignored, *err = &c->err;
	struct job job;
	int rc;

	o.suspends = c->suspends;
	o.freezes = c->freezes;
	if (store_begin_part(&s->store, err))
		return -1;
	rc = store_job_get(&s->store, c->job_id, &job, err);
	if (rc == 0) {
		rc = change->act(s, &job, &o, &c->runs, err);
		job_release(&job);
	}
	if (rc == 0)
		return store_end_part(&s->store, !o.dry_run, err);
	store_end_part(&s->store, false, &ignored);
	return rc;
}

/* Changes the jobs whose loss was accepted, in one transaction: with one for each job, a group of
 * 5,000 would wait for the disk 5,000 times. A job that cannot be changed is left out. Returns -1,
 * with nothing changed, if the store cannot be written. */
static int act_on(struct session *s, const struct job_change *change, const struct asked_change *o,
		  struct changed *list, int n, struct err *err)
{
	int rc = store_begin(&s->store, err);

	for (int i = 0; rc == 0 && i < n; i++) {
		struct changed *c = &list[i];

		if (c->refused)
			continue;
		c->rc = act_in_part(s, c, change, o);
		c->also = *o->also;
		*o->also = (struct id_list){ 0 };
		rc = c->rc && cannot_write(&c->err) ? -1 : 0;
	}
	if (rc == 0 && !o->dry_run)
		return store_commit(&s->store, err);
	store_rollback(&s->store);
	return rc;
}

/* Jobs that are changed in one transaction, so that others who write wait a second at most. */
#define TOGETHER 2000

/* Where the store cannot be written, each job is tried alone: for some of them there is something
 * that can be done all the same. */
static void change_some(struct session *s, const struct job_change *change,
			const struct asked_change *o, struct hold_work *hold, struct changed *list,
			int n)
{
	struct err err;

	for (int i = 0; i < n; i++) {
		list[i].rc = look_at_loss(s, &list[i], change, o, hold);
		list[i].refused = list[i].rc != 0;
	}
	if (n > 1 && act_on(s, change, o, list, n, &err) == 0)
		return;
	for (int i = 0; i < n; i++) {
		struct changed *c = &list[i];

		if (c->refused)
			continue;
		run_list_release(&c->runs);
		id_list_release(&c->also);
		c->runs = (struct run_list){ 0 };
		c->also = (struct id_list){ 0 };
		c->rc = 0;
		if (act_on(s, change, o, c, 1, &err) && c->rc == 0) {
			c->rc = -1;
			c->err = err;
		}
		if (c->rc && c->suspends)	/* it would lose work */
			err_prefix(&c->err, "job %lld runs on", (long long)c->job_id);
		else if (c->rc && (change->unrecordable ||
			      (change->unrecorded != STOP_NONE && !o->dry_run)))
			stop_unrecorded(s, c->job_id, change, &c->err);
	}
}

/* Wakes the supervisors of the jobs' runs, and waits for those that suspend theirs. */
static void wake_all(struct session *s, const struct asked_change *o, struct hold_work *hold,
		     struct changed *list, int n)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	double began_s = clock_boot_s();

	for (int i = 0; !o->dry_run && i < n; i++)
		for (int k = 0; list[i].rc == 0 && k < list[i].runs.count; k++)
			engine_wake(&at, &list[i].runs.items[k]);
	for (int i = 0; !o->dry_run && i < n; i++) {
		struct changed *c = &list[i];

		if (c->rc || !c->suspends || c->runs.count == 0)
			continue;
		hold->frees = true;
		c->rc = hold_await(s, c->job_id, c->runs.items[0].id, began_s, &c->err);
	}
}

/* Says what was or would be done. */
static void finish_change(const struct job_change *change, const struct asked_change *o,
			  struct changed *c)
{
	const char *what = c->suspends ? "suspended, and held"
			   : c->runs.count ? change->stopping : change->done;
	bool says = c->rc == 0 && (o->dry_run || isatty(STDOUT_FILENO));

	if (says && o->dry_run && isfinite(c->loss.work_s) && !c->suspends)
		printf("job %lld would be %s; it %s; %s of work would be lost\n",
		       (long long)c->job_id, what, c->loss.why, format_duration(c->loss.work_s).s);
	else if (says)
		printf(o->dry_run ? "job %lld would be %s\n" : "Job %lld %s.\n",
		       (long long)c->job_id, what);
	for (int i = 0; says && i < c->also.count; i++)
		printf(o->dry_run ? "job %lld would be %s\n" : "Job %lld %s.\n",
		       (long long)c->also.items[i], change->done);
	run_list_release(&c->runs);
	id_list_release(&c->also);
}

static int change_all(struct session *s, const struct id_list *ids, const struct job_change *change,
		      const struct asked_change *o, struct hold_work *hold, struct err *err)
{
	struct changed *list = xcalloc(TOGETHER, sizeof(*list));
	int rc = 0, status = 0;

	for (int first = 0; first < ids->count; first += TOGETHER) {
		int n = ids->count - first < TOGETHER ? ids->count - first : TOGETHER;

		for (int i = 0; i < n; i++)
			list[i] = (struct changed){ .job_id = ids->items[first + i] };
		change_some(s, change, o, hold, list, n);
		wake_all(s, o, hold, list, n);
		for (int i = 0; i < n; i++) {
			if (rc)		/* main.c says the last failure */
				output_message(err->text);
			finish_change(change, o, &list[i]);
			rc = list[i].rc;
			if (rc)
				*err = list[i].err;
			if (rc && status == 0)
				status = err->exit_status;
		}
	}
	free(list);
	if (rc)
		err->exit_status = status;
	return rc ? rc : status;
}

int change_jobs(const struct command *command, const struct job_change *change, int argc,
		char **argv, struct err *err)
{
	struct id_list also = { 0 };
	struct hold_work hold = { 0 };
	struct asked_change o = { .which = SELECTION_INIT, .also = &also };
	struct selecting what = { .command = command, .options = &o.which };
	struct id_list ids;
	struct session s;
	int rc;

	if (selecting_parse(&what, argc, argv, &o, err))
		return -1;
	if (o.failed && o.which.states)
		return usage_error(command, err, "give one of --failed and --state");
	if (o.failed)
		o.which.states = "failed,timeout";
	if (!selection_is_given(&what) && !change->means_all)
		return usage_error(command, err, "which job? give its number");
	if (selection_check(&what, err) || session_open(&s, STORE_WRITE, err))
		return -1;
	rc = selection_read(&what, &s.store, &ids, err);
	if (rc && change->means_all && !selection_is_given(&what) && err->exit_status == EX_FAILED)
		rc = 0;		/* all that are fit are none */
	if (rc == 0 && !o.yes && !o.dry_run && !change->means_all)
		rc = selection_agree(&what, &s.store, &ids, err);
	if (rc == 0) {
		o.n_jobs = ids.count;
		rc = change_all(&s, &ids, change, &o, &hold, err);
	}
	id_list_release(&ids);
	pause_look_free(hold.look);
	session_close(&s);
	if (!o.dry_run && (change->then_pass || hold.frees))
		submit_pass_run(true);
	if (rc == 0 && change->then_on_end)
		on_end_look();
	return rc;
}
