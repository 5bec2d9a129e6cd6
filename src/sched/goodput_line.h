/* goodput_line.h - the jobs that a decision of the policy `goodput` lets wait: in which order, for
 * whom, and until when. Facts only; reason_goodput.c has the sentences. */
#ifndef SCHED_GOODPUT_LINE_H
#define SCHED_GOODPUT_LINE_H

#include <stdbool.h>

#include "claims.h"
#include "curve.h"
#include "reason.h"
#include "worth.h"

struct goodput_decision {
	const struct curves *curves;
	const struct claims *claims;
	const struct worths *worths;
	int *at;		/* devices of each job, in the order of the curves: an index of
				   curve.h; owned */
	int *wanted;		/* the same, were there memory without limit; owned */
	int *way;		/* as in sched_choice; owned */
	bool *reconfigure;	/* relaunched on the devices that it holds; owned */
};

enum wait_kind {
	WAIT_IMPOSSIBLE,	/* the machine never has devices that the job can take */
	WAIT_KEEPERS,		/* jobs that are not preemptible leave too few devices */
	WAIT_STUCK,		/* it is not preemptible, and would be in the way of the job `id` */
	WAIT_OVERDUE,		/* overdue jobs come first */
	WAIT_GATHERS,		/* it gathers devices, as slices end */
	WAIT_GATHERS_END,	/* it gathers devices, and lets the job `id` end first */
	WAIT_SLICES,		/* `jobs` end their slices */
	WAIT_END,		/* the job `id` ends */
	WAIT_WEIGHT,		/* jobs of more weight come first */
	WAIT_SHORTER,		/* shorter jobs come first */
	WAIT_SLICE,		/* the job `id`, which comes first, is in its slice */
	WAIT_OTHERS,		/* other jobs come first */
};

struct wait {
	enum wait_kind kind;
	int index;			/* of the job's curve */
	int place;			/* in line, from 1; 0: outside the line */
	int64_t id;
	struct job_names jobs;		/* WAIT_KEEPERS: they keep `devices` */
	/* WAIT_KEEPERS: started behind the stuck job, and told apart */
	struct job_names meanwhile;
	int devices;
	bool guaranteed;		/* WAIT_KEEPERS: some of `jobs` have a guarantee */
	double start_s;			/* when it starts at the latest, see sched_choice; NaN */
};

/* One for each job without devices; returns how many. waits: room for all jobs. */
int goodput_waits(const struct goodput_decision *d, struct wait *waits);

/* reason_goodput.c */
/* The reason of the job at index, which has devices. */
void reason_goodput_runs(const struct goodput_decision *d, int index, char *reason);
void reason_goodput_waits(const struct goodput_decision *d, const struct wait *w, char *reason);

#endif
