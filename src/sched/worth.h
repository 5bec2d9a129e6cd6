/* worth.h - what r devices are worth to a job, for the policy `goodput`.
 *
 *	worth(r) = weight * rank * sqrt(rate(r))
 *
 * (but see first_rank below). rank: how many jobs are expected to be at least as long as this one, itself among them:
 *
 *	rank = sum over jobs k of P(length_k >= length)
 *
 * These are the jobs that wait for it in a schedule that lets short jobs go first, so each second that it is
 * done sooner is a second less for so many. For jobs that arrive together and speed up as r^p the least mean
 * completion time is that of the greatest sum of a weight that grows as rank^p, times rate (B. Berg et al.,
 * "heSRPT", Performance Evaluation 2020, theorem 3). Jobs of a workload speed up each in its own way, others
 * arrive, and restarts cost: which powers serve best was found by simulation. On made-up workloads of the
 * published jobs powers of 1 for the rank and of 0.5 to 0.75 for the rate gave the least mean; 0.5 keeps long
 * jobs from falling behind.
 *
 * length, device-seconds: what remains of the job, where that is known, and P is 0 or 1 then. Else the service
 * it has had plus 12 slices, since what has run for long will run for long (2 h at the default slice), and
 *
 *	P(length_k >= length) = cbrt(length_k) / (cbrt(length_k) + cbrt(length))
 *
 * so that what nobody knows moves less (with square roots jobs ended 1 % sooner, and the longest 1 % later).
 * The roots are taken to 1 %, which keeps the comparing of thousands of jobs short.
 * Of two such jobs it says only who gets more devices, not who has any: for the rate up to that of the least
 * devices another rank counts, first_rank. There P is 3/4 for one that has had a slice of service on its least
 * devices, as seen from one that has not, 1/4 the other way round, and 1/2 between two that have or two that have
 * not. So a newcomer has its first slice as soon as the slice of another is over, but no job is stopped for one
 * that has had a slice too: were it always for the one with less service, then where jobs are much alike the mean
 * completion time rose by up to 14 % and the 99th percentile by 70 %. The first slice costs nothing where devices
 * suffice for most, and where they do not, and all jobs are alike, 2 % and 5 %; it is what bounds the wait of a
 * short job. A job that was never measured counts with one slice only: after that more is known of it, and whether
 * it is short.
 *
 * rate, in devices (speedup): the mean over a horizon of half a slice, or of ten restarts where that is
 * longer, so that what is slow to start can still pay for it (both are 5 minutes for the published restarts of
 * 30 s and the default slice). On what it holds the job goes on at the rate it has. Elsewhere a restart comes
 * first:
 *
 *	rate = speedup(r) * (horizon - restart) / horizon
 *	rate = work / (work / speedup(r) + restart)	where the rest is done within the horizon
 *
 * For a job that runs, every number but what it holds, none too, is worth less by what 10 % of its
 * rate is: models move as they learn, and such a gain is not worth a relaunch.
 *
 * Relaunching a job on what it holds, at a better configuration, is one more way to have them. As nobody
 * else's devices come and go with it, the horizon is a slice there, or ten restarts, and the gain 5 %.
 * No devices are worth nothing, and for a job that runs they cost the restart that brings it back. */
#ifndef SCHED_WORTH_H
#define SCHED_WORTH_H

#include <stdbool.h>

#include "curve.h"

struct worths {
	const struct curves *curves;
	/* Of each job, in the order of the curves; owned. served_rank: the first_rank once it has had a slice. */
	double *rank, *first_rank, *served_rank;
};

struct worths worths_of(const struct curves *curves);
void worths_release(struct worths *w);

/* The length: of what remains, or taken for it. */
double worth_length_device_s(const struct curves *curves, const struct curve *c);
/* To a job that is launched on r > 0 devices. */
double worth_launched(const struct worths *w, const struct curve *c, int r);
/* To the job as it is: it runs, or waits. */
double worth_of(const struct worths *w, const struct curve *c, int r);
/* What a job that a decision gives r > 0 devices would lose with `to` of them, fewer or none, at the end of its
 * slice. */
double worth_lost(const struct worths *w, const struct curve *c, int r, int to);
/* It runs, has settled, and would gain more than 5 % over a slice by a relaunch on the devices it holds,
 * the restart included. Never so of one that is not preemptible. */
bool worth_reconfiguring(const struct curves *curves, const struct curve *c);

#endif
