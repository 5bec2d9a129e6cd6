/* front.h - the parts of 'pollux run': from its job in the queue to the end of its command. */
#ifndef POLLUX_CLI_FRONT_H
#define POLLUX_CLI_FRONT_H

#include "pollux/err.h"
#include "pollux/session.h"

/* Besides the command's own, as 'pollux wait' has it. */
#define STATUS_NOT_RUN_TO_END 125

struct front {
	struct session s;
	int64_t job_id;
	int lock;			/* job_lock.h */
	bool quiet;
	char *shown;			/* owned; the line that was shown last; NULL: none */
};

/* front_signals.c: signals are blocked but in front_nap. */
void front_catch_signals(void);
/* The signal that asks to stop and has come since the last call; 0: none. From the keyboard only
 * where that is asked for: once its command runs the keys are the command's. */
int front_signal(bool from_keyboard);
struct pollfd;
/* Waits for a descriptor or a signal. */
void front_nap(struct pollfd *fds, int n, double at_most_s);
/* Ends this process by the signal. */
void front_die(int signal_number);

/* front_wait.c: waits for devices. Returns 0 with *run_id, of a run that was assigned; where
 * *run_id is 0 the job has ended or, with *signal_number, is to. */
int front_wait(struct front *t, int64_t *run_id, int *signal_number, struct err *err);
/* Shows a line in place of the last one; NULL: none. */
void front_show(struct front *t, const char *line);

/* front_run.c: runs the command. Returns its exit status, or -1: the job is still in the queue, or
 * there was an error, and *err has a text. */
int front_run(struct front *t, int64_t run_id, int *signal_number, struct err *err);

#endif
