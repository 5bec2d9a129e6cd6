/* blas.h - OpenBLAS, opened when it is wanted; private to the layer.
 *
 * Loaded by dlopen, not linked: 'status' and 'schedule' are not to load 30 MB and start its threads, and
 * pollux runs without it. Loading it late has another use: what it reads from the environment can be
 * chosen here. It picks its kernels by the processor's model number, and on a model newer than itself
 * falls back to its oldest, three times slower and more; then it is told which to use. */
#ifndef MEASURE_BLAS_H
#define MEASURE_BLAS_H

#include <stdint.h>

#include "pollux/err.h"

struct blas {
	/* C (m x n) = A (m x k) B (k x n), row by row, one after the other in memory. */
	void (*product_fp32)(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c);
	void (*product_fp64)(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c);
	const char *kernels;		/* "SkylakeX" */
};

/* With so many threads, which have the affinity of the caller. Once in a process. EX_UNAVAILABLE: not here,
 * or pollux was built without its header. */
int blas_open(struct blas *blas, int threads, struct err *err);

#endif
