/* ground_truth.h - how a job really behaves: the profiles, and linear interpolation between them.
 *
 *	struct truth truth = { 0 };
 *	struct place_class c = place_class_of(application, &placement);
 *	if (truth_times(&truth, &c, m, &times, err)) ...	// looked up once for each (class, m)
 *	truth_release(&truth);
 *
 * A placement that was measured is linear in the local batch size between its rows. Another one is looked
 * up in the grid of all, with as many nodes as were measured at most. What is outside of the profiles is an
 * error that names it. */
#ifndef SIM_GROUND_TRUTH_H
#define SIM_GROUND_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "application.h"
#include "placement.h"
#include "pollux/err.h"

/* Placements of one class are equally fast. */
struct place_class {
	const struct application *application;
	const struct placement_times *exact;	/* NULL: not measured as such */
	int nodes, replicas;
};

struct place_class place_class_of(const struct application *a, const struct placement *p);
/* Of GPUs packed on nodes of so many: full ones, then the rest. */
struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node);

struct truth_entry {
	struct place_class place;	/* application NULL: an empty entry */
	int64_t local_batch_size;
	struct times times;
};

/* What was looked up so far. */
struct truth {
	struct truth_entry *entries;	/* owned; a hash table */
	size_t capacity, count;
};

/* An update of one pass. EX_DATAERR: outside of the profiles. */
int truth_times(struct truth *t, const struct place_class *c, int64_t local_batch_size,
		struct times *times, struct err *err);
void truth_release(struct truth *t);

/* Seconds of an update of so many passes. */
double times_of_update(struct times times, int passes);

/* Of a training at a batch size, between the nearest validated ones; the batch size must be within those. */
struct gradients {
	double sqr, var;	/* |G|^2, tr(Sigma) / initial batch size */
};
struct gradients truth_gradients(const struct application *a, double batch_size, int epoch);
double truth_iterations(const struct application *a, double batch_size, int epoch);	/* at its end */

/* Progress of an update, in updates at the initial batch size: AdaScale's gain. */
double gradients_gain(struct gradients g, double scale);
/* The noise scale, samples; infinite where |G|^2 is 0. */
double gradients_noise_scale(const struct application *a, struct gradients g);

#endif
