/* front_signals.c - the signals that 'pollux run' gets; see front.h. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "front.h"

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

int front_signal(bool from_keyboard)
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
