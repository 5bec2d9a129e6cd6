/* gpu_work.h - a GPU that is being measured; private to the layer. The timed operations are put
 * into one stream between two events, and nothing waits in between. */
#ifndef MEASURE_GPU_WORK_H
#define MEASURE_GPU_WORK_H

#include "backend.h"
#include "pollux/cuda.h"

#ifdef POLLUX_CUDA
struct gpu_work {
	struct cuda cuda;
	int ordinal;			/* CUDA's number of the GPU */
	cudaStream_t stream;
	cudaEvent_t begun, ended;
	cublasHandle_t blas;
	size_t cache_bytes;		/* of its last level */
	struct err *err;		/* the reason why a run failed */
};

void gpu_begin(struct gpu_work *g);
/* Waits for the stream and returns the seconds since gpu_begin(); NaN, with g->err, if something
 * failed. */
double gpu_end(struct gpu_work *g);
/* True if the call succeeded; otherwise g->err names what failed. */
bool gpu_ok(struct gpu_work *g, cudaError_t status, const char *what);
bool gpu_blas_ok(struct gpu_work *g, cublasStatus_t status, const char *what);
bool gpu_allocate(struct gpu_work *g, char **p, size_t bytes);
/* Fills memory of the GPU with random numbers. */
bool gpu_fill(struct gpu_work *g, void *to, size_t bytes);
/* Bytes of which the cache keeps nothing until all of them were used. */
static inline size_t gpu_beyond_cache(const struct gpu_work *g)
{
	return 3 * g->cache_bytes;
}
int gpu_attribute(struct gpu_work *g, enum cudaDeviceAttr attribute);	/* 0: unknown */

/* gpu_products.c and gpu_copies.c: a note names what cannot be measured. */
void gpu_products(struct sink *sink, struct gpu_work *g);
/* The time of a fixed product, taken before and after all others to detect a slowdown; HUGE_VAL: it
 * failed. */
double gpu_reference_s(struct gpu_work *g);
void gpu_peaks(struct sink *sink, struct gpu_work *g);
void gpu_launches(struct sink *sink, struct gpu_work *g);
void gpu_copies(struct sink *sink, struct gpu_work *g);
void gpu_peer_copies(struct sink *sink, struct gpu_work *from, struct gpu_work *to);
#endif

#endif
