/* claims_rest.h - what the files claims*.c share: the devices left to claim, while claims are made
 * one after the other. */
#ifndef SCHED_CLAIMS_REST_H
#define SCHED_CLAIMS_REST_H

#include "claims.h"

struct overdue {
	int index;		/* of the curve */
	int first;		/* claims_first_rank */
	double since_s;
};

struct claims_rest {
	const struct curves *curves;
	struct claims *claims;
	int left[SCHED_KINDS];	/* devices not claimed */
	double slices_end_s;	/* of the last slice of all jobs that run or are to start */
	struct overdue *overdue;	/* longest waiting first */
	int n_overdue;
};

/* claims_protected.c */
/* Makes the claims of jobs that are not preemptible. All devices are left before. */
void claims_protect_fixed(struct claims_rest *rest);
/* Makes the claims of running jobs with a guarantee. */
void claims_protect_guaranteed(struct claims_rest *rest);
/* Makes the claims of jobs within their slice. */
void claims_protect_slices(struct claims_rest *rest);
/* Makes the claims of jobs that are about to end, for as long as an overdue job lets them run. */
void claims_protect_ending(struct claims_rest *rest, double overdue_s);
bool claims_is_ending(const struct curve *c);
/* The time until which an overdue job lets this job run. */
double claims_end_awaited_s(const struct claims_rest *rest, const struct curve *c,
			    double overdue_s);

/* jobs that gather devices */
/* Restricts the other jobs' claims to what the gathering job leaves them, and sets gathered_s and
 * awaited. */
void claims_gather(struct claims_rest *rest);

#endif
