/* supervisor_saving.c - what a run has saved, and what it saved when it was asked to stop; and the
 * work since the last checkpoint, which has to be done again, also of a run whose processes are
 * gone. */
#include <sys/wait.h>

#include "supervisor_parts.h"

/* A run that shows no steps is taken to be at work after this time. */
#define WORK_S 60.0
/* The kernel dates files by a clock that is late by one of its ticks. */
#define FILE_CLOCK_S 0.02

/* What a run has saved, since it began to work and since it was asked to stop. */
struct savings {
	bool in_run, when_asked;
	double file_boot_s;	/* when the newest file was written, by the boot clock; NaN */
};

static struct savings savings_of(struct supervisor *s)
{
	const struct run *run = &s->run;
	double begin = run->launch_boot_s + fmax(run->first_step_s, 0), file_s;
	struct checkpoints found;

	/* The files are looked at once: no process of the run is left that could write. */
	if (!s->saved.is_known) {
		supervisor_find_checkpoints(s, NULL, false, &found);
		s->saved.at_s = found.saved_s;
		s->saved.is_known = true;
		checkpoints_release(&found);
	}
	file_s = s->saved.at_s + FILE_CLOCK_S - (clock_wall_s() - clock_boot_s());
	return (struct savings){
		.in_run = file_s >= begin || run->checkpoint_boot_s > run->launch_boot_s,
		.when_asked = file_s >= run->stop_boot_s ||
			      run->checkpoint_boot_s >= run_clock_s(run, run->stop_boot_s),
		.file_boot_s = file_s,
	};
}

/* "saved nothing when asked to; lost 773 steps". is_known false: the program may have saved before,
 * where nobody looks. */
static void tell_loss(struct supervisor *s, bool is_known)
{
	struct run *run = &s->run;
	double batch = (double)configuration_batch_size(&run->configuration);
	double steps = run->lost_samples > 0 && batch > 0 ? run->lost_samples / batch : 0;
	struct text t = TEXT_INIT;

	if (run->stands_at_samples == 0 && s->recorder.steps > 0)
		steps = s->recorder.steps;
	if (!supervisor_was_heeded(s)) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&t, "no process of it has a handler for %s, so it ",
			  signal_name(name, s->job.declared.stop_signal));
	}
	text_addf(&t, "saved nothing when asked to; %s",
		  is_known ? "lost " : "unless it saved before, it lost ");
	if (steps >= 1)
		text_addf(&t, "%.0f step%s", steps, plural((int64_t)steps));
	else if (run->lost_samples > 0)
		text_addf(&t, "%.0f samples", run->lost_samples);
	else
		text_addf(&t, "%.0f s of work", run->duration_s);
	if (!(run->diagnosis && *run->diagnosis))
		supervisor_set_diagnosis(s, "%s", t.data);
	text_release(&t);
	if (is_known && !(run->lost_samples > 0))
		run->lost_s = run->duration_s;
}

/* Sees whether the run, which has ended because it was asked to stop, has saved. What it has lost
 * is known by now. */
static void see_savings(struct supervisor *s)
{
	int status = s->leader.wait_status;
	bool shows_steps = isfinite(s->job.progress.samples) || isfinite(s->job.progress.steps);
	/* a job whose steps are seen has work to save once this run has made one */
	bool has_worked = isfinite(s->run.first_step_s) ||
			  (!shows_steps && s->run.duration_s >= WORK_S);
	/* by somebody else, before its grace was over: whether it would have saved is not known */
	bool was_killed = status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
			  s->run.stop_duration_s < s->job.declared.grace_s;
	struct savings saved;

	if (s->run.outcome != OUTCOME_STOPPED || !s->stop.told || s->job.profile || !has_worked ||
	    was_killed)
		return;
	saved = savings_of(s);
	/* the job is not known to save in its directory of checkpoints, or to tell when it saves */
	if (!s->command.checkpoint_dir &&
	    !template_command_mentions(&s->command, "checkpoint") &&
	    !isfinite(s->job.progress.checkpoint_samples) && !isfinite(s->run.checkpoint_boot_s)) {
		if (!saved.in_run && !supervisor_was_heeded(s) &&
		    s->run.stop_reason != STOP_CANCEL)
			tell_loss(s, false);
		return;
	}
	s->run.saves_when_asked = saved.when_asked;
	s->run.saved_nothing = !saved.when_asked && !saved.in_run;
	if (s->run.saved_nothing)
		tell_loss(s, true);
}

/* Where a job that never reported a checkpoint goes on, by what its last run wrote. */
static struct fallback fallback_of(struct supervisor *s)
{
	const struct run *run = &s->run;
	const struct recorder *r = &s->recorder;
	struct savings saved = savings_of(s);
	double began = isfinite(r->start.samples) ? r->start.samples : 0;
	double stop_s = isfinite(run->stop_boot_s) ? run->stop_boot_s : clock_boot_s();
	double file_s = run_clock_s(run, saved.file_boot_s);
	double last_s = isfinite(r->position_s) ? r->position_s : run_clock_s(run, stop_s);
	double first_s = run->launch_boot_s + run->first_step_s;

	if (isnan(run->last_samples))
		return (struct fallback){ NAN, NAN };
	if (saved.when_asked)
		return (struct fallback){ run->last_samples, clock_boot_s() };
	if (saved.in_run) {
		/* the position then, by the first and the last report of the run */
		double done = run->last_samples - run->first_samples;
		double share = last_s > first_s ? (file_s - first_s) / (last_s - first_s) : 0;

		done = floor(run->first_samples + fmax(fmin(share, 1), 0) * done);
		return (struct fallback){ file_s >= last_s ? run->last_samples : done, file_s };
	}
	if (isfinite(r->began))
		began = r->began;
	else if (s->adopted && run->number > 1)
		began = run->first_samples;
	return (struct fallback){ began, run->launch_boot_s };
}

/* --- what was lost --- */

static void lose_samples(struct run *run, double to_samples, double since_s, double end_boot_s)
{
	if (!(run->last_samples > to_samples))
		return;
	run->lost_samples += run->last_samples - to_samples;
	run->lost_s += fmax(end_boot_s - since_s, 0);
}

void account_for_loss(const struct job *job, struct run *run, const struct fallback *unreported,
		      double end_boot_s)
{
	double known = job->progress.checkpoint_samples;

	if (run->outcome == OUTCOME_COMPLETED || run->outcome == OUTCOME_NOT_STARTED)
		return;
	if (isfinite(run->checkpoint_samples)) {
		lose_samples(run, run->checkpoint_samples, run->checkpoint_boot_s, end_boot_s);
	} else if (isfinite(known)) {
		/* The job falls back to the position where the run began: that of the first report
		 * or of the job's checkpoint, whichever is less. Where it is in doubt whether the
		 * job stands at its checkpoint, the first report tells. */
		run->checkpoint_samples = job->progress.position_doubt == POSITION_KNOWN ||
					  isnan(run->first_samples)
			? fmin(known, run->first_samples) : run->first_samples;
		lose_samples(run, run->checkpoint_samples, run->launch_boot_s, end_boot_s);
	} else if (isfinite(unreported->samples)) {
		run->stands_at_samples = unreported->samples;
		lose_samples(run, unreported->samples, unreported->boot_s, end_boot_s);
	}
}

void supervisor_account(struct supervisor *s, double run_end_s)
{
	struct fallback unreported = fallback_of(s);
	struct run *run = &s->run;
	double heard_s = fmax(run->checkpoint_boot_s, run->launch_boot_s);
	double saved_s = run_clock_s(run, savings_of(s).file_boot_s);

	/* A checkpoint that was written, but reported to nobody, because no supervisor lived then,
	 * counts as the files tell. How far the job had come then is not known. If it was less far
	 * than its last report, its next run begins earlier, which corrects the loss. */
	if (s->adopted && saved_s > heard_s + 2 * FILE_CLOCK_S &&
	    (run->last_samples > run->checkpoint_samples ||
	     (isnan(run->checkpoint_samples) && isfinite(s->job.progress.checkpoint_samples)))) {
		run->checkpoint_samples = run->last_samples;
		run->checkpoint_boot_s = saved_s;
	}
	account_for_loss(&s->job, run, &unreported, run_end_s);
	see_savings(s);
}

/* --- a run whose processes cannot exist any more, as after a reboot --- */

struct kept_taker {
	struct recorder *r;
	struct store *store;
	struct run *run;
};

/* The time of a report before a reboot is not known by the boot clock of that time. */
static void take_report(const char *bytes, size_t n, double time_wall_s, void *arg)
{
	const struct kept_taker *t = arg;

	(void)time_wall_s;
	t->r->sender = SENDER_KEPT;
	recorder_add(t->r, t->store, t->run, bytes, n, t->run->launch_boot_s + t->run->duration_s);
}

/* Takes over the position that the supervisor had learned after its last write to the store, and
 * the reports that nobody took. */
static int take_kept(const struct paths *paths, struct store *store, struct run *run,
		     struct err *err)
{
	struct recorder *r = xmalloc(sizeof(*r));
	struct kept_taker taker = { r, store, run };
	struct kept_place read = { 0 };
	struct local_handle handle;
	struct kept_position k;
	struct run_update update = {
		.run = run, .epoch = NAN, .position_is_least = -1, .printed_total_steps = NAN,
		.total_samples = NAN, .total_steps = NAN, .total_epochs = NAN,
		.resumes = -1, .saves_when_asked = -1,
	};
	bool changed;

	recorder_init(r);
	r->positions_only = true;
	if (kept_position_read(paths, run, &k, NULL)) {
		kept_position_apply(&k, run);
		kept_position_restore(&k, r);
	}
	local_handle_parse(run->handle, &handle);
	if (handle.socket_path[0])
		kept_reports_read(handle.socket_path, &read, take_report, &taker);
	local_handle_release(&handle);
	update.steps = r->steps;
	changed = r->changed;
	free(r);
	return changed ? store_run_update(store, &update, err) : 0;
}

int run_end_lost(const struct paths *paths, struct store *store, struct run *run, struct err *err)
{
	/* The next run shows where it begins. */
	struct fallback unknown = { NAN, NAN };
	struct run stored;
	struct job job;
	int rc = store_run_get(store, run->id, &stored, err);

	/* The run's files have times by the clock of its boot, as the store has. Those of the
	 * active runs are moved to the clock of now: run_take_boot(). */
	if (rc == 0) {
		run->assigned_boot_s = stored.assigned_boot_s;
		run->launch_boot_s = stored.launch_boot_s;
		run->checkpoint_boot_s = stored.checkpoint_boot_s;
	}
	run_release(&stored);
	if (rc || (run->state != RUN_ASSIGNED && take_kept(paths, store, run, err)) ||
	    store_job_get(store, run->job_id, &job, err))
		return -1;
	run->outcome = run->state == RUN_ASSIGNED ? OUTCOME_NOT_STARTED : OUTCOME_LOST;
	/* When the run ended is not known; the work up to the last record is. */
	account_for_loss(&job, run, &unknown, run->launch_boot_s + run->duration_s);
	job_release(&job);
	return store_run_end(store, run, err);
}
