/* supervisor_end.c - the end of a run: what became of it (completed, failed, stopped or lost), why
 * it failed, and the record of that, however long it takes.
 *
 * A program that exits with status 0 when it was told to stop may have saved and left, or may have
 * done all its work. Its own account tells: what it reported or printed of its end
 * (recorder_is_at_its_end). Where there is no such sign the job is launched again, and a run that
 * then finds nothing left to do has completed, with status 0 or with words of
 * nothing_left_words(). */
#include <libgen.h>
#include <sys/wait.h>

#include "pollux/advice.h"
#include "pollux/code.h"
#include "pollux/environment.h"
#include "pollux/lock.h"
#include "pollux/store_machine.h"
#include "pollux/store_measurements.h"
#include "supervisor_parts.h"

/* A run that made no step is at its start for so long, imports and the reading of data included. */
#define START_S 120.0
/* A failure so soon after a suspension may be due to the suspension. */
#define AFTER_PAUSE_S 30.0

#define PAUSE_LEAST_S 1.0	/* a shorter one does no harm */

#define TIMEOUT_STATUS 124	/* of timeout(1), when the time was over */

/* --- what became of it --- */

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

/* Sets run.outcome, if nothing has set it yet, after the last reports and the log were read; and
 * run.diagnosis, where people want to know why. */
static void set_outcome(struct supervisor *s)
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
	supervisor_set_diagnosis(s, "%s", t.data);
	text_release(&t);
}

/* Later in a run the same words mean that the program broke what it had, and where CUDA starts by
 * now, that the program asks for what it was not given. */
static void diagnose_cuda(struct supervisor *s)
{
	char *words = last_words(s->output.log_path, s->output.log_offset);
	bool at_start = s->run.duration_s < ASIDE_DIED_WITHIN_S && isnan(s->run.first_step_s);
	/* cron's environment has no such variable */
	const char *library_path = environment_value(&s->command.env, "LD_LIBRARY_PATH");
	bool starts = true;

	for (int i = 0; at_start && starts && i < s->run.configuration.replicas; i++) {
		const struct device_backend *backend = device_backend_of(s->run.devices[i].id);

		starts = backend && backend->starts &&
			 backend->starts(&s->run.devices[i], library_path);
	}
	if (at_start)
		supervisor_set_diagnosis(s, "%s%s", starts ? "" : CUDA_DOES_NOT_START ": ",
					 words ? words : "");
	free(words);
}

static void diagnose(struct supervisor *s)
{
	static const struct log_error killed = { "out of memory (the kernel killed it)", true,
						false };
	const struct log_error *error = diagnose_log(s->output.log_path, s->output.log_offset);
	const struct job_command *c = &s->command;
	/* as env(1) and nice(1) end where a script cannot be executed: it was changed since its
	 * submission */
	bool no_program = s->run.exit_code == 126 || s->run.exit_code == 127;
	struct text words = TEXT_INIT;

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
		supervisor_set_diagnosis(s, "%s", error->meaning);
	else if (no_program && program_file_fault(c->program, c->argv.items, c->directory,
						  environment_value(&c->env, "PATH"), &words))
		supervisor_set_diagnosis(s, "%s", words.data);
	text_release(&words);
}

static void diagnose_pause(struct supervisor *s)
{
	const struct run *run = &s->run;
	const char *word = s->command.argv.count > 0 ? s->command.argv.items[0] : "";
	const char *slash = strrchr(word, '/');
	double since_s = clock_boot_s() - run->resumed_boot_s;	/* NaN: it never went on */
	bool known = run->diagnosis && *run->diagnosis;
	/* the command is one of timeout(1), or the run ended as one of timeout(1) or alarm(2) */
	bool by_clock = run->exit_code == TIMEOUT_STATUS || run->exit_code == 128 + SIGALRM ||
			run->term_signal == SIGALRM || !strcmp(slash ? slash + 1 : word, "timeout");
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
	supervisor_set_diagnosis(s, "%s", t.data);
	text_release(&t);
}

/* After a failure: finds out why. */
static void diagnose_failure(struct supervisor *s)
{
	char *words = NULL;
	bool news;

	if (s->run.outcome != OUTCOME_FAILED)
		return;
	diagnose(s);
	/* A run that ran out of memory beside others leaves: it may fit by itself. The next run of
	 * its job is not put beside them. The second time is a failure like any other. */
	if (s->run.out_of_memory && s->run.configuration.share > 0 &&
	    !supervisor_note(s, store_share_keep_apart(&s->store, &s->run, &news, &s->err)) &&
	    news) {
		s->run.out_of_memory = false;
		s->run.outcome = OUTCOME_STOPPED;
		s->run.stop_reason = STOP_PREEMPT;
		supervisor_set_diagnosis(s, "%s, beside another job on %s", s->run.diagnosis,
					 s->run.devices[0].id);
		return;
	}
	/* A profile shows with its results why its points failed. */
	if (!s->job.profile)
		supervisor_diagnose_resume(s);
	else if (!s->run.diagnosis || !*s->run.diagnosis)
		words = last_words(s->output.log_path, s->output.log_offset);
	if (words)
		supervisor_set_diagnosis(s, "%s", words);
	free(words);
	diagnose_pause(s);
}

/* --- the record --- */

/* Removes the configuration file, the lock, the socket, and the socket's directory if it is one of
 * ours under /tmp. */
static void remove_files(const struct supervisor *s)
{
	char *socket = s->handle.socket_path;
	bool has_own_dir = text_starts_with(socket, "/tmp/pollux-");
	bool has_lock = supervisor_has_lock_file(s);

	if (*socket && (has_lock || has_own_dir)) {
		kept_reports_remove(socket);
		unlink(socket);
	}
	if (has_own_dir)
		rmdir(dirname(socket));
	if (!has_lock)
		return;
	supervisor_unlink(s, "config");
	supervisor_unlink(s, "config.new");
	supervisor_unlink(s, "out");
	kept_position_remove(s->paths, s->run.id);
	if (s->job.interactive)
		job_lock_remove(s->paths, JOB_LOCK_INTERACTIVE, s->job.id);
	supervisor_unlink(s, "lock");
}

/* Ends a profile whose process is gone; the devices are then free for a pass. While the process
 * lives, it decides what comes next. Returns true if a pass is needed now. */
static bool conclude_profile(struct supervisor *s)
{
	struct text reason = TEXT_INIT;
	struct job job;

	if (supervisor_remote || !store_is_there(&s->store) ||
	    job_lock_is_held(s->paths, JOB_LOCK_PROFILE, s->job.id))
		return false;
	if (store_job_get(&s->store, s->job.id, &job, &s->err) == 0) {
		/* The end of the run has ended the job already after a stop, unless this supervisor
		 * found the profile's process gone or adopted the run; a pass may have ended the
		 * job, too. */
		if (s->profile_gone || s->adopted || !job_has_ended(job.state))
			supervisor_note(s, store_profile_killed(&s->store, job.id, &reason,
								&s->err) ||
					   store_job_set_state(&s->store, job.id, JOB_CANCELLED,
							       reason.data, &s->err) ||
					   store_event_add(&s->store, job.id, 0, "profile",
							   reason.data, &s->err));
		text_release(&reason);
		job_release(&job);
	}
	job_lock_remove(s->paths, JOB_LOCK_PROFILE, s->job.id);
	return access(s->paths->schedule_lock, F_OK) == 0;
}

/* What a profile has saved goes; of a job, a directory with nothing in it, which the next launch
 * makes again. That launch must not find it removed, so this comes before the end is recorded. */
static void remove_checkpoints(const struct supervisor *s)
{
	char *dir = paths_checkpoints(s->paths, s->job.id);

	if (store_is_there(&s->store)) {
		if (s->job.profile)
			remove_tree(dir);
		else if (!s->command.checkpoint_dir)
			rmdir(dir);
	}
	free(dir);
}

/* Tells of files that runs made in the snapshot itself, where their owner may not look for them. */
static void tell_own_files(struct supervisor *s)
{
	const char *dir = s->command.snapshot_dir;
	char *own = NULL, *text;

	if (!dir || s->run.stop_reason != STOP_NONE || snapshot_own_files(dir, &own) != 1)
		return;
	text = xasprintf("runs made files in its snapshot of the code, such as '%s': 'pollux "
			 "prune' leaves them there", own);
	supervisor_add_event(s, "code", text);
	free(text);
	free(own);
}

/* Reads the last of the run, and leaves its devices. */
static void hear_out(struct supervisor *s, double now)
{
	/* The last reports, often of a checkpoint, may have come while the socket was not read. */
	supervisor_read_reports(s, now, true);
	supervisor_read_kept_reports(s, now);
	supervisor_read_log(s, now, true);
	supervisor_read_energy(s, true);
	/* A pass that reads of the end must not find the devices locked. */
	supervisor_leave_locks(s);
	if (supervisor_remote)
		supervisor_remote->conclude(s);
}

bool supervisor_conclude(struct supervisor *s)
{
	double now = clock_boot_s(), run_now = run_clock_s(&s->run, now);
	struct run *run = &s->run;

	/* No process of the run is left. The group goes before the end is recorded: if this
	 * supervisor dies in between, the next one finds the group by the run's handle. */
	if (s->handle.group[0] && !run_group_remove(s->handle.group))
		supervisor_log(s, "cannot remove control group '%s': %s", s->handle.group,
			       strerror(errno));
	supervisor_end_containers(s);
	if (s->ended_elsewhere) {
		remove_files(s);
		return false;
	}
	hear_out(s, now);
	if (run->end_boot_s < now) {	/* while this process stood still */
		run_now -= now - run->end_boot_s;
		now = run->end_boot_s;
	}
	set_outcome(s);
	if (run->outcome != OUTCOME_NOT_STARTED && isfinite(run->launch_boot_s))
		run->duration_s = run_now - run->launch_boot_s;
	if (run->outcome == OUTCOME_STOPPED && isfinite(run->stop_boot_s))
		/* Its programs may have ended before the stop was asked for. */
		run->stop_duration_s = fmax(now - run->stop_boot_s, 0);
	diagnose_failure(s);
	/* Before what the run lost is counted: if this supervisor is killed, the next one counts it
	 * anew, from these reports and the position that is kept. */
	supervisor_record(s, false);
	supervisor_leave_position(s);
	if (!s->job.profile)
		supervisor_account(s, run_now);
	remove_checkpoints(s);
	tell_own_files(s);
	supervisor_end_log(s);
	supervisor_note(s, store_make_durable(&s->store, &s->err));
	if (!supervisor_record(s, true))
		return false;
	remove_files(s);
	if (run->stop_reason == STOP_SHUTDOWN)
		return false;
	if (s->job.profile)
		return conclude_profile(s);
	return run->outcome != OUTCOME_NOT_STARTED || run->stop_reason != STOP_NONE;
}
