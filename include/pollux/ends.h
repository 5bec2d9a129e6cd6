/* ends.h - when jobs will end, as intervals.
 *
 * The jobs that a policy is told of (policy.h) are simulated ENDS_DRAWS times, each time with other
 * random values for what is not known:
 *
 *   - what remains of a job whose length is not known: drawn from the lengths of the jobs that have
 *     ended, given the service it has had (src/sched/lengths.h). Few jobs tell little about the
 *     lengths of others, so the chances are drawn, too. The order of jobs does not know a drawn
 *     length; of a job that told its work the length is known after 0.3 slices of it. Where it is
 *     known by ended siblings that were much alike (siblings.h), it is drawn about that;
 *   - how fast a job goes on: its rate by the model, times a number about 1;
 *   - the jobs still to come: a Poisson process, at the rate of the last jobs that came, their
 *     lengths like those of others; or no job at all, which is the more likely the longer no job
 *     came.
 *
 * Time runs from event to event. Devices go where they are worth most, as under the policy
 * `goodput` (src/sched/worth.h) but without its slices. A job that starts stands still for its
 * restart. The interval of a job leaves out the earliest and the latest tenth of its drawn ends.
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

/* The recent arrivals of jobs. */
struct ends_stream {
	double gap_s;		/* mean time between the newest, until now; NaN: none is expected */
	double stopped;		/* the chance that no more come */
};

/* Computes the stream from the times at which the newest jobs came, in any order. */
#define ENDS_NEWEST 8
struct ends_stream ends_stream_of(const double *submitted_s, int n, double now_s);

/* Tells the end of each job, in the order of in->jobs. Only jobs with wanted[i] are told; NULL:
 * all. */
void ends_of(const struct sched_input *in, const struct ends_stream *stream, const bool *wanted,
	     struct job_ends *ends);

#endif
