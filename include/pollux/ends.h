/* ends.h - when jobs will end, as intervals.
 *
 * What a policy is told of the jobs (policy.h) is played on, ENDS_DRAWS times, each time with other
 * values for what is not known:
 *
 *   - what remains of a job whose length is not known: drawn from the lengths of the jobs that have
 *     ended, given the service it has had (src/sched/lengths.h);
 *   - how fast a job goes on: its rate by the model, times a number about 1;
 *   - the jobs still to come: a Poisson process, at the rate of the last jobs that came, their
 *     lengths like those of others.
 *
 * Time runs from event to event. Devices go where they are worth most, as under the policy
 * `goodput` (src/sched/worth.h) but without its slices. A job that starts stands still for its
 * restart. Of the drawn ends of a job, the interval leaves out one tenth on each side.
 *
 * The same input gives the same intervals. Pure functions. */
#ifndef POLLUX_ENDS_H
#define POLLUX_ENDS_H

#include "pollux/policy.h"

#define ENDS_DRAWS 64

/* Seconds from now; NaN: nothing can be told. */
struct job_ends {
	double from_s, middle_s, to_s;
};

/* Tells the end of each job, in the order of in->jobs. gap_s: mean time between the last jobs that
 * came, until now; NaN: none is expected. Only jobs with wanted[i] are told; NULL: all. */
void ends_of(const struct sched_input *in, double gap_s, const bool *wanted,
	     struct job_ends *ends);

/* The mean gap, from the times at which the newest jobs came, in any order, until now. */
#define ENDS_NEWEST 8
double ends_gap_s(const double *submitted_s, int n, double now_s);

#endif
