/* gpu.h - one GPU: its memory, copies, kernels and matrix products.
 *
 * Calls queue work on the GPU's stream, in order, and return; gpu_wait() waits
 * for it. A thread says gpu_use() before any of them. What goes wrong is noted in
 * *failure, except in gpu_open, gpu_connect and gpu_allocate, which die. */
#ifndef TRAIN_GPU_H
#define TRAIN_GPU_H

#ifdef TRAIN_CUDA
#include "cuda_library.h"
#include "die.h"

#include <stdbool.h>
#include <stddef.h>

/* The functions of kernel_text.h that can be launched. */
/* clang-format off */
#define GPU_KERNELS(X) \
	X(gather) X(add_bias) X(relu_backward) X(cross_entropy) X(classify) X(sqr_sums) \
	X(plain_sums) X(add_up) X(add_sample_sqr) X(add) X(update)
/* clang-format on */

#define GPU_KERNEL_NUMBER(name) KERNEL_##name,
enum kernel { GPU_KERNELS(GPU_KERNEL_NUMBER) N_KERNELS };

struct gpu {
	int number;                      /* CUDA's */
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUmodule module;
	CUfunction kernels[N_KERNELS];
	cublasHandle_t blas;
	struct failure *failure;
};

/* After cuda_open(). tf32: see struct team_setup. failure is borrowed. */
void gpu_open(struct gpu *gpu, int number, bool tf32, struct failure *failure);
void gpu_close(struct gpu *gpu);

/* Have gpu_copy() go straight from the other's memory, where they can. */
void gpu_connect(struct gpu *gpu, const struct gpu *other);

void gpu_use(const struct gpu *gpu);
void gpu_wait(struct gpu *gpu);

/* Zeroed; freed by gpu_free(). */
void *gpu_allocate(struct gpu *gpu, size_t n, size_t size);
void gpu_free(struct gpu *gpu, void *memory);

void gpu_clear(struct gpu *gpu, void *memory, size_t bytes);
void gpu_upload(struct gpu *gpu, void *to, const void *from, size_t bytes);
void gpu_download(struct gpu *gpu, void *to, const void *from, size_t bytes);
/* From another GPU's memory to this one's. */
void gpu_copy(struct gpu *gpu, void *to, const struct gpu *other, const void *from,
	      size_t bytes);

/* At least n_threads threads; arguments are pointers to the kernel's arguments,
 * each of exactly its type. */
void gpu_launch(struct gpu *gpu, enum kernel kernel, size_t n_threads, void **arguments);

/* C = op(A) op(B), of m rows and n columns, all column by column, as cublasSgemm()
 * has it; C has no gaps. */
struct product {
	cublasOperation_t a_op, b_op;    /* CUBLAS_OP_N: as it is, _T: transposed */
	int m, n, k;
	const float *a;
	int a_rows;                      /* as stored */
	const float *b;
	int b_rows;
	float *c;
};

void gpu_multiply(struct gpu *gpu, const struct product *product);

/* y = A x, A of m rows and n columns. */
void gpu_multiply_vector(struct gpu *gpu, const float *a, int m, int n, const float *x,
			 float *y);

#endif
#endif
