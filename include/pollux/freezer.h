/* freezer.h - a process that freezes and thaws for a supervisor, which goes on meanwhile.
 *
 * A driver's call takes seconds, may hang, and may crash its caller. So a child makes the calls.
 * The child starts the driver once and serves orders until its socket is closed. Before it enters a
 * state, the child asks the caller and waits until the caller has recorded the state. If the caller
 * dies, the child ends after its present call. No signal but SIGKILL ends it: a caller that is
 * killed in the middle leaves the process that it moves unusable. Where a driver hangs before
 * memory moves, the child ends itself; another one, ordered to mend, unlocks what was locked.
 *
 *	struct freezer f;
 *	if (freezer_start(&f, backend->freezer, run_lock, err)) return -1;
 *	if (freezer_order(&f, &order, err)) ...
 *	... when f.fd can be read:
 *	switch (freezer_read(&f, &news)) {
 *	case FREEZER_ENTERS: if (record news.state) freezer_allow(&f); else freezer_stop(&f); break;
 *	case FREEZER_DONE: ... news.state, news.mended, news.took_s
 *	case FREEZER_FAILED: ... news.state, news.err
 *	case FREEZER_DIED: ... the driver tells how far it came: start another, order a mending
 *	}
 *	freezer_stop(&f); */
#ifndef POLLUX_FREEZER_H
#define POLLUX_FREEZER_H

#include "pollux/freeze.h"

struct freezer {
	pid_t pid;			/* reaped by the caller, or by freezer_stop; 0: none */
	int fd;				/* -1: none */
};

#define FREEZER_NONE ((struct freezer){ .fd = -1 })

enum freezer_task { FREEZER_FREEZE, FREEZER_THAW, FREEZER_MEND };

struct freezer_order {
	enum freezer_task task;
	enum freeze_state state;	/* as recorded */
	pid_t pids[FREEZE_PIDS];
	int n;
	double lock_limit_s;
	/* A thaw waits until so many bytes are free on the device: the driver may give up
	 * processes for which there is no room. 0: it does not wait. */
	int64_t bytes;
	char device[DEVICE_ID_SIZE];
};

enum freezer_says { FREEZER_ENTERS, FREEZER_DONE, FREEZER_FAILED, FREEZER_DIED };

struct freezer_news {
	enum freezer_says says;
	enum freeze_state state;
	enum freeze_mended mended;	/* of FREEZER_MEND */
	double took_s[STEP_UNLOCK + 1];
	/* of FREEZER_FAILED and FREEZER_DIED; EX_TEMPFAIL of a thaw: there was no room */
	struct err err;
};

/* keep: a descriptor that the child holds as long as it lives, such as a run's lock, so that nobody
 * else touches the processes while a call goes on; -1: none. The child keeps nothing else. */
int freezer_start(struct freezer *f, const struct device_freezer *functions, int keep,
		  struct err *err);
int freezer_order(struct freezer *f, const struct freezer_order *order, struct err *err);
/* Reads the next message of the child into *news; blocks until there is one. */
enum freezer_says freezer_read(struct freezer *f, struct freezer_news *news);
void freezer_allow(struct freezer *f);
/* Closes the socket and does not wait for the child: it may be in a call. */
void freezer_stop(struct freezer *f);

/* Carries out one order from beginning to end, and records the states by *record. -1 with *err:
 * EX_TEMPFAIL also if the child said nothing for limit_s; the freezer is then stopped. */
int freezer_carry_out(struct freezer *f, const struct freezer_order *order,
		      const struct freeze_record *record, double limit_s,
		      struct freezer_news *news, struct err *err);

#endif
