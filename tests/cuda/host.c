/* host.c - CUDA's driver, cuBLAS and NVRTC on a machine without a GPU, as far as
 * the example trainer calls them: one shared object, to be found by those three
 * names.
 *
 * It shows what the trainer does with CUDA, not what a GPU does with the trainer:
 * the kernels are the real ones, compiled for the host, the products are
 * OpenBLAS's. It is as late as CUDA may be: what is queued on a stream is done
 * when somebody waits for the stream. And it is strict: memory is of one GPU,
 * and kernels, products and copies that touch another's fail.
 *
 *	CUDA_HOST_GPUS=N       GPUs there are (2); CUDA_VISIBLE_DEVICES shows no more
 *	                       of them than it has names, whatever these are
 *	CUDA_HOST_MEMORY=N     bytes each has (1 GiB)
 *	CUDA_HOST_DRIVER=N     the newest CUDA that the driver is for (CUDA_VERSION)
 *	CUDA_HOST_BREAK=N      the GPUs fail in the N-th wait for them
 *	CUDA_HOST_CAPABILITY=N compute capability (90; NVRTC here knows 90 only)
 */
#ifdef TRAIN_CUDA
#include "kernels_on_host.h"

#include <cblas.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <nvrtc.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GPUS = 8, MAX_ARGUMENTS = 12 };

struct CUctx_st { int gpu; int n_users; size_t used_bytes; };
static struct CUctx_st contexts[MAX_GPUS];
static _Thread_local CUcontext current;

struct memory { char *start; size_t bytes; CUcontext owner; struct memory *next; };
static struct memory *memories;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static void *pointer_to(CUdeviceptr address)
{
	void *pointer;

	memcpy(&pointer, &address, sizeof(pointer));
	return pointer;
}

/* Whether all bytes are in one piece of memory of that GPU. */
static bool owns(CUcontext context, const void *start, size_t bytes)
{
	const char *p = start;
	bool found = false;

	pthread_mutex_lock(&lock);
	for (const struct memory *m = memories; m && !found; m = m->next)
		found = m->owner == context && p >= m->start && p + bytes <= m->start + m->bytes;
	pthread_mutex_unlock(&lock);
	if (!found)
		fprintf(stderr, "host.c: %zu bytes at %p are not of GPU %d\n", bytes, start,
			context ? context->gpu : -1);
	return found;
}

/* --- streams -------------------------------------------------------------------- */

struct command {
	void (*run)(struct command *command);
	struct command *next;
	/* of a kernel */
	void (*kernel)(size_t n_threads, void **arguments);
	size_t n_threads;
	uint64_t values[MAX_ARGUMENTS];
	/* of a copy, and of memset (from NULL) */
	char *to;
	const char *from;
	size_t bytes;
	void *staged;                    /* to be freed */
	/* of a product */
	CBLAS_TRANSPOSE a_op, b_op;
	int m, n, k, lda, ldb, ldc;
	float alpha, beta;
	const float *a, *b;
	float *c;
};

struct CUstream_st {
	CUcontext context;
	struct command *first, **last;
};

static struct command *queue(CUstream stream, void (*run)(struct command *))
{
	struct command *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->run = run;
	*stream->last = c;
	stream->last = &c->next;
	return c;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	(void)flags;
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	*stream = calloc(1, sizeof(**stream));
	if (!*stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*stream)->context = current;
	(*stream)->last = &(*stream)->first;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	static atomic_long n_waits;

	if (stream->context != current)
		return CUDA_ERROR_INVALID_CONTEXT;
	for (struct command *c = stream->first, *next; c; c = next) {
		next = c->next;
		c->run(c);
		free(c);
	}
	stream->first = NULL;
	stream->last = &stream->first;
	return atomic_fetch_add(&n_waits, 1) + 1 == setting("CUDA_HOST_BREAK", 0) ?
	       CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
	bool idle = !stream->first;

	free(stream);
	return idle ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* --- memory ---------------------------------------------------------------------- */

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m || !current || bytes == 0)
		abort();
	if (current->used_bytes + bytes > (size_t)setting("CUDA_HOST_MEMORY", 1L << 30)) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*m = (struct memory){ malloc(bytes), bytes, current, NULL };
	memset(m->start, 0xff, bytes);   /* a NaN in every float */
	pthread_mutex_lock(&lock);
	m->next = memories;
	memories = m;
	current->used_bytes += bytes;
	pthread_mutex_unlock(&lock);
	*pointer = (CUdeviceptr)(uintptr_t)m->start;
	return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr pointer)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	for (struct memory **at = &memories; *at; at = &(*at)->next) {
		struct memory *m = *at;

		if (m->start != pointer_to(pointer) || m->owner != current)
			continue;
		*at = m->next;
		m->owner->used_bytes -= m->bytes;
		free(m->start);
		free(m);
		result = CUDA_SUCCESS;
		break;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static void run_copy(struct command *c)
{
	if (c->from)
		memcpy(c->to, c->from, c->bytes);
	else
		memset(c->to, 0, c->bytes);
	free(c->staged);
}

static void queue_copy(CUstream stream, void *to, const void *from, size_t bytes, void *staged)
{
	struct command *c = queue(stream, run_copy);

	c->to = to;
	c->from = from;
	c->bytes = bytes;
	c->staged = staged;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream)
{
	if (value != 0 || stream->context != current || !owns(current, pointer_to(to), n))
		return CUDA_ERROR_INVALID_VALUE;
	queue_copy(stream, pointer_to(to), NULL, n, NULL);
	return CUDA_SUCCESS;
}

/* Of pageable memory: it is read before the call returns. */
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	void *stage;

	if (stream->context != current || !owns(current, pointer_to(to), bytes))
		return CUDA_ERROR_INVALID_VALUE;
	stage = malloc(bytes);
	if (!stage)
		return CUDA_ERROR_OUT_OF_MEMORY;
	queue_copy(stream, pointer_to(to), memcpy(stage, from, bytes), bytes, stage);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	if (stream->context != current || !owns(current, pointer_to(from), bytes))
		return CUDA_ERROR_INVALID_VALUE;
	queue_copy(stream, to, pointer_to(from), bytes, NULL);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			   CUcontext from_context, size_t bytes, CUstream stream)
{
	if (stream->context != current || !owns(to_context, pointer_to(to), bytes) ||
	    !owns(from_context, pointer_to(from), bytes))
		return CUDA_ERROR_INVALID_VALUE;
	queue_copy(stream, pointer_to(to), pointer_to(from), bytes, NULL);
	return CUDA_SUCCESS;
}

/* --- kernels ---------------------------------------------------------------------- */

#define POINTER(i) (*(void **)a[i])
#define INT(i) (*(int *)a[i])
#define LONG(i) (*(long *)a[i])
#define FLOAT(i) (*(float *)a[i])
#define DOUBLE(i) (*(double *)a[i])

#define TRAMPOLINE(name, ...) \
	static void run_##name(size_t n_threads, void **a) { RUN(n_threads, name(__VA_ARGS__)); }
TRAMPOLINE(gather, POINTER(0), POINTER(1), POINTER(2), INT(3), INT(4), INT(5), FLOAT(6), FLOAT(7),
	   POINTER(8), POINTER(9))
TRAMPOLINE(add_bias, POINTER(0), POINTER(1), INT(2), INT(3), INT(4))
TRAMPOLINE(relu_backward, POINTER(0), POINTER(1), LONG(2))
TRAMPOLINE(cross_entropy, POINTER(0), POINTER(1), INT(2), INT(3), POINTER(4), POINTER(5))
TRAMPOLINE(classify, POINTER(0), POINTER(1), INT(2), INT(3), POINTER(4))
TRAMPOLINE(sqr_sums, POINTER(0), INT(1), LONG(2), INT(3), POINTER(4))
TRAMPOLINE(plain_sums, POINTER(0), INT(1), INT(2), POINTER(3))
TRAMPOLINE(add_up, POINTER(0), INT(1), DOUBLE(2), POINTER(3))
TRAMPOLINE(add_sample_sqr, POINTER(0), POINTER(1), INT(2), INT(3), POINTER(4))
TRAMPOLINE(add, POINTER(0), POINTER(1), LONG(2))
TRAMPOLINE(update, POINTER(0), POINTER(1), POINTER(2), LONG(3), FLOAT(4), FLOAT(5), FLOAT(6))

struct CUfunc_st {
	const char *name, *types;
	void (*run)(size_t n_threads, void **arguments);
};
static struct CUfunc_st functions[] = {
	{ "gather", "pppiiiffpp", run_gather }, { "add_bias", "ppiii", run_add_bias },
	{ "relu_backward", "ppl", run_relu_backward },
	{ "cross_entropy", "ppiipp", run_cross_entropy }, { "classify", "ppiip", run_classify },
	{ "sqr_sums", "pilip", run_sqr_sums }, { "plain_sums", "piip", run_plain_sums },
	{ "add_up", "pidp", run_add_up }, { "add_sample_sqr", "ppiip", run_add_sample_sqr },
	{ "add", "ppl", run_add }, { "update", "ppplfff", run_update },
};

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	static char loaded;

	*module = (CUmodule)(void *)&loaded;
	return image ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleUnload(CUmodule module)
{
	(void)module;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	(void)module;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		*function = &functions[i];
		if (strcmp(functions[i].name, name) == 0)
			return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_FOUND;
}

static void run_kernel(struct command *c)
{
	void *arguments[MAX_ARGUMENTS];

	for (int i = 0; i < MAX_ARGUMENTS; i++)
		arguments[i] = &c->values[i];
	c->kernel(c->n_threads, arguments);
}

/* Takes the arguments at once, as CUDA does. */
CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
			unsigned block_x, unsigned block_y, unsigned block_z,
			unsigned shared_bytes, CUstream stream, void **arguments, void **extra)
{
	struct command *c;

	if (stream->context != current || x == 0 || x > INT32_MAX || block_x != blockDim.x ||
	    y * z * block_y * block_z != 1 || shared_bytes || extra)
		return CUDA_ERROR_INVALID_VALUE;
	c = queue(stream, run_kernel);
	c->kernel = function->run;
	c->n_threads = (size_t)x * block_x;
	for (int i = 0; function->types[i]; i++) {
		bool narrow = function->types[i] == 'i' || function->types[i] == 'f';
		const void *pointer;

		memcpy(&c->values[i], arguments[i], narrow ? 4 : 8);
		if (function->types[i] != 'p')
			continue;
		memcpy(&pointer, arguments[i], sizeof(pointer));
		if (pointer && !owns(current, pointer, 1))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

/* --- the driver -------------------------------------------------------------------- */

static int n_gpus(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int there_are = (int)setting("CUDA_HOST_GPUS", 2), n = visible && *visible;

	for (const char *p = visible; p && *p; p++)
		n += *p == ',';
	return visible && n < there_are ? n : there_are;
}

CUresult cuInit(unsigned flags)
{
	for (int i = 0; i < MAX_GPUS; i++)
		contexts[i].gpu = i;
	return flags ? CUDA_ERROR_INVALID_VALUE : n_gpus() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

/* The real NVRTC looks for a driver by it, and does without. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	(void)id;
	*table = NULL;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = (int)setting("CUDA_HOST_DRIVER", CUDA_VERSION);
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	*text = error == CUDA_SUCCESS ? "no error" :
		error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" :
		error == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device is detected" :
		error == CUDA_ERROR_LAUNCH_FAILED ? "unspecified launch failure" :
		"an error of tests/cuda/host.c";
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
	*n = n_gpus();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number)
{
	*device = 100 + number;          /* a handle, not the number */
	return number < n_gpus() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
	snprintf(name, (size_t)size, "host GPU %d", device - 100);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	int capability = (int)setting("CUDA_HOST_CAPABILITY", 90);

	(void)device;
	if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
		*value = capability / 10;
	else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
		*value = capability % 10;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	*context = &contexts[device - 100];
	(*context)->n_users++;
	return CUDA_SUCCESS;
}

/* The last user leaves nothing behind. */
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	CUcontext context = &contexts[device - 100];

	if (--context->n_users == 0 && context->used_bytes > 0)
		fprintf(stderr, "host.c: %zu bytes of GPU %d were never freed\n",
			context->used_bytes, context->gpu);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	current = context;
	return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	*can = device != peer;
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	return flags || peer == current || !peer->n_users ? CUDA_ERROR_INVALID_VALUE :
	       CUDA_SUCCESS;
}

/* --- cuBLAS ------------------------------------------------------------------------- */

struct cublasContext { CUcontext context; CUstream stream; };

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
	*handle = calloc(1, sizeof(**handle));
	if (!*handle || !current)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	(*handle)->context = current;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
	return status == CUBLAS_STATUS_SUCCESS ? "no error" : "an error of tests/cuda/host.c";
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	handle->stream = stream;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	(void)handle;
	return mode == CUBLAS_DEFAULT_MATH || mode == CUBLAS_TF32_TENSOR_OP_MATH ?
	       CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

static bool fits(cublasHandle_t h, const float *matrix, int rows, int columns, int ld)
{
	return rows > 0 && columns > 0 && ld >= rows && h->context == current &&
	       owns(current, matrix, ((size_t)ld * (size_t)(columns - 1) + (size_t)rows) *
		    sizeof(float));
}

static void run_sgemm(struct command *c)
{
	cblas_sgemm(CblasColMajor, c->a_op, c->b_op, c->m, c->n, c->k, c->alpha, c->a, c->lda,
		    c->b, c->ldb, c->beta, c->c, c->ldc);
}

cublasStatus_t cublasSgemm(cublasHandle_t h, cublasOperation_t a_op, cublasOperation_t b_op,
			   int m, int n, int k, const float *alpha, const float *a, int lda,
			   const float *b, int ldb, const float *beta, float *c, int ldc)
{
	bool a_is = a_op == CUBLAS_OP_N, b_is = b_op == CUBLAS_OP_N;
	struct command *command;

	if (!fits(h, a, a_is ? m : k, a_is ? k : m, lda) ||
	    !fits(h, b, b_is ? k : n, b_is ? n : k, ldb) || !fits(h, c, m, n, ldc))
		return CUBLAS_STATUS_INVALID_VALUE;
	command = queue(h->stream, run_sgemm);
	command->a_op = a_is ? CblasNoTrans : CblasTrans;
	command->b_op = b_is ? CblasNoTrans : CblasTrans;
	command->m = m;
	command->n = n;
	command->k = k;
	command->alpha = *alpha;
	command->a = a;
	command->lda = lda;
	command->b = b;
	command->ldb = ldb;
	command->beta = *beta;
	command->c = c;
	command->ldc = ldc;
	return CUBLAS_STATUS_SUCCESS;
}

/* As a product with a matrix of one column. */
cublasStatus_t cublasSgemv(cublasHandle_t h, cublasOperation_t op, int m, int n,
			   const float *alpha, const float *a, int lda, const float *x, int incx,
			   const float *beta, float *y, int incy)
{
	if (op != CUBLAS_OP_N || incx != 1 || incy != 1)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return cublasSgemm(h, op, CUBLAS_OP_N, m, 1, n, alpha, a, lda, x, n, beta, y, m);
}

/* --- NVRTC -------------------------------------------------------------------------- */

static const char code[] = "code";

const char *nvrtcGetErrorString(nvrtcResult result)
{
	return result == NVRTC_SUCCESS ? "no error" : "an error of tests/cuda/host.c";
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
	*n = 1;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *all)
{
	*all = 90;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name,
			       int n_headers, const char *const *headers,
			       const char *const *names)
{
	static char created;

	(void)name, (void)n_headers, (void)headers, (void)names;
	*program = (nvrtcProgram)(void *)&created;
	return strstr(text, "__global__") ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	*program = NULL;
	return NVRTC_SUCCESS;
}

/* Machine code for the GPU it knows, assembly for newer ones. */
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options)
{
	long capability = setting("CUDA_HOST_CAPABILITY", 90);

	(void)program;
	return n == 1 && strcmp(options[0], capability == 90 ? "--gpu-architecture=sm_90" :
				"--gpu-architecture=compute_90") == 0 ?
	       NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
	(void)program;
	*bytes = 1;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
	(void)program;
	*log = '\0';
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
	(void)program;
	*bytes = sizeof(code);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *to)
{
	(void)program;
	memcpy(to, code, sizeof(code));
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
	return nvrtcGetCUBINSize(program, bytes);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *to)
{
	return nvrtcGetCUBIN(program, to);
}

#else
typedef int no_cuda;                     /* ISO C has no empty files */
#endif
