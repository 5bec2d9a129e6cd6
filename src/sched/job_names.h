/* job_names.h - some jobs as a sentence names them: "jobs 3, 5 and 2 more". */
#ifndef SCHED_JOB_NAMES_H
#define SCHED_JOB_NAMES_H

#include <stdint.h>

struct job_names {
	int n;
	int64_t first[2];	/* the smallest ids, as far as n goes */
};

/* Sorts ids; an id that occurs several times is one job. */
struct job_names job_names_of(int64_t *ids, int n);
/* Joins two lists of jobs that have no job in common. */
struct job_names job_names_join(struct job_names a, struct job_names b);

#endif
