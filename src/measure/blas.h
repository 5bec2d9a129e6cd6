/* blas.h - OpenBLAS, opened on demand; private to the layer.
 *
 * OpenBLAS is loaded by dlopen instead of being linked, so that 'status' and 'schedule' do not load
 * 30 MB and start its threads, and pollux runs without it. Loading it late also allows to set the
 * environment that it reads. It picks its kernels by the processor's model number, and on a model
 * newer than itself falls back to its oldest kernels, which are at least three times slower. In
 * this case the environment tells it which kernels to use. */
#ifndef MEASURE_BLAS_H
#define MEASURE_BLAS_H

#include <stdint.h>

#include "pollux/err.h"

struct blas {
	/* C (m x n) = A (m x k) B (k x n), stored by rows without gaps. */
	void (*product_fp32)(int64_t m, int64_t n, int64_t k, const void *a, const void *b,
			     void *c);
	void (*product_fp64)(int64_t m, int64_t n, int64_t k, const void *a, const void *b,
			     void *c);
	const char *kernels;		/* "SkylakeX" */
};

/* Opens OpenBLAS with a number of threads, which get the affinity of the caller. At most once in a
 * process. EX_UNAVAILABLE: OpenBLAS is not installed, or pollux was built without its header. */
int blas_open(struct blas *blas, int threads, struct err *err);

#endif
