/* slurm_wrapper.c - the parent of a run's program on one node: tells it what the supervisor orders,
 * ends it when the supervisor shows no life, and tells when nothing of it is left. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include "../local/stop_order.h"
#include "pollux/advice.h"
#include "pollux/environment.h"
#include "slurm.h"

#define LOOK_S 0.25		/* between looks at the order */
#define LEASE_LOOK_S 1.0
#define SHOWN_PER_LEASE 6	/* touches of the file node.K */
#define SWEEP_WAIT_S 5.0	/* for processes that the program leaves, then SIGTERM, SIGKILL */
#define KILL_AGAIN_S 1.0
#define SLURM_ENDS_S 10.0	/* more, for Slurm to end what it holds for ended */

/* A thread reads the files, since a file system that is gone holds its readers for ever. */
static struct {
	const char *dir;
	/* boot clock: the lease was touched then, or later; passes count from its touch */
	_Atomic int64_t seen_ns;
	double lease_time_s;		/* of the file, when the wrapper began */
	char name[24];			/* the file that shows that this node lives */
	double show_s;			/* between two touches of that file */
	_Atomic int number, signal_number, to_all;	/* the last order */
} watch;

struct wrapper {
	const char *dir;
	int number;			/* of this node in the run, from 0 */
	int nodes;			/* on which the program is started */
	double lease_s, grace_s;
	pid_t parent;			/* of the wrapper: the supervisor, or a process of Slurm */
	pid_t leader;
	int gave_up[2];			/* a pipe: has a byte if the GPUs did not become free */
	int signal_fd;
	int orders;			/* taken */
	struct stop_order stop;		/* who got the stop signal, and when */
	int stop_signal;
	bool steps_told;		/* those that the program started by srun */
	int status;			/* of the leader, as wait(2) */
	bool leader_gone, fenced;
	double gone_boot_s, killed_boot_s;
	bool terminated;		/* what the leader left was sent SIGTERM */
};

/* --- the thread --- */

static _Noreturn void *watch_files(void *arg)
{
	const struct timespec pause = { .tv_nsec = (long)(LOOK_S * 1e9) };
	double last = watch.lease_time_s, looked = -INFINITY, shown = -INFINITY;

	(void)arg;
	for (;;) {
		scoped(text_release) struct text t = TEXT_INIT;
		long number = 0, signal_number = 0;
		char *rest = NULL;

		if (clock_boot_s() - looked >= LEASE_LOOK_S) {
			/* the reading may take long: the time before it is the safe one */
			int64_t before_ns = clock_boot_ns();
			double now = slurm_file_time_s(watch.dir, "lease");

			looked = clock_boot_s();
			if (isfinite(now) && now != last) {
				watch.seen_ns = before_ns;
				last = now;
			}
		}
		if (clock_boot_s() - shown >= watch.show_s) {
			shown = clock_boot_s();
			slurm_touch(watch.dir, watch.name);
		}
		if (slurm_read(watch.dir, "order", 0, &t)) {
			number = strtol(t.data, &rest, 10);
			signal_number = strtol(rest, &rest, 10);
		}
		if (rest && number > 0 && number < INT_MAX && number != watch.number &&
		    signal_number > 0 && signal_number < NSIG) {
			watch.signal_number = (int)signal_number;
			watch.to_all = !strcmp(rest, " all\n");
			watch.number = (int)number;
		}
		nanosleep(&pause, NULL);
	}
}

/* --- the program --- */

static void signal_all(int signal_number)
{
	const struct proc_marks marks = { .ancestor = getpid() };
	scoped(pid_list_release) struct pid_list list = { 0 };

	if (proc_find(&marks, &list))
		return;
	for (int i = 0; i < list.count; i++) {
		kill(list.items[i], signal_number);
		kill(list.items[i], SIGCONT);
	}
}

static void send_to(void *arg, pid_t pid, int signal_number)
{
	struct wrapper *w = arg;
	/* srun does not hand these on to its programs, but has Slurm kill them: the signal is for
	 * the step that it started */
	bool for_step = (signal_number == SIGTERM || signal_number == SIGINT ||
			 signal_number == SIGQUIT || signal_number == SIGHUP) &&
			proc_has_name(pid, "srun");

	if (!for_step) {
		kill(pid, signal_number);
	} else if (!w->steps_told) {
		w->steps_told = true;
		slurm_signal_steps(signal_number);
	}
	kill(pid, SIGCONT);
}

/* Waits for the end of earlier programs on the GPUs, which end at their lease, by their grace, or
 * by Slurm. */
static bool gpus_become_free(const struct wrapper *w, pid_t wrapper)
{
	double until_s = clock_boot_s() + w->lease_s + slurm_margin_s(w->lease_s) + w->grace_s +
			 SLURM_ENDS_S;
	pid_t told = 0, pid;

	while ((pid = slurm_earlier_on_gpus(wrapper)) > 0) {
		if (pid != told)
			dprintf(STDERR_FILENO, "process %d of an earlier run still has a GPU that"
				" Slurm gave: its end is waited for\n", (int)pid);
		told = pid;
		if (clock_boot_s() > until_s)
			return false;
		poll(NULL, 0, (int)(LOOK_S * 1e3));
	}
	return true;
}

/* argv: the program, then a command that is rendered for this node. A wrapper that is killed fences
 * nothing any more: the program dies with the wrapper. */
static _Noreturn void become_program(const struct wrapper *w, pid_t parent, char *const *argv)
{
	struct strings all = { 0 }, own = { 0 }, env = { 0 };
	struct text why = TEXT_INIT;
	int error;

	signals_reset();
	setsid();
	if (!proc_dies_with(parent, SIGKILL))
		_exit(127);
	if (!gpus_become_free(w, parent)) {
		dprintf(w->gave_up[1], "x");
		_exit(EX_TEMPFAIL);
	}
	for (char *const *a = argv + 1; *a; a++)
		strings_add(&all, *a);
	node_command(&all, environ, w->number, w->nodes, &own, &env);
	execve(argv[0], own.items, env.items);
	error = errno;
	program_file_cannot(argv[0], NULL, error, &why);
	dprintf(STDERR_FILENO, "%s\n", why.data);
	_exit(error == ENOENT ? 127 : 126);
}

/* Takes what has ended. False: no process of the program is left. */
static bool reap(struct wrapper *w)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == w->leader) {
			w->status = status;
			w->leader_gone = true;
			w->gone_boot_s = clock_boot_s();
		}
	return pid == 0;
}

/* How long what the leader leaves has to end: a run that was asked to stop may save, for the rest
 * of its grace. */
static double sweep_s(const struct wrapper *w)
{
	double until = w->stop.asked_boot_s + w->grace_s;

	return isnan(until) ? SWEEP_WAIT_S : fmax(until - w->gone_boot_s, SWEEP_WAIT_S);
}

static void kill_again(struct wrapper *w, double now)
{
	if (now - w->killed_boot_s < KILL_AGAIN_S)
		return;
	w->killed_boot_s = now;
	signal_all(SIGKILL);
}

static void keep_time(struct wrapper *w)
{
	const struct proc_marks marks = { .ancestor = getpid() };
	double now = clock_boot_s();
	struct pid_list list;

	/* When the supervisor has ended, Slurm gives the GPUs to others. */
	if (now - (double)watch.seen_ns * 1e-9 > w->lease_s || getppid() != w->parent)
		w->fenced = true;
	if (w->fenced || (w->leader_gone && now - w->gone_boot_s > sweep_s(w) + SWEEP_WAIT_S)) {
		kill_again(w, now);
	} else if (w->leader_gone && !w->terminated && now - w->gone_boot_s > sweep_s(w)) {
		w->terminated = true;
		signal_all(SIGTERM);
	} else if (!w->terminated && !isnan(w->stop.asked_boot_s) &&
		   proc_find(&marks, &list) == 0) {
		/* Those are told whose turn it is. What the run's steps say is not known here. */
		stop_order_look(&w->stop, &list, w->stop_signal);
		stop_order_tell(&w->stop, w->stop_signal, now, send_to, w);
		pid_list_release(&list);
	}
}

static void look_after(struct wrapper *w)
{
	struct pollfd fd = { .fd = w->signal_fd, .events = POLLIN };
	struct signalfd_siginfo info;

	while (reap(w)) {
		poll(&fd, 1, (int)(LOOK_S * 1e3));
		while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info)) {
			/* of Slurm itself: scancel --signal */
			if (info.ssi_signo == SIGCHLD || w->leader_gone)
				continue;
			kill(w->leader, (int)info.ssi_signo);
			kill(w->leader, SIGCONT);
		}
		if (watch.number != w->orders) {
			w->orders = watch.number;
			if (watch.to_all) {
				stop_order_release(&w->stop);
				signal_all(watch.signal_number);
			} else if (isnan(w->stop.asked_boot_s)) {
				w->stop_signal = watch.signal_number;
				stop_order_begin(&w->stop, w->leader_gone ? 0 : w->leader,
						 clock_boot_s(), w->grace_s);
			}
		}
		keep_time(w);
	}
}

/* --- begin and end --- */

/* A job of Slurm may come to its node late: when its run has been ended, nothing begins. What has
 * passed of the lease by then is taken off the program's time. */
static bool may_begin(struct wrapper *w)
{
	int64_t now_ns = clock_boot_ns();
	char text[24];
	struct err err;
	double age_s;

	snprintf(watch.name, sizeof(watch.name), "node.%d", w->number);
	watch.show_s = w->lease_s / SHOWN_PER_LEASE;
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (slurm_write(w->dir, watch.name, text, strlen(text), &err))
		dprintf(STDERR_FILENO, "%s\n", err.text);
	watch.lease_time_s = slurm_file_time_s(w->dir, "lease");
	age_s = slurm_file_time_s(w->dir, watch.name) - watch.lease_time_s;
	if (slurm_has(w->dir, "over"))
		return false;
	w->fenced = !(age_s < w->lease_s);
	if (w->fenced)
		return false;
	watch.seen_ns = now_ns - (int64_t)(fmax(age_s, 0) * 1e9);
	return true;
}

static void tell_end(const struct wrapper *w)
{
	struct err err;
	char name[24], text[40], byte;

	snprintf(name, sizeof(name), "end.%d", w->number);
	if (w->fenced || (w->gave_up[0] > 0 && read(w->gave_up[0], &byte, 1) == 1))
		snprintf(text, sizeof(text), "fenced\n");
	else if (WIFSIGNALED(w->status))
		snprintf(text, sizeof(text), "signal %d\n", WTERMSIG(w->status));
	else
		snprintf(text, sizeof(text), "exit %d\n", WEXITSTATUS(w->status));
	if (slurm_write(w->dir, name, text, strlen(text), &err))
		dprintf(STDERR_FILENO, "%s\n", err.text);
}

static int begin_wrapper(struct wrapper *w, char *const *argv, struct err *err)
{
	static const int signals[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };
	sigset_t set;
	scoped(text_release) struct text launch = TEXT_INIT;
	pid_t self = getpid();
	pthread_t thread;

	if (!slurm_read(w->dir, "launch", 0, &launch))
		return err_set(err, EX_NOINPUT, "cannot read '%s/launch'", w->dir);
	w->lease_s = slurm_number(launch.data, "lease_s", 60);
	w->grace_s = slurm_number(launch.data, "grace_s", 0);
	w->nodes = (int)slurm_number(launch.data, "nodes", 1);
	if (!may_begin(w))
		return err_set(err, EX_TEMPFAIL, "the run has been ended already");
	watch.dir = w->dir;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_set(err, EX_OSERR, "cannot become a subreaper: %s", strerror(errno));
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->signal_fd < 0)
		return err_set(err, EX_OSERR, "cannot make a signalfd: %s", strerror(errno));
	if (pipe2(w->gave_up, O_CLOEXEC | O_NONBLOCK))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	w->leader = fork();
	if (w->leader == 0)
		become_program(w, self, argv);
	if (w->leader < 0)
		return err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
	if (pthread_create(&thread, NULL, watch_files, NULL)) {
		while (reap(w)) {
			kill_again(w, clock_boot_s());
			poll(NULL, 0, (int)(LOOK_S * 1e3));
		}
		return err_set(err, EX_OSERR, "cannot start a thread");
	}
	return 0;
}

int slurm_wrap(const char *dir, char *const *argv, struct err *err)
{
	const char *number = getenv("SLURM_NODEID");
	struct wrapper w = { .dir = dir, .parent = getppid(), .status = 256 };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t set;

	stop_order_begin(&w.stop, 0, NAN, 0);
	w.number = number ? (int)strtol(number, NULL, 10) : 0;
	if (begin_wrapper(&w, argv, err)) {
		/* nothing of the program is left here, and nothing will begin */
		w.status = W_EXITCODE(err->exit_status, 0);
		tell_end(&w);
		return -1;
	}
	look_after(&w);
	stop_order_release(&w.stop);
	tell_end(&w);
	if (!WIFSIGNALED(w.status))
		return WEXITSTATUS(w.status);
	/* Ends as the program did, so that the supervisor sees how that was. */
	sigaction(WTERMSIG(w.status), &usual, NULL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(w.status));
	prctl(PR_SET_DUMPABLE, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(w.status));
	return 128 + WTERMSIG(w.status);
}
