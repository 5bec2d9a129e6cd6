/* job_model.h - what is known of one job: its goodput in any configuration, and what remains of it.
 *
 *	struct job_model m;
 *	knowledge_of_job(&knowledge, &job, &m);
 *	if (job_model_best(&m, replicas, &choice)) ...
 *
 * Pure functions. */
#ifndef POLLUX_JOB_MODEL_H
#define POLLUX_JOB_MODEL_H

#include "pollux/failed_sizes.h"
#include "pollux/goodput.h"
#include "pollux/job.h"
#include "pollux/memory_bounds.h"

struct knowledge;

/* The model is optimistic about what it has not seen, and knows nothing of memory. So a job
 * gets at most this many times the local batch size that its workload was ever measured at, and
 * at most SCHED_REPLICA_GROWTH (policy.h) times the replicas. Where a smaller local batch ran
 * out of memory or failed, the limit is the largest one that did not, for the same number of
 * replicas (memory_bounds.h, failed_sizes.h). */
#define KNOWLEDGE_GROWTH 2

/* Where the noise scale of a job comes from. */
enum noise_basis { NOISE_UNKNOWN, NOISE_OWN, NOISE_DECLARED, NOISE_SHARED };
const char *noise_basis_name(enum noise_basis basis);

struct job_model {
	/* Sizes can be chosen: a batch size was declared, and steps were timed. */
	bool known;
	struct goodput_model goodput;	/* its limits do not know of memory: see job_model_on */
	int max_replicas;		/* to be tried; 0: not known */
	int min_replicas;		/* that the job asks for */
	int64_t min_batch_size, own_max_local_batch_size;	/* as declared; 0: none */
	enum noise_basis noise_basis;
	int64_t n_noise_updates;	/* that the noise scale rests on */
	/* To the end of the job, by what its owner declared, else by what other jobs of the
	 * workload took. NaN: neither tells, or the job is beyond that by more than
	 * sched_remaining (policy.h) allows. */
	double remaining_samples;
	/* For a job without a batch size: seconds of steps to its end on timed_replicas
	 * devices. They rest on its own step times, else on those of the workload's other jobs,
	 * if these agree. NaN: not known. */
	double remaining_s;
	int timed_replicas;
	double restart_s;		/* NaN: unknown */
	/* Borrowed from the knowledge, which has to outlive the model and stay where it is. */
	struct memory_bounds memory;
	struct failed_sizes failed;
};

/* k is written to only as far as it remembers the noise scale of jobs that never ran. */
void knowledge_of_job(struct knowledge *k, const struct job *job, struct job_model *m);

/* The goodput model limited to local batches that work with this many replicas.
 * max_local_batch_size is -1 where none does. */
struct goodput_model job_model_on(const struct job_model *m, int replicas);

/* The configuration of most goodput on this many replicas of one node, or one within 1 % of
 * that whose local batch is a round number. Where no configuration is within the limits of what
 * was tried, the job still runs as it was submitted, its batch spread by configuration_spread:
 * on the fewest replicas that it asks for, and, without a range of batch sizes, on any more
 * that the batch is not known to fail on. Where the batch is known not to work, the job gets
 * what does, if that is legal (configuration_within). False, with all zero: the job is not to
 * be given so many. */
bool job_model_best(const struct job_model *m, int replicas, struct goodput_choice *choice);
/* True if these sizes are not known to be too large. The sizes that a job was submitted with
 * may be, and still be all there is. */
bool job_model_fits(const struct job_model *m, const struct configuration *c);

#endif
