/* supervisor_loop.c - wait for something to happen to a run, and say what it was; from time to time
 * look for it: requests in the store, free devices, processes that are left. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/proc.h"
#include "pollux/store_runs.h"
#include "run_log.h"
#include "supervisor_parts.h"

/* A stop that the supervisor decides on is written to the store as well, for everybody who looks
 * and for a supervisor that takes over. */
void supervisor_stop_for(struct supervisor *s, enum stop_reason reason)
{
	struct err err;

	if (store_run_request_stop(&s->store, s->run.id, reason, clock_boot_s(), &err))
		supervisor_log(s, "%s", err.text);
	if (s->run.stop_reason == STOP_NONE)
		s->run.stop_reason = reason;
	supervisor_handle(s, EV_STOP);
}

/* --- what is looked for --- */

/* between looks into the store, which also write what was learned */
#define LOOK_S 2.0
#define REMOTE_LOOK_S 1.0	/* the same where orders come in files, and no message wakes */
#define PROFILE_LOOK_S 0.25	/* the same for a profile, whose process waits for steady steps */
#define WAITING_LOOK_S 0.1	/* between attempts to take the devices */
#define SWEEP_LOOK_S 0.02	/* between searches for leftover processes, growing to LOOK_S */
#define LOCK_PATIENCE_S 10.0	/* with devices that are free by the store, but locked */

/* A run that is being waited for was claimed by another supervisor: two wait where somebody removed
 * the file of the run's lock. */
static bool is_claimed(const struct supervisor *s, enum run_state state)
{
	return s->state == ST_WAITING && (state == RUN_RUNNING || state == RUN_STOPPING);
}

static void look_for_stop(struct supervisor *s)
{
	enum stop_reason reason;
	enum run_state state;
	struct err err;

	if (store_run_stop_reason(&s->store, s->run.id, &reason, &state, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (state == RUN_ENDED)
		supervisor_handle(s, EV_ENDED);
	else if (is_claimed(s, state) || !store_is_there(&s->store))
		supervisor_handle(s, EV_SUPERSEDED);
	if (reason == STOP_NONE || s->superseded)
		return;
	s->run.stop_reason = reason;
	if (state != RUN_ENDED)
		supervisor_handle(s, EV_STOP);
}

static void look_for_suspension(struct supervisor *s)
{
	struct err err;

	if (s->run.suspension == SUSPENSION_CANNOT)
		return;
	if (store_run_read_suspension(&s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	if (s->run.suspension == SUSPENSION_ASKED)
		supervisor_handle(s, EV_SUSPEND);
}

/* Devices that no run uses, but whose locks stay held, do not become free by waiting. may: no run
 * uses them. */
static void limit_wait_for_locks(struct supervisor *s, bool may)
{
	if (!may)
		s->deadline_boot_s = INFINITY;
	else if (isinf(s->deadline_boot_s))
		s->deadline_boot_s = clock_boot_s() + LOCK_PATIENCE_S;
}

static void watch_return(struct supervisor *s)
{
	bool may = false;
	struct err err;

	if (s->run.suspension == SUSPENSION_RESUMING &&
	    store_run_may_resume(&s->store, &s->run, &may, &err))
		supervisor_log(s, "%s", err.text);
	limit_wait_for_locks(s, may);
}

static void look_for_orders(struct supervisor *s)
{
	look_for_stop(s);
	if (s->state == ST_RUNNING)
		supervisor_look_for_wishes(s);
	if (s->state == ST_RUNNING || s->state == ST_THAWING)
		look_for_suspension(s);
	else if (s->state == ST_SUSPENDED && supervisor_return_to_devices(s))
		supervisor_handle(s, EV_DEVICES_FREE);
	else if (s->state == ST_SUSPENDED)
		watch_return(s);
}

static void watch_locks(struct supervisor *s)
{
	bool may = false;
	struct err err;

	if (store_run_may_claim(&s->store, s->run.id, &may, &err))
		supervisor_log(s, "%s", err.text);
	limit_wait_for_locks(s, may);
}

static void try_to_start(struct supervisor *s)
{
	bool taken = false;
	struct err err;

	free(s->run.diagnosis);
	s->run.diagnosis = NULL;
	if (supervisor_take_devices(s, &taken, &err)) {
		supervisor_log(s, "%s", err.text);
		supervisor_set_diagnosis(s, err.text);
	}
	if (taken)
		supervisor_handle(s, EV_DEVICES_FREE);
	else if (!s->devices.outrun)
		watch_locks(s);
	else if (!s->job.profile)	/* whose devices nobody else can be given */
		supervisor_handle(s, EV_OUTRUN);
}

/* Stops the run when the profile's process is gone: nobody is left to end the point. Where that
 * process is on another machine, a pass does this. */
static void look_for_profile(struct supervisor *s)
{
	if (supervisor_remote || s->run.stop_reason != STOP_NONE ||
	    job_lock_is_held(s->paths, JOB_LOCK_PROFILE, s->job.id))
		return;
	s->profile_gone = true;
	supervisor_stop_for(s, STOP_CANCEL);
}

static void look_waiting(struct supervisor *s)
{
	look_for_stop(s);
	if (s->job.profile && s->state != ST_FINISHED)
		look_for_profile(s);
	if (s->state == ST_WAITING)
		try_to_start(s);
}

static void look_sweeping(struct supervisor *s)
{
	if (supervisor_count_processes(s) == 0 && supervisor_devices_clear(s))
		supervisor_handle(s, EV_CLEAR);
}

static void look_suspending(struct supervisor *s)
{
	look_for_stop(s);
	if (s->state == ST_SUSPENDING && supervisor_is_quiet(s))
		supervisor_handle(s, EV_STOPPED);
	else if (s->state == ST_SETTLING)
		supervisor_keep_stopped(s);
}

/* Pauses a run that has reached a rung, once it has saved. Nobody knows yet whether it resumes: the
 * person who asked for rungs says that it does. */
static void pause_at_rung(struct supervisor *s)
{
	const struct job_rungs *rungs = &s->recorder.rungs.known;
	const struct progress *p = &s->job.progress;
	bool saves = s->job.declared.preemption == PREEMPT_ALWAYS ||
		     isfinite(s->run.checkpoint_samples) || isfinite(p->checkpoint_samples) ||
		     p->saves_when_asked == 1;

	if (rungs->rung > rungs->passed && s->run.stop_reason == STOP_NONE && saves &&
	    s->job.declared.preemption != PREEMPT_NEVER && !p->saved_nothing)
		supervisor_stop_for(s, STOP_RUNG);
}

static void look_running(struct supervisor *s)
{
	struct err err;

	supervisor_tend_log(s);
	supervisor_limit_log(s);
	supervisor_watch_usage(s);
	if (s->job.profile)
		look_for_profile(s);
	/* The request to stop may just have waited for the store, and the next write may wait
	 * again: a program that saves must not find its queue full for so long. */
	supervisor_read_reports(s, clock_boot_s());
	if (recorder_write(&s->recorder, &s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	look_for_orders(s);
	if (s->state == ST_RUNNING)
		pause_at_rung(s);
}

/* How long until a run with processes is looked at again. */
static double running_look_s(const struct supervisor *s)
{
	return s->job.profile ? PROFILE_LOOK_S : supervisor_remote ? REMOTE_LOOK_S : LOOK_S;
}

static void look(struct supervisor *s, double now)
{
	supervisor_keep_lock(s);
	if (supervisor_remote)
		supervisor_remote->look(s);
	if (s->state == ST_WAITING || s->state == ST_CHECKING) {
		s->next_look_boot_s = now + WAITING_LOOK_S;
		look_waiting(s);
	} else if (s->state == ST_SWEEPING || s->state == ST_SWEEP_TERMINATED ||
		   s->state == ST_SUSPENDING || s->state == ST_SETTLING) {
		s->look_pause_s = fmin(fmax(1.5 * s->look_pause_s, SWEEP_LOOK_S), LOOK_S);
		s->next_look_boot_s = now + s->look_pause_s;
		if (s->state == ST_SUSPENDING || s->state == ST_SETTLING)
			look_suspending(s);
		else
			look_sweeping(s);
	} else if (s->state == ST_SUSPENDED) {
		/* While the run has no devices there is no hurry: the pass that gives it devices
		 * wakes this supervisor. */
		bool waits = s->run.suspension == SUSPENSION_RESUMING;

		s->next_look_boot_s = now + (waits ? WAITING_LOOK_S : LOOK_S);
		look_for_orders(s);
		if (s->state == ST_SUSPENDED && !waits)
			supervisor_keep_stopped(s);
	} else {
		s->next_look_boot_s = now + running_look_s(s);
		look_running(s);
	}
}

/* --- what comes by itself --- */

/* Stops a run whose training has diverged. Nothing that it could still save is worth its time. */
static void check_values(struct supervisor *s)
{
	if (s->state != ST_RUNNING || !recorder_has_diverged(&s->recorder))
		return;
	supervisor_diagnose_diverged(s);
	supervisor_stop_for(s, STOP_DIVERGED);
}

/* Reaps every child that ended, adopted grandchildren too. */
static void reap(struct supervisor *s)
{
	struct rusage usage;
	int status;
	pid_t pid;

	/* The last reports of a child are read while it can still be looked at. */
	if (supervisor_read_last_reports(s, clock_boot_s()))
		s->next_look_boot_s = 0;
	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid == s->driver.pid)
			supervisor_driver_ended(s);
		else if (pid == s->freeze.freezer.pid)
			supervisor_freezer_ended(s);
		else if (pid == s->output.keeper.pid)
			supervisor_keeper_ended(s, status);
		else
			supervisor_take_usage(s, &usage);
		supervisor_see_end_of_process(s);
		if (pid != (pid_t)s->handle.leader_pid || s->leader.gone)
			continue;
		supervisor_leader_ended(s, status);
	}
	supervisor_tend_log(s);
}

/* A run that another supervisor has claimed is not this one's to stop. */
static void shut_down(struct supervisor *s)
{
	if (s->state == ST_WAITING)
		look_for_stop(s);
	if (s->state != ST_FINISHED)
		supervisor_stop_for(s, s->foreground ? STOP_CANCEL : STOP_SHUTDOWN);
}

static void read_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(s);
		else
			shut_down(s);
	}
}

static int timeout_ms(const struct supervisor *s, double now)
{
	double next = fmin(s->next_look_boot_s, fmin(s->deadline_boot_s, s->wishes.limit_boot_s));

	next = fmin(next, fmin(s->output.watch.next_look_boot_s, s->driver.until_boot_s));
	next = fmin(next, fmin(s->freeze.until_boot_s, s->lock.next_beat_boot_s));
	next = fmin(next, s->stop.next_boot_s);
	if (s->reports.rest_until_boot_s > now)
		next = fmin(next, s->reports.rest_until_boot_s);
	return next <= now ? 0 : (int)ceil(fmin(next - now, 60) * 1e3);
}

static void check_clock(struct supervisor *s, double now)
{
	if (s->state == ST_RUNNING && supervisor_limit_is_over(s, now))
		supervisor_stop_for(s, STOP_TIME_LIMIT);
	check_values(s);
	if (now >= s->stop.next_boot_s)
		supervisor_tell(s);
	if (now >= s->deadline_boot_s)
		supervisor_handle(s, EV_TIMEOUT);
	if (now >= s->driver.until_boot_s)
		supervisor_give_up_driver(s);
	if (now >= s->freeze.until_boot_s)
		supervisor_give_up_freezer(s);
	if (now >= s->output.watch.next_look_boot_s)
		supervisor_read_log(s, now);
	if (s->state != ST_FINISHED &&
	    (now >= s->next_look_boot_s ||
	     (s->state == ST_RUNNING && s->recorder.rungs.n_new > 0)))
		look(s, now);
}

/* The descriptors of a supervisor that bring events. */
enum { FD_SIGNAL, FD_LEADER, FD_SOCKET, FD_DRIVER, FD_FREEZER, N_FDS };

static void check_descriptors(struct supervisor *s, const struct pollfd *fds, double now)
{
	if (fds[FD_SIGNAL].revents)
		read_signals(s);
	if (fds[FD_LEADER].revents && !s->leader.gone)
		supervisor_adopted_leader_ended(s);
	if (fds[FD_SOCKET].revents && supervisor_read_reports(s, now)) {
		supervisor_read_declared(s);
		look_for_orders(s);
	}
	if (fds[FD_DRIVER].revents && s->driver.fd == fds[FD_DRIVER].fd)
		supervisor_read_driver(s);
	if (fds[FD_FREEZER].revents && s->freeze.freezer.fd == fds[FD_FREEZER].fd)
		supervisor_read_freezer(s);
}

/* Every descriptor is to be looked at. A leader that is not a child of this supervisor has ended
 * when it is gone or a zombie: whoever inherited the leader may be slow to reap it. */
static void do_without_poll(struct supervisor *s, struct pollfd *fds)
{
	supervisor_log(s, "cannot poll: %s", strerror(errno));
	if (fds[FD_LEADER].fd >= 0 && proc_lives((pid_t)s->handle.leader_pid))
		fds[FD_LEADER].revents = 0;
}

void supervisor_loop(struct supervisor *s)
{
	while (s->state != ST_FINISHED) {
		double now = clock_boot_s();
		bool rest = s->reports.rest_until_boot_s > now;
		struct pollfd fds[N_FDS] = {
			[FD_SIGNAL] = { .fd = s->signal_fd, .events = POLLIN },
			/* The end of a child comes as SIGCHLD with its status; the end of an
			 * adopted leader comes here. */
			[FD_LEADER] = { .fd = s->adopted && !s->leader.gone ? s->leader.fd : -1,
					.events = POLLIN },
			[FD_SOCKET] = { .fd = rest ? -1 : s->reports.socket_fd, .events = POLLIN },
			[FD_DRIVER] = { .fd = s->driver.fd, .events = POLLIN },
			[FD_FREEZER] = { .fd = s->freeze.freezer.fd, .events = POLLIN },
		};

		if (poll_or_rest(fds, N_FDS, timeout_ms(s, now)) < 0)
			do_without_poll(s, fds);
		supervisor_beat(s);
		now = clock_boot_s();
		check_descriptors(s, fds, now);
		check_clock(s, now);
	}
}
