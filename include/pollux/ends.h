/* ends.h - when jobs will start and end, as intervals.
 *
 * The jobs that a policy is told of (policy.h) are simulated ENDS_DRAWS times, each time with other
 * random values for what is not known:
 *
 *   - what remains of a job. Where ended siblings tell its length (siblings.h), it is drawn about
 *     theirs, by a distribution with the tails that few siblings ask for. Where nothing does, it is
 *     drawn from the lengths of the jobs that have ended, given the service it has had
 *     (src/sched/lengths.h); few jobs tell little about the lengths of others, so the chances are
 *     drawn, too. Jobs of one workload are alike in each draw. The order of jobs does not know a
 *     drawn length before a sibling has ended in the draw; of a job that told its work the length
 *     is known once it has settled;
 *   - how fast a job goes on: its rate by the model, times a number about 1;
 *   - the jobs still to come: a Poisson process, at the rate of the last jobs that came, their
 *     lengths like those of others; or no job at all, which is the more likely the longer no job
 *     came.
 *
 * Time runs from event to event. Devices go where they are worth most, by the rules of the policy
 * `goodput` in short: slices for jobs of unknown length, the pilot of a workload first, brief jobs
 * as soon as devices are left (src/sched/claims.h), the rest by worth (src/sched/worth.h). What the
 * jobs have now was decided already. A job that starts stands still for its restart. The interval
 * of a job leaves out the earliest and the latest tenth of its drawn ends.
 *
 * The start of a waiting job is told where its draws are near each other, and where they do not
 * rest on the end of a job of which nothing is known.
 *
 * The same input gives the same intervals. Pure functions. */
#ifndef POLLUX_ENDS_H
#define POLLUX_ENDS_H

#include "pollux/policy.h"

#define ENDS_DRAWS 64

/* Seconds from now; NaN: nothing can be told. */
struct job_ends {
	double from_s, middle_s, to_s;
	bool length_known;	/* something tells how long the job is at most */
	double start_from_s, start_middle_s, start_to_s;	/* of a job that waits */
};

/* The recent arrivals of jobs. */
struct ends_stream {
	double gap_s;		/* mean time between the newest, until now; NaN: none is expected */
	double stopped;		/* the chance that no more come */
};

/* Computes the stream from the times at which the newest jobs came, in any order. */
#define ENDS_NEWEST 8
struct ends_stream ends_stream_of(const double *submitted_s, int n, double now_s);

/* Tells the start and the end of each job, in the order of in->jobs. The draws go on until the jobs
 * with wanted[i] have ended; NULL: all jobs. */
void ends_of(const struct sched_input *in, const struct ends_stream *stream, const bool *wanted,
	     struct job_ends *ends);

#endif
