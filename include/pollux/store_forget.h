/* store_forget.h - taking back what is known. */
#ifndef POLLUX_STORE_FORGET_H
#define POLLUX_STORE_FORGET_H

#include "pollux/store.h"

struct forget {
	const char *workload;
	int64_t job_id;			/* only what this job measured; 0: all of the workload */
	bool gradients, times, memory;
};

/* The number of rows that were taken back. */
struct forgotten {
	int64_t windows;		/* of gradient statistics */
	int64_t observations, models;	/* of step times */
	int64_t out_of_memory;		/* runs that ran out of memory */
};

/* Call inside a transaction. The history of jobs and runs stays. */
int store_forget(struct store *s, const struct forget *f, struct forgotten *n, struct err *err);
int store_workload_has_jobs(struct store *s, const char *workload, bool *has, struct err *err);

#endif
