/* agent.h - the knowledge of an application's speed that a simulation gathers: observations, and
 * the fit to them, for one job or shared by all jobs of the application.
 *
 * As published, an observation has no noise and is made once for each (nodes, GPUs, local batch),
 * and the gradients are those of the last update. */
#ifndef SIM_AGENT_H
#define SIM_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ground_truth.h"
#include "pollux/fit.h"
#include "pollux/residuals.h"

struct agent {
	const struct application *application;
	struct fit_observation *seen;	/* owned */
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

/* Fits, found by their observations: jobs of one application often make the same observations. */
struct fit_memo {
	struct fit_memo_entry {
		uint64_t key[2];	/* two hashes of the observations; both 0: empty */
		struct throughput_params params;
	} *entries;			/* owned; a hash table */
	size_t capacity, count;
};

void agent_init(struct agent *a, const struct application *application);
void agent_release(struct agent *a);
void fit_memo_release(struct fit_memo *memo);

/* Observes all rows of the profiles, and fits. */
void agent_learn_all(struct agent *a);
void agent_observe(struct agent *a, struct throughput_place place, int64_t local_batch_size,
		   struct times times);
/* Brings params and residuals up to date; false: there are no observations. */
bool agent_fit(struct agent *a, struct fit_memo *memo);

#endif
