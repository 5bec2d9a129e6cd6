/* cuda_standin.c - a stand-in for CUDA's runtime and cuBLAS where there is no GPU. It computes
 * nothing and was never compared with a real GPU. Time is made up: products and copies take the
 * time of their operations and bytes at fixed rates, and events tell what the stream's clock said.
 * So pollux has to report those rates, and each call has to be one that the real libraries would
 * take: sizes, leading dimensions, types, memory that is there, a workspace. What is in the L2
 * cache is faster, what was never filled fails, and a clock that has not risen yet is slower, so
 * that such a measurement shows. Signatures are those
 * of CUDA's headers. Their meaning is what pollux takes it to be: only a run on a GPU can show a
 * misunderstanding.
 *
 * Found as libcudart, libcublas and libcuda by LD_LIBRARY_PATH. CUDA_STANDIN_MIB: memory of a GPU
 * (141,000); CUDA_STANDIN_UUIDS: hexadecimal digits, 32 for each GPU, of which
 * CUDA_VISIBLE_DEVICES shows those with its numbers; CUDA_STANDIN_NEAR: so many
 * GPUs at a time are joined well (all), and copies between others have a quarter of the rate. */
#ifdef POLLUX_CUDA
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pollux/cuda.h"

#define EXPORT __attribute__((visibility("default")))
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#define CALL_S 4e-6
#define MEMORY_BYTES_PER_S 2e12
#define PINNED_BYTES_PER_S 5e10
#define PEER_BYTES_PER_S 2e11
#define L2_BYTES (60 << 20)
#define COLD_S 0.5			/* of computing, in which products take longer */
#define WORKSPACE_LEAST ((size_t)32 << 20)

EXPORT int standin_unused(void);

/* Never to be called by what is tested; any answer but success. */
int standin_unused(void)
{
	return 999;
}

#define UNUSED(name) __asm__(".globl " TEXT(name) "\n.set " TEXT(name) ", standin_unused\n");
/* clang-format off */
UNUSED(cuInit) UNUSED(cuDriverGetVersion) UNUSED(cuDeviceGetCount) UNUSED(cuGetErrorName)
UNUSED(cuGetErrorString)
UNUSED(cudaGetErrorName) UNUSED(cudaGetLastError) UNUSED(cudaPeekAtLastError) UNUSED(cudaGetDevice)
UNUSED(cudaDeviceGetPCIBusId) UNUSED(cudaDeviceReset) UNUSED(cudaMemGetInfo) UNUSED(cudaHostAlloc)
UNUSED(cudaHostRegister) UNUSED(cudaHostUnregister) UNUSED(cudaMemsetAsync) UNUSED(cudaMemcpyPeer)
UNUSED(cudaDeviceDisablePeerAccess) UNUSED(cudaDeviceGetP2PAttribute) UNUSED(cudaStreamCreate)
UNUSED(cudaStreamDestroy) UNUSED(cudaStreamQuery) UNUSED(cudaStreamWaitEvent)
UNUSED(cudaEventCreateWithFlags) UNUSED(cudaEventDestroy) UNUSED(cudaEventQuery)
UNUSED(cublasDestroy) UNUSED(cublasGetVersion) UNUSED(cublasSetMathMode) UNUSED(cublasGetMathMode)
UNUSED(cublasSetPointerMode) UNUSED(cublasSgemm) UNUSED(cublasDgemm)
UNUSED(cublasGemmStridedBatchedEx) UNUSED(cublasSaxpy) UNUSED(cublasScopy) UNUSED(cublasSnrm2)
/* clang-format on */

struct CUstream_st {
	double now_s;
};

struct CUevent_st {
	double at_s;
	int recorded;
};

struct cublasContext {
	struct CUstream_st *stream;
	int has_workspace;		/* since the stream was set */
};

/* --- devices --- */

/* Of the GPUs that CUDA_VISIBLE_DEVICES shows, by number; a UUID there shows none. */
static const char *uuids(void)
{
	static char shown[2048];
	const char *text = getenv("CUDA_STANDIN_UUIDS"), *by = getenv("CUDA_VISIBLE_DEVICES");
	char *end;

	if (!text || !by)
		return text ? text : "";
	for (shown[0] = '\0'; *by >= '0' && *by <= '9'; by = end + (*end == ',')) {
		size_t at = 32 * strtoul(by, &end, 10);

		if (at >= strlen(text) || strlen(shown) + 33 > sizeof(shown))
			break;
		strncat(shown, text + at, 32);
	}
	return shown;
}

EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
	*count = (int)(strlen(uuids()) / 32);
	return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	memset(p, 0, sizeof(*p));
	for (int i = 0; i < 16; i++) {
		const char *pair = &uuids()[32 * device + 2 * i];
		char digits[3] = { pair[0], pair[1], 0 };

		p->uuid.bytes[i] = (char)strtol(digits, NULL, 16);
	}
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	(void)device;
	*value = attribute == cudaDevAttrClockRate ? 1980000
		 : attribute == cudaDevAttrMemoryClockRate ? 3201000
		 : attribute == cudaDevAttrGlobalMemoryBusWidth ? 6144
		 : attribute == cudaDevAttrMultiProcessorCount ? 132
		 : attribute == cudaDevAttrL2CacheSize ? L2_BYTES
		 : attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
	return cudaSuccess;
}

EXPORT cudaError_t cudaSetDevice(int device)
{
	return device >= 0 && device < (int)(strlen(uuids()) / 32) ? cudaSuccess
								   : cudaErrorInvalidDevice;
}

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = device != peer;
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	return flags == 0 ? cudaSetDevice(peer) : cudaErrorInvalidValue;
}

EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	return error == cudaErrorMemoryAllocation ? "out of memory" : "a stand-in's error";
}

/* --- memory --- */

static struct block {
	char *at;
	size_t bytes, filled;	/* so many from its beginning, by copies of what is not constant */
} blocks[64];

static size_t in_use(void)
{
	size_t sum = 0;

	for (int i = 0; i < 64; i++)
		sum += blocks[i].at ? blocks[i].bytes : 0;
	return sum;
}

/* Whether so many bytes lie in memory that was allocated. */
static int is_there(const void *at, size_t bytes)
{
	for (int i = 0; i < 64; i++)
		if (blocks[i].at && (const char *)at >= blocks[i].at &&
		    (const char *)at + bytes <= blocks[i].at + blocks[i].bytes)
			return 1;
	return 0;
}

static void note_filled(const char *at, const char *from, size_t bytes)
{
	for (int i = 0; i < 64; i++) {
		struct block *b = &blocks[i];
		size_t offset = (size_t)(at - b->at);

		if (b->at && at >= b->at && at < b->at + b->bytes && offset == b->filled &&
		    (bytes < 64 || memcmp(from, from + 8, 32) != 0))
			b->filled = offset + bytes;
	}
}

static int is_filled(const void *at, size_t bytes)
{
	for (int i = 0; i < 64; i++)
		if (blocks[i].at && (const char *)at >= blocks[i].at &&
		    (const char *)at + bytes <= blocks[i].at + blocks[i].filled)
			return 1;
	return 0;
}

/* True if this was used before, and no more than the cache holds since. `all`: what is used now. */
static int is_cached(const void *at, size_t all)
{
	static struct { const void *at; double used; } seen[4096];
	static double used;
	size_t slot = ((uintptr_t)at >> 8) % 4096;
	int cached;

	for (size_t i = 0; seen[slot].at && seen[slot].at != at && i < 4096; i++)
		slot = (slot + 1) % 4096;
	cached = seen[slot].at == at && used - seen[slot].used < L2_BYTES;
	seen[slot].at = at;
	seen[slot].used = used;
	used += (double)all;
	return cached;
}

static cudaError_t take(void **p, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (int i = 0; i < 64 && at != MAP_FAILED; i++) {
		if (blocks[i].at)
			continue;
		blocks[i] = (struct block){ .at = at, .bytes = bytes };
		*p = at;
		return cudaSuccess;
	}
	return cudaErrorMemoryAllocation;
}

static cudaError_t give_back(void *p)
{
	for (int i = 0; i < 64 && p; i++) {
		if (blocks[i].at != p)
			continue;
		munmap(p, blocks[i].bytes);
		blocks[i].at = NULL;
		return cudaSuccess;
	}
	return p ? cudaErrorInvalidValue : cudaSuccess;
}

EXPORT cudaError_t cudaMalloc(void **p, size_t bytes)
{
	const char *text = getenv("CUDA_STANDIN_MIB");
	size_t all = (text ? (size_t)strtol(text, NULL, 10) : 141000) << 20;

	*p = NULL;
	return in_use() + bytes <= all ? take(p, bytes) : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaFree(void *p)
{
	return give_back(p);
}

EXPORT cudaError_t cudaMallocHost(void **p, size_t bytes)
{
	return take(p, bytes);
}

EXPORT cudaError_t cudaFreeHost(void *p)
{
	return give_back(p);
}

EXPORT cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
	(void)value;
	return is_there(p, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	const void *ours = kind == cudaMemcpyHostToDevice ? to : from;

	if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToHost)
		return cudaErrorInvalidValue;
	if (!is_there(ours, bytes))
		return cudaErrorInvalidValue;
	if (kind == cudaMemcpyHostToDevice)
		note_filled(to, from, bytes);
	if (bytes <= (size_t)1 << 20)
		memcpy(to, from, bytes);
	return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
				   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	if (!is_there(to, bytes) || !is_there(from, bytes))	/* pinned, where it is the host's */
		return cudaErrorInvalidValue;
	if (kind != cudaMemcpyDeviceToDevice)
		stream->now_s += CALL_S + (double)bytes / PINNED_BYTES_PER_S;
	else if (!is_filled(from, bytes))
		return cudaErrorInvalidValue;
	else
		stream->now_s += CALL_S + (double)bytes / MEMORY_BYTES_PER_S /
				 (is_cached(from, 2 * bytes) ? 2 : 1);
	return cudaSuccess;
}

static int are_near(int a, int b)
{
	const char *text = getenv("CUDA_STANDIN_NEAR");
	int near = text ? (int)strtol(text, NULL, 10) : 0;

	return near < 1 || a / near == b / near;
}

EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
				       size_t bytes, cudaStream_t stream)
{
	if (!is_there(to, bytes) || !is_there(from, bytes) || to_device == from_device)
		return cudaErrorInvalidValue;
	stream->now_s += CALL_S + (double)bytes / (are_near(to_device, from_device)
						   ? PEER_BYTES_PER_S : PEER_BYTES_PER_S / 4);
	return cudaSuccess;
}

/* --- streams and events --- */

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	(void)flags;
	*stream = calloc(1, sizeof(**stream));
	return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	return stream ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	*event = calloc(1, sizeof(**event));
	return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	event->at_s = stream->now_s;
	event->recorded = 1;
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	return event->recorded ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaEventElapsedTime(float *time_ms, cudaEvent_t begun, cudaEvent_t ended)
{
	if (!begun->recorded || !ended->recorded)
		return cudaErrorInvalidValue;
	*time_ms = (float)(1e3 * (ended->at_s - begun->at_s));
	return cudaSuccess;
}

/* --- cuBLAS --- */

EXPORT cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
	*handle = calloc(1, sizeof(**handle));
	return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

EXPORT cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	handle->stream = stream;
	handle->has_workspace = 0;	/* as the real one says of itself */
	return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	handle->has_workspace = bytes >= WORKSPACE_LEAST && is_there(workspace, bytes);
	return (uintptr_t)workspace % 256 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

EXPORT const char *cublasGetStatusString(cublasStatus_t status)
{
	return status == CUBLAS_STATUS_INVALID_VALUE ? "invalid value" : "a stand-in's error";
}

EXPORT cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float *alpha, float *x,
				  int incx)
{
	(void)alpha;
	(void)incx;
	handle->stream->now_s += CALL_S;
	return is_there(x, (size_t)n * sizeof(*x)) ? CUBLAS_STATUS_SUCCESS
						   : CUBLAS_STATUS_INVALID_VALUE;
}

/* FLOP/s by type; 0: no such combination. Turned weights are the faster ones in half precision. */
static double rate_of(cudaDataType type, cublasComputeType_t compute, cublasOperation_t a)
{
	int turned = a == CUBLAS_OP_T;

	if ((type == CUDA_R_16F || type == CUDA_R_16BF) && compute == CUBLAS_COMPUTE_32F)
		return turned ? 8e14 : 7e14;
	if (type == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F_FAST_TF32)
		return turned ? 3.8e14 : 4e14;
	if (type == CUDA_R_64F && compute == CUBLAS_COMPUTE_64F)
		return 6e13;
	return type == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F ? 5e13 : 0;
}

/* alpha and beta are in the type that is computed in. */
static double scalar(const void *at, cublasComputeType_t compute)
{
	return compute == CUBLAS_COMPUTE_64F ? *(const double *)at : (double)*(const float *)at;
}

/* Columns by columns: rows x columns with a leading dimension. */
static int matrix_is_there(const void *at, int rows, int columns, int leading, size_t size)
{
	return leading >= rows &&
	       is_there(at, ((size_t)leading * (size_t)(columns - 1) + (size_t)rows) * size);
}

EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
				   cublasOperation_t op_b, int m, int n, int k, const void *alpha,
				   const void *a, cudaDataType a_type, int lda, const void *b,
				   cudaDataType b_type, int ldb, const void *beta, void *c,
				   cudaDataType c_type, int ldc, cublasComputeType_t compute,
				   cublasGemmAlgo_t algorithm)
{
	size_t size = a_type == CUDA_R_64F ? 8 : a_type == CUDA_R_32F ? 4 : 2;
	double rate = rate_of(a_type, compute, op_a);
	int turned_a = op_a == CUBLAS_OP_T, turned_b = op_b == CUBLAS_OP_T;

	(void)algorithm;
	if (!handle->has_workspace || a_type != b_type || a_type != c_type || rate <= 0 ||
	    scalar(alpha, compute) < 1 || scalar(beta, compute) != 0 ||
	    !matrix_is_there(a, turned_a ? k : m, turned_a ? m : k, lda, size) ||
	    !matrix_is_there(b, turned_b ? n : k, turned_b ? k : n, ldb, size) ||
	    !matrix_is_there(c, m, n, ldc, size) || !is_filled(a, (size_t)m * (size_t)k * size) ||
	    !is_filled(b, (size_t)n * (size_t)k * size))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (handle->stream->now_s < COLD_S)
		rate /= 2;
	if (is_cached(a, ((size_t)m * (size_t)k + (size_t)n * (size_t)(k + m)) * size))
		rate *= 2;
	handle->stream->now_s += CALL_S + 2.0 * m * n * k / rate;
	return CUBLAS_STATUS_SUCCESS;
}
#else
typedef int standin_has_nothing_to_stand_in_for;
#endif
