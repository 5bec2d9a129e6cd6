/* supervisor_outcome.c - what became of a run that has ended: completed, failed, stopped or lost.
 *
 * A program that exits with status 0 when it was told to stop may have saved and left, or may have
 * done all its work. Its own account tells: what it reported or printed of its end
 * (recorder_is_at_its_end). Where there is no such sign the job is launched again, and a run that
 * then finds nothing left to do has completed, with status 0 or with words of
 * nothing_left_words().
 *
 * Clocks of a program's own go on while it is suspended: alarm(2), the timeouts of subprocess,
 * asyncio and data loaders. So the end of a run soon after a suspension says nothing, unless the
 * run came to its total: the job is started again, once, and not suspended any more
 * (STOP_SUSPENSION). */
#include <sys/wait.h>

#include "pollux/store_measurements.h"
#include "supervisor_parts.h"

/* A run that made no step is at its start for so long, imports and the reading of data included. */
#define START_S 120.0

/* True if the run has done all its work, by what its program reported or printed. */
static bool is_at_its_end(struct supervisor *s)
{
	const struct recorder *r = &s->recorder;
	const struct declaration *d;
	bool declared, stored, is;
	struct job job;

	if (!supervisor_record(s, false) ||
	    supervisor_note(s, store_job_get(&s->store, s->job.id, &job, &s->err)))
		return false;
	d = &job.declared;
	declared = d->total_samples > 0 || d->total_steps > 0;
	/* A supervisor that took over the run did not read all that was reported and printed: what
	 * the store has tells. Both comparisons are false where one side is not known. */
	stored = s->adopted && (declared || !r->total_may_be_of_epoch) &&
		 (job.progress.samples >= job_total_samples(&job) ||
		  job.progress.steps >= job_total_steps(&job));
	is = recorder_is_at_its_end(r, &s->run, &job) || stored;
	/* A program that trains several times may not have done so for the last time. What is
	 * declared is the total of all. */
	is = is && (declared || !parts_are_left(s->output.log_path, s->output.log_offset));
	job_release(&job);
	return is;
}

/* Judges a run whose exit status nobody knows, as another supervisor started its leader. A job that
 * has done all its steps counts as done; any other job runs again. */
static void judge_unknown_end(struct supervisor *s)
{
	if (!s->stop.told && is_at_its_end(s)) {
		s->run.outcome = OUTCOME_COMPLETED;
		supervisor_set_diagnosis(s, "all its steps are done; its exit status is not known");
	} else if (s->run.stop_reason == STOP_NONE) {
		s->run.outcome = OUTCOME_LOST;
		supervisor_set_diagnosis(s, "its exit status is not known, as its supervisor was "
					    "killed");
	} else {
		s->run.outcome = OUTCOME_STOPPED;
	}
}

/* A run that had finished before it was told to stop has finished. */
static void judge_stop(struct supervisor *s)
{
	bool is_done = s->run.exit_code == 0 && (!s->stop.told || is_at_its_end(s));

	s->run.outcome = is_done ? OUTCOME_COMPLETED : OUTCOME_STOPPED;
	if (is_done && s->stop.told)
		supervisor_set_diagnosis(s, "all its work was done, although it was told to stop "
					 "(%s)", stop_reason_words(s->run.stop_reason));
}

/* Sees that a program which was launched to go on says that its work is done: the last run of the
 * job exited with status 0 when it was told to stop, and this one made no step. */
static void see_nothing_left(struct supervisor *s)
{
	static const char found[] = "nothing was left to do after its last run, which had been told"
				    " to stop";
	const struct progress *before = &s->job.progress;
	struct run *run = &s->run;
	bool steps_are_seen = isfinite(before->steps) || isfinite(before->samples);
	bool is_at_start = run_clock_s(run, clock_boot_s()) - run->launch_boot_s < START_S;
	char *words = NULL;

	if (before->exit_code != 0 || before->runs <= 1 || s->job.profile ||
	    isfinite(run->first_step_s) || isfinite(s->recorder.steps) ||
	    !(steps_are_seen || is_at_start) || run->term_signal > 0)
		return;
	if (run->outcome == OUTCOME_COMPLETED)
		supervisor_set_diagnosis(s, "%s", found);
	else if (is_at_start)
		words = nothing_left_words(s->output.log_path, s->output.log_offset);
	if (words) {
		run->outcome = OUTCOME_COMPLETED;
		supervisor_set_diagnosis(s, "%s: %s", found, words);
	}
	free(words);
}

void supervisor_diagnose_diverged(struct supervisor *s)
{
	struct text t = TEXT_INIT;

	recorder_describe_diverged(&s->recorder, &t);
	supervisor_set_diagnosis(s, "%s", t.data);
	text_release(&t);
}

void supervisor_set_outcome(struct supervisor *s)
{
	struct run *run = &s->run;
	int status = s->leader.wait_status;

	if (status >= 0 && WIFEXITED(status))
		run->exit_code = WEXITSTATUS(status);
	else if (status >= 0 && WIFSIGNALED(status))
		run->term_signal = WTERMSIG(status);
	if (run->outcome != OUTCOME_NONE)
		return;
	/* A run whose program ended before it could be stopped has diverged all the same. */
	if (recorder_has_diverged(&s->recorder) &&
	    (run->stop_reason == STOP_NONE || run->stop_reason == STOP_DIVERGED)) {
		run->stop_reason = STOP_DIVERGED;
		run->outcome = OUTCOME_STOPPED;
		supervisor_diagnose_diverged(s);
	} else if (s->adopted && status < 0) {
		judge_unknown_end(s);
	} else if (run->stop_reason != STOP_NONE) {
		judge_stop(s);
	} else {
		run->outcome = run->exit_code == 0 ? OUTCOME_COMPLETED : OUTCOME_FAILED;
		see_nothing_left(s);
	}
}

/* --- an end that a suspension may have caused --- */

/* The end of a run so soon after a suspension may be due to the suspension. */
#define AFTER_PAUSE_S 30.0
#define PAUSE_LEAST_S 1.0	/* a shorter one does no harm */
#define TIMEOUT_STATUS 124	/* of timeout(1), when the time was over */

/* A run that ends below this part of its total has ended early. What is declared is often a little
 * too large. */
#define WHOLE 0.99

/* Returns the part of its total that the run made, as recorder_done_ratio() does. */
static double done_ratio(struct supervisor *s, double *most)
{
	const struct recorder *r = &s->recorder;
	double ratio = (double)NAN, stored;
	bool declared;
	struct job job;

	*most = (double)NAN;
	if (!supervisor_record(s, false) ||
	    supervisor_note(s, store_job_get(&s->store, s->job.id, &job, &s->err)))
		return ratio;
	ratio = recorder_done_ratio(r, &s->run, &job, most);
	declared = job.declared.total_samples > 0 || job.declared.total_steps > 0;
	stored = fmax(job.progress.samples / job_total_samples(&job),
		      job.progress.steps / job_total_steps(&job));
	if (s->adopted && (declared || !r->total_may_be_of_epoch)) {
		ratio = fmax(ratio, stored);
		*most = fmax(*most, stored);
	}
	job_release(&job);
	if (r->came_to_its_end)
		*most = 1;
	return ratio;
}

/* Says that a run which completed made less than its total. */
static void tell_early_end(struct supervisor *s, double ratio, bool is_least)
{
	if (!(s->run.diagnosis && *s->run.diagnosis))
		supervisor_set_diagnosis(s, "it ended at %s%.0f %% of its total",
					 is_least ? "or after " : "", floor(100 * ratio));
}

/* When the run ended, or its first process. */
static double end_boot_s(const struct supervisor *s)
{
	return isfinite(s->leader.ended_boot_s) ? s->leader.ended_boot_s : clock_boot_s();
}

/* True if the command is one of timeout(1), or the run ended as one of timeout(1) or alarm(2). */
static bool failed_by_clock(const struct supervisor *s)
{
	const struct run *run = &s->run;
	const char *word = s->command.argv.count > 0 ? s->command.argv.items[0] : "";
	const char *slash = strrchr(word, '/');

	return run->exit_code == TIMEOUT_STATUS || run->exit_code == 128 + SIGALRM ||
	       run->term_signal == SIGALRM ||
	       (run->exit_code != 0 && !strcmp(slash ? slash + 1 : word, "timeout"));
}

static void describe_pause(struct supervisor *s)
{
	const struct run *run = &s->run;
	double since_s = end_boot_s(s) - run->resumed_boot_s;	/* NaN: it never went on */
	struct text t = TEXT_INIT;

	/* a run that failed says by itself how */
	if (run->stop_reason == STOP_SUSPENSION && run->term_signal > 0) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&t, "killed by %s; ", signal_name(name, run->term_signal));
	} else if (run->stop_reason == STOP_SUSPENSION && run->exit_code > 0) {
		text_addf(&t, "exit status %d; ", run->exit_code);
	}
	if (run->diagnosis && *run->diagnosis)
		text_addf(&t, "%s; ", run->diagnosis);
	text_addf(&t, "it was suspended for %.0f s", run->suspended_s);
	if (since_s < 1)
		text_add(&t, " until just before its end");
	else if (isfinite(since_s))
		text_addf(&t, " until %.0f s before its end", since_s);
	text_add(&t, failed_by_clock(s)
		 ? ", which timeout(1) and alarm(2) count; pollux's --time-limit does not"
		 : ", which clocks of its own count, and other machines");
	supervisor_set_diagnosis(s, "%s", t.data);
	text_release(&t);
}

/* True if the job may be started again for this end, which it is once. */
static bool may_start_again(struct supervisor *s)
{
	const struct run *run = &s->run;
	bool unasked = run->stop_reason == STOP_NONE || run->stop_reason == STOP_PREEMPT;
	bool was = false;

	if (!unasked || s->stop.told || s->job.interactive || run->former_checkpoint)
		return false;
	supervisor_note(s, store_job_ended_after_suspension(&s->store, s->job.id, &was, &s->err));
	return !was;
}

void supervisor_judge_pause(struct supervisor *s)
{
	struct run *run = &s->run;
	bool completed = run->outcome == OUTCOME_COMPLETED;
	double most, ratio;
	bool soon;

	if (s->job.profile || run->out_of_memory || !(completed || run->outcome == OUTCOME_FAILED))
		return;
	ratio = done_ratio(s, &most);
	if (completed && most < WHOLE)
		tell_early_end(s, ratio, most > ratio);
	/* Where the total is not known, a counter that ended before its own tells of an early end:
	 * perhaps that of an epoch, or of one of several programs. */
	if (completed && isnan(most))
		most = s->recorder.logged_part;
	if (completed && !(most < WHOLE))
		return;
	soon = run->suspension != SUSPENSION_DONE &&
	       end_boot_s(s) - run->resumed_boot_s < AFTER_PAUSE_S;
	if (!(run->suspended_s >= PAUSE_LEAST_S) || !(soon || failed_by_clock(s)))
		return;
	if (!(most >= WHOLE) && may_start_again(s)) {
		run->outcome = OUTCOME_STOPPED;
		run->stop_reason = STOP_SUSPENSION;
	}
	if (run->outcome != OUTCOME_COMPLETED)
		describe_pause(s);
}
