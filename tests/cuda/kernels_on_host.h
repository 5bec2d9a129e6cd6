/* kernels_on_host.h - the example trainer's GPU kernels as C, thread by thread.
 *
 *	RUN(n_threads, add(sum, v, n));
 */
#ifndef KERNELS_ON_HOST_H
#define KERNELS_ON_HOST_H

#include <math.h>
#include <stddef.h>

struct kernel_index {
	unsigned x;
};
static _Thread_local struct kernel_index blockIdx, threadIdx;
static const struct kernel_index blockDim = { 256 };

#define KERNELS(...) __VA_ARGS__
#define KERNEL static
#define FUNCTION static
#include "../../examples/train/kernel_text.h"

/* Whole blocks, as a GPU starts them; the last thread first, since no order is promised. */
#define RUN(n_threads, call) do { \
	unsigned n_blocks_ = (unsigned)(((size_t)(n_threads) + blockDim.x - 1) / blockDim.x); \
	for (blockIdx.x = n_blocks_; blockIdx.x-- > 0;) \
		for (threadIdx.x = blockDim.x; threadIdx.x-- > 0;) \
			call; \
} while (0)

#endif
