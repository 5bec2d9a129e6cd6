/* las.h - the parts of the policy `las` (policy_las.c), which has the rules. */
#ifndef SCHED_LAS_H
#define SCHED_LAS_H

#include <stdbool.h>

#include "reason.h"
#include "pollux/policy.h"

enum las_rank { RANK_NOT_PREEMPTIBLE, RANK_IN_SLICE, RANK_BY_SERVICE };

struct las_job {
	const struct sched_job *job;
	int index;		/* in the input */
	int min, held;
	double weight, key;	/* key: service / weight, seconds */
	enum las_rank rank;
	int first;		/* put first, and waits; the largest is the next */
	int replicas;		/* decided so far */
	const struct las_job *evictor;	/* the last in line that was to take its devices */
};

struct las {
	const struct sched_input *in;
	struct las_job *jobs;	/* in->n_jobs of them, in order of precedence */
	int *holders;		/* which jobs have devices by this decision, in order */
	int n_holders;		/* at most n_devices */
	int n_waiting;		/* of the jobs that n_devices suffice for */
	int left;		/* devices not given yet */
	bool blocked;		/* a job did not fit */
	bool gathering;		/* a job that did not fit starts within a slice */
};

/* True if the job keeps its devices however much service it has had. */
bool las_is_locked(const struct las_job *e);
bool las_is_possible(const struct las *las, const struct las_job *e);

/* --- las_timeline.c: when waiting jobs can start --- */

/* A device as waiting jobs see it: who has it, and from when on they may take it. */
struct las_unit {
	struct las_job *owner;		/* NULL: free */
	double free_s;			/* the owner's slice is over; INFINITY: never */
	bool minimum;			/* the owner gives it up only to jobs before it */
	double since_s, pace;		/* owner's key at t: key + (t - since_s) * pace */
	double available_s;		/* to the job in question */
};

struct las_timeline {
	struct las_unit *units;	/* n_devices of them */
	int n;
	double now_s;
};

/* final: all devices have been given. */
void las_timeline_set(const struct las *las, struct las_timeline *t, bool final);
/* The time at which the job has its minimum; INFINITY if this time cannot be told. The first units
 * are then the devices that the job will have. */
double las_timeline_start_s(struct las_timeline *t, const struct las_job *e);
/* The job starts at start_s on the first of the units. A job that loses one of its minimum then
 * stops, and leaves its other devices too. */
void las_timeline_reserve(const struct las *las, struct las_timeline *t, struct las_job *e,
			  double start_s);

/* --- las_line.c: why each job runs or waits, as facts --- */

enum las_why {
	LAS_TO_ITS_END,		/* it runs, and is not preemptible */
	LAS_FOR_A_SLICE,	/* it runs, in its slice or launched now */
	/* it runs until the job `id`, which was served less, can have `devices` */
	LAS_UNTIL_SERVED,
	/* it runs until the job `id`, which was put first, can have `devices` */
	LAS_UNTIL_FIRST,
	LAS_LEAST_SERVED,	/* it runs, and no job that waits has had less service */
	LAS_ALONE,		/* it runs, and no job waits */
	LAS_IMPOSSIBLE,		/* it waits, and the machine has too few devices */
	LAS_KEEPERS,		/* `jobs`, not preemptible, keep `devices` */
	/* it is not preemptible, and waits for the job `id`, which is stuck */
	LAS_STUCK,
	/* it is first in line, and waits until `jobs` end their slices, or have had as much
	 * service */
	LAS_FIRST,
	LAS_LATER,		/* in line after the job `id` */
};

struct las_fact {
	enum las_why why;
	int place;			/* in line, from 1 */
	int64_t id;
	int devices;
	struct job_names jobs;
	bool slices, service;		/* LAS_FIRST: for what it waits */
	double start_s;			/* when it starts; NaN: it runs, or that cannot be told */
};

/* facts: in the order of las->jobs. */
void las_facts(struct las *las, struct las_timeline *t, struct las_fact *facts);

/* --- reason_las.c --- */

void reason_las(const struct las *las, const struct las_job *e, const struct las_fact *fact,
		char *reason);

#endif
