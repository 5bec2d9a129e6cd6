/* supervisor_adopt.c - takes over the run of a supervisor that died.
 *
 * A run that was at work is stopped; its job goes on from its last checkpoint. A suspended run
 * whose processes are all still stopped loses nothing: it stays suspended under the new supervisor,
 * and comes back later as it would have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exit_status.h"
#include "local.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_loop.h"

/* --- the processes --- */

/* Watches the command by pidfd if the pid is still the recorded process. The command is not a child
 * of this supervisor. */
static void watch_leader(struct supervisor *s)
{
	s->leader_fd = (int)syscall(SYS_pidfd_open, (pid_t)s->handle.leader_pid, 0);
	if (s->leader_fd >= 0 && (s->handle.leader_start_ticks == 0 ||
	    proc_start_ticks((pid_t)s->handle.leader_pid) != s->handle.leader_start_ticks)) {
		close(s->leader_fd);
		s->leader_fd = -1;
	}
	if (s->leader_fd < 0)
		s->handle.leader_pid = 0;
	else
		s->leader_stat_fd = exit_status_open((pid_t)s->handle.leader_pid);
}

/* True if the supervisor that the handle names lives. Its lock could be taken because somebody
 * removed the file: it makes the file anew at its next look (supervisor_keep_lock). */
static bool other_supervisor_lives(const struct supervisor *s)
{
	int64_t pid = s->handle.supervisor_pid;

	return pid != getpid() && local_is_supervisor(&s->run, pid);
}

/* --- a suspended run --- */

static bool all_are_stopped(const struct pid_list *list)
{
	for (int i = 0; i < list->count; i++)
		if (!proc_is_stopped(list->items[i]))
			return false;
	return list->count > 0;
}

/* True if the run is suspended and nothing of it has gone on or ended meanwhile. */
static bool may_stay_suspended(const struct supervisor *s)
{
	const struct run *run = &s->run;
	struct pid_list list;
	bool may;

	if (run->state != RUN_RUNNING || run->suspension < SUSPENSION_DONE ||
	    isnan(run->suspended_boot_s) || s->leader_fd < 0 || s->job.profile ||
	    (run->freeze_state != FREEZE_NONE && run->freeze_state != FREEZE_FROZEN))
		return false;
	may = supervisor_find_processes(s, &list) == 0 && all_are_stopped(&list) &&
	      left_locks_release(s->paths, &list);
	pid_list_release(&list);
	return may;
}

static void stay_suspended(struct supervisor *s, const struct kept_position *k)
{
	static const char text[] = "its supervisor was killed; it stays suspended under another";
	struct err err;

	if (supervisor_open_socket(s, &err) || supervisor_open_log(s, &err) ||
	    recorder_go_on(&s->recorder, &s->store, &s->run, &err) ||
	    recorder_read_rungs(&s->recorder, &s->store, s->job.id, &err))
		supervisor_log(s, "%s", err.text);
	if (k)
		kept_position_restore(k, &s->recorder);
	supervisor_read_kept_reports(s, clock_boot_s());
	supervisor_watch_rest_of_log(s, k);
	recorder_watch_values(&s->recorder, s->job.declared.stop_nan, &s->command.metric_regexes);
	s->log_watch.next_look_boot_s = INFINITY;
	supervisor_stay_suspended(s);
	supervisor_stay_frozen(s);
	if (isfinite(s->job.declared.time_limit_s))
		s->limit_left_s = supervisor_limit_left_s(s, s->run.suspended_boot_s);
	oom_watch_start(&s->oom, clock_boot_s());
	supervisor_log(s, "%s", text);
	if (store_event_add(&s->store, s->run.job_id, s->run.id, "adopted", text, &err))
		supervisor_log(s, "%s", err.text);
	s->state = ST_SUSPENDED;
}

/* --- a run that was at work --- */

/* Stops a run whose time limit ended while its supervisor hung. */
static void enforce_limit(struct supervisor *s)
{
	double used_s = s->job.progress.run_time_s + run_clock_s(&s->run, clock_boot_s()) -
			s->run.launch_boot_s;
	struct err err;

	if (s->run.stop_reason == STOP_NONE && used_s >= s->job.declared.time_limit_s &&
	    store_run_request_stop(&s->store, s->run.id, STOP_TIME_LIMIT, clock_boot_s(), &err))
		supervisor_log(s, "%s", err.text);
}

/* Watches the run again. Only positions count, because nobody has measured times meanwhile. */
static void go_on_watching(struct supervisor *s, const struct kept_position *k)
{
	struct err err;

	s->recorder.positions_only = true;
	if (k)
		kept_position_restore(k, &s->recorder);
	/* the run has to be stopped all the same */
	if (supervisor_open_socket(s, &err) || supervisor_open_log(s, &err))
		supervisor_log(s, "%s", err.text);
	supervisor_read_kept_reports(s, clock_boot_s());
	if (k)
		supervisor_watch_rest_of_log(s, k);
}

/* The end of a run that a person or a pass had asked to stop names that wish. The loss of the
 * supervisor is an event of its own then. */
static void tell_of_loss(struct supervisor *s)
{
	struct err err;

	if (s->run.stop_reason != STOP_ORPHAN &&
	    store_event_add(&s->store, s->run.job_id, s->run.id, "adopted",
			    "its supervisor was killed; another one stops what is left of it",
			    &err))
		supervisor_log(s, "%s", err.text);
}

static int stop_orphan(struct supervisor *s, const struct kept_position *k, struct err *err)
{
	bool adopted, was_at_work = s->run.state == RUN_RUNNING &&
				    s->run.suspension == SUSPENSION_NONE;

	enforce_limit(s);
	if (store_run_adopt(&s->store, s->run.id, s->run.handle, clock_boot_s(), &adopted, err))
		return -1;
	if (!adopted) {
		s->state = ST_FINISHED;
		return 0;
	}
	go_on_watching(s, k);
	supervisor_log(s, "its supervisor is gone: stopping what is left of it");
	s->signalled = s->run.state == RUN_STOPPING && isfinite(s->run.stop_boot_s);
	s->recorder.told_to_stop = s->signalled;
	if (store_run_stop_reason(&s->store, s->run.id, &s->run.stop_reason, &s->run.state, err))
		return -1;
	tell_of_loss(s);
	supervisor_hold_devices(s);
	supervisor_drop_suspension(s);
	supervisor_mend_freeze(s);
	s->state = ST_RUNNING;
	if (was_at_work)
		supervisor_hear_report(s);
	s->leader_gone = s->leader_fd < 0;
	supervisor_handle(s, s->leader_gone && supervisor_count_processes(s) == 0 ? EV_LEADER_EXIT
										  : EV_STOP);
	return 0;
}

int supervisor_adopt(struct supervisor *s, struct err *err)
{
	struct kept_position k;
	bool stays = false, is_kept;

	if (other_supervisor_lives(s)) {
		s->state = ST_FINISHED;
		return 0;
	}
	s->handle.supervisor_pid = getpid();
	supervisor_update_handle(s);
	s->adopted = true;
	watch_leader(s);
	is_kept = supervisor_take_position(s, &k);
	if (may_stay_suspended(s) &&
	    store_run_keep_suspended(&s->store, s->run.id, s->run.handle, &stays, err))
		return -1;
	if (!stays)
		return stop_orphan(s, is_kept ? &k : NULL, err);
	stay_suspended(s, is_kept ? &k : NULL);
	return 0;
}
