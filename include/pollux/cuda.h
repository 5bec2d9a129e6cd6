/* cuda.h - CUDA's runtime and cuBLAS, opened at run time.
 *
 * The program links none of them: it runs where there is no CUDA, and says why it has none. The signatures
 * are taken from the toolkit's headers when pollux is built, so a call that does not fit cannot compile. Where
 * the headers were not there, POLLUX_CUDA is not defined: cuda_open fails with that as its reason, struct cuda
 * has no functions, and code that calls them stands between #ifdef POLLUX_CUDA and #endif.
 *
 *	struct cuda cuda;
 *	void *p;
 *	if (cuda_open(&cuda, err))	// EX_UNAVAILABLE, and why; a normal answer
 *		return -1;
 *	if (cuda_check(&cuda, cuda.cudaSetDevice(0), "choose GPU 0", err) ||
 *	    cuda_check(&cuda, cuda.cudaMalloc(&p, bytes), "allocate 1 GiB on GPU 0", err))
 *		return -1;		// "cannot allocate 1 GiB on GPU 0: out of memory"
 *	if (cublas_check(&cuda, cuda.cublasCreate(&handle), "start cuBLAS", err)) ...
 *
 * Members have the names in the documentation of CUDA; the headers' macros (cublasCreate is cublasCreate_v2)
 * hold for members too. A function that is missing here is added to the lists below and is then there.
 * CUDA numbers the GPUs that CUDA_VISIBLE_DEVICES leaves; cuda_ordinal finds the number of a device of ours.
 *
 * Only commands that measure open CUDA: it takes from a tenth of a second to seconds, and cuBLAS half a
 * gigabyte of address space. A pass, status and supervisors never do. Nothing is closed again: CUDA cannot be
 * unloaded safely; what a process allocated goes with it. */
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
	X(cudaGetErrorString) X(cudaRuntimeGetVersion) X(cudaDriverGetVersion) X(cudaGetDeviceCount) \
	X(cudaSetDevice) X(cudaGetDeviceProperties) X(cudaDeviceGetAttribute) X(cudaDeviceSynchronize) \
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
	int runtime_version, driver_version;	/* 1000 * major + 10 * minor: 13000 is 13.0; 0: none found */
	int n_gpus;				/* that CUDA shows to this process */
};

/* Opens libcudart, asks for GPUs, then opens cuBLAS. -1: *c is not to be used for calls (the
 * versions say how far it came), and *err says, with EX_UNAVAILABLE, what is not there: no headers at build,
 * no library (and where it was looked for), one too old (and the symbol it lacks), no driver or one too old,
 * no GPU. Libraries are looked for where the dynamic linker looks, then in lib64 of $CUDA_HOME, $CUDA_PATH
 * and /usr/local/cuda; of the major version that pollux was built with. */
int cuda_open(struct cuda *c, struct err *err);

/* The first step of it alone: libcudart and the two versions. Touches no GPU; takes milliseconds. Of *c only
 * the runtime's functions are there then. */
int cuda_open_runtime(struct cuda *c, struct err *err);

/* Why cuda_open fails here, in a line; NULL: it does not. Tried once and kept. */
const char *cuda_why_not(void);

#ifdef POLLUX_CUDA
/* 0 for success, else -1 with "cannot WHAT: ..." and CUDA's words for the status; EX_UNAVAILABLE where the
 * GPU or its memory is not to be had, else EX_OSERR. */
int cuda_check(const struct cuda *c, cudaError_t status, const char *what, struct err *err);
int cublas_check(const struct cuda *c, cublasStatus_t status, const char *what, struct err *err);

/* CUDA's number of a device of ours ("gpu:GPU-5a1e...", see device.h). -1: CUDA does not show it. */
int cuda_ordinal(const struct cuda *c, const char *device_id, int *ordinal, struct err *err);
#endif

#endif
