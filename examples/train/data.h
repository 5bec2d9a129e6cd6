/* data.h - a classification data set in IDX files, and the order in which its
 * samples are trained on. */
#ifndef TRAIN_DATA_H
#define TRAIN_DATA_H

#include <stdint.h>

struct dataset {
	int n_samples;
	int n_inputs;            /* pixels per sample */
	int n_classes;           /* largest label + 1 */
	uint8_t *pixels;         /* n_samples * n_inputs, owned */
	uint8_t *labels;         /* n_samples, owned */
};

/* Read DIRECTORY/NAME-images-idx3-ubyte and NAME-labels-idx1-ubyte, each plain
 * or with .gz; at most limit samples (0: all). Dies when a file is missing
 * (EX_NOINPUT) or malformed (EX_DATAERR). */
void dataset_load(struct dataset *data, const char *directory, const char *name, int limit);
void dataset_release(struct dataset *data);

/* An input is dataset_scale * pixel + dataset_offset: of mean 0 and variance 1
 * over the training images of Fashion-MNIST. */
extern const float dataset_scale, dataset_offset;

/* Write count samples to inputs (count * n_inputs) and labels. */
void dataset_gather(const struct dataset *data, const int *samples, int count,
		    float *inputs, uint8_t *labels);

/* The training order is an endless sequence: epoch after epoch, each a
 * permutation of the n samples that depends on (seed, epoch) alone. The state
 * of training is then one number, the samples consumed, whatever the batch
 * size and the number of replicas were and become; a batch may reach across
 * the end of an epoch. */
struct order {
	int n;
	uint64_t seed;
	int64_t epoch;           /* whose permutation it holds; -1 = none yet */
	int *permutation;        /* n, owned */
};

void order_init(struct order *order, int n, uint64_t seed);
void order_release(struct order *order);

/* The samples at positions first .. first + count - 1 of the sequence. */
void order_fill(struct order *order, int64_t first, int count, int *samples);

/* splitmix64: the next number of the stream at *state. Public domain, S. Vigna. */
uint64_t random_next(uint64_t *state);

#endif
