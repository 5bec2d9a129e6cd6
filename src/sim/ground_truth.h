/* ground_truth.h - the real behaviour of a job: the profiles, and linear interpolation between
 * them.
 *
 *	struct memo truth = { 0 };
 *	struct place_class c = place_class_of(application, &placement);
 *	if (truth_times(&truth, &c, m, &times, err)) ...	// looked up once for each
 *	memo_release(&truth);
 *
 * The times of a measured placement are linear in the local batch size between its rows. Other
 * placements are looked up in the grid, with no more nodes than were measured. A placement outside
 * the profiles is an error that names it. */
#ifndef SIM_GROUND_TRUTH_H
#define SIM_GROUND_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "application.h"
#include "pollux/configuration.h"
#include "pollux/err.h"
#include "pollux/throughput.h"

#define MEMO_VALUES (sizeof(struct throughput_params) / sizeof(double))

/* Placements of one class are equally fast. */
struct place_class {
	const struct application *application;
	const struct placement_times *exact;	/* NULL: this placement was not measured */
	int nodes, replicas;
};

struct place_class place_class_of(const struct application *a, const struct placement *p);
/* The class of GPUs packed on nodes of gpus_per_node: full nodes, then the rest. */
struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node);

/* Values that took long to compute, found by a key of 128 bits: a hash of all that they depend on.
 * Two keys are hardly ever the same by chance, so that what was hashed is not compared. */
struct memo {
	struct memo_entry {
		uint64_t key[2];	/* both 0: empty */
		double value[MEMO_VALUES];
	} *entries;			/* owned; a hash table */
	size_t capacity, count;
};

#define MEMO_KEY 0xcbf29ce484222325, 0x9e3779b97f4a7c15	/* the key of nothing */
void memo_hash(uint64_t key[2], uint64_t word);
/* The entry of the key; with key[0] = 0, where it belongs until another is set. */
struct memo_entry *memo_find(struct memo *memo, const uint64_t key[2]);
void memo_set(struct memo *memo, struct memo_entry *e, const uint64_t key[2]);
void memo_release(struct memo *memo);

/* Looks up the times of an update of one pass. EX_DATAERR: the placement is outside the
 * profiles. */
int truth_times(struct memo *memo, const struct place_class *c, int64_t local_batch_size,
		struct times *times, struct err *err);

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

/* The local batch and passes of a batch on GPUs, as in the published simulator. Uses the fewest
 * passes that the largest local batch allows, but at least two on one GPU above the initial batch
 * size, where one pass would not show the noise of the gradients (two_on_one: at any batch size).
 * Rounding may make the batch larger, but not larger than the maximum. */
struct configuration sizes_spread(const struct application *a, struct throughput_place place,
				  int64_t batch_size, bool two_on_one);

/* True if the batch lies between the smallest and the largest validated batch sizes. Where only 128
 * was validated, it does not divide over 3 GPUs: 42 samples on each are 126. */
bool sizes_are_validated(const struct application *a, const struct configuration *sizes);

#endif
