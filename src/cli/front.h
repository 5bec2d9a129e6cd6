/* front.h - the parts of 'pollux run': from its job in the queue to the end of its command. */
#ifndef POLLUX_CLI_FRONT_H
#define POLLUX_CLI_FRONT_H

#include "pollux/err.h"
#include "pollux/session.h"

/* The exit status besides those of the command, as that of 'pollux wait'. */
#define STATUS_NOT_RUN_TO_END 125

struct front {
	struct session s;
	int64_t job_id;
	int lock;			/* lock.h */
	bool quiet;
	char *shown;			/* owned; the line that was shown last; NULL: none */
};

/* front_signals.c: signals are blocked but in front_nap. */
void front_catch_signals(void);
/* Returns the signal to stop that has come since the last call; 0: none. Signals of the keyboard
 * count only with from_keyboard: once the command runs, keys are for the command. */
int front_signal(bool from_keyboard);
struct pollfd;
/* Waits for a descriptor or a signal. */
void front_nap(struct pollfd *fds, int n, double at_most_s);
/* Ends this process by the signal. */
void front_die(int signal_number);

/* front_wait.c: waits for devices. Returns 0 with *run_id, the run that was assigned. *run_id 0:
 * the job has ended, or is to end because of *signal_number. */
int front_wait(struct front *t, int64_t *run_id, int *signal_number, struct err *err);
/* Shows a line in place of the last one; NULL: none. */
void front_show(struct front *t, const char *line);

/* front_run.c: runs the command. Returns its exit status, or -1: the job is still in the queue, or
 * there was an error, and *err has a text. */
int front_run(struct front *t, int64_t run_id, int *signal_number, struct err *err);

#endif
