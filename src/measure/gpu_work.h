/* gpu_work.h - a GPU that is being measured; private to the layer. What is timed is put into one stream
 * between two events, with nothing that waits in between. */
#ifndef MEASURE_GPU_WORK_H
#define MEASURE_GPU_WORK_H

#include "backend.h"
#include "pollux/cuda.h"

#ifdef POLLUX_CUDA
struct gpu_work {
	struct cuda cuda;
	int ordinal;			/* CUDA's number of it */
	cudaStream_t stream;
	cudaEvent_t begun, ended;
	cublasHandle_t blas;
	struct err *err;		/* why a run failed */
};

/* What the CPU does its work by: memory, streams, cuBLAS with a workspace. */
int gpu_work_open(struct gpu_work *g, const struct device *d, struct err *err);

void gpu_begin(struct gpu_work *g);
/* Seconds since gpu_begin, once all is done; NaN, with g->err: something failed. */
double gpu_end(struct gpu_work *g);
/* Whether it went well; else g->err says what did not. */
bool gpu_ok(struct gpu_work *g, cudaError_t status, const char *what);
bool gpu_blas_ok(struct gpu_work *g, cublasStatus_t status, const char *what);
int gpu_attribute(struct gpu_work *g, enum cudaDeviceAttr attribute);	/* 0: unknown */

/* gpu_products.c, gpu_copies.c: what cannot be measured is said in a note. */
void gpu_products(struct sink *sink, struct gpu_work *g);
/* Of the same few products, before and after all others; HUGE_VAL: they failed. */
double gpu_reference_s(struct gpu_work *g);
void gpu_peaks(struct sink *sink, struct gpu_work *g);
void gpu_launches(struct sink *sink, struct gpu_work *g);
void gpu_copies(struct sink *sink, struct gpu_work *g);
void gpu_peer_copies(struct sink *sink, struct gpu_work *from, struct gpu_work *to);
#endif

#endif
