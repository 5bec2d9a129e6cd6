/* knowledge.h - the knowledge of a workload on one kind of device, from the store. Under a plan the
 * workload has the name that execution_plan_workload() gives.
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
#include "pollux/time_ratio.h"
#include "pollux/observation.h"
#include "pollux/store_measurements.h"

/* What is expected of a plan by another plan of the workload (workloads.h). */
struct plan_tie {
	char reference[CONFIGURATION_PLAN_SIZE];	/* the other plan; "": there is none */
	struct fit_expectation ratio;	/* of step times, to those of the reference */
	bool pass, sync;		/* times of a pass, of synchronisation are borrowed */
	struct throughput_params params;	/* with these times */
};

struct knowledge {
	bool modelled;			/* model holds a fit of at least one observation */
	int width;			/* devices of one replica under its plan; 0 or 1: one */
	struct model_row model;
	struct residuals residuals;	/* owned; measured times over modelled ones */
	/* Measured step times, one for each configuration. Those with other numbers of cores became
	 * those with cores.base. */
	struct observation_list seen;
	struct core_speed cores;	/* what cores bring, under a plan */
	struct plan_tie tie;
	struct noise_window *windows;	/* owned; from all jobs of the workload */
	int n_windows;
	bool noise_is_measured;		/* even by one replica in one pass */
	/* The setting: samples in batches that the scheduler chooses are worth at least this much
	 * of those in the submitted batch. knowledge_load() sets the default. */
	double min_efficiency;
	double restart_s;		/* from the stop signal to the next step; NaN: unknown */
	/* All jobs of this batch size that never ran share one noise scale, which is computed once.
	 * 0: not computed yet. */
	int64_t fresh_batch_size;
	struct noise_estimate fresh;
	double typical_samples;		/* length of finished jobs; NaN: too few, or
					   their lengths differ */
	struct observation_list step_times;	/* for jobs without a batch size */
	struct memory_bounds memory;	/* owned */
	struct memory_peak *peaks;	/* owned; of sizes that fitted, under a plan */
	int n_peaks;
	struct memory_peak *host_peaks;	/* owned; what such runs took of the host's memory */
	int n_host_peaks;
	struct memory_model needs;	/* from these peaks */
	struct failed_sizes failed;	/* owned */
};

/* The knowledge of a workload that was never run. */
struct knowledge knowledge_of_nothing(void);
/* Loads all knowledge, with the model as it was last fitted. */
int knowledge_load(struct store *s, const char *workload, const char *device_kind,
		   struct knowledge *k, struct err *err);
/* Fits k->model to all observations. The caller stores it by store_model_set(). */
int knowledge_learn(struct store *s, const char *workload, const char *device_kind,
		    const char *observations_key, struct knowledge *k, struct err *err);
/* The same where no pass has fitted a model although there are observations: policies that do not
 * model goodput fit nothing. */
int knowledge_learn_missing(struct store *s, const char *workload, const char *device_kind,
			    struct knowledge *k, struct err *err);
/* Loads only k->memory and k->failed, and replaces those that k has. */
int knowledge_load_sizes(struct store *s, const char *workload, const char *device_kind,
			 struct knowledge *k, struct err *err);
/* Sets what a size may take of a device's memory, or of the machine's if the devices share that. */
void knowledge_limit_memory(struct knowledge *k, int64_t device_bytes, int64_t host_bytes);
void knowledge_release(struct knowledge *k);
/* Computes the residuals anew, to other parameters than those of the fit, and with what was
 * measured under n_others other plans. */
void knowledge_set_residuals(struct knowledge *k, const struct throughput_params *params,
			     const struct residuals_source *others, int n_others);
/* The parameters by which the workload is modelled: the fit, or with times of another plan. */
const struct throughput_params *knowledge_params(const struct knowledge *k);

#endif
