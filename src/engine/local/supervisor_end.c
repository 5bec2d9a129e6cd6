/* supervisor_end.c - find out why a run failed, and record its end, however long that takes. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "kept_reports.h"
#include "last_words.h"
#include "local.h"
#include "log_errors.h"
#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/environment.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/log_keeping.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_jobs.h"
#include "pollux/store_machine.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "pollux/supervise.h"
#include "pollux/text.h"
#include "run_group.h"
#include "supervisor_command.h"
#include "supervisor_loop.h"
#include "supervisor_remote.h"

void supervisor_set_diagnosis(struct supervisor *s, const char *text)
{
	free(s->run.diagnosis);
	s->run.diagnosis = xstrdup(text);
}

static bool was_killed_for_memory(const struct supervisor *s)
{
	struct oom_reading now;

	oom_read("/proc", "/sys/fs/cgroup", &now);
	return oom_was_killer(&s->oom.before, &now, s->run.peak_memory_bytes);
}

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
	supervisor_set_diagnosis(s, t.data);
	text_release(&t);
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
	char *path = paths_log(s->paths, s->job.id), *words = last_words(path, s->log_offset);

	if (s->run.duration_s < ASIDE_DIED_WITHIN_S && isnan(s->run.first_step_s)) {
		bool starts = cuda_starts(&s->run);
		char *text = xasprintf("%s%s", starts ? "" : CUDA_DOES_NOT_START ": ",
				       words ? words : "");

		supervisor_set_diagnosis(s, text);
		free(text);
	}
	free(words);
	free(path);
}

static void diagnose(struct supervisor *s)
{
	char *path = paths_log(s->paths, s->job.id);
	static const struct log_error killed = { "out of memory (the kernel killed it)", true,
						false };
	const struct log_error *error = diagnose_log(path, s->log_offset);

	free(path);
	if (s->run.diagnosis && *s->run.diagnosis)
		return;
	if (s->run.term_signal == SIGKILL && was_killed_for_memory(s))
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
	char *text;

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
	text = xasprintf("%s, beside another job on %s", s->run.diagnosis, s->run.devices[0].id);
	supervisor_set_diagnosis(s, text);
	free(text);
}

/* Quotes the program: a profile shows with its results why its points failed. */
static void quote_last_words(struct supervisor *s)
{
	char *path = paths_log(s->paths, s->job.id);
	bool known = s->run.diagnosis && *s->run.diagnosis;
	char *words = known ? NULL : last_words(path, s->log_offset);

	if (words)
		supervisor_set_diagnosis(s, words);
	free(words);
	free(path);
}

/* The last output of a program need not end its line. */
static void end_last_line(const struct supervisor *s)
{
	char *path = paths_log(s->paths, s->job.id);
	int fd = file_open(path, O_RDONLY, 0);
	struct stat st;
	char last;

	free(path);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
	    last != '\n')
		dprintf(s->log_fd, "\n");
	close(fd);
}

static void write_log_trailer(const struct supervisor *s)
{
	const struct run *run = &s->run;
	char name[SIGNAL_NAME_SIZE];

	if (s->log_fd < 0)
		return;
	log_take_turn(s->log_fd);
	end_last_line(s);
	if (s->wait_status < 0 && run->outcome != OUTCOME_STOPPED && s->adopted)
		dprintf(s->log_fd, "[ended: %s]\n", run->diagnosis ? run->diagnosis : "");
	else if (s->wait_status < 0 && run->outcome != OUTCOME_STOPPED)
		dprintf(s->log_fd, "[not started: %s]\n", run->diagnosis ? run->diagnosis : "");
	else if (run->outcome == OUTCOME_STOPPED)
		dprintf(s->log_fd, "[stopped by pollux: %s]\n",
			stop_reason_words(run->stop_reason));
	else if (run->term_signal > 0)
		dprintf(s->log_fd, "[killed by %s]\n", signal_name(name, run->term_signal));
	else
		dprintf(s->log_fd, "[exited with status %d]\n", run->exit_code);
	log_end_turn(s->log_fd);
}

/* Removes the configuration file, the lock, the socket, and the socket's directory if it is one of
 * ours under /tmp. */
static void remove_files(const struct supervisor *s)
{
	char *lock = paths_run(s->paths, s->run.id, "lock");
	char *output = paths_run(s->paths, s->run.id, "out");
	bool has_own_dir = !strncmp(s->handle.socket_path, "/tmp/pollux-", 12);
	bool has_lock = supervisor_has_lock_file(s);

	if (s->handle.socket_path[0] && (has_lock || has_own_dir)) {
		kept_reports_remove(s->handle.socket_path);
		unlink(s->handle.socket_path);
	}
	if (has_own_dir)
		rmdir(dirname(s->handle.socket_path));
	if (has_lock) {
		supervisor_remove_config(s);
		unlink(output);
		kept_position_remove(s->paths, s->run.id);
		if (s->job.interactive)
			job_lock_remove(s->paths, JOB_LOCK_INTERACTIVE, s->job.id);
		unlink(lock);
	}
	free(lock);
	free(output);
}

/* No process of the run is left. The group goes before the end is recorded: if this supervisor dies
 * in between, the next one finds the group by the run's handle. */
static void remove_group(struct supervisor *s)
{
	if (s->handle.group[0] && !run_group_remove(s->handle.group))
		supervisor_log(s, "cannot remove control group '%s': %s", s->handle.group,
			       strerror(errno));
}

/* A stop of docker(1) does not always stop its container. */
static void end_containers(struct supervisor *s)
{
	struct text said = TEXT_INIT;
	struct err err;

	local_kill_containers(&s->containers, &s->command.env, &said);
	if (said.length && store_event_add(&s->store, s->job.id, s->run.id, "container", said.data,
					   &err))
		supervisor_log(s, "%s", err.text);
	text_release(&said);
}

static void end_job(struct supervisor *s)
{
	struct text reason = TEXT_INIT;
	struct job job;
	struct err err;

	if (store_job_get(&s->store, s->job.id, &job, &err))
		return;
	/* The end of the run has ended the job already after a stop, unless this supervisor found
	 * the profile's process gone or adopted the run; a pass may have ended the job, too. */
	if ((s->profile_gone || s->adopted || !job_has_ended(job.state)) &&
	    (store_profile_killed(&s->store, job.id, &reason, &err) ||
	     store_job_set_state(&s->store, job.id, JOB_CANCELLED, reason.data, &err) ||
	     store_event_add(&s->store, job.id, 0, "profile", reason.data, &err)))
		supervisor_log(s, "%s", err.text);
	text_release(&reason);
	job_release(&job);
}

/* Ends a profile whose process is gone; the devices are then free for a pass. While the process
 * lives, it decides what comes next. Returns true if a pass is needed now. */
static bool conclude_profile(struct supervisor *s)
{
	bool gone = !supervisor_remote && store_is_there(&s->store) &&
		    !job_lock_is_held(s->paths, JOB_LOCK_PROFILE, s->job.id);

	if (gone) {
		end_job(s);
		job_lock_remove(s->paths, JOB_LOCK_PROFILE, s->job.id);
	}
	return gone && access(s->paths->schedule_lock, F_OK) == 0;
}

static void remove_scratch(const struct supervisor *s)
{
	char *dir = paths_checkpoints(s->paths, s->job.id);

	if (store_is_there(&s->store))
		remove_tree(dir);
	free(dir);
}

/* The next launch makes the directory again. It must not find it removed, so this comes before the
 * end of the run is recorded. */
static void remove_empty_checkpoints(const struct supervisor *s)
{
	char *dir = s->command.checkpoint_dir || !store_is_there(&s->store)
		? NULL : paths_checkpoints(s->paths, s->job.id);

	if (dir)
		rmdir(dir);
	free(dir);
}

static void account(struct supervisor *s, double run_now)
{
	struct fallback unreported = supervisor_fallback(s);

	supervisor_count_unheard_checkpoint(s);
	account_for_loss(&s->job, &s->run, &unreported, run_now);
	supervisor_see_savings(s);
}

bool supervisor_conclude(struct supervisor *s)
{
	double now = clock_boot_s(), run_now = run_clock_s(&s->run, now);
	struct err err;

	remove_group(s);
	end_containers(s);
	if (s->ended_elsewhere) {
		remove_files(s);
		return false;
	}
	/* The last reports, often of a checkpoint, may have come while the socket was not read. */
	supervisor_read_last_reports(s, now);
	supervisor_read_kept_reports(s, now);
	log_keeper_finish(&s->keeper, s->log_fd);
	supervisor_read_log(s, now, true);
	supervisor_read_energy_at_once(s);
	/* A pass that reads of the end must not find the devices locked. */
	supervisor_leave_locks(s);
	if (supervisor_remote)
		supervisor_remote->conclude(s);
	if (s->run.end_boot_s < now) {	/* while this process stood still */
		run_now -= now - s->run.end_boot_s;
		now = s->run.end_boot_s;
	}
	supervisor_set_outcome(s);
	if (s->run.outcome != OUTCOME_NOT_STARTED && isfinite(s->run.launch_boot_s))
		s->run.duration_s = run_now - s->run.launch_boot_s;
	if (s->run.outcome == OUTCOME_STOPPED && isfinite(s->run.stop_boot_s))
		s->run.stop_duration_s = now - s->run.stop_boot_s;
	if (s->run.outcome == OUTCOME_FAILED) {
		diagnose(s);
		leave_if_beside(s);
	}
	if (s->run.outcome == OUTCOME_FAILED && !s->job.profile)
		supervisor_diagnose_resume(s);
	if (s->run.outcome == OUTCOME_FAILED && s->job.profile)
		quote_last_words(s);
	if (s->run.outcome == OUTCOME_FAILED)
		supervisor_diagnose_pause(s);
	/* Before what the run lost is counted: if this supervisor is killed, the next one counts it
	 * anew, from these reports and the position that is kept. */
	supervisor_record_reports(s);
	supervisor_leave_position(s);
	if (s->job.profile)
		remove_scratch(s);
	else
		account(s, run_now);
	remove_empty_checkpoints(s);
	supervisor_tell_own_files(s);
	write_log_trailer(s);
	if (store_make_durable(&s->store, &err))
		supervisor_log(s, "%s", err.text);
	if (!supervisor_record_end(s))
		return false;
	remove_files(s);
	if (s->run.stop_reason == STOP_SHUTDOWN)
		return false;
	if (s->job.profile)
		return conclude_profile(s);
	return s->run.outcome != OUTCOME_NOT_STARTED || s->run.stop_reason != STOP_NONE;
}
