/* allocation.h - how many devices each job gets: the allocation worth most, exactly.
 *
 * The sum of values over jobs, each with one number of devices of one kind, is a knapsack with a
 * choice per job: a dynamic program over jobs and what is left finds its maximum. With one kind it
 * takes O(J G^2) time and O(J G) memory for J jobs and G devices.
 *
 * Values are added as integers, in units of 2^-48 of the largest value (fewer bits for more than
 * 16,000 jobs), so that neither the order of the jobs nor rounding decides. Of two
 * allocations of equal worth, the better lets more jobs keep what they hold; if as many do, the
 * better uses fewer devices, and then it gives more to the earlier entry. */
#ifndef SCHED_ALLOCATION_H
#define SCHED_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "claims.h"
#include "curve.h"

struct allocation_job {
	int held;		/* devices it has now; an index of curve.h, as at[], value[] */
	/* value[r]: the worth of r devices, r = 0..n_devices; memory of the caller. A value that is
	 * not finite: the job must not get r devices. */
	const double *value;
};

/* With several kinds, the search is exact if the product of (capacity[k] + 1) is at most this. */
#define ALLOCATION_STATES 4096

/* jobs: in the order of their ids. at[j] (result): the devices of jobs[j]. Returns false, with all
 * of at 0, where no allocation is allowed.
 *
 * A state of the dynamic program is what is left of each kind. Where there are more states than
 * ALLOCATION_STATES, each kind first gets a price (Lagrangian relaxation; the prices are found
 * by subgradient: M. Fisher, Management Science 1981). At given prices each job chooses for
 * itself, and the sum of these best choices bounds what any allocation is worth. Some allocation
 * is known. Where a choice is worse than the job's best by more than the bound exceeds the known
 * allocation, no best allocation has that choice. The dynamic program looks at the other
 * choices. If these are still too many, the result is the known allocation. One kind has a
 * price, too, found by bisection, where choices times devices are more than FEW_LOOKS; its
 * result is always exact. *gap (may be NULL): the bound over the worth
 * of the result, minus 1; 0 where the result is exact. */
bool allocation_best(const struct allocation_job *jobs, int n_jobs, const int *capacity,
		     int n_kinds, int *at, double *gap);
/* The same on the devices of the policy's input. */
bool allocation_of_curves(const struct curves *curves, const struct allocation_job *jobs, int *at);

/* The worth of r devices to a job; r is an index of curve.h. */
typedef double allocation_worth(const void *policy, const struct curve *c, int r);
/* Sets the values of a job's devices: -HUGE_VAL where its claim allows none. */
void allocation_values(const struct curves *curves, const struct claims *claims, int index,
		       allocation_worth *worth, const void *policy, double *value);
/* The allocation worth most that the claims allow. Returns the values, n_devices + 1 for each job,
 * which the caller frees. */
double *allocation_of_claims(const struct curves *curves, const struct claims *claims,
			     allocation_worth *worth, const void *policy, int *at);

/* --- the dynamic program, for host_memory.c --- */

struct choice {
	int at, kind, devices;	/* devices 0: nothing */
	int way, units;		/* of host memory, below; 0 where it does not count */
	double value;
};

struct search {
	const struct allocation_job *given;
	int n_jobs, n_kinds, n_devices;
	int capacity[SCHED_KINDS + 1];	/* devices of each kind; units of memory behind the last */
	bool in_memory;			/* memory counts */
	struct choice_list {
		int first, n;
	} *jobs;			/* the choices of each job */
	/* Of each job, the first kinds and more devices of each first. Of equal allocations, the
	 * first choice is made. */
	struct choice *choices;
	int n_choices;
};

/* chosen[j] (result): the choice of job j. */
bool search_all(const struct search *s, int *chosen);

/* ---- host memory ---- */

/* Host memory as a second resource of the decision of the policy goodput.
 *
 * A job takes memory of the host while it runs: as much as its offers say for its devices, or
 * memory_bytes. Sums are in units of 1/MEMORY_UNITS of sched_input.memory_bytes, each
 * job's part rounded up. The search above is asked first: an allocation that fits the
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

#define MEMORY_UNITS 32
#define MEMORY_MOST_DEVICES 16
#define MEMORY_MOST_JOBS 64
#define MEMORY_BISECTIONS 20

/* Units of the job at an index of curve.h; 0: its need, or the host's memory, is not known. */
int memory_units_of(const struct curves *curves, int index, int way, int at);
/* True if the jobs with devices fit the host's memory together, all in way 0. */
bool memory_suffices(const struct curves *curves, const int *at);
/* Puts the allocation worth most that fits the memory into at, and the jobs' ways into way. values:
 * for each way, n_devices + 1 for each job, as above. They are changed. */
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
 * some if there were more memory. wanted: the allocation without limit. Then the verdict says
 * so. */
bool memory_explains(const struct curves *curves, const struct memory_use *use, const int *wanted,
		     int index, struct verdict *v);

#endif
