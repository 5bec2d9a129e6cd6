/* supervisor_end.c - the end of a run: why it failed, and the record of that, however long it
 * takes. What became of the run: supervisor_outcome.c. */
#include <libgen.h>
#include <sys/wait.h>

#include "pollux/advice.h"
#include "pollux/code.h"
#include "pollux/environment.h"
#include "pollux/lock.h"
#include "pollux/store_machine.h"
#include "pollux/store_measurements.h"
#include "supervisor_parts.h"

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

	if (supervisor_diagnose_memory(s) || (s->run.diagnosis && *s->run.diagnosis))
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
	supervisor_end_memory(s);
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
	supervisor_set_outcome(s);
	if (run->outcome != OUTCOME_NOT_STARTED && isfinite(run->launch_boot_s))
		run->duration_s = run_now - run->launch_boot_s;
	if (run->outcome == OUTCOME_STOPPED && isfinite(run->stop_boot_s))
		/* Its programs may have ended before the stop was asked for. */
		run->stop_duration_s = fmax(now - run->stop_boot_s, 0);
	diagnose_failure(s);
	supervisor_judge_pause(s);
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
