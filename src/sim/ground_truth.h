/* ground_truth.h - the real behaviour of a job: the profiles, and linear interpolation between
 * them.
 *
 *	struct truth truth = { 0 };
 *	struct place_class c = place_class_of(application, &placement);
 *	if (truth_times(&truth, &c, m, &times, err)) ...	// looked up once for each (class,
 *	m) truth_release(&truth);
 *
 * The times of a measured placement are linear in the local batch size between its rows. Other
 * placements are looked up in the grid, with no more nodes than were measured. A placement outside
 * the profiles is an error that names it. */
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
	const struct placement_times *exact;	/* NULL: this placement was not measured */
	int nodes, replicas;
};

struct place_class place_class_of(const struct application *a, const struct placement *p);
/* The class of GPUs packed on nodes of gpus_per_node: full nodes, then the rest. */
struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node);

struct truth_entry {
	struct place_class place;	/* application NULL: an empty entry */
	int64_t local_batch_size;
	struct times times;
};

/* All times looked up so far. */
struct truth {
	struct truth_entry *entries;	/* owned; a hash table */
	size_t capacity, count;
};

/* Looks up the times of an update of one pass. EX_DATAERR: the placement is outside the
 * profiles. */
int truth_times(struct truth *t, const struct place_class *c, int64_t local_batch_size,
		struct times *times, struct err *err);
void truth_release(struct truth *t);

/* Seconds of an update of several passes. */
double times_of_update(struct times times, int passes);

/* The gradients of a training at a batch size, linear between the nearest validated ones; the batch
 * size must lie within the validated range. */
struct gradients {
	double sqr, var;	/* |G|^2, tr(Sigma) / initial batch size */
};
struct gradients truth_gradients(const struct application *a, double batch_size, int epoch);
/* Updates made by the end of the epoch. */
double truth_iterations(const struct application *a, double batch_size, int epoch);

/* AdaScale's gain: the progress of an update, in updates at the initial batch size. */
double gradients_gain(struct gradients g, double scale);
/* The noise scale, samples; infinite where |G|^2 is 0. */
double gradients_noise_scale(const struct application *a, struct gradients g);

#endif
