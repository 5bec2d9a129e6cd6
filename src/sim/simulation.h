/* simulation.h - the state of one simulation. */
#ifndef SIM_SIMULATION_H
#define SIM_SIMULATION_H

#include <stdbool.h>

#include "agent.h"
#include "ground_truth.h"
#include "placement.h"
#include "pollux/goodput.h"
#include "pollux/simulate.h"
#include "sizes.h"

/* The way in which jobs run under a policy. */
struct manner {
	bool owners_replicas;	/* on the number of GPUs in the workload */
	bool owners_batch;	/* at the batch size in the workload */
	bool published_nodes;	/* placed by take.h, not by pack_nodes.h */
	int growth;		/* most GPUs of a job, as a multiple of those it was measured on */
	bool residuals;		/* models have residuals beside their parameters */
	bool bounded_growth;	/* batches grow by batch_growth.h; as published: at once */
	bool always_two_passes;	/* the policy expects two passes on one GPU, at any batch size */
};

/* The state of a model and a place for which a job's sizes, or the policy's input, were last
 * computed. */
struct model_key {
	int version;		/* of the agent's parameters */
	double noise_scale;
	int kind, nodes, replicas;
	int64_t growth_bound;
};

/* The GPUs of one kind. */
struct gpu_kind {
	const char *name;	/* NULL: there is one kind */
	int first_node, nodes, gpus_per_node, n_gpus;
	/* numbers of GPUs that a job may be given, packed */
	struct throughput_place *places;
	int n_places;
};

/* The policy's input for a job on one kind of GPU. */
struct job_table {
	struct model_key key;
	double *goodput;	/* owned; [0..n_goodput] */
	int n_goodput;
};

struct sim_job {
	const struct sim_workload_job *spec;
	int index;
	double progress;	/* updates at the initial batch size */
	int epoch;		/* done */
	double finish_s, start_s;	/* NaN: not yet */
	int restarts;		/* -1: never had any GPU */

	int kind;		/* of its GPUs, or of those it had last */
	struct placement placement;
	struct place_class place;
	struct configuration configuration;
	int64_t largest_batch;	/* that it had */
	struct times times;	/* of an update of one pass, in this configuration */
	double delay_s;		/* time left until its launch is over */
	bool interfered;
	double attained_device_s;
	/* The same in seconds of the job's slowest kind of GPU: a second on a faster kind counts
	 * for more. */
	double service_device_s;
	double launched_s, waiting_since_s, demoted_s;

	struct agent *agent;	/* one for each kind; NULL: nothing is modelled */
	bool has_run;
	struct gradients gradients;	/* of its last update; meaningful where has_run */
	struct model_key sizes_key;
	struct job_table tables[SCHED_KINDS];

	struct sim_end *ends;	/* owned until the end; NULL where not asked for */
	int n_ends;		/* how many were told or passed over so far */

	double active_sum;	/* integral over its life of the number of active jobs */
	double active_s;	/* its life, from its first decision */
};

struct simulation {
	const struct sim_options *options;
	const struct sim_workload *workload;
	struct manner manner;
	struct gpu_kind kinds[SCHED_KINDS];
	int n_kinds;		/* at least 1 */
	int n_nodes, n_gpus;	/* of all kinds */
	struct truth truth;
	struct fit_memo memo;
	/* for each application, or for each job, one for each kind */
	struct agent *agents;
	int n_agents;
	struct sim_job *jobs;
	struct sim_job **active;	/* submitted and not done, in the order of the workload */
	int n_active, n_submitted, n_done;
	double *ended_device_s;		/* service_device_s of each of the n_done jobs */
	int64_t round;		/* time is round * interval */
	double now_s;
	double progress_s;	/* when a job last progressed */
};

/* The job's application on its kind of GPU. */
static inline const struct application *job_application(const struct sim_job *job)
{
	return application_on(job->spec->application, job->kind);
}

static inline double job_end(const struct sim_job *job)
{
	const struct application *a = job->spec->application;

	return a->progress[a->n_epochs];
}

/* job_run.c */
/* Lets a job run for interval_s from start_s. */
int job_run(struct simulation *s, struct sim_job *job, double start_s, double interval_s,
	    struct err *err);
/* Seconds, at least 1, until the job is at the end of an epoch, or, before its first update, has
 * been measured; infinite while it waits. */
int job_event_s(struct simulation *s, struct sim_job *job, double *seconds, struct err *err);
/* Gives the job another placement at now_s, and takes the memory of the placement over. */
void job_place(struct simulation *s, struct sim_job *job, struct placement *placement, int kind);

/* sim_job_model.c */
/* The model of the job on a kind of GPU, by what is known of it; false: nothing is known. *version
 * (may be NULL) differs where the parameters do. Where the job did not run on the kind, its times
 * on another kind are scaled. */
bool sim_job_model(struct simulation *s, const struct sim_job *job, int kind,
		   struct goodput_model *model, int *version);
/* Samples a second on one GPU of a kind at the largest local batch, by the profiles. */
double job_speed_on(const struct sim_job *job, int kind);
struct configuration job_best_sizes(struct simulation *s, struct sim_job *job);
/* The most GPUs of a kind that the job may be given. */
int job_max_replicas(const struct simulation *s, const struct sim_job *job, int kind);
bool model_key_equal(const struct model_key *a, const struct model_key *b);

/* job_told.c */
/* Fills in the policy's input for the job. */
int job_tell(struct simulation *s, struct sim_job *job, struct sched_job *told, struct err *err);

/* decide.c */
/* The policy's input of the active jobs; borrows told. */
struct sched_input sched_input_of(const struct simulation *s, const struct sched_job *told);
/* Makes one decision on the active jobs and carries it out. */
int decide_round(struct simulation *s, struct sim_round *round, double *decide_s, double *gap,
		 struct err *err);

/* told_ends.c */
/* After a decision: tells the ends of the jobs that have got so far. */
int tell_ends(struct simulation *s, struct err *err);

/* fairness.c */
/* The time that a job would take alone on this many GPUs, which may be a fraction. */
int fairness_alone(struct simulation *s, const struct sim_job *job, double gpus, double *seconds,
		   struct err *err);

#endif
