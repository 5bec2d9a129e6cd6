/* supervisor_outcome.c - decides what became of a run: completed, failed, stopped or lost; and why
 * it failed.
 *
 * * A program that exits with status 0 when it was told to stop may have saved and left, or may
 * have done all its work. Its own account tells: what it reported or printed of its end
 * (recorder_is_at_its_end). Where there is no such sign the job is launched again, and a run that
 * then finds nothing left to do has completed, with status 0 or with words of
 * nothing_left_words(). */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "run_log.h"
#include "supervisor_parts.h"

/* A run that made no step is at its start for so long, imports and the reading of data included. */
#define START_S 120.0
/* A failure so soon after a suspension may be due to the suspension. */
#define AFTER_PAUSE_S 30.0

#define PAUSE_LEAST_S 1.0	/* a shorter one does no harm */

#define TIMEOUT_STATUS 124	/* of timeout(1), when the time was over */

/* --- at its end --- */

static void set_wait_status(struct run *run, int status)
{
	if (WIFEXITED(status))
		run->exit_code = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		run->term_signal = WTERMSIG(status);
}

/* True if the job stands at its end by what the store has. A supervisor that took over the run did
 * not read all that was reported and printed. */
static bool stands_at_its_end(const struct job *job, const struct recorder *r)
{
	bool declared = job->declared.total_samples > 0 || job->declared.total_steps > 0;

	/* Both comparisons are false where one side is not known. */
	return (declared || !r->total_may_be_of_epoch) &&
	       (job->progress.samples >= job_total_samples(job) ||
		job->progress.steps >= job_total_steps(job));
}

/* True if the program trains several times, and has not done so for the last time. What is declared
 * is the total of all. */
static bool has_parts_left(const struct supervisor *s, const struct declaration *d)
{
	return !(d->total_samples > 0) && !(d->total_steps > 0) &&
	       parts_are_left(s->output.log_path, s->output.log_offset);
}

/* True if the run has done all its work, by what its program reported or printed. */
static bool is_at_its_end(struct supervisor *s)
{
	bool is = false;
	struct job job;
	struct err err;

	if (!supervisor_record_reports(s))
		return false;
	if (store_job_get(&s->store, s->job.id, &job, &err)) {
		supervisor_log(s, "%s", err.text);
		return false;
	}
	is = recorder_is_at_its_end(&s->recorder, &s->run, &job) ||
	     (s->adopted && stands_at_its_end(&job, &s->recorder));
	is = is && !has_parts_left(s, &job.declared);
	job_release(&job);
	return is;
}

/* --- an end of unknown status --- */

/* Nobody may know how a leader ended that another supervisor started. */
static bool is_unknown(const struct supervisor *s)
{
	return s->adopted && s->leader.wait_status < 0;
}

/* Judges such an end. A job that has done all its steps counts as done; any other job runs
 * again. */
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

/* --- a known end --- */

static void judge_stop(struct supervisor *s)
{
	struct run *run = &s->run;

	/* A run that had finished before it was told to stop has finished. */
	if (run->exit_code == 0 && !s->stop.told) {
		run->outcome = OUTCOME_COMPLETED;
	} else if (run->exit_code == 0 && is_at_its_end(s)) {
		run->outcome = OUTCOME_COMPLETED;
		supervisor_take_diagnosis(s, xasprintf("all its work was done, although it was told"
						       " to stop (%s)",
						       stop_reason_words(run->stop_reason)));
	} else {
		run->outcome = OUTCOME_STOPPED;
	}
}

/* True if this is the relaunch of a job whose last run exited with status 0 when it was told to
 * stop, and no step was made. */
static bool is_idle_relaunch(const struct supervisor *s)
{
	const struct progress *before = &s->job.progress;
	bool steps_are_seen = isfinite(before->steps) || isfinite(before->samples);
	double now = run_clock_s(&s->run, clock_boot_s());

	return before->exit_code == 0 && before->runs > 1 && !s->job.profile &&
	       isnan(s->run.first_step_s) && isnan(s->recorder.steps) &&
	       (steps_are_seen || now - s->run.launch_boot_s < START_S);
}

/* The program was launched to go on, and says that its work is done. */
static void see_nothing_left(struct supervisor *s)
{
	static const char found[] = "nothing was left to do after its last run, which had been told"
				    " to stop";
	struct run *run = &s->run;
	char *words;

	if (!is_idle_relaunch(s) || run->term_signal > 0)
		return;
	if (run->outcome == OUTCOME_COMPLETED) {
		supervisor_set_diagnosis(s, found);
		return;
	}
	words = run_clock_s(run, clock_boot_s()) - run->launch_boot_s < START_S
		? nothing_left_words(s->output.log_path, s->output.log_offset) : NULL;
	if (words) {
		run->outcome = OUTCOME_COMPLETED;
		supervisor_take_diagnosis(s, xasprintf("%s: %s", found, words));
	}
	free(words);
}

/* --- a run that diverged --- */

void supervisor_diagnose_diverged(struct supervisor *s)
{
	struct text t = TEXT_INIT;

	recorder_describe_diverged(&s->recorder, &t);
	supervisor_take_diagnosis(s, text_detach(&t));
}

/* A run whose program ended before it could be stopped has diverged all the same. */
static bool ends_diverged(struct supervisor *s)
{
	if (!recorder_has_diverged(&s->recorder) ||
	    (s->run.stop_reason != STOP_NONE && s->run.stop_reason != STOP_DIVERGED))
		return false;
	s->run.stop_reason = STOP_DIVERGED;
	supervisor_diagnose_diverged(s);
	return true;
}

void supervisor_set_outcome(struct supervisor *s)
{
	struct run *run = &s->run;

	if (s->leader.wait_status >= 0)
		set_wait_status(run, s->leader.wait_status);
	if (run->outcome != OUTCOME_NONE)
		return;
	if (ends_diverged(s)) {
		run->outcome = OUTCOME_STOPPED;
		return;
	}
	if (is_unknown(s)) {
		judge_unknown_end(s);
		return;
	}
	if (run->stop_reason != STOP_NONE) {
		judge_stop(s);
		return;
	}
	run->outcome = run->exit_code == 0 ? OUTCOME_COMPLETED : OUTCOME_FAILED;
	see_nothing_left(s);
}

/* --- why it failed --- */

/* "GPU out of memory: 2.0 GiB asked for, 21.5 GiB of 23.6 GiB in use" */
static void diagnose_allocation(struct supervisor *s)
{
	const struct recorder_oom *oom = &s->recorder.oom;
	bool is_gpu = s->run.configuration.replicas > 0 &&
		      !text_starts_with(s->run.devices[0].id, "cpu:");
	struct text t = TEXT_INIT;

	text_addf(&t, "%sout of memory", is_gpu ? "GPU " : "");
	if (oom->bytes > 0)
		text_addf(&t, ": %.1f GiB asked for", (double)oom->bytes / 0x1p30);
	if (oom->bytes > 0 && oom->peak_bytes > 0) {
		text_addf(&t, ", %.1f", (double)oom->peak_bytes / 0x1p30);
		if (oom->limit_bytes > 0)
			text_addf(&t, " of %.1f", (double)oom->limit_bytes / 0x1p30);
		text_add(&t, " GiB in use");
	}
	supervisor_take_diagnosis(s, text_detach(&t));
}

/* As env(1) and nice(1) end where a script cannot be executed: it was changed since its submission.
 */
static void diagnose_program(struct supervisor *s)
{
	const struct job_command *c = &s->command;
	struct text words = TEXT_INIT;

	if (program_file_fault(c->program, c->argv.items, c->directory,
			       environment_value(&c->env, "PATH"), &words))
		supervisor_set_diagnosis(s, words.data);
	text_release(&words);
}

static bool cuda_starts(const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		const struct device_backend *backend = device_backend_of(run->devices[i].id);

		if (!backend || !backend->starts || !backend->starts(&run->devices[i]))
			return false;
	}
	return true;
}

/* Later in a run the same words mean that the program broke what it had, and where CUDA starts by
 * now, that the program asks for what it was not given. */
static void diagnose_cuda(struct supervisor *s)
{
	char *words = last_words(s->output.log_path, s->output.log_offset);

	if (s->run.duration_s < ASIDE_DIED_WITHIN_S && isnan(s->run.first_step_s))
		supervisor_take_diagnosis(s, xasprintf("%s%s", cuda_starts(&s->run)
						       ? "" : CUDA_DOES_NOT_START ": ",
						       words ? words : ""));
	free(words);
}

static void diagnose(struct supervisor *s)
{
	static const struct log_error killed = { "out of memory (the kernel killed it)", true,
						false };
	const struct log_error *error = diagnose_log(s->output.log_path, s->output.log_offset);

	if (s->run.diagnosis && *s->run.diagnosis)
		return;
	if (s->run.term_signal == SIGKILL && supervisor_was_killed_for_memory(s))
		error = &killed;
	s->run.out_of_memory = s->recorder.oom.bytes >= 0 || (error && error->out_of_memory);
	if (s->recorder.oom.bytes >= 0)
		diagnose_allocation(s);
	else if (error && error->at_start)
		diagnose_cuda(s);
	else if (error)
		supervisor_set_diagnosis(s, error->meaning);
	else if (s->run.exit_code == 126 || s->run.exit_code == 127)
		diagnose_program(s);
}

/* A run that ran out of memory beside others leaves: it may fit by itself. The next run of its job
 * is not put beside them. The second time is a failure like any other. */
static void leave_if_beside(struct supervisor *s)
{
	struct err err;
	bool news;

	if (!s->run.out_of_memory || s->run.configuration.share == 0)
		return;
	if (store_share_keep_apart(&s->store, &s->run, &news, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (!news)
		return;
	s->run.out_of_memory = false;
	s->run.outcome = OUTCOME_STOPPED;
	s->run.stop_reason = STOP_PREEMPT;
	supervisor_take_diagnosis(s, xasprintf("%s, beside another job on %s", s->run.diagnosis,
					       s->run.devices[0].id));
}

/* Quotes the program: a profile shows with its results why its points failed. */
static void quote_last_words(struct supervisor *s)
{
	bool known = s->run.diagnosis && *s->run.diagnosis;
	char *words = known ? NULL : last_words(s->output.log_path, s->output.log_offset);

	if (words)
		supervisor_take_diagnosis(s, words);
}

/* --- a failure after a pause --- */

static bool is_timeout(const char *word)
{
	const char *slash = strrchr(word, '/');

	return !strcmp(slash ? slash + 1 : word, "timeout");
}

/* True if the command is one of timeout(1), or the run ended as one of timeout(1) or alarm(2). */
static bool ran_out_of_time(const struct supervisor *s)
{
	const struct strings *argv = &s->command.argv;

	return s->run.exit_code == TIMEOUT_STATUS || s->run.exit_code == 128 + SIGALRM ||
	       s->run.term_signal == SIGALRM || (argv->count > 0 && is_timeout(argv->items[0]));
}

static void diagnose_pause(struct supervisor *s)
{
	const struct run *run = &s->run;
	double since_s = clock_boot_s() - run->resumed_boot_s;	/* NaN: it never went on */
	bool known = run->diagnosis && *run->diagnosis, by_clock = ran_out_of_time(s);
	struct text t = TEXT_INIT;

	if (!(run->suspended_s >= PAUSE_LEAST_S) || run->out_of_memory ||
	    !(since_s < AFTER_PAUSE_S || by_clock))
		return;
	text_addf(&t, "%s%sit was suspended for %.0f s", known ? run->diagnosis : "",
		  known ? "; " : "", run->suspended_s);
	if (since_s < 1)
		text_add(&t, " until just before its end");
	else if (isfinite(since_s))
		text_addf(&t, " until %.0f s before its end", since_s);
	text_add(&t, by_clock ? ", which timeout(1) and alarm(2) count; pollux's --time-limit does "
				"not" : ", which clocks of its own count, and other machines");
	supervisor_take_diagnosis(s, text_detach(&t));
}

void supervisor_diagnose(struct supervisor *s)
{
	if (s->run.outcome != OUTCOME_FAILED)
		return;
	diagnose(s);
	leave_if_beside(s);
	if (s->run.outcome != OUTCOME_FAILED)
		return;
	if (s->job.profile)
		quote_last_words(s);
	else
		supervisor_diagnose_resume(s);
	diagnose_pause(s);
}
