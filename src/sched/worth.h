/* worth.h - the worth of r devices to a job, for the policy `goodput`.
 *
 *	worth(r) = weight * (first_rank * sqrt(min(rate(r), least))
 *			     + rank * (rate(r)^e - min(rate(r), least)^e))
 *
 * The aim is the least expected mean completion time, restarts included, over the distribution of
 * what is left of each job (lengths.h). Suppose that short jobs go first. Then all jobs that are at
 * least as long as this job wait for it, and each second by which this job ends sooner is a second
 * less for each of them:
 *
 *	rank = sum over jobs k of P(length_k >= length), the job itself among them
 *
 * Which jobs run at all is decided by first_rank. There P is 1, 1/2 or 0 by the effective length:
 * with one device this is the order of the Gittins index, and shortest remaining time first where
 * what remains is known.
 *
 * A job that holds devices keeps them by kept_rank: the lengths of others are compared with 0.9 of
 * its own, or with its own less its turn, where that is lower (lengths.h). So no job that ends
 * hardly sooner takes its devices.
 *
 * Devices beyond the least are shared. For jobs that arrive together and speed up as r^p, the least
 * mean completion time has the greatest sum of rates weighted by rank^p (B. Berg et al., "heSRPT",
 * Performance Evaluation 2020, theorem 3): the less jobs gain from devices, the less the order
 * counts. Here, P of two known lengths is
 *
 *	p * (1, 1/2 or 0) + (1 - p) * sqrt(length_k) / (sqrt(length_k) + sqrt(length))
 *
 * with the job's own p between its least devices and a fair share of the machine, and p is 0 where
 * either length is unknown. The roots are rounded to 1 %, which makes comparing thousands of jobs
 * fast. The square roots in the chance and in the worth were found in simulation.
 *
 * The exponent e is 1/2 where what remains is not known: such a job's rank is a guess, and devices
 * are shared evenly. Where it is known e is 1 - 0.3 p: the rate of a job that speeds up badly bends
 * by itself as it has more devices, and need not be bent once more. On one device e does nothing.
 * (0.3 was chosen on the workloads of benchmarks/desk.sh and policies.sh: with less, fixed batches
 * on four GPUs end up to 16 % later; without the first part, fairness suffers.)
 *
 * The rate, in devices (speedup), is the mean over a horizon: half a slice, or as long as the job
 * has kept the devices that it holds, at most ten restarts, where that is longer. (Half a slice and
 * ten restarts are 5 minutes for the published restart of 30 s and the default slice.) A job that
 * starts slowly can so pay for its start where devices are kept for long. Where jobs come and go
 * every few minutes, it would keep new devices for no longer than it kept those that it holds: jobs
 * that start for 260 s had other devices every 9 minutes, and worked for half of the time. On the
 * devices that it holds, a job goes on at its present rate. A job that waits is not charged for its
 * restart, which has to be paid whenever it starts. A running job on other devices restarts first:
 *
 *	rate = speedup(r) * (horizon - restart) / horizon
 *	rate = work / (work / speedup(r) + restart)	where the rest is done within the horizon
 *
 * For a running job, every number of devices but the one it holds, including none, is worth less by
 * 10 % of its rate: models move as they learn, and such a gain is not worth a relaunch.
 *
 * Some runs are only suspended when their turn ends (policy.h). Without devices, such a run loses
 * the short time that it takes to continue. On another number of devices, or in another
 * configuration, it loses the time of a relaunch and the work since its last checkpoint. A run that
 * is ended and relaunched loses that work in either case. Lost work never lengthens a horizon or a
 * slice, and at most the whole horizon is lost: a job that never saves loses its devices in turn
 * like the others.
 *
 * A job may also be relaunched on the devices it holds, at a better configuration. No other job's
 * devices change then, so the horizon is a slice, or ten restarts, and the least gain 5 %. To have
 * no devices is worth nothing, and costs a running job the restart that would bring it back. */
#ifndef SCHED_WORTH_H
#define SCHED_WORTH_H

#include <stdbool.h>

#include "curve.h"
#include "lengths.h"

struct worths {
	const struct curves *curves;
	double *rank, *first_rank, *kept_rank, *exponent;	/* by job; owned */
	struct lengths lengths;
	double *all;			/* effective lengths of all jobs, ascending; owned */
	int n;
};

/* r is an index of curve.h: it stands for kind and number of devices. */
struct worths worths_of(const struct curves *curves);
void worths_release(struct worths *w);

/* What remains of the job. Where that is not known: the service that the job has had, and 12
 * slices, but no more than its time limit allows. Jobs beside a stuck job are taken to have this
 * length, and so is a waiting job where the reason names the slices that it waits for. The
 * effective length of lengths.h is a rank, and shorter. */
double worth_length_device_s(const struct curves *curves, const struct curve *c);
/* The worth of r > 0 devices to a job that is launched on them. */
double worth_launched(const struct worths *w, const struct curve *c, int r);
/* The worth of each of the least devices to a job that is launched on them. */
double worth_per_device(const struct worths *w, const struct curve *c);
/* The worth of r devices to the job in its present state, running or waiting. */
double worth_of(const struct worths *w, const struct curve *c, int r);
/* The loss of a job to which a decision gives r > 0 devices, if at the end of its slice it keeps
 * only `to` of them, fewer or none. starts: true if the decision launches the job. */
double worth_lost(const struct worths *w, const struct curve *c, int r, int to, bool starts);
/* True if a running job has settled and would gain more than 5 % over a slice by a relaunch on the
 * devices it holds, with the restart counted. Never true of a job that is not preemptible. */
bool worth_reconfiguring(const struct curves *curves, const struct curve *c);

#endif
