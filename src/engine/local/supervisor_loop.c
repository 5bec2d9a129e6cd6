/* supervisor_loop.c - wait for something to happen to a run, and say what it was. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit_status.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/proc.h"
#include "pollux/store_runs.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"


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
			s->freeze.freezer.pid = 0;
		else if (pid == s->keeper.pid)
			log_keeper_ended(&s->keeper, status);
		else
			supervisor_take_usage(s, &usage);
		supervisor_see_end_of_process(s);
		if (pid != (pid_t)s->handle.leader_pid || s->leader_gone)
			continue;
		s->wait_status = status;
		supervisor_handle(s, EV_LEADER_EXIT);
	}
	supervisor_tend_log(s);
}

/* A run that another supervisor has claimed is not this one's to stop. */
static void shut_down(struct supervisor *s)
{
	if (s->state == ST_WAITING)
		supervisor_look_for_stop(s);
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
	double next = fmin(s->next_look_boot_s, fmin(s->deadline_boot_s, s->limit_boot_s));

	next = fmin(next, fmin(s->log_watch.next_look_boot_s, s->driver.until_boot_s));
	next = fmin(next, fmin(s->freeze.until_boot_s, s->next_beat_boot_s));
	next = fmin(next, s->next_tell_boot_s);
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
	check_values(s);
	if (now >= s->next_tell_boot_s)
		supervisor_tell(s);
	if (now >= s->deadline_boot_s)
		supervisor_handle(s, EV_TIMEOUT);
	if (now >= s->driver.until_boot_s)
		supervisor_give_up_driver(s);
	if (now >= s->freeze.until_boot_s)
		supervisor_give_up_freezer(s);
	if (now >= s->log_watch.next_look_boot_s)
		supervisor_read_log(s, now, false);
	if (s->state != ST_FINISHED &&
	    (now >= s->next_look_boot_s ||
	     (s->state == ST_RUNNING && s->recorder.rungs.n_new > 0)))
		supervisor_look(s, now);
}

/* The descriptors of a supervisor that bring events. */
enum { FD_SIGNAL, FD_LEADER, FD_SOCKET, FD_DRIVER, FD_FREEZER, N_FDS };

static void check_descriptors(struct supervisor *s, const struct pollfd *fds, double now)
{
	if (fds[FD_SIGNAL].revents)
		read_signals(s);
	if (fds[FD_LEADER].revents && !s->leader_gone) {
		s->wait_status = exit_status_read(s->leader_stat_fd, s->leader_fd);
		supervisor_handle(s, EV_LEADER_EXIT);
	}
	if (fds[FD_SOCKET].revents && supervisor_read_reports(s, now)) {
		supervisor_read_declared(s);
		supervisor_look_for_orders(s);
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

		if (poll_or_rest(fds, N_FDS, timeout_ms(s, now)) < 0)
			do_without_poll(s, fds);
		supervisor_beat(s);
		now = clock_boot_s();
		check_descriptors(s, fds, now);
		check_clock(s, now);
	}
}
