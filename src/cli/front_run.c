/* front_run.c - the command of 'pollux run' has the terminal. This process only waits: it is in the
 * command's process group, so that Ctrl-Z stops both, and ignores the other keys. */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "front.h"
#include "pollux/clock.h"
#include "pollux/report.h"
#include "pollux/store_runs.h"
#include "pollux/supervise.h"

#define TOLD_BEFORE_S 60.0	/* half of the time limit if that is shorter */

/* --- the terminal --- */

struct terminal {
	int fd;			/* -1: none, or others have it */
	struct termios modes;
};

static void terminal_save(struct terminal *t)
{
	t->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (t->fd >= 0 && (tcgetpgrp(t->fd) != getpgrp() || tcgetattr(t->fd, &t->modes))) {
		close(t->fd);
		t->fd = -1;
	}
}

/* Gives the terminal back to this process's group, in its former mode: a shell that was killed
 * leaves the terminal to its own group, and as its line editor had set it. */
static void terminal_restore(struct terminal *t, bool killed)
{
	sigset_t set, before;

	if (t->fd < 0)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &before);
	if (tcgetpgrp(t->fd) != getpgrp())
		tcsetpgrp(t->fd, getpgrp());
	if (killed)
		tcsetattr(t->fd, TCSADRAIN, &t->modes);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(t->fd);
}

/* --- until its end --- */

struct watch {
	struct foreground f;
	int pidfd;		/* of the supervisor */
	bool began;
	double limit_boot_s, notice_boot_s;	/* INFINITY: none, or told */
	int signal_number;	/* the signal that stops the command; 0: none came */
};

static void tell_begin(struct front *t, struct watch *w, double now_s, double wall_s)
{
	front_show(t, NULL);
	w->notice_boot_s = fmax(w->limit_boot_s - TOLD_BEFORE_S,
				now_s + (w->limit_boot_s - now_s) / 2);
	if (!t->quiet && isatty(STDERR_FILENO))
		output_messagef("job %lld runs, until %s at the latest", (long long)t->job_id,
				format_time(wall_s + w->limit_boot_s - now_s, wall_s).s);
}

static void begin_command(struct front *t, struct watch *w)
{
	double now_s = clock_boot_s(), wall_s = clock_wall_s();
	ssize_t n = read(w->f.fd, &w->limit_boot_s, sizeof(w->limit_boot_s));

	w->began = n == sizeof(w->limit_boot_s);
	if (w->began)
		tell_begin(t, w, now_s, wall_s);
	/* The command starts now: its own first line comes after that of this process. */
	close(w->f.fd);
	w->f.fd = -1;
}

static void give_notice(const struct front *t, struct watch *w)
{
	if (clock_boot_s() < w->notice_boot_s)
		return;
	w->notice_boot_s = INFINITY;
	output_messagef("the time of job %lld is over in %.0f s: it is stopped then",
			(long long)t->job_id, ceil(w->limit_boot_s - clock_boot_s()));
}

static void watch_supervisor(struct front *t, struct watch *w)
{
	struct pollfd fds[2] = { { .fd = w->pidfd, .events = POLLIN }, { .events = POLLIN } };

	while (waitpid(w->f.supervisor, NULL, WNOHANG) == 0) {
		int signal_number;

		fds[1].fd = w->f.fd;
		front_nap(fds, 2, fmin(w->notice_boot_s - clock_boot_s(), 1));
		if (fds[1].revents)
			begin_command(t, w);
		give_notice(t, w);
		signal_number = front_signal(!w->began);
		if (!signal_number)
			continue;
		w->signal_number = signal_number;
		kill(w->f.supervisor, SIGTERM);
	}
}

/* --- its end --- */

static int status_of(const struct front *t, const struct run *run)
{
	if (run->diagnosis && *run->diagnosis)
		output_messagef("job %lld: %s", (long long)t->job_id, run->diagnosis);
	if (run->outcome == OUTCOME_STOPPED)
		output_messagef("job %lld was stopped: %s", (long long)t->job_id,
				stop_reason_words(run->stop_reason));
	if (run->term_signal > 0)
		return 128 + run->term_signal;
	return run->exit_code >= 0 ? run->exit_code : STATUS_NOT_RUN_TO_END;
}

/* Finds out, once the supervisor is gone, what became of the run. */
static int conclude_run(struct front *t, int64_t run_id, struct err *err)
{
	struct run run;
	int status = -1;

	if (store_run_get(&t->s.store, run_id, &run, err))
		return -1;
	err->text[0] = '\0';
	if (run.state != RUN_ENDED && run.state != RUN_ASSIGNED) {
		output_messagef("the supervisor of job %lld was killed: the next pass ends the "
				"job", (long long)t->job_id);
		status = STATUS_NOT_RUN_TO_END;
	} else if (run.state == RUN_ENDED && run.outcome != OUTCOME_NOT_STARTED) {
		status = status_of(t, &run);
	}
	run_release(&run);
	return status;
}

int front_run(struct front *t, int64_t run_id, int *signal_number, struct err *err)
{
	struct watch w = { .limit_boot_s = INFINITY, .notice_boot_s = INFINITY };
	struct terminal terminal;
	int status;

	terminal_save(&terminal);
	if (foreground_start(&t->s.paths, run_id, &w.f, err))
		return -1;
	w.pidfd = (int)syscall(SYS_pidfd_open, w.f.supervisor, 0);
	watch_supervisor(t, &w);
	status = conclude_run(t, run_id, err);
	terminal_restore(&terminal, status < 0 || status >= STATUS_NOT_RUN_TO_END);
	if (w.f.fd >= 0)
		close(w.f.fd);
	if (w.pidfd >= 0)
		close(w.pidfd);
	*signal_number = w.signal_number;
	return status;
}
