/* knowledge.h - what the store says of a workload on one kind of device, and what that makes of a job.
 *
 *	struct knowledge k;
 *	if (knowledge_load(&store, workload, kind, &k, err)) ...
 *	knowledge_of_job(&k, &job, &job_model);
 *	goodput_best(&job_model.goodput, place, &choice);
 *	knowledge_release(&k);
 *
 * Shared by all jobs of the workload, past and present: a second submission of a known training script
 * starts with a full model. Nothing here writes. */
#ifndef POLLUX_KNOWLEDGE_H
#define POLLUX_KNOWLEDGE_H

#include "pollux/err.h"
#include "pollux/goodput.h"
#include "pollux/job.h"
#include "pollux/pool.h"
#include "pollux/store.h"

struct knowledge {
	bool modelled;			/* model holds a fit of at least one observation */
	struct model_row model;
	struct residuals residuals;	/* owned; what the model leaves of what was measured */
	struct noise_window *windows;	/* owned; of all its jobs */
	int n_windows;
	bool noise_is_measured;		/* also with one replica and one pass */
	double restart_s;		/* from the stop signal to the first step after; NaN: unknown */
	/* The noise scale of a job of this batch size that never ran (0: not worked out yet): of a thousand
	 * such jobs it is the same. */
	int64_t fresh_batch_size;
	struct noise_estimate fresh;
	double typical_samples;		/* that its jobs took which are done; NaN: cannot be told */
	struct step_time_list step_times;	/* owned; of jobs without a batch size */
	struct memory_bounds memory;	/* owned */
	struct failed_sizes failed;	/* owned */
};

/* What is known of a workload that nobody has run. */
struct knowledge knowledge_of_nothing(void);
/* With the model as it was last fitted. */
int knowledge_load(struct store *s, const char *workload, const char *device_kind,
		   struct knowledge *k, struct err *err);
/* Fit k->model anew, from all observations there are: for store_model_set. */
int knowledge_learn(struct store *s, const char *workload, const char *device_kind,
		    const char *observations_key, struct knowledge *k, struct err *err);
/* Only k->memory and k->failed, in place of those that k has. */
int knowledge_load_sizes(struct store *s, const char *workload, const char *device_kind,
			 struct knowledge *k, struct err *err);
void knowledge_release(struct knowledge *k);

/* What such a fit rests on: one entry for each configuration. *entries is the caller's to free. */
int knowledge_observations(struct store *s, const char *workload, const char *device_kind,
			   struct pool_entry **entries, int *n, struct err *err);

/* A job is given at most so many times the local batch size that its workload was ever measured at, and
 * SCHED_REPLICA_GROWTH times the replicas (policy.h): the model is optimistic about what it has not seen, and
 * memory is not in it. Where a local batch within that ran out of memory or failed, at most the largest that did
 * not, as memory_bounds.h and failed_sizes.h have it for so many replicas. */
#define KNOWLEDGE_GROWTH 2

/* Where the noise scale of a job comes from. */
enum noise_basis { NOISE_UNKNOWN, NOISE_OWN, NOISE_DECLARED, NOISE_SHARED };
const char *noise_basis_name(enum noise_basis basis);

struct job_model {
	/* Enough is known for a choice of sizes: a batch size was declared, and steps were timed. */
	bool known;
	struct goodput_model goodput;
	/* To be tried, or what the job needs at least; 0: not known. goodput.max_local_batch_size is limited
	 * likewise, but for memory, see job_model_on; the owner's own limit is below. */
	int max_replicas;
	int min_replicas;
	int64_t min_batch_size, own_max_local_batch_size;	/* 0: none */
	enum noise_basis noise_basis;
	int64_t n_noise_updates;
	/* To its end: as declared, or as other jobs of the workload took; NaN: neither tells, or it is as far
	 * beyond that as sched_remaining (policy.h) says. */
	double remaining_samples;
	/* Of a job without a batch size: seconds of steps to its end on timed_replicas devices, by its own step
	 * times, or where it has none by those of the workload's other jobs, if they agree; NaN: not known. */
	double remaining_s;
	int timed_replicas;
	double restart_s;		/* NaN: unknown */
	struct memory_bounds memory;	/* the knowledge's, which has to outlive this and stay where it is */
	struct failed_sizes failed;
};

void knowledge_of_job(struct knowledge *k, const struct job *job, struct job_model *m);

/* The model for so many replicas: goodput with what works then. max_local_batch_size -1: nothing. */
struct goodput_model job_model_on(const struct job_model *m, int replicas);

/* The configuration of most goodput on so many replicas of one node, at most max_replicas; within 1 % of it,
 * if that makes the local batch a round number. Where none is within the limits of what was tried, a job still
 * runs as it was submitted, its batch size rounded to the replicas by configuration_spread: on the fewest replicas
 * that it asks for, and, without a range of batch sizes, on any more that this is not known to fail on. Where it
 * is known not to work the job gets what does, if that is legal (configuration_within).
 * False, with all zero: it is not to be given so many. */
bool job_model_best(const struct job_model *m, int replicas, struct goodput_choice *choice);
/* Whether these sizes are not known to be too large: what it was submitted with may be, and is all there is. */
bool job_model_fits(const struct job_model *m, const struct configuration *c);

#endif
