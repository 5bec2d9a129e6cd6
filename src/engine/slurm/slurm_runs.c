/* slurm_runs.c - whether runs live, what passes take from them and tell them, and the end of a run
 * that does not live. */
#include "pollux/store_journal.h"
#include "../local/local.h"
#include "slurm.h"

/* --- the decision --- */

double slurm_margin_s(double lease_s)
{
	return fmax(5, lease_s / 4);
}

static bool is_stale(const struct slurm_facts *f)
{
	return f->lease_age_s > f->lease_s + slurm_margin_s(f->lease_s);
}

enum engine_answer slurm_judge(const struct slurm_facts *f)
{
	if (f->by_pass)
		return ENGINE_GONE;
	/* Where a job has the claim, only the lease and the files end.K tell that no program of the
	 * run can live: Slurm forgets a job whose node is cut off while the program there goes
	 * on. */
	if (f->claimed)
		return is_stale(f) || (f->ends >= f->nodes && f->slurm == SLURM_GONE)
			? ENGINE_GONE : ENGINE_ALIVE;
	if (!f->launched || f->slurm == SLURM_GONE)
		return ENGINE_UNATTENDED;
	return f->slurm == SLURM_KNOWN ? ENGINE_ALIVE : ENGINE_UNKNOWN;
}

/* --- the facts --- */

static struct slurm_facts read_facts(const char *dir)
{
	struct slurm_facts f = { .lease_age_s = NAN, .lease_s = NAN };
	scoped(text_release) struct text launch = TEXT_INIT, claim = TEXT_INIT;

	f.launched = dir[0] && slurm_read(dir, "launch", 0, &launch);
	f.claimed = f.launched && slurm_read(dir, "claim", 0, &claim);
	f.by_pass = f.claimed && text_starts_with(claim.data, "pass");
	f.nodes = (int)slurm_number(launch.data, "nodes", 1);
	if (f.claimed && !f.by_pass) {
		double touched = slurm_file_time_s(dir, "lease");

		/* the time of the claim, for a job that has not come to its first lease */
		if (isnan(touched))
			touched = slurm_file_time_s(dir, "claim");
		f.lease_s = slurm_number(launch.data, "lease_s", INFINITY);
		f.lease_age_s = slurm_touch(dir, "probe") - touched;
		f.ends = slurm_ends(dir, f.nodes).n;
	}
	return f;
}

/* A run that no job of Slurm has begun yet is kept from it. True: it was. */
static bool keep_from_starting(const char *dir)
{
	struct err ignored;

	return slurm_make(dir, "claim", "pass\n", &ignored) == 0;
}

bool slurm_programs_gone(const char *dir)
{
	struct slurm_facts f;

	if (!slurm_has(dir, "launch") || keep_from_starting(dir))
		return true;
	f = read_facts(dir);
	return f.by_pass || (f.claimed && (f.ends >= f.nodes || is_stale(&f)));
}

int slurm_poll(const struct engine_context *at, const struct run *const *runs, int n,
	       enum engine_answer *answers, struct err *err)
{
	if (!slurm_store_id(at, err))
		return -1;
	for (int i = 0; i < n; i++) {
		struct slurm_facts f = read_facts(slurm_handle_of(runs[i]).dir);

		if (f.launched && !f.by_pass && slurm_queue()->known)
			f.slurm = slurm_queued_job(at, runs[i]) ? SLURM_KNOWN : SLURM_GONE;
		answers[i] = slurm_judge(&f);
		/* a run that was started is never started again */
		if (answers[i] == ENGINE_UNATTENDED && runs[i]->state != RUN_ASSIGNED)
			answers[i] = ENGINE_UNKNOWN;
	}
	return 0;
}

/* --- what a run is told by Slurm --- */

#define CANCEL_LIMIT_S 3.0

/* Asks Slurm to signal the run's job, or to end it (signal NULL), if Slurm has it. A controller
 * that was killed may give a number again: the job is looked for by its name and comment, and
 * scancel compares the name once more. */
static void cancel(const struct engine_context *at, const struct run *run, const char *signal)
{
	const struct slurm_job *job = slurm_queued_job(at, run);
	struct strings argv = { 0 };
	struct err ignored;

	if (!job)
		return;
	slurm_add_words("scancel -Q", &argv);
	if (signal) {
		strings_addf(&argv, "--signal=%s", signal);
		strings_add(&argv, "--batch");
	}
	strings_addf(&argv, "--name=%s", job->name);
	strings_addf(&argv, "%lld", (long long)job->id);
	slurm_command(&argv, CANCEL_LIMIT_S, NULL, &ignored);
}

/* --- what a run has written --- */

/* A record that the store cannot take yet, because another run still has the device, say, waits for
 * a later pass. */
static int take_journal(const struct engine_context *at, const struct run *run, const char *dir,
			struct err *err)
{
	scoped(text_release) struct text bytes = TEXT_INIT;
	scoped(strings_release) struct strings unknown = { 0 };
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
	return rc;
}

/* --- what a run is told --- */

static int tell_to_stop(const char *dir, enum stop_reason reason, struct err *err)
{
	autofree char *text = xasprintf("%s\n", stop_reason_name(reason));

	return slurm_tell(dir, "stop", text, err);
}

/* Where the file cannot be written, Slurm signals the supervisor; the store knows the reason. */
static void tell_supervisor(const struct engine_context *at, const struct run *run,
			    const char *dir)
{
	scoped(text_release) struct text t = TEXT_INIT;
	struct err err;

	if (run->stop_reason != STOP_NONE && !keep_from_starting(dir) &&
	    tell_to_stop(dir, run->stop_reason, &err)) {
		dprintf(STDERR_FILENO, "%s: Slurm is asked to signal the run\n", err.text);
		cancel(at, run, "TERM");
	}
	if (run->wanted_version <= 0 || run->wanted_version == run->config_version)
		return;
	text_addf(&t, "version=%d\nlocal_batch_size=%lld\naccumulation_steps=%d\n"
		  "learning_rate_scale=%.17g\n", run->wanted_version,
		  (long long)run->wanted.local_batch_size, run->wanted.accumulation_steps,
		  run->wanted_learning_rate_scale);
	if (slurm_tell(dir, "wanted", t.data, &err))
		dprintf(STDERR_FILENO, "%s\n", err.text);
}

void slurm_wake(const struct engine_context *at, const struct run *run)
{
	const char *dir = slurm_handle_of(run).dir;
	scoped(run_release) struct run now = { 0 };
	struct err ignored;

	if (store_run_get(at->store, run->id, &now, &ignored) == 0 && now.state != RUN_ENDED &&
	    dir[0])
		tell_supervisor(at, &now, dir);
}

int slurm_stop_unrecorded(const struct engine_context *at, const struct run *run,
			  enum stop_reason reason, struct err *err)
{
	const char *dir = slurm_handle_of(run).dir;

	(void)at;
	return dir[0] ? tell_to_stop(dir, reason, err)
		      : err_set(err, EX_TEMPFAIL, "the run has no directory yet");
}

/* A supervisor that does not see the file is told by Slurm, some time after the grace. */
#define SECOND_MEANS_S 30.0

static void insist(const struct engine_context *at, const struct run *run, const char *dir)
{
	double asked = slurm_file_time_s(dir, "stop"), grace_s = 0;
	struct job job;
	struct err ignored;

	if (isnan(asked) || !slurm_has(dir, "claim"))
		return;
	if (store_job_get(at->store, run->job_id, &job, &ignored) == 0)
		grace_s = job.declared.grace_s;
	job_release(&job);
	if (slurm_touch(dir, "probe") - asked > grace_s + SECOND_MEANS_S)
		cancel(at, run, "TERM");
}

static int collect_run(const struct engine_context *at, const struct run *run, struct err *err)
{
	const char *dir = slurm_handle_of(run).dir;
	scoped(text_release) struct text claim = TEXT_INIT;
	int rc;

	if (!dir[0])
		return 0;
	rc = take_journal(at, run, dir, err);
	tell_supervisor(at, run, dir);
	if (run->stop_reason != STOP_NONE) {
		if (slurm_read(dir, "claim", 0, &claim) && text_starts_with(claim.data, "pass"))
			cancel(at, run, NULL);
		insist(at, run, dir);
	}
	return rc;
}

/* The queue is asked first: what a job wrote that Slurm has not any more is then in the journal.
 * Runs are looked at again as long as some journal could be taken further: the end of one run may
 * be what another waits for. One run whose journal is damaged keeps no other back. */
int slurm_collect(const struct engine_context *at, struct strings *lines, struct err *err)
{
	bool some = engine_for_new_runs() == &engine_slurm;
	scoped(run_list_release) struct run_list runs = { 0 };

	slurm_forget();
	slurm_begin_launches();
	/* so that other engines pay nothing */
	if ((!some && store_runs_any_of(at->store, engine_slurm.name, &some, err)) ||
	    (some && store_runs_active(at->store, &runs, err)))
		return -1;
	for (int i = 0; i < runs.count; i++)
		if (engine_of(&runs.items[i]) == &engine_slurm) {
			slurm_queue();
			break;
		}
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
	return 0;
}

/* --- the end --- */

/* Slurm may still have the job, of which no program is left. */
int slurm_end(const struct engine_context *at, struct run *run, struct err *err)
{
	const char *dir = slurm_handle_of(run).dir;
	scoped(text_release) struct text launch = TEXT_INIT;
	enum run_state state = RUN_RUNNING;
	enum stop_reason reason;
	struct err ignored;
	double ended_s;

	/* the file keeps a late job of Slurm from beginning the program */
	if (dir[0] && !slurm_has(dir, "over") && slurm_make(dir, "over", "", err) &&
	    errno != ENOENT && errno != EEXIST)
		return -1;
	cancel(at, run, NULL);
	/* Where nodes have not told, the run ended with its last sign of life. */
	slurm_read(dir, "launch", 0, &launch);
	ended_s = slurm_ends(dir, (int)slurm_number(launch.data, "nodes", 1)).last_s;
	slurm_end_at(dir, isnan(ended_s) ? slurm_file_time_s(dir, "lease") : ended_s, run);
	/* What the run wrote last may say that it has ended. */
	if (dir[0])
		take_journal(at, run, dir, &ignored);
	if (store_run_stop_reason(at->store, run->id, &reason, &state, &ignored) == 0 &&
	    state == RUN_ENDED)
		return 0;
	return run_end_lost(at->paths, at->store, run, err);
}
