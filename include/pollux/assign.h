/* assign.h - which devices each job gets, after the number of each is decided.
 *
 * An earlier rule comes before a later one:
 *
 *	1. A job whose count is unchanged never moves. A job that grows keeps all its devices. A job
 *	   that shrinks keeps those of its devices that are joined best.
 *	2. Free devices are given out before devices that other jobs give up. They go first to the
 *	   jobs that need fewest devices (among equals, to the smaller index), so that as many jobs
 *	   as possible start at once.
 *	3. The cost of the sets, summed over the jobs that get devices, is least. A set costs the
 *	   link of its farthest pair; where these sums are equal, the links of all its pairs.
 *	4. Between sets of equal cost: devices that are left to no job are joined best, by the links
 *	   of all their pairs. So a single device is taken where it breaks no group.
 *	5. Then: free devices, then lowest numbers, in the order of the jobs, with jobs that start
 *	   at once before jobs that wait.
 *
 * Rules 3 to 5 hold exactly for a choice among at most ASSIGN_EXACT devices. Jobs choose among the
 * free devices, and also among those given up if the free devices are not enough; a job that
 * shrinks chooses among its own. If there are more devices, they are picked one at a time: the
 * nearest first, from the smallest group that is large enough, so that whole groups are left to
 * other jobs. Jobs that grow pick first, then those that need most.
 *
 *	int holder[] = { 0, 0, -1, 1 }, count[] = { 1, 2 }, owner[4];
 *	assign_devices(4, holder, 2, count, NULL, owner);	// 0, -1, 1, 1 */
#ifndef POLLUX_ASSIGN_H
#define POLLUX_ASSIGN_H

#define ASSIGN_FREE (-1)
#define ASSIGN_UNUSABLE (-2)

#define ASSIGN_EXACT 16
#define ASSIGN_LINK_MAX 7

/* holder[d]: the index of the job that has device d now, ASSIGN_FREE, or ASSIGN_UNUSABLE. A job
 * whose device became unusable gets another. A device in use by a job that is being stopped for
 * good is held by that job, with a count of 0.
 * count[j]: devices decided for job j; the sum is at most the number of usable devices.
 * links[a * n_devices + b]: the distance of devices a and b, 0 (nearest) to ASSIGN_LINK_MAX, the
 * same in both directions; a == b is not looked at. NULL: all distances are equal.
 * owner[d] (result): the index of the job that is to have device d, or ASSIGN_FREE, also for a
 * device that is unusable. */
void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count,
		    const unsigned char *links, int *owner);

#endif
