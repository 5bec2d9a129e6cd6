/* las.h - the parts of the policy `las` (policy_las.c), which has the rules. */
#ifndef SCHED_LAS_H
#define SCHED_LAS_H

#include <stdbool.h>

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

/* A device as waiting jobs see it: who has it, and from when on they may take it. */
struct las_unit {
	struct las_job *owner;		/* NULL: free */
	double free_s;			/* the owner's slice is over; INFINITY: never */
	bool minimum;			/* the owner gives it up only to jobs before it */
	double since_s, pace;		/* owner's key at t: key + (t - since_s) * pace */
	double available_s;		/* to the job in question */
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
	struct las_unit *units;	/* n_units devices, for las_line.c */
	int n_units;
};

/* True if the job keeps its devices however much service it has had. */
static inline bool las_is_locked(const struct las_job *e)
{
	return e->rank != RANK_BY_SERVICE;
}

static inline bool las_is_possible(const struct las *las, const struct las_job *e)
{
	return e->min <= las->n_units;
}

/* las_line.c: the time at which a waiting job has its minimum, by what was given so far; INFINITY
 * if this time cannot be told. */
double las_start_s(struct las *las, const struct las_job *e);
/* Makes the choices when all devices have been given: why each job runs or waits. */
void las_tell(struct las *las, struct sched_choice *choices);

#endif
