/* cuda.h - CUDA's runtime and cuBLAS, opened at run time.
 *
 * The program is not linked to these libraries: without CUDA it runs and says why CUDA is missing.
 * The signatures come from the toolkit's headers when pollux is built, so a wrong call does not
 * compile. If the headers were missing then, POLLUX_CUDA is not defined: cuda_open fails with that
 * reason, struct cuda has no functions, and callers put their code between #ifdef POLLUX_CUDA and
 * #endif.
 *
 * 	struct cuda cuda;
 * 	void *p;
 * 	if (cuda_open(&cuda, err))	// EX_UNAVAILABLE, and why; a normal answer
 * 		return -1;
 * 	if (cuda_check(&cuda, cuda.cudaSetDevice(0), "choose GPU 0", err) ||
 * 	    cuda_check(&cuda, cuda.cudaMalloc(&p, bytes), "allocate 1 GiB on GPU 0", err))
 * 		return -1;		// "cannot allocate 1 GiB on GPU 0: out of memory"
 * 	if (cublas_check(&cuda, cuda.cublasCreate(&handle), "start cuBLAS", err)) ...
 *
 * Members have the names of CUDA's documentation; the headers' macros (cublasCreate is
 * cublasCreate_v2) work for members, too. To use another function, add it to the lists below. CUDA
 * numbers only the GPUs in CUDA_VISIBLE_DEVICES; cuda_ordinal finds the number of a device.
 *
 * Only commands that measure open CUDA: opening takes from a tenth of a second to seconds, and
 * cuBLAS takes half a gigabyte of address space. Passes, status and supervisors never do. Nothing
 * is closed again, because CUDA cannot be unloaded safely; the process takes everything with it. */
#ifndef POLLUX_CUDA_H
#define POLLUX_CUDA_H

#include "pollux/err.h"

struct cuda;

#ifdef POLLUX_CUDA
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

/* clang-format off */
#define CUDA_RUNTIME_FUNCTIONS(X) \
	/* errors, versions, devices */ \
	X(cudaGetErrorString) X(cudaRuntimeGetVersion) X(cudaDriverGetVersion) \
	X(cudaGetDeviceCount) \
	X(cudaSetDevice) X(cudaGetDeviceProperties) X(cudaDeviceGetAttribute) \
	X(cudaDeviceSynchronize) \
	/* memory: on the GPU, pinned in the host's */ \
	X(cudaMalloc) X(cudaFree) X(cudaMallocHost) X(cudaFreeHost) X(cudaMemset) \
	X(cudaMemcpy) X(cudaMemcpyAsync) X(cudaMemcpyPeerAsync) \
	/* from one GPU to another */ \
	X(cudaDeviceCanAccessPeer) X(cudaDeviceEnablePeerAccess) \
	/* streams and events */ \
	X(cudaStreamCreateWithFlags) X(cudaStreamSynchronize) \
	X(cudaEventCreate) X(cudaEventRecord) X(cudaEventSynchronize) X(cudaEventElapsedTime)

#define CUDA_BLAS_FUNCTIONS(X) \
	X(cublasCreate) X(cublasGetStatusString) X(cublasSetStream) X(cublasSetWorkspace) \
	X(cublasGemmEx) X(cublasSscal)
/* clang-format on */

#define CUDA_MEMBER(name) __typeof__(&(name)) name; /* NOLINT(bugprone-macro-parentheses) */
#define CUDA_FUNCTIONS CUDA_RUNTIME_FUNCTIONS(CUDA_MEMBER) CUDA_BLAS_FUNCTIONS(CUDA_MEMBER)
#else
#define CUDA_FUNCTIONS
#endif

struct cuda {
	CUDA_FUNCTIONS
	/* 1000 * major + 10 * minor: 13000 is 13.0; 0: none found */
	int runtime_version, driver_version;
	int n_gpus;				/* visible to this process */
};

/* Opens libcudart, asks for GPUs, then opens cuBLAS. Libraries are looked for where the dynamic
 * linker looks, then in lib64 of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, then in NVIDIA's
 * wheels for Python below $VIRTUAL_ENV, $CONDA_PREFIX, ~/.local, /usr/local and /usr; they must
 * have the major version that pollux was built with.
 *
 * -1: *c must not be used for calls, and *err (EX_UNAVAILABLE) says what is missing: headers at
 * build, a library (and where it was looked for), a symbol of a library that is too old, a driver
 * or a newer one, a GPU. The versions show how far the call came. */
int cuda_open(struct cuda *c, struct err *err);

/* The first step alone: opens libcudart and reads the two versions. Touches no GPU, takes
 * milliseconds. Only the runtime's functions in *c can be called. */
int cuda_open_runtime(struct cuda *c, struct err *err);

/* Opens one library of CUDA, from where cuda_open looks. NULL: *err says why not. */
void *cuda_open_library(const char *library, struct err *err);

#ifdef POLLUX_CUDA
/* Returns 0 for success, otherwise -1 with "cannot WHAT: ..." and CUDA's words for the status.
 * EX_UNAVAILABLE: the GPU or its memory cannot be had; otherwise EX_OSERR. */
int cuda_check(const struct cuda *c, cudaError_t status, const char *what, struct err *err);
int cublas_check(const struct cuda *c, cublasStatus_t status, const char *what, struct err *err);

/* Returns CUDA's number of a device ("gpu:GPU-5a1e...", see device.h). -1: CUDA does not show
 * it. */
int cuda_ordinal(const struct cuda *c, const char *device_id, int *ordinal, struct err *err);
#endif

#endif
