/* claims.h - what is settled before anything is weighed: who keeps what it holds, who must start,
 * who may not.
 *
 * Protected are jobs that run and are not preemptible, which keep exactly what they hold, and those
 * within their slice, which keep something, and exactly what they hold until they have settled. Where
 * devices went away and what is protected does not fit any more, the first of them, in this order and then
 * by id, keep theirs; the others have the most that is left, or none.
 *
 * A job is about to end where, as it runs, it lacks less than its restart. It keeps exactly what it holds: to stop
 * it would cost more than it gains anybody. As what it says may be wrong, no overdue job (below) waits for that
 * longer than CLAIMS_END_RESTARTS restarts after that job became overdue and the slices of all that run were over.
 *
 * A job that has waited for longer than claims.limit_s is overdue. The overdue, longest waiting
 * first, must start while they fit beside what is protected, and the others make room. The first
 * that does not fit gathers devices: nothing is launched behind it, not even a running job on
 * another number of devices, since its new slice would count again; unprotected jobs may run on as
 * they are. Exception: one that jobs which are not preemptible leave too few devices for (stuck)
 * cannot start for as long as these run, however little else does; it is passed over, and of jobs that
 * are not preemptible only those are started behind it that are not expected to delay it: backfill.h. */
#ifndef SCHED_CLAIMS_H
#define SCHED_CLAIMS_H

#include <stdbool.h>

#include "curve.h"

#define CLAIMS_END_RESTARTS 2

enum claim_kind {
	CLAIM_FREE,	/* whatever it may be given, or nothing */
	CLAIM_SOME,	/* whatever it may be given */
	CLAIM_EXACT,	/* this number */
	CLAIM_KEEP,	/* this number, or nothing */
};

struct claim {
	enum claim_kind kind;
	int replicas;
	bool overdue;
};

/* Of the first job that is stuck. */
struct stuck_job {
	double since_s, overdue_s;	/* it waits, and is overdue */
	double start_s;			/* expected */
	int spare;			/* devices left beside it then, and not given away yet */
};

struct claims {
	struct claim *items;	/* in the order of the curves */
	int fixed;		/* devices that jobs which are not preemptible keep, or must get */
	double limit_s;		/* the longest that a job waits before it is overdue */
	int gathering;		/* index of the job that gathers; -1: none */
	double gathered_s;	/* when it has enough */
	int awaited;		/* index of the job about to end that it waits for, not for slices; -1: none */
	double turn_s;		/* the longest that one gathers */
	int stuck;		/* index of the first overdue job that is stuck; -1: none */
	struct stuck_job stuck_job;	/* for that */
};

/* Only what jobs that are not preemptible keep, for policies without slices. */
struct claims claims_of_fixed(const struct curves *curves);
struct claims claims_of(const struct curves *curves);
void claims_release(struct claims *claims);

bool claim_allows(const struct claim *claim, int replicas);

/* Since when it waits: -INFINITY is longest. */
double claims_waiting_since_s(const struct curves *curves, const struct curve *c);

#endif
