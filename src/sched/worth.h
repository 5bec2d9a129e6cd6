/* worth.h - what r devices are worth to a job, for the policy `goodput`.
 *
 *	worth(r) = weight * sqrt(rate(r) / length)
 *
 * The sum over jobs of (rate / remaining work)^(1/2) was found by experiment: on four published
 * workloads its maximum gives mean completion times below those of the published fitness (of
 * exponents 0.35 to 1, 0.5 was best). A short job gains more by a device than a long one, and a
 * second device adds less than a first, so that short ones come first but share.
 *
 * length, device-seconds: what remains of the job, where that is known; else the service it has had
 * plus 12 slices, since what has run for long will run for long (2 h at the default slice; the
 * constant of the same experiment). One that was never measured counts with one slice only: after
 * that more is known of it, and whether it is short.
 *
 * rate, in devices (speedup): the mean over a horizon of one slice, or of two restarts where that is
 * longer, so that a start is always worth something. On what it holds the job goes on at the rate it
 * has. Elsewhere a restart comes first:
 *
 *	rate = speedup(r) * (horizon - restart) / horizon
 *	rate = work / (work / speedup(r) + restart)	where the rest is done within the horizon
 *
 * For a job that runs, every number but what it holds, none too, is worth less by what 5 % of its
 * rate is: models move as they learn, and such a gain is not worth a relaunch.
 *
 * Relaunching a job on what it holds, at a better configuration, is one more way to have them.
 * No devices are worth nothing, and for a job that runs they cost the restart that brings it back. */
#ifndef SCHED_WORTH_H
#define SCHED_WORTH_H

#include <stdbool.h>

#include "curve.h"

/* The length: of what remains, or taken for it. */
double worth_length_device_s(const struct curves *curves, const struct curve *c);
/* To a job that is launched on r > 0 devices. */
double worth_launched(const struct curves *curves, const struct curve *c, int r);
/* To the job as it is: it runs, or waits. */
double worth_of(const struct curves *curves, const struct curve *c, int r);
/* It runs, and would gain more than 5 % over the horizon by a relaunch on the devices it holds, the
 * restart included. Never so within its slice, unless it has run for ten times its restart, nor of
 * one that is not preemptible. */
bool worth_reconfiguring(const struct curves *curves, const struct curve *c);

#endif
