/* worth.h - the worth of r devices to a job, for the policy `goodput`.
 *
 *	worth(r) = weight * rank * sqrt(rate(r))
 *
 * (but see first_rank below). The rank is the expected number of jobs that are at least as long as
 * this job, itself among them:
 *
 *	rank = sum over jobs k of P(length_k >= length)
 *
 * In a schedule that lets short jobs go first these jobs wait for this one, so each second that it
 * ends sooner is a second less for each of them. For jobs that arrive together and speed up as r^p,
 * the least mean completion time has the greatest sum of rates, weighted by a power p of the rank
 * (B. Berg et al., "heSRPT", Performance Evaluation 2020, theorem 3). Real jobs speed up each in
 * its own way, others arrive, and restarts cost time, so the powers were found by simulation. On
 * made-up workloads of the published jobs, powers of 1 for the rank and of 0.5 to 0.75 for the rate
 * gave the least mean; 0.5 keeps long jobs from falling behind.
 *
 * The length, in device-seconds, is what remains of the job, if that is known; P is then 0 or 1.
 * Otherwise it is the service that the job has had plus 12 slices (2 h at the default slice), since
 * a job that has run for long will run for long, and
 *
 *	P(length_k >= length) = cbrt(length_k) / (cbrt(length_k) + cbrt(length))
 *
 * Cube roots make unknown lengths count less (with square roots jobs ended 1 % sooner, and the
 * longest 1 % later). The roots are rounded to 1 %, which makes comparing thousands of jobs fast.
 *
 * Between two jobs of unknown length this rank decides only which gets additional devices. Which
 * runs at all is decided by first_rank, which counts for the rate up to that on the least devices.
 * There P is 3/4 for a job that has had a slice of service on its least devices, as seen from a job
 * that has not; 1/4 the other way round; and 1/2 between two jobs that have or two that have not.
 * So a newcomer has its first slice as soon as another job's slice is over, but no job is stopped
 * for one that has had a slice too. If the job with less service always came first, then among
 * similar jobs the mean completion time rose by up to 14 % and the 99th percentile by 70 %. The
 * first slice costs nothing where devices suffice for most jobs. Where they do not, and all jobs
 * are alike, it costs 2 % and 5 %. It bounds the wait of a short job. A job that was never measured
 * counts with one slice instead of 12: after one slice more is known of it. It counts
 * with 12, and like one that has had its slice, while another job of its workload is measured.
 *
 * The rate, in devices (speedup), is the mean over a horizon of half a slice, or of ten restarts
 * where that is longer, so that a job that starts slowly can still pay for its start. (Both are 5
 * minutes for the published restart of 30 s and the default slice.) On the devices it holds, a job
 * goes on at its present rate. On others a restart comes first:
 *
 *	rate = speedup(r) * (horizon - restart) / horizon
 *	rate = work / (work / speedup(r) + restart)	where the rest is done within the horizon
 *
 * For a running job, every number of devices but the one it holds, including none, is worth less by
 * 10 % of its rate: models move as they learn, and such a gain is not worth a relaunch.
 *
 * A run that a turn only suspends (policy.h) restarts in another sense: on no devices it loses the
 * time in which it goes on, and on another number, or in another configuration, that of a relaunch
 * with the work since its last checkpoint. A run that a turn ends and relaunches loses that work in
 * either case. Work that is lost never lengthens a horizon or a slice, and at most the whole
 * horizon is lost: a job that never saves is not safe from its turn.
 *
 * A job may also be relaunched on the devices it holds, at a better configuration. No other job's
 * devices change then, so the horizon is a slice, or ten restarts, and the least gain 5 %. No
 * devices are worth nothing; to a running job they cost the restart that would bring it back. */
#ifndef SCHED_WORTH_H
#define SCHED_WORTH_H

#include <stdbool.h>

#include "curve.h"

struct worths {
	const struct curves *curves;
	/* One entry for each job, in the order of the curves; owned. served_rank: the first_rank
	 * that the job has after a slice. */
	double *rank, *first_rank, *served_rank;
};

struct worths worths_of(const struct curves *curves);
void worths_release(struct worths *w);

/* The length: what remains of the job, or the length assumed for it. */
double worth_length_device_s(const struct curves *curves, const struct curve *c);
/* The worth of r > 0 devices to a job that is launched on them. */
double worth_launched(const struct worths *w, const struct curve *c, int r);
/* The worth of r devices to the job in its present state, running or waiting. */
double worth_of(const struct worths *w, const struct curve *c, int r);
/* The loss of a job that a decision gives r > 0 devices if it keeps only `to` of them, fewer or
 * none, at the end of its slice. */
double worth_lost(const struct worths *w, const struct curve *c, int r, int to);
/* True if a running job has settled and would gain more than 5 % over a slice by a relaunch on the
 * devices it holds, with the restart counted. Never true of a job that is not preemptible. */
bool worth_reconfiguring(const struct curves *curves, const struct curve *c);

#endif
