/* supervisor_loop.c - wait for something to happen to a run, and say what it was. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/job_lock.h"
#include "pollux/proc.h"
#include "pollux/report_message.h"
#include "pollux/report_socket.h"
#include "pollux/store_suspension.h"
#include "exit_status.h"
#include "local.h"
#include "log_limit.h"
#include "supervisor_loop.h"

/* between looks into the store, which also write what was learned */
#define LOOK_S 2.0
#define PROFILE_LOOK_S 0.25	/* the same for a profile, whose process waits for steady steps */
#define WAITING_LOOK_S 0.1	/* between attempts to take the devices */
#define SWEEP_LOOK_S 0.02	/* between searches for leftover processes, growing to LOOK_S */
#define LOCK_PATIENCE_S 10.0	/* with devices that are free by the store, but locked */
/* After the socket was read empty it is left alone for this long, so that a job that reports a
 * thousand steps a second costs two hundred wake-ups. The socket's queue (net.unix.max_dgram_qlen,
 * 10 or more) holds the reports meanwhile. */
#define SOCKET_REST_S 0.005
/* A job that sends without end must not keep its supervisor from its other work. */
#define REPORTS_AT_ONCE 256
/* When a process has ended, all that its queue may hold is read: the last report, often of a
 * checkpoint, counts most. Administrators raise net.unix.max_dgram_qlen to some thousands. */
#define REPORTS_AT_END 65536
#define POLL_REST_MS 100	/* between looks at the descriptors while poll() fails */

/* A run that is being waited for was claimed by another supervisor: two wait where somebody removed
 * the file of the run's lock. */
static bool is_claimed(const struct supervisor *s, enum run_state state)
{
	return s->state == ST_WAITING && (state == RUN_RUNNING || state == RUN_STOPPING);
}

/* Asks the store whether the run is to be stopped. A store that cannot be read stops nothing. */
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

/* Devices that no run uses, but whose locks stay held, do not become free by waiting. */
static void watch_return(struct supervisor *s)
{
	bool may = false;
	struct err err;

	if (s->run.suspension == SUSPENSION_RESUMING &&
	    store_run_may_resume(&s->store, &s->run, &may, &err))
		supervisor_log(s, "%s", err.text);
	if (!may)
		s->deadline_boot_s = INFINITY;
	else if (isinf(s->deadline_boot_s))
		s->deadline_boot_s = clock_boot_s() + LOCK_PATIENCE_S;
}

/* Looks for requests of a pass or a person. */
static void look_for_orders(struct supervisor *s)
{
	look_for_stop(s);
	if (s->state == ST_RUNNING)
		supervisor_offer_config(s);
	if (s->state == ST_RUNNING || s->state == ST_THAWING)
		look_for_suspension(s);
	else if (s->state == ST_SUSPENDED && supervisor_return_to_devices(s))
		supervisor_handle(s, EV_DEVICES_FREE);
	else if (s->state == ST_SUSPENDED)
		watch_return(s);
}

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

/* Devices that no run uses, but whose locks stay held, do not become free by waiting. */
static void watch_locks(struct supervisor *s)
{
	bool may = false;
	struct err err;

	if (store_run_may_claim(&s->store, s->run.id, &may, &err))
		supervisor_log(s, "%s", err.text);
	if (!may)
		s->deadline_boot_s = INFINITY;
	else if (isinf(s->deadline_boot_s))
		s->deadline_boot_s = clock_boot_s() + LOCK_PATIENCE_S;
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
	else if (!s->outrun)
		watch_locks(s);
	else if (!s->job.profile)	/* whose devices nobody else can be given */
		supervisor_handle(s, EV_OUTRUN);
}

/* Stops the run when the profile's process is gone: nobody is left to end the point. */
static void look_for_profile(struct supervisor *s)
{
	if (s->run.stop_reason != STOP_NONE ||
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
}

/* A configuration that cannot be read sets no other limit than the default. */
static void limit_log(struct supervisor *s)
{
	char *path = paths_log(s->paths, s->job.id);
	struct config config;
	struct err err;

	if (isfinite(s->job.declared.log_limit_bytes))
		s->log_limit_bytes = s->job.declared.log_limit_bytes;
	else if (s->log_limit_bytes <= 0)
		s->log_limit_bytes = config_load(&config, s->paths->config, &err)
			? CONFIG_DEFAULT_LOG_LIMIT : config.log_limit_bytes;
	if (isfinite(s->log_limit_bytes) && store_is_there(&s->store) &&
	    log_limit_keep(path, s->log_limit_bytes, &err))
		supervisor_log(s, "%s", err.text);
	free(path);
}

static void look_running(struct supervisor *s)
{
	struct err err;

	limit_log(s);
	supervisor_sample_memory(s);
	oom_watch_look(&s->oom, clock_boot_s());
	if (s->job.profile)
		look_for_profile(s);
	/* The request to stop may just have waited for the store, and the next write may wait
	 * again: a program that saves must not find its queue full for so long. */
	supervisor_read_reports(s, clock_boot_s());
	if (recorder_write(&s->recorder, &s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	look_for_orders(s);
}

static void look(struct supervisor *s, double now)
{
	supervisor_keep_lock(s);
	if (s->state == ST_WAITING || s->state == ST_CHECKING) {
		s->next_look_boot_s = now + WAITING_LOOK_S;
		look_waiting(s);
	} else if (s->state == ST_SWEEPING || s->state == ST_SWEEP_TERMINATED ||
		   s->state == ST_SUSPENDING) {
		s->sweep_pause_s = fmin(fmax(1.5 * s->sweep_pause_s, SWEEP_LOOK_S), LOOK_S);
		s->next_look_boot_s = now + s->sweep_pause_s;
		if (s->state == ST_SUSPENDING)
			look_suspending(s);
		else
			look_sweeping(s);
	} else if (s->state == ST_SUSPENDED) {
		/* Until it has devices the pass that gives them wakes it. */
		bool waits = s->run.suspension == SUSPENSION_RESUMING;

		s->next_look_boot_s = now + (waits ? WAITING_LOOK_S : LOOK_S);
		look_for_orders(s);
		if (s->state == ST_SUSPENDED && !waits)
			supervisor_keep_stopped(s);
	} else {
		s->next_look_boot_s = now + (s->job.profile ? PROFILE_LOOK_S : LOOK_S);
		look_running(s);
	}
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
			s->freeze.freezer.pid = 0;
		else
			supervisor_take_usage(s, &usage);
		if (pid != (pid_t)s->handle.leader_pid || s->leader_gone)
			continue;
		s->wait_status = status;
		supervisor_handle(s, EV_LEADER_EXIT);
	}
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

static bool read_at_most(struct supervisor *s, double now, int most)
{
	char bytes[REPORT_MESSAGE_SIZE];
	bool wake = false;
	pid_t pid;
	int i;

	for (i = 0; i < most; i++) {
		ssize_t n = report_socket_receive(s->socket_fd, bytes, sizeof(bytes), &pid);

		enum stop_reason asked = n > 0 && (size_t)n <= sizeof(bytes)
			? local_stop_asked(bytes, (size_t)n) : STOP_NONE;

		if (n < 0)
			break;
		if (asked != STOP_NONE) {
			supervisor_stop_for(s, asked);
			continue;
		}
		s->recorder.sender = supervisor_know_sender(s, pid, now);
		wake |= recorder_add(&s->recorder, &s->store, &s->run, bytes, (size_t)n,
				     run_clock_s(&s->run, now));
	}
	if (i > 0)
		supervisor_keep_position(s, now);
	s->socket_rest_until_s = now + SOCKET_REST_S;
	return wake;
}

bool supervisor_read_reports(struct supervisor *s, double now)
{
	return s->socket_fd >= 0 && read_at_most(s, now, REPORTS_AT_ONCE);
}

bool supervisor_read_last_reports(struct supervisor *s, double now)
{
	return s->socket_fd >= 0 && read_at_most(s, now, REPORTS_AT_END);
}

static void take_step(const struct step_event *e, void *arg)
{
	struct supervisor *s = arg;

	if (e->begins) {
		struct steps_summary summary;

		steps_summary(s->log_watch.steps, &summary);
		recorder_begin_log(&s->recorder, &s->run, summary.pattern, summary.first_arrival_s);
	}
	recorder_add_logged(&s->recorder, &s->run, &s->job, e);
}

static void take_metric(const char *name, double value, void *arg)
{
	struct supervisor *s = arg;

	recorder_add_metric(&s->recorder, &s->run, name, value);
}

/* Logs once, at the end, why visible steps may not have counted. */
static void log_unread(struct supervisor *s)
{
	struct steps_summary summary;

	steps_summary(s->log_watch.steps, &summary);
	if (summary.n_clipped || summary.n_skipped)
		supervisor_log(s, "of %lld lines of the log, %lld were longer than %d bytes, and "
			       "%lld not looked at: they came too fast, or their pattern takes "
			       "too long", (long long)summary.n_lines,
			       (long long)summary.n_clipped, STEPS_LINE_MAX,
			       (long long)summary.n_skipped);
}

void supervisor_read_log(struct supervisor *s, double now, bool last)
{
	int64_t read = s->log_watch.offset;

	const struct log_sinks sinks = { take_step, take_metric, s };

	if (s->recorder.steps_are_reported)
		log_watch_end_steps(&s->log_watch);
	log_watch_look(&s->log_watch, now, last, &sinks);
	if (s->log_watch.offset != read)
		supervisor_keep_position(s, now);
	if (last && s->log_watch.steps)
		log_unread(s);
}

static int timeout_ms(const struct supervisor *s, double now)
{
	double next = fmin(s->next_look_boot_s, fmin(s->deadline_boot_s, s->limit_boot_s));

	next = fmin(next, fmin(s->log_watch.next_look_boot_s, s->driver.until_boot_s));
	next = fmin(next, fmin(s->freeze.until_boot_s, s->next_beat_boot_s));
	if (s->socket_rest_until_s > now)
		next = fmin(next, s->socket_rest_until_s);
	return next <= now ? 0 : (int)ceil(fmin(next - now, 60) * 1e3);
}

static void check_clock(struct supervisor *s, double now)
{
	/* A person may have given it more time, and the wake-up was lost. */
	if (s->state == ST_RUNNING && now >= s->limit_boot_s)
		supervisor_read_declared(s);
	if (s->state == ST_RUNNING && now >= s->limit_boot_s) {
		s->limit_boot_s = INFINITY;
		supervisor_stop_for(s, STOP_TIME_LIMIT);
	}
	if (now >= s->deadline_boot_s)
		supervisor_handle(s, EV_TIMEOUT);
	if (now >= s->driver.until_boot_s)
		supervisor_give_up_driver(s);
	if (now >= s->freeze.until_boot_s)
		supervisor_give_up_freezer(s);
	if (now >= s->log_watch.next_look_boot_s)
		supervisor_read_log(s, now, false);
	if (s->state != ST_FINISHED && now >= s->next_look_boot_s)
		look(s, now);
}

/* The descriptors of a supervisor that bring events. */
enum { FD_SIGNAL, FD_LEADER, FD_SOCKET, FD_DRIVER, FD_FREEZER, N_FDS };

static void check_descriptors(struct supervisor *s, const struct pollfd *fds, double now)
{
	if (fds[FD_SIGNAL].revents)
		read_signals(s);
	if (fds[FD_LEADER].revents && !s->leader_gone) {
		if (s->run.stop_reason == STOP_NONE)
			s->wait_status = exit_status_read(s->leader_stat_fd, s->leader_fd);
		supervisor_handle(s, EV_LEADER_EXIT);
	}
	if (fds[FD_SOCKET].revents && supervisor_read_reports(s, now)) {
		supervisor_read_declared(s);
		look_for_orders(s);
	}
	if (fds[FD_DRIVER].revents && s->driver.fd == fds[FD_DRIVER].fd)
		supervisor_read_driver(s);
	if (fds[FD_FREEZER].revents && s->freeze.freezer.fd == fds[FD_FREEZER].fd)
		supervisor_read_freezer(s);
}

/* Rests, then looks at every descriptor. poll() fails, for example for want of memory, and may go
 * on failing. Reads do not block. A leader that is not a child of this supervisor has ended when it
 * is gone or a zombie: whoever inherited the leader may be slow to reap it. */
static void do_without_poll(struct supervisor *s, struct pollfd *fds, int wait_ms)
{
	struct timespec rest = { .tv_nsec = POLL_REST_MS * 1000000L };

	if (wait_ms < POLL_REST_MS)
		rest.tv_nsec = (wait_ms > 0 ? wait_ms : 1) * 1000000L;
	supervisor_log(s, "cannot poll: %s", strerror(errno));
	nanosleep(&rest, NULL);
	for (int i = 0; i < N_FDS; i++)
		fds[i].revents = fds[i].fd >= 0 ? POLLIN : 0;
	if (fds[FD_LEADER].fd >= 0 && proc_lives((pid_t)s->handle.leader_pid))
		fds[FD_LEADER].revents = 0;
}

void supervisor_loop(struct supervisor *s)
{
	while (s->state != ST_FINISHED) {
		double now = clock_boot_s();
		bool rest = s->socket_rest_until_s > now;
		struct pollfd fds[N_FDS] = {
			[FD_SIGNAL] = { .fd = s->signal_fd, .events = POLLIN },
			/* The end of a child comes as SIGCHLD with its status; the end of an
			 * adopted leader comes here. */
			[FD_LEADER] = { .fd = s->adopted && !s->leader_gone ? s->leader_fd : -1,
					.events = POLLIN },
			[FD_SOCKET] = { .fd = rest ? -1 : s->socket_fd, .events = POLLIN },
			[FD_DRIVER] = { .fd = s->driver.fd, .events = POLLIN },
			[FD_FREEZER] = { .fd = s->freeze.freezer.fd, .events = POLLIN },
		};
		int wait_ms = timeout_ms(s, now);

		if (poll(fds, N_FDS, wait_ms) < 0 && errno != EINTR)
			do_without_poll(s, fds, wait_ms);
		supervisor_beat(s);
		now = clock_boot_s();
		check_descriptors(s, fds, now);
		check_clock(s, now);
	}
}
