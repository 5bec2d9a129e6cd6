/* front.c - the parts of 'pollux run': signals, the wait for devices, the command. */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pass_files.h"
#include "pollux/supervise.h"

/* --- the signals that 'pollux run' gets --- */

static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
#define N_CAUGHT (sizeof(caught) / sizeof(caught[0]))

static volatile sig_atomic_t from_keys, from_others;
static sigset_t while_napping;

static void note(int signal_number)
{
	if (signal_number == SIGINT || signal_number == SIGQUIT)
		from_keys = signal_number;
	else
		from_others = signal_number;
}

void front_catch_signals(void)
{
	struct sigaction action = { .sa_handler = note };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_CAUGHT; i++) {
		struct sigaction before;

		sigaction(caught[i], NULL, &before);
		/* ignored by nohup, or by a shell for a background command */
		if (before.sa_handler == SIG_IGN)
			continue;
		sigaddset(&set, caught[i]);
		sigaction(caught[i], &action, NULL);
	}
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &while_napping);
}

/* Returns the signal to stop that has come since the last call; 0: none. Signals of the keyboard
 * count only with from_keyboard: once the command runs, keys are for the command. */
static int front_signal(bool from_keyboard)
{
	int signal_number = from_others ? from_others : from_keyboard ? from_keys : 0;

	from_others = from_keys = 0;
	return signal_number;
}

void front_nap(struct pollfd *fds, int n, double at_most_s)
{
	double s = fmin(fmax(at_most_s, 0), 60);
	struct timespec limit = { .tv_sec = (time_t)s,
				  .tv_nsec = (long)((s - floor(s)) * 1e9) };

	if (ppoll(fds, (nfds_t)n, &limit, &while_napping) < 0)
		for (int i = 0; i < n; i++)
			fds[i].revents = 0;
}

void front_die(int signal_number)
{
	signal(signal_number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &while_napping, NULL);
	raise(signal_number);
}

/* --- 'pollux run' waits for its devices, and says for what --- */

#define LOOK_S 0.1
#define PASS_EACH_S 60.0	/* seconds between passes, as cron's */
#define PASS_REST_S 5.0

void front_show(struct front *t, const char *line)
{
	bool same = line && t->shown && !strcmp(line, t->shown);

	if (t->quiet || same || (!line && !t->shown))
		return;
	if (isatty(STDERR_FILENO)) {
		char *part = xasprintf("%.*s", terminal_width(stderr) - 1, line ? line : "");

		fputs("\r\033[K", stderr);
		output_clean(stderr, part);
		free(part);
	} else if (line) {
		output_message(line);
	}
	fflush(stderr);
	free(t->shown);
	t->shown = line ? xstrdup(line) : NULL;
}

struct look {
	int64_t run_id;		/* the run that this process is to begin; 0: none */
	bool has_ended;
	double next_start_s;
};

/* Looks at the job and its runs, and shows why it waits. */
static int look_at_job(struct front *t, struct look *l, struct err *err)
{
	double now_s = clock_wall_s();
	struct text line = TEXT_INIT;
	struct run_list runs;
	struct job job;

	if (store_runs_of_job(&t->s.store, t->job_id, &runs, err))
		return -1;
	l->run_id = 0;
	for (int i = 0; i < runs.count; i++)
		if (runs.items[i].state == RUN_ASSIGNED && runs.items[i].stop_reason == STOP_NONE)
			l->run_id = runs.items[i].id;
	run_list_release(&runs);
	if (store_job_get(&t->s.store, t->job_id, &job, err))
		return -1;
	l->has_ended = job_has_ended(job.state);
	l->next_start_s = job.next_start_s;
	if (!l->run_id && job.state == JOB_QUEUED && *job.reason) {
		text_addf(&line, "job %lld waits", (long long)job.id);
		if (job.next_start_s > now_s)
			text_addf(&line, ", at most until %s",
				  format_time(job.next_start_s, now_s).s);
		text_addf(&line, ": %s", job.reason);
		front_show(t, line.data);
	}
	text_release(&line);
	job_release(&job);
	return 0;
}

/* Makes a pass. It runs in a child, in which SQLite must not find the store of this process
 * open. */
static int make_pass(struct front *t, bool quiet, struct err *err)
{
	store_close(&t->s.store);
	submit_pass_run(quiet);
	return store_open(&t->s.store, &t->s.paths, STORE_WRITE, err);
}

int front_wait(struct front *t, int64_t *run_id, int *signal_number, struct err *err)
{
	struct look l = { .next_start_s = NAN };
	double last_s = clock_wall_s(), failed_s;
	int64_t version = -1, now;
	char why[400], *line;

	if (make_pass(t, t->quiet, err))
		return -1;
	for (;;) {
		double now_s;

		if (store_data_version(&t->s.store, &now, err) ||
		    (now != version && look_at_job(t, &l, err)))
			return -1;
		version = now;
		*run_id = l.run_id;
		*signal_number = front_signal(true);
		if (*signal_number || l.run_id || l.has_ended)
			return 0;
		/* why no pass looks at the job, if the one that began then failed */
		if (failed_pass_read(&t->s.paths, why, sizeof(why), &failed_s) &&
		    failed_s >= floor(last_s)) {
			line = xasprintf("job %lld waits: the last pass failed: %s",
					 (long long)t->job_id, why);
			front_show(t, line);
			free(line);
		}
		/* a pass each minute, and when devices are expected, because a person waits */
		now_s = clock_wall_s();
		if (now_s >= last_s + PASS_EACH_S ||
		    (now_s >= last_s + PASS_REST_S && l.next_start_s <= now_s &&
		     l.next_start_s > last_s)) {
			if (make_pass(t, true, err))
				return -1;
			last_s = clock_wall_s();
			version = -1;
		}
		front_nap(NULL, 0, LOOK_S);
	}
}

/* --- the command of 'pollux run' has the terminal --- */

/* This process only waits: it is in the command's process group, so that Ctrl-Z stops both, and
 * ignores the other keys. */

#define TOLD_BEFORE_S 60.0	/* half of the time limit if that is shorter */

struct watch {
	struct foreground f;
	int pidfd;		/* of the supervisor */
	bool began;
	double limit_boot_s, notice_boot_s;	/* INFINITY: none, or told */
	int signal_number;	/* the signal that stops the command; 0: none came */
};

/* The command starts when the supervisor tells its limit of time, or that there is none. */
static void begin_command(struct front *t, struct watch *w)
{
	double now_s = clock_boot_s(), wall_s = clock_wall_s();
	ssize_t n = read(w->f.fd, &w->limit_boot_s, sizeof(w->limit_boot_s));

	w->began = n == sizeof(w->limit_boot_s);
	if (w->began) {
		front_show(t, NULL);
		w->notice_boot_s = fmax(w->limit_boot_s - TOLD_BEFORE_S,
					now_s + (w->limit_boot_s - now_s) / 2);
	}
	if (w->began && !t->quiet && isatty(STDERR_FILENO))
		output_messagef("job %lld runs, until %s at the latest", (long long)t->job_id,
				format_time(wall_s + w->limit_boot_s - now_s, wall_s).s);
	/* The command's own first line comes after that of this process. */
	close(w->f.fd);
	w->f.fd = -1;
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
		if (clock_boot_s() >= w->notice_boot_s) {
			w->notice_boot_s = INFINITY;
			output_messagef("the time of job %lld is over in %.0f s: it is stopped "
					"then", (long long)t->job_id,
					ceil(w->limit_boot_s - clock_boot_s()));
		}
		signal_number = front_signal(!w->began);
		if (!signal_number)
			continue;
		w->signal_number = signal_number;
		kill(w->f.supervisor, SIGTERM);
	}
}

/* Finds out, once the supervisor is gone, what became of the run. */
static int conclude_run(struct front *t, int64_t run_id, struct err *err)
{
	long long job_id = t->job_id;
	struct run run;
	int status = -1;

	if (store_run_get(&t->s.store, run_id, &run, err))
		return -1;
	err->text[0] = '\0';
	if (run.state != RUN_ENDED && run.state != RUN_ASSIGNED) {
		output_messagef("the supervisor of job %lld was killed: the next pass ends the "
				"job", job_id);
		status = STATUS_NOT_RUN_TO_END;
	} else if (run.state == RUN_ENDED && run.outcome != OUTCOME_NOT_STARTED) {
		if (run.diagnosis && *run.diagnosis)
			output_messagef("job %lld: %s", job_id, run.diagnosis);
		if (run.outcome == OUTCOME_STOPPED)
			output_messagef("job %lld was stopped: %s", job_id,
					stop_reason_words(run.stop_reason));
		status = run.term_signal > 0 ? 128 + run.term_signal
			: run.exit_code >= 0 ? run.exit_code : STATUS_NOT_RUN_TO_END;
	}
	run_release(&run);
	return status;
}

int front_run(struct front *t, int64_t run_id, int *signal_number, struct err *err)
{
	struct watch w = { .limit_boot_s = INFINITY, .notice_boot_s = INFINITY };
	int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY), status;
	struct termios modes;
	sigset_t set, before;

	if (terminal >= 0 && (tcgetpgrp(terminal) != getpgrp() || tcgetattr(terminal, &modes))) {
		close(terminal);
		terminal = -1;		/* others have it */
	}
	if (foreground_start(&t->s.paths, run_id, &w.f, err))
		return -1;
	w.pidfd = (int)syscall(SYS_pidfd_open, w.f.supervisor, 0);
	watch_supervisor(t, &w);
	status = conclude_run(t, run_id, err);
	/* Gives the terminal back to this process's group, in its former mode: a shell that was
	 * killed leaves the terminal to its own group, and as its line editor had set it. */
	if (terminal >= 0) {
		sigemptyset(&set);
		sigaddset(&set, SIGTTOU);
		sigprocmask(SIG_BLOCK, &set, &before);
		if (tcgetpgrp(terminal) != getpgrp())
			tcsetpgrp(terminal, getpgrp());
		if (status < 0 || status >= STATUS_NOT_RUN_TO_END)
			tcsetattr(terminal, TCSADRAIN, &modes);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(terminal);
	}
	if (w.f.fd >= 0)
		close(w.f.fd);
	if (w.pidfd >= 0)
		close(w.pidfd);
	*signal_number = w.signal_number;
	return status;
}
