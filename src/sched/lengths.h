/* lengths.h - what is left of a job, as an order of who comes first.
 *
 * On one device the order of least mean completion time is that of the Gittins index: first comes
 * the job that has, for some amount of work D, the greatest chance of its end for each second spent
 *
 *	P(it ends within D) / E(work until it ends, or D)
 *
 * (J. Gittins, "Bandit processes and dynamic allocation indices", J. R. Statist. Soc. B 41, 1979).
 * The reciprocal, at its least over D, is the job's effective length, in device-seconds. Where the
 * remaining work is known, the effective length is just that: shortest remaining time first. Only a
 * job that is shorter by a tenth, and by what a turn costs, takes the devices of another: to stop a
 * job for one that ends hardly sooner does not pay. Siblings of learnt length (siblings.h) go one
 * after the other, that of most service first: what remains of a job by its siblings may grow with
 * its service, and two that are equal would take turns without end.
 *
 * Where it is not known, P is the distribution of lengths among the store's jobs. The service of a
 * job, in device-seconds, falls into bins: up to a quarter of a slice, and then each twice as wide
 * as all before. In each bin a job ends with the chance
 *
 *	(LENGTHS_PRIOR / 2 + jobs that ended in the bin)
 *		/ (LENGTHS_PRIOR + jobs that ended in it or reached its end)
 *
 * at a constant rate. Without any job that has ended this is the heavy tail that is usual of
 * training jobs: each doubling of the service ends half of the jobs (a Pareto distribution,
 * exponent 1), so what had more service has longer to go, and jobs of little service come first.
 * Jobs that have ended show where lengths are alike: then what had more service is nearer to its
 * end, and goes on. While one job of a workload is measured, the others count as if they had had a
 * slice. Where no job of a workload has ended, that of most service is its pilot: the others count
 * as if they had had a slice more than it. */
#ifndef SCHED_LENGTHS_H
#define SCHED_LENGTHS_H

#include "curve.h"

#define LENGTHS_KEPT_PART 0.9
#define LENGTHS_BINS 40
#define LENGTHS_PRIOR 4		/* jobs that the heavy tail counts for, in each bin */

struct lengths {
	double from[LENGTHS_BINS + 1];	/* device-seconds of service at which each bin begins */
	double rate[LENGTHS_BINS];	/* ends for each device-second of service in the bin */
	/* jobs that ended in the bin; jobs that ended in the bin or reached its end */
	double ended[LENGTHS_BINS], seen[LENGTHS_BINS];
	double stay[LENGTHS_BINS];	/* chance that a job which enters the bin outlasts it */
};

struct lengths lengths_of(const struct curves *curves);

/* Lengths as they may be in truth: few jobs tell little about the chances. Each chance is drawn
 * from its beta distribution, whose mean is the chance above. */
struct lengths lengths_draw(const struct lengths *lengths, uint64_t *random);

/* The effective length of a job after this many more device-seconds of service, which count only
 * where the remaining work is not known. Finite and above 0. */
double lengths_effective_device_s(const struct lengths *lengths, const struct curve *c,
				  double more_device_s);
/* The length that another job must be below to take the devices of this one, which holds some. NaN:
 * it is not known what remains of this one. */
double lengths_kept_device_s(const struct curve *c);

#endif
