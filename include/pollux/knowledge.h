/* knowledge.h - what the store says of a workload on one kind of device.
 *
 *	struct knowledge k;
 *	if (knowledge_load(&store, workload, kind, &k, err)) ...
 *	knowledge_of_job(&k, &job, &job_model);		// job_model.h
 *	knowledge_release(&k);
 *
 * All jobs of the workload share the knowledge, past and present: a second submission of a known
 * training script starts with a full model. Nothing here writes. */
#ifndef POLLUX_KNOWLEDGE_H
#define POLLUX_KNOWLEDGE_H

#include "pollux/err.h"
#include "pollux/job_model.h"
#include "pollux/pool.h"
#include "pollux/store.h"

struct knowledge {
	bool modelled;			/* model holds a fit of at least one observation */
	struct model_row model;
	struct residuals residuals;	/* owned; what the model leaves of what was measured */
	struct noise_window *windows;	/* owned; of all jobs of the workload */
	int n_windows;
	bool noise_is_measured;		/* also with one replica and one pass */
	double restart_s;		/* from the stop signal to the next step; NaN: unknown */
	/* A thousand jobs of this batch size that never ran have one noise scale: it is
	 * computed for the first of them. 0: not yet. */
	int64_t fresh_batch_size;
	struct noise_estimate fresh;
	double typical_samples;		/* of jobs that are done; NaN: too few, or they differ */
	struct step_time_list step_times;	/* owned; of jobs without a batch size */
	struct memory_bounds memory;	/* owned */
	struct failed_sizes failed;	/* owned */
};

/* What is known of a workload that nobody has run. */
struct knowledge knowledge_of_nothing(void);
/* With the model as it was last fitted. */
int knowledge_load(struct store *s, const char *workload, const char *device_kind,
		   struct knowledge *k, struct err *err);
/* Fits k->model anew, from all observations that there are: for store_model_set. */
int knowledge_learn(struct store *s, const char *workload, const char *device_kind,
		    const char *observations_key, struct knowledge *k, struct err *err);
/* Only k->memory and k->failed, in place of those that k has. */
int knowledge_load_sizes(struct store *s, const char *workload, const char *device_kind,
			 struct knowledge *k, struct err *err);
void knowledge_release(struct knowledge *k);

/* What a fit rests on: one entry for each configuration. *entries is the caller's to free. */
int knowledge_observations(struct store *s, const char *workload, const char *device_kind,
			   struct pool_entry **entries, int *n, struct err *err);

#endif
