/* counters.h - the counters that a line names, whatever program printed it; private to src/steps.
 *
 * A counter is a name and a number: "Epoch 3/10", "Iter [ 20/500]", "'step': 25",
 * "| global step 7 |", "epoch 001:  100 / 1234". Names are words such as epoch, step, iteration,
 * batch, update. If a line names several counters of steps, the one that counts updates from the
 * beginning is preferred. A pair of numbers after the epoch needs no name: "Epoch: [0][  10/5005]".
 *
 * No counters: rates ("3 it/s"), decimal numbers, file names ("step=100.ckpt"), sizes per step,
 * batch sizes ("batch 128 = 2 x 64"), and everything after a word such as "validation" or "test"
 * (other_work.h). */
#ifndef POLLUX_STEPS_COUNTERS_H
#define POLLUX_STEPS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter {
	double n, total;		/* NaN: the line has no such counter; no total */
};

struct counters {
	struct counter epoch, step;
	bool epoch_in_brackets;		/* "[3/10]" */
	bool step_is_first;		/* it stands before the epoch */
	bool is_global;			/* the step is counted from the beginning: "global_step" */
	bool is_of_epoch;		/* the step is counted within the epoch: "batch" */
	bool epoch_is_over;		/* the line says what came of the epoch */
	bool is_other;			/* a counter is there, but of an evaluation */
	uint64_t label;			/* hash of the letters before the step's number */
};

/* True if the line has a counter, of training or not. */
bool counters_find(const char *line, size_t n, struct counters *out);

/* True if a word of other work stands in the line. */
bool counters_has_other_work(const char *line, size_t n);

#endif
