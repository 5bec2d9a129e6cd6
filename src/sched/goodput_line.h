/* goodput_line.h - the jobs that a decision of the policy `goodput` lets wait: in which order, for
 * whom, and until when. */
#ifndef SCHED_GOODPUT_LINE_H
#define SCHED_GOODPUT_LINE_H

#include <stdbool.h>

#include "claims.h"
#include "curve.h"
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
	struct sched_choice *choices;	/* the caller's */
};

/* The choice of the job at an index of the curves. */
static inline struct sched_choice *goodput_choice(const struct goodput_decision *d, int index)
{
	return &d->choices[d->curves->items[index].job - d->curves->in->jobs];
}

/* Makes the verdict on each job without devices, and sets next_start_s. */
void goodput_waits(const struct goodput_decision *d);

#endif
