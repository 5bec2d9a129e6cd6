/* report_sender.h - the processes whose reports a supervisor believes; private to src/engine/local.
 *
 * The kernel names the sender of a datagram. A sender is believed if it belongs to the run by its
 * session, its ancestors or its control group. An environment that names the run's socket does not
 * count: a shell that a person gave this environment is no part of the job. */
#ifndef POLLUX_REPORT_SENDER_H
#define POLLUX_REPORT_SENDER_H

#include <stdint.h>
#include <sys/types.h>

enum report_sender {
	SENDER_OURS,
	/* The sender had ended, and had been reaped, before it could be identified. */
	SENDER_GONE,
	/* Nobody took the report when it was sent: it was read in a file (kept_reports.h). */
	SENDER_KEPT,
	SENDER_FOREIGN,
};

#define KNOWN_SENDERS 64

/* The last senders that were found to be the run's. A process that was once the run's stays the
 * run's. */
struct known_senders {
	struct known_sender {
		pid_t pid;		/* 0: an empty place */
		int64_t start_ticks;	/* with the pid, names one process */
		double looked_s;	/* boot clock */
	} items[KNOWN_SENDERS];
	int next;			/* the place to use next */
};

#endif
