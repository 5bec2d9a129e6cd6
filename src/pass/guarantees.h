/* guarantees.h - what --guarantee promises candidates of a pass: private to src/pass.
 *
 * A job with --guarantee R:PLAN is promised the goodput that it has on R devices in PLAN. The least
 * number of devices on which it has as much, in its best plan, is what the guarantee needs. While
 * the goodput on R devices is not known, the job has exactly R devices, in PLAN if that is not
 * known to run out of memory.
 *
 * Jobs are admitted in the order of their submission, those that run first, while what they need
 * sums up to no more than guaranteed_devices, and the devices that there are, and has room on the
 * nodes. The first that is not admitted waits, and all that were submitted later. */
#ifndef POLLUX_PASS_GUARANTEES_H
#define POLLUX_PASS_GUARANTEES_H

#include "decision.h"
#include "pollux/execution_plan.h"

struct job_guarantee {
	struct guarantee declared;
	double floor;			/* promised goodput, on the slowest kind; NaN: not known */
	int needs;			/* devices; 0: what is promised cannot be had here */
	bool admitted;
	bool lacks_nodes;		/* not admitted, as the nodes have no room for it */
};

/* Finds what each candidate is promised and who is admitted. Called when the candidates are
 * weighed. */
void promise_guarantees(const struct snapshot *s, struct decision *d);
/* Tells a job whose guarantee the decision breaks, which is an error of the program. Called when
 * the policy has decided. */
void check_guarantees(struct decision *d);
/* The job that is to have fewer devices where a guaranteed one finds no room; -1: there is none. */
int gives_way_to_guarantees(const struct decision *d);
void explain_guarantees(const struct snapshot *s, struct decision *d);

#endif
