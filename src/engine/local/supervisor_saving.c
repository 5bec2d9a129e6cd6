/* supervisor_saving.c - what a run has saved, and what it saved when it was asked to stop; and the
 * work since the last checkpoint, which has to be done again. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "pollux/clock.h"
#include "pollux/text.h"
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

/* True if the job is known to save in its directory of checkpoints, or to tell when it saves. */
static bool savings_are_seen(const struct supervisor *s)
{
	const struct job_command *c = &s->command;

	return c->checkpoint_dir || template_mentions(&c->argv, "checkpoint") ||
	       (c->resume_args && template_text_mentions(c->resume_args, "checkpoint")) ||
	       isfinite(s->job.progress.checkpoint_samples) ||
	       isfinite(s->run.checkpoint_boot_s);
}

/* A job whose steps are seen has work to save once this run has made one. */
static bool has_worked(const struct supervisor *s)
{
	bool shows_steps = isfinite(s->job.progress.samples) || isfinite(s->job.progress.steps);

	return isfinite(s->run.first_step_s) || (!shows_steps && s->run.duration_s >= WORK_S);
}

/* When something was last saved, by the wall clock; NaN: nothing was. The files are looked at once:
 * no process of the run is left that could write. */
static double saved_file_s(struct supervisor *s)
{
	struct checkpoints found;

	if (!s->saved.is_known) {
		supervisor_find_checkpoints(s, NULL, false, &found);
		s->saved.at_s = found.saved_s;
		s->saved.is_known = true;
		checkpoints_release(&found);
	}
	return s->saved.at_s;
}

static struct savings savings_of(struct supervisor *s)
{
	const struct run *run = &s->run;
	double begin = run->launch_boot_s + fmax(run->first_step_s, 0);
	double file_s = saved_file_s(s) + FILE_CLOCK_S;

	file_s -= clock_wall_s() - clock_boot_s();
	return (struct savings){
		.in_run = file_s >= begin || run->checkpoint_boot_s > run->launch_boot_s,
		.when_asked = file_s >= run->stop_boot_s ||
			      run->checkpoint_boot_s >= run_clock_s(run, run->stop_boot_s),
		.file_boot_s = file_s,
	};
}

/* "773 steps" */
static void add_loss(const struct supervisor *s, struct text *t)
{
	const struct run *run = &s->run;
	double batch = (double)configuration_batch_size(&run->configuration);
	double steps = run->lost_samples > 0 && batch > 0 ? run->lost_samples / batch : 0;

	if (run->stands_at_samples == 0 && s->recorder.steps > 0)
		steps = s->recorder.steps;
	if (steps >= 1)
		text_addf(t, "%.0f step%s", steps, plural((int64_t)steps));
	else if (run->lost_samples > 0)
		text_addf(t, "%.0f samples", run->lost_samples);
	else
		text_addf(t, "%.0f s of work", run->duration_s);
}

/* "saved nothing when asked to; lost 773 steps". is_known false: the program may have saved before,
 * where nobody looks. */
static void tell_loss(struct supervisor *s, bool is_known)
{
	struct text t = TEXT_INIT;

	if (!supervisor_was_heeded(s)) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&t, "no process of it has a handler for %s, so it ",
			  signal_name(name, s->job.declared.stop_signal));
	}
	text_add(&t, "saved nothing when asked to; ");
	text_add(&t, is_known ? "lost " : "unless it saved before, it lost ");
	add_loss(s, &t);
	if (!(s->run.diagnosis && *s->run.diagnosis))
		supervisor_set_diagnosis(s, t.data);
	text_release(&t);
	if (is_known && !(s->run.lost_samples > 0))
		s->run.lost_s = s->run.duration_s;
}

/* True if somebody else killed the run before its grace was over: whether it would have saved is
 * not known. */
static bool was_cut_short(const struct supervisor *s)
{
	return s->leader.wait_status >= 0 && WIFSIGNALED(s->leader.wait_status) &&
	       WTERMSIG(s->leader.wait_status) == SIGKILL &&
	       s->run.stop_duration_s < s->job.declared.grace_s;
}

/* Sees whether the run, which has ended because it was asked to stop, has saved. What it has lost
 * is known by now. */
static void see_savings(struct supervisor *s)
{
	struct savings saved;

	if (s->run.outcome != OUTCOME_STOPPED || !s->stop.told || s->job.profile ||
	    !has_worked(s) || was_cut_short(s))
		return;
	saved = savings_of(s);
	if (!savings_are_seen(s)) {
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

/* The position at a time, by the first and the last report of the run. Times are by
 * run_clock_s(). */
static double position_at(const struct supervisor *s, double at_s, double end_s)
{
	const struct run *run = &s->run;
	double last_s = isfinite(s->recorder.position_s) ? s->recorder.position_s : end_s;
	double first_s = run->launch_boot_s + run->first_step_s, share;

	if (at_s >= last_s)
		return run->last_samples;
	share = last_s > first_s ? fmax(fmin((at_s - first_s) / (last_s - first_s), 1), 0) : 0;
	return floor(run->first_samples + share * (run->last_samples - run->first_samples));
}

static double began_at(const struct supervisor *s)
{
	const struct recorder *r = &s->recorder;

	if (isfinite(r->began))
		return r->began;
	if (s->adopted && s->run.number > 1)
		return s->run.first_samples;
	return isfinite(r->start.samples) ? r->start.samples : 0;
}

/* Where a job that never reported a checkpoint goes on, by what its last run wrote. */
static struct fallback fallback_of(struct supervisor *s)
{
	const struct run *run = &s->run;
	struct savings saved = savings_of(s);
	double stop_s = isfinite(run->stop_boot_s) ? run->stop_boot_s : clock_boot_s();
	double file_s = run_clock_s(run, saved.file_boot_s);

	if (isnan(run->last_samples))
		return (struct fallback){ NAN, NAN };
	if (saved.when_asked)
		return (struct fallback){ run->last_samples, clock_boot_s() };
	if (saved.in_run)
		return (struct fallback){ position_at(s, file_s, run_clock_s(run, stop_s)),
					  file_s };
	return (struct fallback){ began_at(s), run->launch_boot_s };
}

/* A checkpoint that was written, but reported to nobody, because no supervisor lived then, counts
 * as the files tell. How far the job had come then is not known. If it was less far than its last
 * report, its next run begins earlier, which corrects the loss. */
static void count_unheard_checkpoint(struct supervisor *s)
{
	struct run *run = &s->run;
	double heard_s = fmax(run->checkpoint_boot_s, run->launch_boot_s);
	double saved_s = run_clock_s(run, savings_of(s).file_boot_s);

	if (!s->adopted || !(saved_s > heard_s + 2 * FILE_CLOCK_S) ||
	    !(run->last_samples > run->checkpoint_samples ||
	      (isnan(run->checkpoint_samples) && isfinite(s->job.progress.checkpoint_samples))))
		return;
	run->checkpoint_samples = run->last_samples;
	run->checkpoint_boot_s = saved_s;
}

/* --- what was lost --- */

/* The job falls back to the position where the run began: that of the first report or of the job's
 * checkpoint, whichever is less. Where it is in doubt whether the job stands at its checkpoint, the
 * first report tells. */
static void fall_back_to_begin(const struct job *job, struct run *run)
{
	double known = job->progress.checkpoint_samples;

	run->checkpoint_samples = job->progress.position_doubt == POSITION_KNOWN ||
				  isnan(run->first_samples)
		? fmin(known, run->first_samples) : run->first_samples;
}

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
	if (run->outcome == OUTCOME_COMPLETED || run->outcome == OUTCOME_NOT_STARTED)
		return;
	if (isfinite(run->checkpoint_samples)) {
		lose_samples(run, run->checkpoint_samples, run->checkpoint_boot_s, end_boot_s);
	} else if (isfinite(job->progress.checkpoint_samples)) {
		fall_back_to_begin(job, run);
		lose_samples(run, run->checkpoint_samples, run->launch_boot_s, end_boot_s);
	} else if (isfinite(unreported->samples)) {
		run->stands_at_samples = unreported->samples;
		lose_samples(run, unreported->samples, unreported->boot_s, end_boot_s);
	}
}

void supervisor_account(struct supervisor *s, double run_end_s)
{
	struct fallback unreported = fallback_of(s);

	count_unheard_checkpoint(s);
	account_for_loss(&s->job, &s->run, &unreported, run_end_s);
	see_savings(s);
}
