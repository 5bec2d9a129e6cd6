/* assign.h - which devices, once it is decided how many.
 *
 * What comes first settles what comes later:
 *
 *	1. A job whose count is unchanged never moves; one that grows keeps all it has; one that shrinks
 *	   keeps those of its own that are joined best.
 *	2. Free devices are given out before those that others are giving up, and so that as many jobs as
 *	   can be need only free ones, and start at once: those that need fewest (of equals, the one with
 *	   the smaller index).
 *	3. The sum over the jobs that get devices of what their sets cost is least: the links of their
 *	   farthest pairs, summed over the jobs; where that is equal, the links of all their pairs.
 *	4. Of sets that cost the same, free devices and then lowest numbers, in the order of the jobs,
 *	   those that start at once before those that wait.
 *
 * 3 and 4 hold exactly where no more than ASSIGN_EXACT devices are to choose from: those that are free,
 * with those given up if the free ones are not enough; for a job that shrinks, its own. Among more,
 * devices are picked one at a time, the nearest first, out of the smallest group that will do, so that
 * whole groups are left to others; jobs that grow pick first, then those that need most.
 *
 *	int holder[] = { 0, 0, -1, 1 }, count[] = { 1, 2 }, owner[4];
 *	assign_devices(4, holder, 2, count, NULL, owner);	// 0, -1, 1, 1 */
#ifndef POLLUX_ASSIGN_H
#define POLLUX_ASSIGN_H

#define ASSIGN_FREE (-1)
#define ASSIGN_UNUSABLE (-2)

#define ASSIGN_EXACT 16
#define ASSIGN_LINK_MAX 7

/* holder[d]: the index of the job that has device d now, ASSIGN_FREE, or ASSIGN_UNUSABLE. A device
 * that turned unusable under a job is lost to it: the job gets another. A device still in use by a
 * job on its way out is held by that job, with a count of 0.
 * count[j]: devices decided for job j; the sum is at most the number of usable devices.
 * links[a * n_devices + b]: how far apart devices a and b are, 0 (nearest) to ASSIGN_LINK_MAX, as far
 * from a to b as back; a == b is not looked at. NULL: all are as near.
 * owner[d] (result): the index of the job that is to have device d, else ASSIGN_FREE (also where
 * unusable). */
void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count,
		    const unsigned char *links, int *owner);

#endif
