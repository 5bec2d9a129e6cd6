/* job_change.c - act on jobs, and on the runs that they have. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/store_jobs.h"
#include "submit.h"

#define FORCE { "force", 'f', OPTION_FLAG, NULL, \
	.offset = offsetof(struct asked_change, force), 0, 0, \
	"also where work would be lost; do not ask" }
#define DRY_RUN { "dry-run", 'n', OPTION_FLAG, NULL, \
	.offset = offsetof(struct asked_change, dry_run), 0, 0, \
	"print what would be done, do nothing" }
#define YES { "yes", 'y', OPTION_FLAG, NULL, \
	.offset = offsetof(struct asked_change, yes), 0, 0, \
	"do not ask where several jobs are meant that were not given by number" }
#define WHICH SELECTION_OPTIONS(offsetof(struct asked_change, which))

const struct option_spec stop_options[] = {
	FORCE,
	DRY_RUN,
	YES,
	WHICH,
	{ .name = NULL },
};

const struct option_spec requeue_options[] = {
	FORCE,
	{ "take-env", 0, OPTION_FLAG, NULL, .offset = offsetof(struct asked_change, take_env),
	  0, 0, "give the jobs the present environment in place of theirs" },
	{ "dependents", 0, OPTION_FLAG, NULL,
	  .offset = offsetof(struct asked_change, dependents), 0, 0,
	  "also the jobs that were cancelled as these did not end as they had to" },
	DRY_RUN,
	YES,
	WHICH,
	{ .name = NULL },
};

const struct option_spec change_options[] = {
	DRY_RUN,
	YES,
	WHICH,
	{ .name = NULL },
};

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

/* --- work that would be lost --- */

/* "has saved nothing; 20h13m of work would be lost" */
static void add_loss(struct text *t, const struct job_loss *loss)
{
	text_addf(t, "%s; %s of work would be lost", loss->why, format_duration(loss->work_s).s);
}

static bool person_agrees(const struct job *job, const char *loss)
{
	char answer[16] = "";

	fprintf(stderr, "pollux: job %lld %s\ngo on? [y/N] ", (long long)job->id, loss);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Asks the person, or refuses, as the command's rule for losses says. */
static int accept_loss(const struct job *job, const struct job_change *change,
		       const struct job_loss *loss, struct err *err)
{
	bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	struct text t = TEXT_INIT;
	int rc = 0;

	if (change->loss == LOSS_ASKED && (!asks || loss->work_s <= LOSS_ASKED_S))
		return 0;
	add_loss(&t, loss);
	if (!asks)
		rc = err_set(err, EX_FAILED, "job %lld %s; --force goes on", (long long)job->id,
			     t.data);
	else if (!person_agrees(job, t.data))
		rc = err_set(err, EX_FAILED, "job %lld was left as it is", (long long)job->id);
	text_release(&t);
	return rc;
}

/* --- one job --- */

/* Changes the job in a part of the transaction, which is taken back after a failure, and with
 * --dry-run. */
static int act_in_part(struct session *s, int64_t job_id, const struct job_change *change,
		       const struct asked_change *o, struct run_list *runs, struct err *err)
{
	struct err ignored;
	struct job job;
	int rc;

	if (store_begin_part(&s->store, err))
		return -1;
	rc = store_job_get(&s->store, job_id, &job, err);
	if (rc == 0) {
		rc = change->act(s, &job, o, runs, err);
		job_release(&job);
	}
	if (rc == 0)
		return store_end_part(&s->store, !o->dry_run, err);
	store_end_part(&s->store, false, &ignored);
	return rc;
}

static int act_in_transaction(struct session *s, int64_t job_id, const struct job_change *change,
			      const struct asked_change *o, struct run_list *runs, struct err *err)
{
	int rc;

	if (store_begin(&s->store, err))
		return -1;
	rc = act_in_part(s, job_id, change, o, runs, err);
	if (rc == 0 && !o->dry_run)
		return store_commit(&s->store, err);
	store_rollback(&s->store);
	return rc;
}

static void say_done(int64_t job_id, const struct job_change *change, const struct run_list *runs,
		     const struct id_list *also)
{
	if (!isatty(STDOUT_FILENO))
		return;
	printf("Job %lld %s.\n", (long long)job_id,
	       runs->count ? change->stopping : change->done);
	for (int i = 0; i < also->count; i++)
		printf("Job %lld %s.\n", (long long)also->items[i], change->done);
}

static void say_would(int64_t job_id, const struct job_change *change, const struct run_list *runs,
		      const struct job_loss *loss, const struct id_list *also)
{
	struct text t = TEXT_INIT;

	text_addf(&t, "job %lld would be %s", (long long)job_id,
		  runs->count ? change->stopping : change->done);
	if (isfinite(loss->work_s)) {
		text_add(&t, "; it ");
		add_loss(&t, loss);
	}
	puts(t.data);
	for (int i = 0; i < also->count; i++)
		printf("job %lld would be %s\n", (long long)also->items[i], change->done);
	text_release(&t);
}

/* Looks at the loss without a lock, so that nothing waits while a person thinks about the answer.
 * The transaction that follows sees what has happened meanwhile. */
static int look_at_loss(struct session *s, int64_t job_id, const struct job_change *change,
			const struct asked_change *o, struct job_loss *loss, struct err *err)
{
	struct job job;
	int rc;

	*loss = (struct job_loss){ .work_s = NAN };
	if (change->loss == LOSS_IMPOSSIBLE)
		return 0;
	if (store_job_get(&s->store, job_id, &job, err))
		return -1;
	/* the user of a terminal sees what its program has done */
	rc = job.interactive ? 0 : job_loss_of(s, &job, loss, err);
	if (rc == 0 && isfinite(loss->work_s) && !o->force && !o->dry_run)
		rc = accept_loss(&job, change, loss, err);
	job_release(&job);
	return rc;
}

/* --- a store that cannot be written --- */

static bool cannot_write(const struct err *err)
{
	return err->exit_status == EX_IOERR || err->exit_status == EX_NOPERM ||
	       err->exit_status == EX_TEMPFAIL || err->exit_status == EX_CANTCREAT;
}

/* The runs of the job are stopped all the same: their supervisors are told. *err is why the store
 * cannot be written, and becomes what was done in spite of that. */
static void stop_unrecorded(struct session *s, int64_t job_id, enum stop_reason reason,
			    struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	struct err ignored, failed = { 0 };
	struct run_list runs;
	int n = 0;

	if (!cannot_write(err) || store_runs_active_of(&s->store, job_id, &runs, &ignored))
		return;
	for (int i = 0; i < runs.count; i++) {
		const struct run *run = &runs.items[i];
		const struct engine *engine = engine_of(run);

		if (!engine->stop_unrecorded)
			continue;
		n++;
		if (engine->stop_unrecorded(&at, run, reason, &failed))
			break;
	}
	if (n > 0 && failed.exit_status)
		err_prefix(err, "job %lld was not stopped (%s)", (long long)job_id, failed.text);
	else if (n > 0)
		err_prefix(err, "job %lld is being stopped, but it is not recorded yet that it was "
			   "to be %s: its supervisor records that when it can",
			   (long long)job_id, reason == STOP_HOLD ? "held" : "cancelled");
	run_list_release(&runs);
}

/* *err is why the store cannot be written. */
static void say_left_alone(struct session *s, int64_t job_id, const char *why, struct err *err)
{
	struct run_list runs;
	struct err ignored;

	if (!cannot_write(err) || store_runs_active_of(&s->store, job_id, &runs, &ignored))
		return;
	if (runs.count > 0)
		err_prefix(err, "job %lld %s", (long long)job_id, why);
	run_list_release(&runs);
}

/* --- many jobs --- */

/* What became of a job. */
struct changed {
	int64_t job_id;
	struct run_list runs;
	struct id_list also;
	struct job_loss loss;
	int rc;
	struct err err;
};

static void take_also(struct changed *c, const struct asked_change *o)
{
	c->also = *o->also;
	*o->also = (struct id_list){ 0 };
}

/* Changes a job whose loss was accepted, in a transaction of its own. */
static void change_alone(struct session *s, const struct job_change *change,
			 const struct asked_change *o, struct changed *c)
{
	c->rc = act_in_transaction(s, c->job_id, change, o, &c->runs, &c->err);
	take_also(c, o);
	if (c->rc && change->unrecorded != STOP_NONE && !o->dry_run)
		stop_unrecorded(s, c->job_id, change->unrecorded, &c->err);
	else if (c->rc && change->unrecordable)
		say_left_alone(s, c->job_id, change->unrecordable, &c->err);
}

/* Changes the jobs in one transaction: with one for each job, a group of 5,000 would wait for the
 * disk 5,000 times. A job that cannot be changed is left out. Returns -1, with nothing changed, if
 * the store cannot be written. */
static int change_together(struct session *s, const struct job_change *change,
			   const struct asked_change *o, struct changed *list, int n)
{
	struct err err;
	int rc = store_begin(&s->store, &err);

	for (int i = 0; rc == 0 && i < n; i++) {
		struct changed *c = &list[i];

		if (c->rc)
			continue;
		c->rc = act_in_part(s, c->job_id, change, o, &c->runs, &c->err);
		take_also(c, o);
		rc = c->rc && cannot_write(&c->err) ? -1 : 0;
	}
	if (rc == 0 && !o->dry_run)
		return store_commit(&s->store, &err);
	store_rollback(&s->store);
	return rc;
}

/* Jobs that are changed in one transaction, so that others who write wait a second at most. */
#define TOGETHER 2000

static void forget_changes(struct changed *list, int n, const bool *refused)
{
	for (int i = 0; i < n; i++) {
		run_list_release(&list[i].runs);
		id_list_release(&list[i].also);
		list[i].runs = (struct run_list){ 0 };
		list[i].rc = refused[i] ? list[i].rc : 0;
	}
}

/* Where the store cannot be written, each job is tried alone: for some of them there is something
 * that can be done all the same. */
static void change_some(struct session *s, const struct job_change *change,
			const struct asked_change *o, struct changed *list, int n)
{
	bool *refused = xcalloc((size_t)n, sizeof(*refused));

	for (int i = 0; i < n; i++) {
		list[i].rc = look_at_loss(s, list[i].job_id, change, o, &list[i].loss,
					  &list[i].err);
		refused[i] = list[i].rc != 0;
	}
	if (n == 1 || change_together(s, change, o, list, n)) {
		forget_changes(list, n, refused);
		for (int i = 0; i < n; i++)
			if (!refused[i])
				change_alone(s, change, o, &list[i]);
	}
	free(refused);
}

static void finish_change(struct session *s, const struct job_change *change,
			  const struct asked_change *o, struct changed *c)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };

	for (int i = 0; c->rc == 0 && !o->dry_run && i < c->runs.count; i++)
		engine_wake(&at, &c->runs.items[i]);
	if (c->rc == 0 && o->dry_run)
		say_would(c->job_id, change, &c->runs, &c->loss, &c->also);
	else if (c->rc == 0)
		say_done(c->job_id, change, &c->runs, &c->also);
	run_list_release(&c->runs);
	id_list_release(&c->also);
}

static int change_all(struct session *s, const struct id_list *ids, const struct job_change *change,
		      const struct asked_change *o, struct err *err)
{
	struct changed *list = xcalloc(TOGETHER, sizeof(*list));
	int rc = 0, status = 0;

	for (int first = 0; first < ids->count; first += TOGETHER) {
		int n = ids->count - first < TOGETHER ? ids->count - first : TOGETHER;

		for (int i = 0; i < n; i++)
			list[i] = (struct changed){ .job_id = ids->items[first + i] };
		change_some(s, change, o, list, n);
		for (int i = 0; i < n; i++) {
			if (rc)		/* main.c says the last failure */
				output_message(err->text);
			finish_change(s, change, o, &list[i]);
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

int refuse_paused(const struct job *job, struct err *err)
{
	return err_set(err, EX_FAILED, "job %lld is paused at a rung: 'pollux release %lld' "
		       "lets it go on", (long long)job->id, (long long)job->id);
}

int change_jobs(const struct command *command, const struct job_change *change, int argc,
		char **argv, struct err *err)
{
	struct id_list also = { 0 };
	struct asked_change o = { .which = SELECTION_INIT, .also = &also };
	struct selecting what = { .command = command, .options = &o.which };
	struct id_list ids;
	struct session s;
	int first, rc;

	if (options_parse(command, argc, argv, &o, &first, err))
		return -1;
	what.operands = argv + first;
	what.n_operands = argc - first;
	if (!selection_is_given(&what))
		return usage_error(command, err, "which job? give its number");
	if (selection_check(&what, err) || session_open(&s, STORE_WRITE, err))
		return -1;
	rc = selection_read(&what, &s.store, &ids, err);
	if (rc == 0 && !o.yes && !o.dry_run)
		rc = selection_agree(&what, &s.store, &ids, err);
	if (rc == 0) {
		o.n_jobs = ids.count;
		rc = change_all(&s, &ids, change, &o, err);
	}
	id_list_release(&ids);
	session_close(&s);
	if (!o.dry_run && change->then_pass)
		submit_pass_run(true);
	return rc;
}
