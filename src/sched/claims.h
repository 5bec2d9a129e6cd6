/* claims.h - what is settled before any job's worth is compared: which jobs keep their devices,
 * which must start, and which must not.
 *
 * Protected jobs keep devices. Running jobs that are not preemptible keep exactly what they hold.
 * Jobs within their slice keep something, and until they have settled exactly what they hold. What
 * a slice is for is to learn of a job, and to divide the devices among jobs of which nothing is
 * known. So a job of which it is known how much remains, or that has siblings much alike, keeps
 * devices only until it has settled and had the time of CURVE_SLICE_RESTARTS restarts. After that a
 * shorter job takes them at once; one that ends hardly sooner does not (lengths.h), so jobs of
 * equal length do not take them from each other. Only a job that had waited longer than its
 * limits_s (below) when it started has the whole slice.
 * Where devices went away, not all of these may fit. Then they keep their devices in this order,
 * and then by id; a job for which too few are left gets the most that is left, or none.
 *
 * A job is about to end if, at its present rate, it needs less time than its restart takes. It
 * keeps exactly what it holds, since stopping it would cost more than any other job gains. Its
 * remaining work may be wrong. So an overdue job (below) waits for such an end only until
 * CLAIMS_END_RESTARTS restarts after the overdue job was overdue and all slices were over.
 *
 * A job with a guarantee (policy.h) that runs keeps at least its least number of devices, and these
 * count as fixed. The earlier jobs come first where the devices do not suffice for all of them. If
 * what it holds does not keep the guarantee, it gets another number at once.
 *
 * A job that has waited longer than its claims.limits_s, that was put first, or that has a
 * guarantee is overdue. Overdue jobs must start while they fit beside the protected jobs, and the
 * others make room: those with a guarantee, then those that were put first, then the longest
 * waiting first. Jobs with a guarantee keep their devices to their end, so among them the order
 * counts as much as among the others, and is the same: by worth per device, short and small jobs
 * first; in front of these, the longest waiting first, are those that have waited longer than their
 * limits_s. For a job with a guarantee, the slice of a job ends once that has settled, unless that
 * had waited longer than its limits_s when it started. The first that does not fit gathers devices.
 * Nothing is launched behind it, not even a running job on another number of devices, whose new
 * slice would count again; unprotected jobs may run on as they are.
 * A job that is stuck, to which jobs that are not preemptible leave too few devices, is an
 * exception: it cannot start while these run, whatever the others do. The stuck job is
 * passed over.
 *
 * A job is brief if it takes at most a slice in all: by its time limit, as it told, or as its
 * siblings took. Before its first run it starts as soon as the slices of others leave its least
 * number of devices, the shortest first, behind the overdue jobs; if none do, a settled job that is
 * within its slice is suspended for it, where that costs little (policy.h). It takes no devices
 * from jobs that end sooner than it would, and none are gathered for it. It has more devices where
 * its worth brings them. The device-seconds that brief jobs had of late, may still have, and are to
 * have by this rule are at most a tenth of all.
 *
 * If no other job that is not preemptible were started meanwhile, devices would idle for as long
 * as the longest of those that run. If all were, the stuck job might never start. So, as in EASY
 * (D. A. Lifka, "The ANL/IBM SP scheduling system", 1995), such a job may start behind the stuck
 * job if
 *
 * - it is expected to end before the stuck job can start;
 * - or its end is known, and the devices it needs will be spare when the stuck job has started.
 *
 * The expected end follows from the remaining work, or from the length assumed for the job
 * (worth.h), since most commands that are not preemptible tell nothing. Such an end may be wrong,
 * and jobs that were started because of it are then in the way. Therefore a job that was started
 * behind the stuck job, and whose end is unknown, counts as ended: no other job may start because
 * of its expected end. So the stuck job starts at the latest when all of these have ended:
 *
 * - jobs that ran when it became overdue, and jobs submitted before it began to wait;
 * - jobs started behind it before the former had left enough devices. Those of known length do not
 *   delay it, if they end when they should. */
#ifndef SCHED_CLAIMS_H
#define SCHED_CLAIMS_H

#include <stdbool.h>

#include "curve.h"

struct worths;

#define CLAIMS_END_RESTARTS 2
/* The longest wait before a job is overdue, in rounds. In one round each job has its slice. With 16
 * rounds, mean completion times on one GPU are up to 4 % longer (desk.sh). */
#define CLAIMS_LIMIT_ROUNDS 24
/* The part of the device time of SCHED_BRIEF_SLICES slices that is for brief jobs. */
#define CLAIMS_BRIEF_PART 0.1

enum claim_kind {
	CLAIM_FREE,	/* any allowed number, or nothing */
	CLAIM_SOME,	/* any allowed number, but claim.below */
	CLAIM_EXACT,	/* this number */
	CLAIM_KEEP,	/* this number, or nothing */
	CLAIM_EITHER,	/* this number, or claim.held */
};

struct claim {
	enum claim_kind kind;
	int at;			/* as in curve.h */
	bool overdue;
	bool brief;		/* it waits, and starts as soon as slices leave it devices */
	/* For a running job with a guarantee: the index that it holds. The index is in `held` if it
	 * keeps the guarantee, otherwise in `below`; the other one is 0. */
	int held, below;
};

/* The first job that is stuck, and the devices that will be left when it starts. */
struct stuck_job {
	double since_s, overdue_s;	/* when its wait began, and when it became overdue */
	double start_s;			/* expected */
	int device_kind;		/* on which it is to start */
	int spare;			/* devices left beside it then, and not given away yet */
};

struct claims {
	struct claim *items;	/* in the order of the curves */
	const struct worths *worths;	/* the caller's */
	/* devices of each kind that jobs which are not preemptible, or have a guarantee, keep or
	 * must get */
	int fixed[SCHED_KINDS];
	/* How long each job may wait before it is overdue: B of policy.h. For a running job, in a
	 * wait that begins now, and in the one before its run. */
	double *limits_s, *waits_s;
	int gathering;		/* index of the job that gathers; -1: none */
	int gathered_kind;	/* of which it gathers devices */
	double gathered_s;	/* when that job has enough */
	int awaited;		/* index of the job about to end that it waits for, instead of for
				   slices; -1: none */
	double turn_s;		/* the longest time that a job gathers */
	int stuck;		/* index of the first overdue job that is stuck; -1: none */
	struct stuck_job stuck_job;	/* the same job; meaningful where stuck >= 0 */
};

/* Makes the claims of jobs that are not preemptible and no others, for policies without slices. */
struct claims claims_of_fixed(const struct curves *curves);
/* Adds to the claims of claims_of_fixed() those of waiting jobs that were put first. These jobs
 * start while they fit beside the jobs that are not preemptible. Where one does not fit, no other
 * such job starts. */
void claims_add_first(const struct curves *curves, struct claims *claims);
/* worths: must outlive the claims. */
struct claims claims_of(const struct curves *curves, const struct worths *worths);
void claims_release(struct claims *claims);

bool claim_allows(const struct claim *claim, int at);

/* Counts the devices of each kind that are kept neither by jobs that are not preemptible nor by
 * jobs with a guarantee. */
void claims_not_fixed(const struct curves *curves, const struct claims *claims, int *left);

/* True if the job was started behind the stuck job, or would be if it started now. */
bool claims_is_behind(const struct curves *curves, const struct stuck_job *r,
		      const struct curve *c);

/* The rank of a waiting job that was put first or has a guarantee; 0 for any other job. A job with
 * a rank is overdue from the beginning of its wait and comes before all overdue jobs without one.
 * The largest rank comes first. */
int claims_first_rank(const struct curve *c);
/* The order of waiting jobs with a guarantee, the largest first; 0 for any other job. */
double claims_turn_worth(const struct curves *curves, const struct claims *claims,
			 const struct curve *c);
/* The time at which the job becomes overdue if it goes on waiting. */
double claims_overdue_s(const struct curves *curves, const struct claims *claims,
			const struct curve *c);
/* True if the job had waited longer than its limit when its run began, or has when one starts now.
 * To have been put first, or to have a guarantee, is not enough. */
bool claims_was_overdue(const struct curves *curves, const struct claims *claims,
			const struct curve *c, bool starts_now);
/* Until when a job keeps devices because of its run, or of one that starts now: until it has
 * settled and had the time of CURVE_SLICE_RESTARTS restarts, or until the end of its slice. */
double claims_kept_until_s(const struct curves *curves, const struct claims *claims,
			   const struct curve *c, bool starts_now);
/* True if the job takes at most a slice in all. */
bool claims_is_brief(const struct curves *curves, const struct curve *c);
/* True if it does, and waits for its first run. */
bool claims_is_new_brief(const struct curves *curves, const struct curve *c);
/* The device-seconds that a brief job has had, and the most that it may still have on its least
 * devices. */
double claims_brief_device_s(const struct curve *c);
/* The device-seconds that the rule for brief jobs still has for those that wait: its tenth, less
 * what such jobs had of late, and what those that run may have. */
double claims_brief_left_device_s(const struct curves *curves);
/* The beginning of the job's wait. -INFINITY comes before all others. */
double claims_waiting_since_s(const struct curves *curves, const struct curve *c);

/* --- for the files claims*.c --- */

/* The devices left to claim, while claims are made one after the other. */
struct claims_rest {
	const struct curves *curves;
	struct claims *claims;
	int left[SCHED_KINDS];	/* devices not claimed */
	double slices_end_s;	/* of the last slice of all jobs that run or are to start */
};

void claims_take(struct claims_rest *rest, int at);
/* Makes the claims of running jobs with a guarantee, and of jobs within their slice. */
void claims_protect_running(struct claims_rest *rest);
/* Takes back the claims of settled jobs within their slice, for a job with a guarantee. */
void claims_end_slices(struct claims_rest *rest);
/* Makes the claims of jobs that are about to end, for as long as an overdue job lets them run. */
void claims_protect_ending(struct claims_rest *rest, double overdue_s);
/* Makes the claims of brief jobs; claims_brief.c. */
void claims_start_brief(struct claims_rest *rest);
/* Restricts the other jobs' claims to what the gathering job leaves them, and sets gathered_s and
 * awaited. */
void claims_gather(struct claims_rest *rest);

#endif
