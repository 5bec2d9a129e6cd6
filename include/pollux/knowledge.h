/* knowledge.h - the knowledge of a workload on one kind of device, from the store. Under a plan the
 * workload has the name that execution_plan_workload() gives.
 *
 * All jobs of the workload share the knowledge, past and present: a second submission of a known
 * training script starts with a full model. Nothing here writes. */
#ifndef POLLUX_KNOWLEDGE_H
#define POLLUX_KNOWLEDGE_H

#include "pollux/err.h"
#include "pollux/goodput.h"
#include "pollux/growth.h"
#include "pollux/job.h"
#include "pollux/node_sizes.h"
#include "pollux/observation.h"
#include "pollux/store_measurements.h"
#include "pollux/time_ratio.h"
#include "pollux/tried_sizes.h"

/* --- the model of one job ---
 *
 * The model of one job: its goodput in any configuration, and its remaining work. */

/* The model is optimistic about configurations that were not measured, and knows nothing about
 * memory. So a job gets at most this many times the largest local batch size that was measured for
 * its workload, at most SCHED_REPLICA_GROWTH (policy.h) times the replicas, and at most
 * SCHED_NODE_GROWTH times the nodes. If a smaller local batch ran out of memory or failed on the
 * same number of replicas, the limit is the largest local batch that worked (tried_sizes.h). */
#define KNOWLEDGE_GROWTH 2

/* The source of the noise scale of a job. */
enum noise_basis { NOISE_UNKNOWN, NOISE_OWN, NOISE_DECLARED, NOISE_SHARED };
const char *noise_basis_name(enum noise_basis basis);

struct job_model {
	/* Sizes can be chosen: a batch size was declared, and steps were timed. */
	bool known;
	struct goodput_model goodput;	/* without limits by memory: see job_model_on() */
	int max_replicas;		/* most devices to try; 0: unknown */
	int max_nodes;			/* most nodes to try, beyond min_replicas */
	int min_replicas;		/* devices, as declared */
	int width;			/* devices of one replica; 0 or 1: one */
	struct batch_range own;		/* as declared; the max is M0 if the batch must not grow */
	enum noise_basis noise_basis;
	struct noise_estimate noise;	/* goodput holds the expected noise scale */
	/* How its batches did. goodput.growth_bound is the bound by efficiency alone, as a number
	 * of devices is worth what the job will make of it; job_model_grown() adds the steps. */
	struct growth growth;
	double min_efficiency;
	/* Samples to the end of the job, as declared, or else by the lengths of other jobs of the
	 * workload. NaN: neither is known, or the job is beyond this length by more than
	 * sched_remaining() (policy.h) allows. */
	double remaining_samples;
	/* For a job without a batch size: seconds of steps to the end on timed_replicas devices, by
	 * its own step times, or else by those of other jobs of the workload if these agree. NaN:
	 * unknown. */
	double remaining_s;
	int timed_replicas;
	double restart_s;		/* NaN: unknown */
	/* By number of devices: the best tier that so many devices have; TIER_UNKNOWN: not told.
	 * NULL: none is told. Borrowed. */
	const enum configuration_tier *best_tier;
	int n_best_tier;
	/* Borrowed from the knowledge, which has to outlive the model and stay where it is. */
	struct memory_bounds memory;
	struct failed_sizes failed;
	const struct memory_peak *peaks;	/* of sizes that fitted */
	int n_peaks;
	/* The peaks are of another kind of device: they fit only if they are below the limit. */
	bool peaks_elsewhere;
	struct memory_model needs;
};

/* True if so many devices are a whole number of replicas. */
bool job_model_divides(const struct job_model *m, int devices);
/* The replicas that run on so many devices, at least 1. */
int job_model_workers(const struct job_model *m, int devices);
/* The goodput model, limited to local batches that work with this number of devices.
 * batch.max_local is -1 if none works. */
struct goodput_model job_model_on(const struct job_model *m, int devices);

/* The model with the bound of the batch that the job may have now. present: the batch that it has;
 * 0: the job is not running. */
struct goodput_model job_model_grown(const struct job_model *m, const struct job *job,
				     int64_t present);

/* Finds the configuration of greatest goodput on a number of devices of one node, rounded as by
 * goodput_best_round(). If no configuration is within the limits of what was tried, the job may
 * still run as it was submitted, with its batch spread by configuration_spread(). It does so on the
 * fewest devices that it declares. Without a range of batch sizes it also does so on more
 * devices, unless the batch is known to fail there. A batch that is known not to work is replaced
 * by one that works, if this is legal (configuration_within()). Returns false, with all zero, if
 * the job is not to be given this number of devices. */
bool job_model_best(const struct job_model *m, int devices, struct goodput_choice *choice);
/* The same at a place: several nodes, or a tier instead of the best one. place.replicas is the
 * number of devices. */
bool job_model_best_at(const struct job_model *m, struct throughput_place place,
		       struct goodput_choice *choice);
/* True if a configuration is not known to be too large. A job may have to run with its submitted
 * sizes even if they are. */
bool job_model_fits(const struct job_model *m, const struct configuration *c);

struct memory_lack {
	double needs_bytes, of_bytes;
};
/* True if the submitted sizes are predicted to take more memory than there is. Then sets *lack. */
bool job_model_lacks_memory(const struct job_model *m, int devices, struct memory_lack *lack);

/* --- the knowledge of a workload --- */

/* What is expected of a plan by another plan of the workload (below). */
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
/* Makes the model of a job. Changes k only to remember the noise scale of jobs that never ran. */
void knowledge_of_job(struct knowledge *k, const struct job *job, struct job_model *m);

/* --- goodput by the number of devices ---
 *
 * The goodput of a job for each number of devices, and the best sizes for it. */

struct goodput_table {
	double *goodput;		/* [0..n_devices], as in policy.h */
	struct goodput_choice *best;	/* [0..n_devices]; replicas 0: none */
	bool assumed;			/* without a model: the job reported no step times */
};

struct goodput_table *goodput_table_of(const struct job_model *m, int n_devices);
/* The same where the devices are on several nodes: numbers that are even on none have no goodput,
 * the others that on the fewest nodes. */
struct goodput_table *goodput_table_on(const struct job_model *m, int n_devices,
				       const struct node_sizes *nodes);
/* The table of a job whose gain from more devices is unknown: the square root of their number. This
 * is less than the goodput of any known job that gains from more devices, so this job is offered
 * the devices that others leave. */
struct goodput_table *goodput_table_assumed(int n_devices);
/* The best of n tables for each number of devices. The table of one device fewer is preferred if it
 * is within 1 % of the best. */
struct goodput_table *goodput_table_best_of(const struct goodput_table *const *tables, int n,
					    int n_devices);
/* Samples still to come, at what they are worth at the sizes for the fewest devices. An assumed
 * goodput counts nothing, so then the result is the goodput of the time that is left, on the
 * devices for which that time is known. NaN: not known. */
double goodput_table_remaining(const struct goodput_table *t, const struct job_model *m,
			       int n_devices);
void goodput_table_free(struct goodput_table *t);	/* NULL is harmless */

/* True if both models make the same table: most of a hundred jobs of one workload share one. */
bool job_model_equal(const struct job_model *a, const struct job_model *b);

/* --- the knowledge of all workloads ---
 *
 * The knowledge of each workload with waiting or running jobs, on each kind of
 * device.
 *
 * Nothing here writes. A model that was fitted anew is marked, so that the caller can store it. */

struct workload {
	char *name;			/* owned */
	char kind[sizeof(((struct device *)0)->kind)];
	bool measured;			/* false: only k.memory and k.failed are known */
	bool fitted;			/* k.model was fitted anew, for store_model_set */
	struct knowledge k;
};

struct workload_list {
	struct workload *items;	/* owned */
	int count;
	double min_efficiency;		/* of the knowledge; 0: the default */
	/* The one workload to load, with its plans; NULL: those of queued and running jobs. */
	const char *only;
	bool needs_fit;			/* workloads_refresh added one not fitted to its times */
};

/* Appends the knowledge on one kind of device. models: loads every workload with observations, and
 * fits its model again if they have changed. For the other workloads in `names` it loads the sizes
 * that are known not to work, if there are any. */
int workloads_learn(struct store *s, const char *kind, const struct strings *names, bool models,
		    struct workload_list *list, struct err *err);
/* Updates a list without a fit. Reads the sizes that do not work again, and adds further workloads
 * with their stored models. Sets list->needs_fit if one of these has no model, or one that does not
 * rest on all that was measured. */
int workloads_refresh(struct store *s, const char *kind, const struct strings *names, bool models,
		      struct workload_list *list, struct err *err);
/* Once the list is complete: the plans of each workload learn from each other. */
void workloads_tie_plans(struct workload_list *list);
/* The step times of other plans of w's workload that were measured on w's kind and on this one, in
 * times, which has room for EXECUTION_PLANS_MAX. Returns their number; 0: w is under no plan. */
int workloads_other_plans(const struct workload_list *list, const struct workload *w,
			  const char *kind, struct kind_times *times);
/* True if the workload was measured on the kind under some plan; name: under any. */
bool workloads_any_plan(const struct workload_list *list, const char *name, const char *kind);
void workload_list_release(struct workload_list *list);

/* The workload on this kind of device; NULL: nothing is known. */
struct workload *workloads_find(const struct workload_list *list, const char *name,
				const char *kind);
/* The workload on this kind of device if it was measured there, or else on the first kind on which
 * it was measured, as the best guess for a waiting job (kind NULL). NULL: it was not measured. */
struct workload *workloads_measured(const struct workload_list *list, const char *name,
				    const char *kind);

#endif
