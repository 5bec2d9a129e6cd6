/* job_model.h - the model of one job: its goodput in any configuration, and its remaining work.
 *
 *	struct job_model m;
 *	knowledge_of_job(&knowledge, &job, &m);
 *	if (job_model_best(&m, replicas, &choice)) ...
 *
 * Pure functions. */
#ifndef POLLUX_JOB_MODEL_H
#define POLLUX_JOB_MODEL_H

#include "pollux/growth.h"
#include "pollux/goodput.h"
#include "pollux/job.h"
#include "pollux/tried_sizes.h"
#include "pollux/memory_model.h"
#include "pollux/observation.h"

struct knowledge;

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

/* Makes the model of a job. Changes k only to remember the noise scale of jobs that never ran. */
void knowledge_of_job(struct knowledge *k, const struct job *job, struct job_model *m);

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
/* True if the submitted sizes are predicted to take more memory than there is. Then adds "needs 31
 * of 24 GiB" to t, which may be NULL. */
bool job_model_lacks_memory(const struct job_model *m, int devices, struct text *t);

#endif
