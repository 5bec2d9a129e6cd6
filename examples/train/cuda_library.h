/* cuda_library.h - CUDA opened at run time: the driver and cuBLAS.
 *
 * The program links none of it and runs where there is none. The signatures come
 * from the toolkit's headers: a call that does not fit does not compile. Where
 * the headers are not there at build, TRAIN_CUDA is not defined and all that is
 * left of this is worker_cuda(), which says so.
 *
 * Of the driver's interface, because libcuda comes with the driver, under one
 * name for all versions, where CUDA's runtime is one more library to install.
 * What is left to install are cuBLAS and NVRTC, as in a toolkit, or from the
 * wheels nvidia-cublas and nvidia-cuda-nvrtc, which PyTorch brings. */
#ifndef TRAIN_CUDA_LIBRARY_H
#define TRAIN_CUDA_LIBRARY_H

#ifdef TRAIN_CUDA
#include <cublas_v2.h>
#include <cuda.h>

#include <stddef.h>

/* clang-format off */
#define DRIVER_FUNCTIONS(X) \
	X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) \
	X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) \
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) \
	X(cuDeviceCanAccessPeer) X(cuCtxEnablePeerAccess) \
	X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) \
	X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel) \
	X(cuMemAlloc) X(cuMemFree) X(cuMemsetD8Async) \
	X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyPeerAsync)

#define BLAS_FUNCTIONS(X) \
	X(cublasCreate) X(cublasDestroy) X(cublasGetStatusString) X(cublasSetStream) \
	X(cublasSetMathMode) X(cublasSgemm) X(cublasSgemv)
/* clang-format on */

#define FUNCTION_MEMBER(name) __typeof__(&(name)) name;

/* The headers' macros (cublasCreate is cublasCreate_v2) hold for members too. */
struct cuda {
	DRIVER_FUNCTIONS(FUNCTION_MEMBER)
	BLAS_FUNCTIONS(FUNCTION_MEMBER)
	int n_gpus;
};

extern struct cuda cuda;

/* Open both and count the GPUs that CUDA_VISIBLE_DEVICES leaves. NULL, or a line
 * that says what is not there. */
const char *cuda_open(void);

/* The functions of one library, into *table. The library is looked for where the
 * dynamic linker looks, then in lib64 of $CUDA_HOME, $CUDA_PATH, /usr/local/cuda.
 * NULL, or a line. */
struct cuda_symbol {
	const char *name;
	size_t offset;                   /* of its member in the table */
};

#define CUDA_TEXT_(x) #x
#define CUDA_TEXT(x) CUDA_TEXT_(x)       /* of what a macro makes of the name */

const char *cuda_load(const char *library, const struct cuda_symbol *symbols, size_t n,
		      void *table);

#endif
#endif
