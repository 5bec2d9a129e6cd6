/* host_memory.h - host memory as a second resource of the decision of the policy goodput.
 *
 * A job takes memory of the host while it runs: as much as its offers say for its devices, or
 * memory_bytes. Sums are in units of 1/MEMORY_UNITS of sched_input.memory_bytes, each
 * job's part rounded up. The search of allocation.h is asked first: an allocation that fits the
 * memory is the best there is. Otherwise a dynamic program over jobs, devices and memory finds the
 * best that fits; jobs that are launched may then run in a leaner way (policy.h). Where there
 * are several kinds of device, more than MEMORY_MOST_DEVICES or more than MEMORY_MOST_JOBS, a price
 * of memory is found by bisection (Lagrangian relaxation), and the result fits, but may not be the
 * best.
 *
 * Jobs that keep devices keep their memory, even if it sums up to more than there is. Overdue jobs
 * come next, each with the least that it can run with. The first of them that does not fit waits
 * until memory is left, and no other waiting job takes any meanwhile. A job that needs all of the
 * memory or more runs with no other that needs some. */
#ifndef SCHED_HOST_MEMORY_H
#define SCHED_HOST_MEMORY_H

#include "allocation.h"
#include "claims.h"

#define MEMORY_UNITS 32
#define MEMORY_MOST_DEVICES 16
#define MEMORY_MOST_JOBS 64
#define MEMORY_BISECTIONS 20

/* Units of the job at an index of curve.h; 0: its need, or the host's memory, is not known. */
int memory_units_of(const struct curves *curves, int index, int way, int at);
/* True if the jobs with devices fit the host's memory together, all in way 0. */
bool memory_suffices(const struct curves *curves, const int *at);
/* Puts the allocation worth most that fits the memory into at, and the jobs' ways into way. values:
 * for each way, n_devices + 1 for each job, as in allocation.h. They are changed. */
void memory_allocate(const struct curves *curves, const struct claims *claims, double *values,
		     int *at, int *way);
/* What an allocation leaves of the devices, and takes of the memory. */
struct memory_use {
	const int *at;
	int units;
	double bytes;
	int left[SCHED_KINDS];	/* devices of each kind */
};
struct memory_use memory_use_of(const struct curves *curves, const int *at, const int *way);
/* True if a job that is relaunched on its devices in way 0 fits as well. Counts its memory then. */
bool memory_lets_change(const struct curves *curves, struct memory_use *use, int index);
/* True if the job waits because memory is in use, although devices are left, or the job would have
 * some if there were more memory. wanted: the allocation without limit. Then the reason says
 * so. */
bool memory_explains(const struct curves *curves, const struct memory_use *use, const int *wanted,
		     int index, char *reason);

#endif
