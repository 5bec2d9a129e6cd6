/* gpu_work.c - measures a GPU by CUDA and cuBLAS. Built without CUDA's headers, it only reports
 * their absence. */
#include "gpu_work.h"

#include <math.h>
#include <stddef.h>

#ifdef POLLUX_CUDA

/* The workspace recommended for cuBLAS on Hopper. With less it avoids its fastest kernels. */
#define WORKSPACE_BYTES ((size_t)64 << 20)
#define LARGE_CACHE ((size_t)128 << 20)	/* where CUDA does not tell */
#define SLOWED 0.10		/* loss of speed that is worth a note */

static const struct repeat_limits gpu_full = {
	.least = 10, .most = 200, .half_width = 0.02, .span_s = 10e-3, .time_s = 0.5,
};
static const struct repeat_limits gpu_quick = {
	.least = 5, .most = 50, .half_width = 0.02, .span_s = 2e-3, .time_s = 0.1,
};

bool gpu_ok(struct gpu_work *g, cudaError_t status, const char *what)
{
	return cuda_check(&g->cuda, status, what, g->err) == 0;
}

bool gpu_blas_ok(struct gpu_work *g, cublasStatus_t status, const char *what)
{
	return cublas_check(&g->cuda, status, what, g->err) == 0;
}

bool gpu_allocate(struct gpu_work *g, char **p, size_t bytes)
{
	void *at = NULL;
	bool ok = gpu_ok(g, g->cuda.cudaMalloc(&at, bytes), "allocate memory");

	*p = at;
	return ok;
}

/* Opens a stream, events, and cuBLAS with a workspace, which is set after the stream, since setting
 * a stream restores the default workspace. */
static int gpu_work_open(struct gpu_work *g, const struct device *d, struct err *err)
{
	const struct cuda *c = &g->cuda;
	void *workspace;
	int bytes;

	g->err = err;
	if (cuda_open(&g->cuda, err) || cuda_ordinal(c, d->id, &g->ordinal, err) ||
	    !gpu_ok(g, c->cudaSetDevice(g->ordinal), "choose the GPU") ||
	    !gpu_ok(g, c->cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking),
		    "make a stream") ||
	    !gpu_ok(g, c->cudaEventCreate(&g->begun), "make an event") ||
	    !gpu_ok(g, c->cudaEventCreate(&g->ended), "make an event") ||
	    !gpu_blas_ok(g, c->cublasCreate(&g->blas), "start cuBLAS") ||
	    !gpu_blas_ok(g, c->cublasSetStream(g->blas, g->stream), "give cuBLAS a stream") ||
	    !gpu_ok(g, c->cudaMalloc(&workspace, WORKSPACE_BYTES), "allocate memory for cuBLAS") ||
	    !gpu_blas_ok(g, c->cublasSetWorkspace(g->blas, workspace, WORKSPACE_BYTES),
			 "give cuBLAS memory to work in"))
		return -1;
	bytes = gpu_attribute(g, cudaDevAttrL2CacheSize);
	g->cache_bytes = bytes > 0 ? (size_t)bytes : LARGE_CACHE;
	return 0;
}

void gpu_begin(struct gpu_work *g)
{
	g->cuda.cudaEventRecord(g->begun, g->stream);
}

/* An error of any earlier call in the stream is reported here. */
double gpu_end(struct gpu_work *g)
{
	const struct cuda *c = &g->cuda;
	float time_ms = 0;

	if (!gpu_ok(g, c->cudaEventRecord(g->ended, g->stream), "record an event") ||
	    !gpu_ok(g, c->cudaEventSynchronize(g->ended), "wait for the GPU") ||
	    !gpu_ok(g, c->cudaEventElapsedTime(&time_ms, g->begun, g->ended),
		    "read the GPU's clock"))
		return (double)NAN;
	return 1e-3 * (double)time_ms;
}

int gpu_attribute(struct gpu_work *g, enum cudaDeviceAttr attribute)
{
	int value = 0;

	if (g->cuda.cudaDeviceGetAttribute(&value, attribute, g->ordinal) != cudaSuccess)
		return 0;
	return value;
}

static int measure_gpu_device(struct sink *sink, const struct device *d, struct err *err)
{
	struct gpu_work g = { .ordinal = 0 };
	double before_s, after_s;

	sink->limits = sink->quick ? &gpu_quick : &gpu_full;
	if (gpu_work_open(&g, d, err))
		return -1;
	gpu_peaks(sink, &g);
	before_s = gpu_reference_s(&g);
	gpu_products(sink, &g);
	after_s = gpu_reference_s(&g);
	if (after_s < HUGE_VAL && before_s < (1 - SLOWED) * after_s)
		sink_note(sink, "the GPU slowed down by %.0f %% while it was measured (heat, its "
			  "power limit, or others on it)", 100 * (1 - before_s / after_s));
	gpu_launches(sink, &g);
	gpu_copies(sink, &g);
	return 0;
}

/* Measures pairs only: a ring of more GPUs consists of the same copies. */
static int measure_gpu_exchange(struct sink *sink, const struct device *devices, int n,
				struct err *err)
{
	struct gpu_work from = { .ordinal = 0 }, to = { .ordinal = 0 };

	sink->limits = sink->quick ? &gpu_quick : &gpu_full;
	if (n != 2)
		return 0;
	if (gpu_work_open(&to, &devices[1], err) || gpu_work_open(&from, &devices[0], err))
		return -1;
	gpu_peer_copies(sink, &from, &to);
	return 0;
}

#else

static int measure_gpu_device(struct sink *sink, const struct device *d, struct err *err)
{
	struct cuda cuda;

	(void)sink;
	(void)d;
	return cuda_open(&cuda, err);
}

static int measure_gpu_exchange(struct sink *sink, const struct device *devices, int n,
				struct err *err)
{
	(void)n;
	return measure_gpu_device(sink, devices, err);
}

#endif

const struct measure_backend measure_gpu = {
	.name = "gpu", .device = measure_gpu_device, .exchange = measure_gpu_exchange,
};
