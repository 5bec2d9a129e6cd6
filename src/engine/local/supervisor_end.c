/* supervisor_end.c - record the end of a run, however long that takes. */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/report_socket.h"
#include "pollux/store_jobs.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"
#include "local.h"
#include "recorder.h"
#include "run_group.h"
#include "supervisor_parts.h"

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

bool supervisor_conclude(struct supervisor *s)
{
	double now = clock_boot_s(), run_now = run_clock_s(&s->run, now);
	struct err err;

	remove_group(s);
	supervisor_end_containers(s);
	if (s->ended_elsewhere) {
		remove_files(s);
		return false;
	}
	/* The last reports, often of a checkpoint, may have come while the socket was not read. */
	supervisor_read_last_reports(s, now);
	supervisor_read_kept_reports(s, now);
	supervisor_finish_log(s, now);
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
		/* Its programs may have ended before the stop was asked for. */
		s->run.stop_duration_s = fmax(now - s->run.stop_boot_s, 0);
	supervisor_diagnose(s);
	/* Before what the run lost is counted: if this supervisor is killed, the next one counts it
	 * anew, from these reports and the position that is kept. */
	supervisor_record_reports(s);
	supervisor_leave_position(s);
	if (s->job.profile)
		remove_scratch(s);
	else
		supervisor_account(s, run_now);
	remove_empty_checkpoints(s);
	supervisor_tell_own_files(s);
	supervisor_end_log(s);
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

static void take_kept_reports(struct recorder *r, struct store *store, struct run *run)
{
	struct kept_taker taker = { r, store, run };
	struct local_handle handle;
	struct kept_place read = { 0 };

	local_handle_parse(run->handle, &handle);
	if (handle.socket_path[0])
		kept_reports_read(handle.socket_path, &read, take_report, &taker);
	local_handle_release(&handle);
}

/* Takes over the position that the supervisor had learned after its last write to the store, and
 * the reports that nobody took. */
static int take_kept(const struct paths *paths, struct store *store, struct run *run,
		     struct err *err)
{
	struct recorder *r = xmalloc(sizeof(*r));
	struct kept_position k;
	struct run_update update = {
		.run = run, .epoch = NAN, .printed_total_steps = NAN,
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
	take_kept_reports(r, store, run);
	update.steps = r->steps;
	changed = r->changed;
	free(r);
	return changed ? store_run_update(store, &update, err) : 0;
}

/* The run's files have times by the clock of its boot, as the store has. Those of the active runs
 * are moved to the clock of now: run_take_boot(). */
static int take_times_as_stored(struct store *store, struct run *run, struct err *err)
{
	struct run stored;
	int rc = store_run_get(store, run->id, &stored, err);

	if (rc == 0) {
		run->assigned_boot_s = stored.assigned_boot_s;
		run->launch_boot_s = stored.launch_boot_s;
		run->checkpoint_boot_s = stored.checkpoint_boot_s;
	}
	run_release(&stored);
	return rc;
}

int run_end_lost(const struct paths *paths, struct store *store, struct run *run, struct err *err)
{
	/* The next run shows where it begins. */
	struct fallback unknown = { NAN, NAN };
	struct job job;

	if (take_times_as_stored(store, run, err) ||
	    (run->state != RUN_ASSIGNED && take_kept(paths, store, run, err)) ||
	    store_job_get(store, run->job_id, &job, err))
		return -1;
	run->outcome = run->state == RUN_ASSIGNED ? OUTCOME_NOT_STARTED : OUTCOME_LOST;
	/* When the run ended is not known; the work up to the last record is. */
	account_for_loss(&job, run, &unknown, run->launch_boot_s + run->duration_s);
	job_release(&job);
	return store_run_end(store, run, err);
}
