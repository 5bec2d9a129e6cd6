/* supervisor_loop.c - wait for something to happen to a run, and say what it was; from time to time
 * look for it: requests in the store, free devices, processes that are left. Also what every part
 * of a supervisor uses: its log, its lock, its sign of life. */
#include <stdarg.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "pollux/lock.h"
#include "supervisor_parts.h"

/* --- what every part uses --- */

void supervisor_log(struct supervisor *s, const char *format, ...)
{
	char text[sizeof(s->last_log)], when[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!strcmp(text, s->last_log))
		return;
	memcpy(s->last_log, text, sizeof(text));
	dprintf(STDERR_FILENO, "%s job %lld run %lld: %s\n", when, (long long)s->run.job_id,
		(long long)s->run.id, text);
}

int supervisor_note(struct supervisor *s, int rc)
{
	if (rc)
		supervisor_log(s, "%s", s->err.text);
	return rc;
}

void supervisor_add_event(struct supervisor *s, const char *kind, const char *text)
{
	supervisor_note(s, store_event_add(&s->store, s->run.job_id, s->run.id, kind, text,
					   &s->err));
}

void supervisor_tell_event(struct supervisor *s, const char *kind, const char *format, ...)
{
	struct text t = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t, format, ap);
	va_end(ap);
	supervisor_log(s, "%s", t.data);
	supervisor_add_event(s, kind, t.data);
	text_release(&t);
}

void supervisor_set_diagnosis(struct supervisor *s, const char *format, ...)
{
	struct text t = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t, format, ap);
	va_end(ap);
	free(s->run.diagnosis);
	s->run.diagnosis = text_detach(&t);
}

void supervisor_update_handle(struct supervisor *s)
{
	free(s->run.handle);
	s->run.handle = local_handle_text(&s->handle);
}

void supervisor_unlink(const struct supervisor *s, const char *suffix)
{
	char *path = paths_run(s->paths, s->run.id, suffix);

	unlink(path);
	free(path);
}

bool supervisor_has_lock_file(const struct supervisor *s)
{
	char *path = paths_run(s->paths, s->run.id, "lock");
	struct stat mine, there;
	bool has = fstat(s->lock.fd, &mine) == 0 && stat(path, &there) == 0 &&
		   mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;

	free(path);
	return has;
}

/* Makes the file of the run's lock anew, and locks it, if the file was removed or replaced. The
 * lock of another store, which took the place of the run's store, is left alone. */
static void keep_lock(struct supervisor *s)
{
	char *path;
	int fd;

	if (supervisor_has_lock_file(s) || !store_is_there(&s->store))
		return;
	path = paths_run(s->paths, s->run.id, "lock");
	fd = lock_take(path, &s->err);
	free(path);
	if (fd < 0)
		return;
	supervisor_log(s, "its lock file was removed: made anew");
	close(s->lock.fd);
	s->lock.fd = fd;
	s->lock.next_beat_boot_s = 0;
}

#define BEAT_S 10.0

void supervisor_beat(struct supervisor *s)
{
	double now = clock_boot_s();

	if (now < s->lock.next_beat_boot_s)
		return;
	lock_holder_sign(s->lock.fd);
	s->lock.next_beat_boot_s = now + BEAT_S;
}

/* The reason is written to the store as well, for everybody who looks and for a supervisor that
 * takes over. */
void supervisor_stop_for(struct supervisor *s, enum stop_reason reason)
{
	supervisor_note(s, store_run_request_stop(&s->store, s->run.id, reason, clock_boot_s(),
						  &s->err));
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

static void look_for_stop(struct supervisor *s)
{
	enum stop_reason reason;
	enum run_state state;
	bool claimed;

	if (supervisor_note(s, store_run_stop_reason(&s->store, s->run.id, &reason, &state,
						     &s->err)))
		return;
	/* by another supervisor: two wait where somebody removed the file of the run's lock */
	claimed = s->state == ST_WAITING && (state == RUN_RUNNING || state == RUN_STOPPING);
	if (state == RUN_ENDED)
		supervisor_handle(s, EV_ENDED);
	else if (claimed || !store_is_there(&s->store))
		supervisor_handle(s, EV_SUPERSEDED);
	if (reason == STOP_NONE || s->superseded)
		return;
	s->run.stop_reason = reason;
	if (state != RUN_ENDED)
		supervisor_handle(s, EV_STOP);
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

static void look_for_orders(struct supervisor *s)
{
	bool may = false;

	look_for_stop(s);
	if (s->state == ST_RUNNING)
		supervisor_look_for_wishes(s);
	if ((s->state == ST_RUNNING || s->state == ST_THAWING) &&
	    s->run.suspension != SUSPENSION_CANNOT) {
		supervisor_note(s, store_run_read_suspension(&s->store, &s->run, &s->err));
		if (s->run.suspension == SUSPENSION_ASKED)
			supervisor_handle(s, EV_SUSPEND);
	} else if (s->state == ST_SUSPENDED && supervisor_return_to_devices(s)) {
		supervisor_handle(s, EV_DEVICES_FREE);
	} else if (s->state == ST_SUSPENDED) {
		if (s->run.suspension == SUSPENSION_RESUMING)
			supervisor_note(s, store_run_may_resume(&s->store, &s->run, &may,
								&s->err));
		limit_wait_for_locks(s, may);
	}
}

static void try_to_start(struct supervisor *s)
{
	bool taken = false, may = false;

	free(s->run.diagnosis);
	s->run.diagnosis = NULL;
	if (supervisor_note(s, supervisor_take_devices(s, &taken, &s->err)))
		supervisor_set_diagnosis(s, "%s", s->err.text);
	if (taken) {
		supervisor_handle(s, EV_DEVICES_FREE);
	} else if (!s->devices.outrun) {
		supervisor_note(s, store_run_may_claim(&s->store, s->run.id, &may, &s->err));
		limit_wait_for_locks(s, may);
	} else if (!s->job.profile) {	/* whose devices nobody else can be given */
		supervisor_handle(s, EV_OUTRUN);
	}
}

/* Stops the run when the profile's process is gone: nobody is left to end the point. Where that
 * process is on another machine, a pass does this. */
static void look_for_profile(struct supervisor *s)
{
	if (!s->job.profile || supervisor_remote || s->run.stop_reason != STOP_NONE ||
	    job_lock_is_held(s->paths, JOB_LOCK_PROFILE, s->job.id))
		return;
	s->profile_gone = true;
	supervisor_stop_for(s, STOP_CANCEL);
}

static void look_running(struct supervisor *s)
{
	const struct job_rungs *rungs = &s->recorder.rungs.known;
	const struct progress *p = &s->job.progress;
	enum preemption preemption = s->job.declared.preemption;
	bool saves;

	supervisor_tend_log(s);
	supervisor_limit_log(s);
	supervisor_watch_usage(s);
	look_for_profile(s);
	/* The request to stop may just have waited for the store, and the next write may wait
	 * again: a program that saves must not find its queue full for so long. */
	supervisor_read_reports(s, clock_boot_s(), false);
	supervisor_note(s, recorder_write(&s->recorder, &s->store, &s->run, &s->err));
	look_for_orders(s);
	/* A run that has reached a rung is paused once it has saved. Nobody knows yet whether it
	 * resumes: the person who asked for rungs says that it does. */
	saves = preemption == PREEMPT_ALWAYS || isfinite(s->run.checkpoint_samples) ||
		isfinite(p->checkpoint_samples) || p->saves_when_asked == 1;
	if (s->state == ST_RUNNING && rungs->rung > rungs->passed &&
	    s->run.stop_reason == STOP_NONE && saves && preemption != PREEMPT_NEVER &&
	    !p->saved_nothing)
		supervisor_stop_for(s, STOP_RUNG);
}

/* Looks for the processes of a run that is to have none left, or none that can run. */
static void look_at_processes(struct supervisor *s)
{
	if (s->state == ST_SWEEPING || s->state == ST_SWEEP_TERMINATED) {
		if (supervisor_count_processes(s) == 0 && supervisor_devices_clear(s))
			supervisor_handle(s, EV_CLEAR);
		return;
	}
	look_for_stop(s);
	if (s->state == ST_SUSPENDING && supervisor_is_quiet(s))
		supervisor_handle(s, EV_STOPPED);
	else if (s->state == ST_SETTLING)
		supervisor_keep_stopped(s);
}

static void look(struct supervisor *s, double now)
{
	bool waits = s->run.suspension == SUSPENSION_RESUMING;

	keep_lock(s);
	if (supervisor_remote)
		supervisor_remote->look(s);
	/* A person may have shortened the grace, and a full queue has lost the wake-up. */
	if (isfinite(s->stop.order.asked_boot_s))
		supervisor_read_declared(s);
	switch (s->state) {
	case ST_WAITING: case ST_CHECKING:
		s->next_look_boot_s = now + WAITING_LOOK_S;
		look_for_stop(s);
		if (s->state != ST_FINISHED)
			look_for_profile(s);
		if (s->state == ST_WAITING)
			try_to_start(s);
		break;
	case ST_SWEEPING: case ST_SWEEP_TERMINATED: case ST_SUSPENDING: case ST_SETTLING:
		s->look_pause_s = fmin(fmax(1.5 * s->look_pause_s, SWEEP_LOOK_S), LOOK_S);
		s->next_look_boot_s = now + s->look_pause_s;
		look_at_processes(s);
		break;
	case ST_SUSPENDED:
		/* While the run has no devices there is no hurry: the pass that gives it devices
		 * wakes this supervisor. */
		s->next_look_boot_s = now + (waits ? WAITING_LOOK_S : LOOK_S);
		look_for_orders(s);
		if (s->state == ST_SUSPENDED && !waits)
			supervisor_keep_stopped(s);
		break;
	case ST_RUNNING: case ST_FREEZING: case ST_THAWING: case ST_SIGNALLED:
	case ST_TERMINATED: case ST_KILLED: case ST_FINISHED:
		s->next_look_boot_s = now + (s->job.profile ? PROFILE_LOOK_S
					     : supervisor_remote ? REMOTE_LOOK_S : LOOK_S);
		if (s->state == ST_RUNNING)
			s->next_look_boot_s = fmin(s->next_look_boot_s,
						   now + supervisor_watch_stopped(s, now));
		look_running(s);
	}
}

/* --- what comes by itself --- */

/* Reaps every child that ended, adopted grandchildren too. */
static void reap(struct supervisor *s)
{
	struct rusage usage;
	int status;
	pid_t pid;

	/* The last reports of a child are read while it can still be looked at. */
	supervisor_read_reports(s, clock_boot_s(), true);
	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (driver_child_reaped(pid))
			continue;
		if (pid == s->driver.pid)
			supervisor_driver_ended(s);
		else if (pid == s->freeze.freezer.pid)
			supervisor_freezer_ended(s);
		else if (pid == s->output.keeper.pid)
			supervisor_keeper_ended(s, status);
		else
			supervisor_take_usage(s, &usage);
		supervisor_see_end_of_process(s);
		if (pid == (pid_t)s->handle.leader_pid && !s->leader.gone)
			supervisor_leader_ended(s, status);
	}
	supervisor_tend_log(s);
}

static void read_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap(s);
			continue;
		}
		/* A run that another supervisor has claimed is not this one's to stop. */
		if (s->state == ST_WAITING)
			look_for_stop(s);
		if (s->state != ST_FINISHED)
			supervisor_stop_for(s, s->foreground ? STOP_CANCEL : STOP_SHUTDOWN);
	}
}

static int timeout_ms(const struct supervisor *s, double now)
{
	double next = fmin(s->next_look_boot_s, fmin(s->deadline_boot_s, s->wishes.limit_boot_s));

	next = fmin(next, fmin(s->output.watch.next_look_boot_s, s->driver.until_boot_s));
	next = fmin(next, fmin(s->freeze.until_boot_s, s->lock.next_beat_boot_s));
	next = fmin(next, fmin(s->stop.next_boot_s, s->memory.look_boot_s));
	if (s->reports.rest_until_boot_s > now)
		next = fmin(next, s->reports.rest_until_boot_s);
	return next <= now || s->reports.woken ? 0 : (int)ceil(fmin(next - now, 60) * 1e3);
}

static void check_clock(struct supervisor *s, double now)
{
	if (s->state == ST_RUNNING && supervisor_limit_is_over(s, now))
		supervisor_stop_for(s, STOP_TIME_LIMIT);
	/* Nothing that a diverged training could still save is worth its time. */
	if (s->state == ST_RUNNING && recorder_has_diverged(&s->recorder)) {
		supervisor_diagnose_diverged(s);
		supervisor_stop_for(s, STOP_DIVERGED);
	}
	if (now >= s->stop.next_boot_s)
		supervisor_tell(s);
	if (now >= s->memory.look_boot_s)
		supervisor_watch_memory(s);
	if (now >= s->deadline_boot_s)
		supervisor_handle(s, EV_TIMEOUT);
	if (now >= s->driver.until_boot_s)
		supervisor_give_up_driver(s);
	if (now >= s->freeze.until_boot_s)
		supervisor_give_up_freezer(s);
	if (now >= s->output.watch.next_look_boot_s)
		supervisor_read_log(s, now, false);
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
	if (fds[FD_SOCKET].revents)
		supervisor_read_reports(s, now, false);
	if (fds[FD_DRIVER].revents && s->driver.fd == fds[FD_DRIVER].fd)
		supervisor_read_driver(s);
	if (fds[FD_FREEZER].revents && s->freeze.freezer.fd == fds[FD_FREEZER].fd)
		supervisor_read_freezer(s);
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

		if (poll_or_rest(fds, N_FDS, timeout_ms(s, now)) < 0) {
			/* Every descriptor is to be looked at. An adopted leader has ended when it
			 * is gone or a zombie: whoever inherited it may be slow to reap it. */
			supervisor_log(s, "cannot poll: %s", strerror(errno));
			if (fds[FD_LEADER].fd >= 0 && proc_lives((pid_t)s->handle.leader_pid))
				fds[FD_LEADER].revents = 0;
		}
		supervisor_beat(s);
		now = clock_boot_s();
		check_descriptors(s, fds, now);
		if (s->state != ST_FINISHED && supervisor_was_woken(s)) {
			supervisor_read_declared(s);
			look_for_orders(s);
		}
		check_clock(s, now);
	}
}
