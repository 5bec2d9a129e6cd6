/* team.h - data-parallel replicas: a thread each, which computes by itself or
 * by a GPU (worker.h).
 *
 * Each replica computes the gradient of its own samples; the team adds the
 * gradients up, each thread one slice of the vector, and each thread then
 * updates the same slice of the parameters, which all replicas read.
 *
 *	team_new(&setup) ... team_step() ... team_evaluate() ... team_free()
 *
 * The caller's thread is replica 0; the others wait inside the team between
 * calls. The threads are not pinned: they keep the affinity of the process. */
#ifndef TRAIN_TEAM_H
#define TRAIN_TEAM_H

#include "checkpoint.h"
#include "data.h"
#include "net.h"

#include <stdbool.h>

struct team;
struct worker_kind;

struct team_setup {
	const struct worker_kind *kind;  /* what computes: worker.h */
	const struct net *net;
	const struct dataset *train, *test;
	struct weights weights;          /* to start from */
	int replicas, local_batch_size, accumulation_steps;
	bool tf32;                       /* GPUs may round the factors of products */
	bool recompute;                  /* on the CPU: fewer activations are kept (pass_init) */
};

/* All borrowed until team_free(). Dies when a thread cannot be started or a GPU
 * has too little memory. */
struct team *team_new(const struct team_setup *setup);
void team_free(struct team *team);

/* Other passes for the updates to come, between calls. */
void team_reconfigure(struct team *team, int local_batch_size, int accumulation_steps);

struct update {
	const int *samples;      /* indices into the training set */
	int n_samples;           /* at most replicas * local_batch_size * accumulation_steps */
	double lr, momentum;     /* lr 0: the parameters are left alone */
};

struct update_result {
	double loss;             /* mean over the samples */
	int64_t sync_ns;         /* from the last replica's arrival at the exchange to its end */
	double mean_sqr;         /* |mean gradient|^2 */
	/* Squared gradient norms at two batch sizes, for pollux_gradient_estimates();
	 * local_sqr is NAN when this update gives none. */
	double local_batch, local_sqr, batch, batch_sqr;
};

/* One optimizer update: v = momentum v + g, w = w - lr v, with g the mean
 * gradient over the samples. Pass a of replica r takes those from
 * (a * replicas + r) * local_batch_size on; when there are too few, the last
 * passes get fewer or none, and there are no noise estimates. */
void team_step(struct team *team, const struct update *update,
	       struct update_result *result);

/* The part of the test set that is classified as labelled, 0 to 1. */
double team_evaluate(struct team *team);

/* Make setup.weights those of the last update. */
void team_fetch(struct team *team);

#endif
