/* share_match.h - which waiting jobs go beside which jobs that have devices: one more job for a
 * device, one device for a job.
 *
 * The sum of the gains is exactly the largest there is, for any number of jobs and devices. The
 * whole decision of a pass is not. The policy decides first which jobs have devices of their own,
 * as if nobody shared. Then one more job goes beside those on each device, as here; then one more
 * again, up to max_share. So the choice of the first guests is exact, given who has the devices:
 * there is no more to choose where max_share is 2. Two things are not searched: other jobs in the
 * place of those that have devices, for the sake of who fits beside them; and a first guest that
 * gains less, but leaves more for a second one.
 *
 *	double gain[2 * 2] = { 0.6, 0.5, 0.6, NAN };	// job 0 fits both devices, job 1 the first
 *	int device_of[2];
 *	share_match(gain, 2, 2, device_of);		// 1, 0: together 1.1
 */
#ifndef POLLUX_SHARE_MATCH_H
#define POLLUX_SHARE_MATCH_H

/* gain[j * n_devices + i]: what job j adds on device i, above 0; any other value: it does not go
 * there. Sets device_of[j], or -1, so that the sum of the gains is the largest there is, for any
 * number of jobs and devices. Among equals jobs and devices that come first are chosen first. The
 * method: augmenting paths of the largest gain, which leave after k of them the best assignment of
 * k jobs (Ford and Fulkerson, "Flows in Networks", 1962, chapter III). */
void share_match(const double *gain, int n_jobs, int n_devices, int *device_of);

#endif
