/* tier_goodput.h - goodput over tiers: the shortest job first, and a wait for better joined GPUs
 * where that ends the job sooner.
 *
 * Jobs are asked in the order of their effective length (lengths.h), in seconds on their GPUs. At
 * first they take only GPUs of the best tier that has room for them: a job on worse ones keeps them
 * from jobs that could use them well. Then those that are left are offered again, and a job that
 * could have GPUs of tier t now waits for a better tier b iff
 *
 *	remaining / part(t)  >  wait(b) + restart + remaining / part(b)
 *
 * where remaining is the work that is left, or its effective length, and wait(b) is the time until
 * leases have ended on as many GPUs within b, on machines that are promised to no job that was
 * asked before. A job that waits longer than
 *
 *	B = 24 max(lease, round)
 *
 * where round is the device-seconds of a lease of each job that waits, by the number of GPUs, comes
 * before all others, and takes any GPUs. Where there are too few, machines that are free first, as
 * many as the job needs within its best tier, are kept from the jobs that are asked later. */
#ifndef SCHED_TIER_GOODPUT_H
#define SCHED_TIER_GOODPUT_H

#include "pollux/tier.h"

double tier_goodput_key(const struct tier_job *job);
bool tier_goodput_offer(struct tier_state *s, const struct tier_job *job, int *held,
			double *alarm_s);
void tier_goodput_prepare(struct tier_state *s, struct tier_job *const *jobs, int n);

/* True if the job ends sooner after wait_s on the better tier than now on this one. */
bool tier_wait_pays(const struct tier_job *job, enum tier now, enum tier better, double wait_s);

#endif
