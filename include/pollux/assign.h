/* assign.h - which devices, once it is decided how many.
 *
 * A job keeps what it has; a job that shrinks gives up its highest-numbered devices; a job that
 * grows or starts takes free devices first, and those that others are giving up after them, lowest
 * numbers first. A job whose count is unchanged never moves.
 *
 *	int holder[] = { 0, 0, -1, 1 }, count[] = { 1, 2 }, owner[4];
 *	assign_devices(4, holder, 2, count, owner);	// 0, -1, 1, 1 */
#ifndef POLLUX_ASSIGN_H
#define POLLUX_ASSIGN_H

#define ASSIGN_FREE (-1)
#define ASSIGN_UNUSABLE (-2)

/* holder[d]: the index of the job that has device d now, ASSIGN_FREE, or ASSIGN_UNUSABLE. A device
 * that turned unusable under a job is lost to it: the job gets another. A device still in use by a
 * job on its way out is held by that job, with a count of 0.
 * count[j]: devices decided for job j; the sum is at most the number of usable devices.
 * owner[d] (result): the index of the job that is to have device d, else ASSIGN_FREE (also where
 * unusable). Where several jobs need devices, the one with the smaller index picks first. */
void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count, int *owner);

#endif
