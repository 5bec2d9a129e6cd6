/* measured.h - the world of published measurements: applications whose step times and gradients are
 * in files, and what a policy may know of them. */
#ifndef POLLUX_SIM_MEASURED_H
#define POLLUX_SIM_MEASURED_H

#include "application.h"
#include "pollux/fit.h"
#include "pollux/goodput.h"
#include "pollux/residuals.h"
#include "pollux/siblings.h"
#include "world.h"

/* --- what is learnt of an application's speed: measured_run.c --- */

/* The knowledge of an application's speed that a simulation gathers: observations, and
 * the fit to them, for one job or shared by all jobs of the application.
 *
 * As published, an observation has no noise and is made once for each (nodes, GPUs, local batch),
 * and the gradients are those of the last update. */
struct agent {
	const struct application *application;
	struct observation *seen;	/* owned */
	int n;
	int max_replicas;		/* observed */
	bool stale;			/* observations were added since the fit */
	int version;			/* counts the fits; 0: none yet */
	struct throughput_params params;
	const struct throughput_place *places;	/* places for which residuals are wanted */
	int n_places;			/* 0: none, as published */
	struct residuals residuals;
	struct gradients *gradients;	/* owned; the last of each epoch; var NaN: none yet */
};

void agent_init(struct agent *a, const struct application *application);
void agent_release(struct agent *a);

/* Observes all rows of the profiles, and fits. */
void agent_learn_all(struct agent *a);
/* Brings params and residuals up to date; false: there are no observations. known: the fits made so
 * far, a tree of tsearch(3). */
bool agent_fit(struct agent *a, void **known);

/* --- a simulation --- */

/* The way in which jobs run under a policy. */
struct manner {
	bool owners_replicas;	/* on the number of GPUs in the workload */
	bool owners_batch;	/* at the batch size in the workload */
	bool published_nodes;	/* placed as in the published simulator, not by assign.h */
	/* As the live scheduler has it, not as published: models have residuals beside their
	 * parameters, batches grow by growth.h, and jobs by SCHED_REPLICA_GROWTH. */
	bool live;
};

/* The state of a model and a place for which a job's sizes, or the policy's input, were last
 * computed. */
struct model_key {
	int version;		/* of the agent's parameters */
	double noise_scale;
	int kind, nodes, replicas;
	int64_t growth_bound;
};

/* The policy's input for a job on one kind of GPU. */
struct job_table {
	struct model_key key;
	double *goodput;	/* owned; by number of GPUs */
};

/* What the jobs of an application tell that have ended: of work as in progress, and of service. */
struct application_past {
	struct siblings work, service;
	int ended;	/* the place of their typical service in sim.ended_device_s, plus 1 */
};

/* A job's training. */
struct training {
	double length;		/* the job's, where that of its application is 1 */
	struct application_past *past;
	double progress;	/* updates at the initial batch size */
	int epoch;		/* done */
	struct place_class place;
	struct configuration configuration;
	int64_t largest_batch;	/* that it had */
	struct times times;	/* of an update of one pass, in this configuration */
	bool interfered;
	struct agent *agent;	/* one for each kind; NULL: nothing is modelled */
	bool has_run;
	struct gradients gradients;	/* of its last update; meaningful where has_run */
	struct model_key sizes_key;
	struct job_table tables[SCHED_KINDS];
	int n_ends;		/* how many ends were told or passed over so far */
};

struct measured {
	struct manner manner;
	void *fits;	/* known; jobs of one application often make the same observations */
	/* for each application, or for each job, one for each kind */
	struct agent *agents;
	int n_agents;
	struct application_past *pasts;	/* by application */
	/* of each kind: numbers of GPUs that a job may be given, packed */
	struct throughput_place *places[SCHED_KINDS];
	int n_places[SCHED_KINDS];
};

static inline struct measured *measured_of(const struct sim *s)
{
	return s->own;
}

/* The job's application on its kind of GPU. */
static inline const struct application *job_application(const struct sim_job *job)
{
	return application_on(job->spec->application, job->kind);
}

static inline struct throughput_place place_of_job(const struct sim_job *job)
{
	return throughput_place_on(job->placement.n, job->placement.replicas);
}

/* GPUs of nodes of gpus_per_node, as few nodes as possible. */
static inline struct throughput_place place_packed(int replicas, int gpus_per_node)
{
	return throughput_place_on((replicas + gpus_per_node - 1) / gpus_per_node, replicas);
}

/* The progress of the job at the end of so many epochs. */
static inline double job_progress(const struct sim_job *job, int epochs)
{
	const struct training *t = job->own;

	return t->length * job->spec->application->progress[epochs];
}

static inline double job_end(const struct sim_job *job)
{
	return job_progress(job, job->spec->application->n_epochs);
}

/* --- measured_run.c --- */
int training_event(struct sim *s, struct sim_job *job, struct moment *event);
int training_run(struct sim *s, struct sim_job *job, double start_s, double interval_s);
void training_ended(struct sim *s, struct sim_job *job);
void training_launch(struct sim *s, struct sim_job *job);
/* The time that the application takes on the GPUs, and at the batch size, of the owner. */
int training_at_owners_size(struct sim *s, const struct sim_job *job, double *seconds);
/* The time that a job would take alone on this many GPUs, which may be a fraction. */
int training_alone(struct sim *s, const struct sim_job *job, double gpus, double *seconds);

/* --- measured_told.c --- */
/* Fills in the policy's input for the job. */
int training_tell(struct sim *s, struct sim_job *job, struct sched_job *told);
/* Samples a second on one GPU of a kind at the largest local batch, by the profiles. */
double job_speed_on(const struct sim_job *job, int kind);
struct configuration job_best_sizes(struct sim *s, struct sim_job *job);

#endif
