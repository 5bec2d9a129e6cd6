/* worker.h - what computes for one replica: a thread of the processor
 * (worker_cpu.c) or a GPU (worker_cuda.c).
 *
 * team.c decides who does what when; a worker only does it. Each has a slice of
 * the parameters, in which it adds up the gradients of all and updates.
 *
 * What goes wrong while the threads train is noted in the worker (see die.h);
 * later calls then may do nothing, and the team dies of it at the end of the
 * task. open, connect and resize are called by the main thread, and die themselves. */
#ifndef TRAIN_WORKER_H
#define TRAIN_WORKER_H

#include "die.h"
#include "team.h"

#include <stddef.h>

enum { EVALUATION_CHUNK = 250 };         /* test samples per forward pass */

struct worker {
	const struct team_setup *setup;
	int rank;
	size_t first, n;                 /* its slice of the parameters */
	/* What it found since the team set these to 0. A GPU's are there after finish. */
	double loss_sum;
	double local_sqr_sum;            /* sum over passes of |mean gradient|^2, or,
					  * in a single pass, over samples of |gradient|^2 */
	int n_correct;
	double slice_sqr;                /* |sum of gradients|^2, this slice's part */
	struct failure failure;          /* why it cannot go on */
};

/* A function may be NULL, but for open, close, resize, pass, classify, reduce
 * and update. all is the team's workers, in the order of ranks. */
struct worker_kind {
	/* base has setup, rank and slice. The setup, borrowed until close, may have
	 * other passes after resize. */
	struct worker *(*open)(const struct worker *base);
	void (*close)(struct worker *worker);
	/* After every worker's open. */
	void (*connect)(struct worker *worker, struct worker *const *all);
	void (*resize)(struct worker *worker);

	/* Forward and backward through n samples. The sum of their gradients becomes
	 * the worker's gradient if this is the first pass of an update, else is
	 * added to it. n is 0 only in the first, whose gradient is then 0. */
	void (*pass)(struct worker *worker, const int *samples, int n, bool first);
	/* Count the test samples first .. first + n - 1 that are classified as labelled;
	 * n is EVALUATION_CHUNK at most. */
	void (*classify)(struct worker *worker, int first, int n);
	/* Wait until all of this is done. */
	void (*finish)(struct worker *worker);

	/* After every worker's passes: the gradients of all, added up, this slice. */
	void (*reduce)(struct worker *worker, struct worker *const *all);
	/* After reduce: slice_sqr, and team_step()'s update of this slice. */
	void (*update)(struct worker *worker, struct worker *const *all,
		       const struct update *update);
	/* After every worker's update: take over what the others did to theirs. */
	void (*share)(struct worker *worker, struct worker *const *all);

	/* Copy this slice to setup->weights. */
	void (*fetch)(struct worker *worker);
};

extern const struct worker_kind worker_cpu, worker_cpu_replicated;

/* NULL, and a line that says why, unless there is a GPU for each replica. Opens
 * CUDA's libraries, which takes up to a few seconds. */
const struct worker_kind *worker_cuda(int replicas, const char **why);

/* After worker_cuda(): what the GPUs are, as "NVIDIA H200". */
const char *worker_cuda_name(void);

#endif
