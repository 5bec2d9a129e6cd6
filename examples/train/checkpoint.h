/* checkpoint.h - the state of training on disk.
 *
 * DIRECTORY/checkpoint.bin is always whole: it is written beside itself, forced
 * to disk and renamed into place. The one before it stays as
 * checkpoint.bin.prev, in case the newest is damaged later.
 *
 * The file holds numbers in this machine's byte order: a header, the
 * parameters and the velocities as floats, and the CRC-32 of all before it. */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "net.h"
#include "noise.h"

#include <stdbool.h>
#include <stdint.h>

/* What a relaunch must know beside the parameters. */
struct progress {
	int64_t samples, steps;  /* since the first launch */
	int64_t seed;            /* of weights and data order: with samples, the */
	int64_t n_train;         /* position in the order is known */
	int64_t evaluated_at;    /* samples at the last evaluation; -1 = none yet */
	double last_accuracy, best_accuracy;
	struct noise noise;
};

/* The vectors of a net in training, n_params each. */
struct weights {
	float *params;
	float *velocity;         /* of momentum */
};

struct checkpoint {
	char directory[4096];
	char path[4096 + 32], previous[4096 + 32], temporary[4096 + 32];
	bool newest_is_good;     /* else it must not displace the previous one */
};

/* Make the directory unless it is there; dies with EX_CANTCREAT when no file
 * can be written in it. */
void checkpoint_init(struct checkpoint *checkpoint, const char *directory);

/* Returns 0, or -1 after one line on stderr; then the checkpoint that was there
 * before still is. */
int checkpoint_save(struct checkpoint *checkpoint, const struct net *net,
		    const struct progress *progress, const struct weights *weights);

/* Load the newest good checkpoint. Returns false when there is none at all; dies
 * with EX_DATAERR when there are only damaged ones, or one of another network. */
bool checkpoint_load(struct checkpoint *checkpoint, const struct net *net,
		     struct progress *progress, struct weights *weights);

#endif
