/* slurm_collect.c - what passes take from runs, and what they tell them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_journal.h"
#include "slurm.h"
#include "slurm_command.h"

#define CANCEL_LIMIT_S 3.0

/* A controller that is killed may give a number again: the job is looked for by its name and
 * comment, and scancel compares the name once more. */
void slurm_cancel(const struct engine_context *at, const struct run *run, const char *signal)
{
	const struct slurm_job *job = slurm_queued_job(at, run);
	struct strings argv = { 0 };
	struct text answer = TEXT_INIT;
	struct err ignored;

	if (!job)
		return;
	strings_add(&argv, "scancel");
	strings_add(&argv, "-Q");
	if (signal) {
		strings_addf(&argv, "--signal=%s", signal);
		strings_add(&argv, "--batch");
	}
	strings_addf(&argv, "--name=%s", job->name);
	strings_addf(&argv, "%lld", (long long)job->id);
	slurm_command(&argv, CANCEL_LIMIT_S, &answer, &ignored);
	strings_release(&argv);
	text_release(&answer);
}

/* --- what a run has written --- */

/* A record that the store cannot take yet, because another run still has the device, say, waits for
 * a later pass. */
static int take_journal(const struct engine_context *at, const struct run *run, const char *dir,
			struct err *err)
{
	struct text bytes = TEXT_INIT;
	struct strings unknown = { 0 };
	struct journal_part part;
	int rc = store_journal_place(at->store, run->id, &part.place, err);

	if (rc == 0 && slurm_read(dir, "journal", part.place, &bytes)) {
		part.bytes = bytes.data;
		part.n = bytes.length;
		rc = store_journal_take(at->store, run->id, &part, &unknown, err);
	}
	for (size_t i = 0; i < unknown.count; i++)
		dprintf(STDERR_FILENO, "job %lld: the run's journal has records of the kind '%s', "
			"which this pollux does not know: they are passed over\n",
			(long long)run->job_id, unknown.items[i]);
	strings_release(&unknown);
	text_release(&bytes);
	return rc;
}

/* --- what a run is told --- */

/* A run that no job of Slurm has begun yet is kept from it. True: it was. */
static bool keep_from_starting(const char *dir)
{
	struct err ignored;

	return slurm_make(dir, "claim", "pass\n", &ignored) == 0;
}

static int tell_to_stop(const char *dir, enum stop_reason reason, struct err *err)
{
	char *text = xasprintf("%s\n", stop_reason_name(reason));
	struct text there = TEXT_INIT;
	int rc = 0;

	slurm_read(dir, "stop", 0, &there);
	if (strcmp(there.data, text) != 0)
		rc = slurm_write(dir, "stop", text, strlen(text), err);
	text_release(&there);
	free(text);
	return rc;
}

/* The configuration that a pass wants for a run that goes on: the columns of its row. */
static void tell_wanted(const char *dir, const struct run *run)
{
	struct text t = TEXT_INIT, there = TEXT_INIT;
	struct err err;

	text_addf(&t, "version=%d\nlocal_batch_size=%lld\naccumulation_steps=%d\n"
		  "learning_rate_scale=%.17g\n", run->wanted_version,
		  (long long)run->wanted.local_batch_size, run->wanted.accumulation_steps,
		  run->wanted_learning_rate_scale);
	slurm_read(dir, "wanted", 0, &there);
	if (strcmp(there.data, t.data) != 0 && slurm_write(dir, "wanted", t.data, t.length, &err))
		dprintf(STDERR_FILENO, "%s\n", err.text);
	text_release(&there);
	text_release(&t);
}

/* Where the file cannot be written, Slurm signals the supervisor; the store knows the reason. */
static void tell_supervisor(const struct engine_context *at, const struct run *run,
			    const struct slurm_handle *h)
{
	const char *dir = h->dir;
	struct err err;

	if (run->stop_reason != STOP_NONE && !keep_from_starting(dir) &&
	    tell_to_stop(dir, run->stop_reason, &err)) {
		dprintf(STDERR_FILENO, "%s: Slurm is asked to signal the run\n", err.text);
		slurm_cancel(at, run, "TERM");
	}
	if (run->wanted_version > 0 && run->wanted_version != run->config_version)
		tell_wanted(dir, run);
}

void slurm_wake(const struct engine_context *at, const struct run *run)
{
	struct slurm_handle h;
	struct run now;
	struct err err;

	slurm_handle_parse(run->handle, &h);
	if (store_run_get(at->store, run->id, &now, &err) == 0) {
		if (now.state != RUN_ENDED && h.dir[0])
			tell_supervisor(at, &now, &h);
	}
	run_release(&now);
	slurm_handle_release(&h);
}

int slurm_stop_unrecorded(const struct engine_context *at, const struct run *run,
			  enum stop_reason reason, struct err *err)
{
	struct slurm_handle h;
	int rc = 0;

	(void)at;
	slurm_handle_parse(run->handle, &h);
	if (!h.dir[0])
		rc = err_set(err, EX_TEMPFAIL, "the run has no directory yet");
	else
		rc = tell_to_stop(h.dir, reason, err);
	slurm_handle_release(&h);
	return rc;
}

/* A supervisor that does not see the file is told by Slurm, some time after the grace. */
#define SECOND_MEANS_S 30.0

static void insist(const struct engine_context *at, const struct run *run,
		   const struct slurm_handle *h)
{
	double asked = slurm_file_time_s(h->dir, "stop"), grace_s = 0;
	struct job job;
	struct err ignored;

	if (isnan(asked) || !slurm_has(h->dir, "claim"))
		return;
	if (store_job_get(at->store, run->job_id, &job, &ignored) == 0)
		grace_s = job.declared.grace_s;
	job_release(&job);
	if (slurm_touch(h->dir, "probe") - asked > grace_s + SECOND_MEANS_S)
		slurm_cancel(at, run, "TERM");
}

static void cancel_waiting(const struct engine_context *at, const struct run *run,
			   const struct slurm_handle *h)
{
	struct text claim = TEXT_INIT;

	if (slurm_read(h->dir, "claim", 0, &claim) && text_starts_with(claim.data, "pass"))
		slurm_cancel(at, run, NULL);
	text_release(&claim);
}

static int collect_run(const struct engine_context *at, const struct run *run, struct err *err)
{
	struct slurm_handle h;
	int rc = 0;

	slurm_handle_parse(run->handle, &h);
	if (h.dir[0]) {
		rc = take_journal(at, run, h.dir, err);
		tell_supervisor(at, run, &h);
	}
	if (h.dir[0] && run->stop_reason != STOP_NONE) {
		cancel_waiting(at, run, &h);
		insist(at, run, &h);
	}
	slurm_handle_release(&h);
	return rc;
}

bool slurm_has_ended(const struct engine_context *at, const struct run *run)
{
	enum run_state state = RUN_RUNNING;
	enum stop_reason reason;
	struct slurm_handle h;
	struct err ignored;

	slurm_handle_parse(run->handle, &h);
	if (h.dir[0])
		take_journal(at, run, h.dir, &ignored);
	slurm_handle_release(&h);
	return store_run_stop_reason(at->store, run->id, &reason, &state, &ignored) == 0 &&
	       state == RUN_ENDED;
}

/* The active runs; none where Slurm can have none of them, so that other engines pay nothing. */
static int read_runs(const struct engine_context *at, struct run_list *runs, struct err *err)
{
	bool some = engine_for_new_runs() == &engine_slurm;

	*runs = (struct run_list){ 0 };
	if (!some && store_runs_any_of(at->store, engine_slurm.name, &some, err))
		return -1;
	return some ? store_runs_active(at->store, runs, err) : 0;
}

static bool has_any(const struct run_list *runs)
{
	for (int i = 0; i < runs->count; i++)
		if (engine_of(&runs->items[i]) == &engine_slurm)
			return true;
	return false;
}

/* The queue is asked first: what a job wrote that Slurm has not any more is then in the journal.
 * Runs are looked at again as long as some journal could be taken further: the end of one run may
 * be what another waits for. One run whose journal is damaged keeps no other back. */
int slurm_collect(const struct engine_context *at, struct strings *lines, struct err *err)
{
	struct run_list runs;

	slurm_forget();
	slurm_begin_launches();
	if (read_runs(at, &runs, err))
		return -1;
	if (has_any(&runs))
		slurm_queue();
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < runs.count; i++) {
			const struct run *run = &runs.items[i];
			struct err why;

			if (engine_of(run) != &engine_slurm)
				continue;
			if (collect_run(at, run, &why) && round == 1)
				strings_addf(lines, "job %lld: %s", (long long)run->job_id,
					     why.text);
		}
	run_list_release(&runs);
	return 0;
}
