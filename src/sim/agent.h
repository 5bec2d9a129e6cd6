/* agent.h - what is known of an application's speed while it is used: observations, and the fit to them.
 *
 * Of one job, or shared by all jobs of the application. As published, an observation is free of noise and
 * made once for each (nodes, GPUs, local batch), and the gradients are those of the last update. */
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
	int n, capacity;
	int max_replicas;		/* observed */
	bool stale;			/* seen something since the fit */
	int version;			/* of params; 0: nothing is fitted */
	struct throughput_params params;
	const struct throughput_place *places;	/* where residuals are wanted */
	int n_places;			/* 0: nowhere, as published */
	struct residuals residuals;
	struct gradients *gradients;	/* owned; as last seen in each epoch; var NaN: never */
};

/* Fits by what they rest on: jobs of one application often see the same, one after the other. */
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

/* All that the profiles have, and the fit to it. */
void agent_learn_all(struct agent *a);
void agent_observe(struct agent *a, struct throughput_place place, int64_t local_batch_size,
		   struct times times);
/* Bring params and residuals up to date; false: nothing was seen. */
bool agent_fit(struct agent *a, struct fit_memo *memo);

#endif
