/* gpu_products.c - times products by cuBLAS for each type, and computes theoretical peaks. */
#include "gpu_work.h"
#include "pollux/mem.h"

#ifdef POLLUX_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- operands --- */

/* Number of random values that are repeated. It is prime, so that repetitions do not align with
 * rows or columns. */
#define CHUNK ((size_t)1000003)

struct gpu_type {
	const char *variant;
	cudaDataType type;
	cublasComputeType_t compute;
	size_t size;
};

/* Products accumulate in fp32, as in training; those in fp64 accumulate in fp64. */
static const struct gpu_type types[] = {
	{ "fp32", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4 },
	{ "tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4 },
	{ "fp16", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2 },
	{ "bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2 },
	{ "fp64", CUDA_R_64F, CUBLAS_COMPUTE_64F, 8 },
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* Rounds |x| < 0.5 to 16 bits. Values below the normal numbers of fp16 become 0. */
static unsigned short half_of(float x, cudaDataType type)
{
	unsigned bits;
	int exponent;

	memcpy(&bits, &x, sizeof(bits));
	if (type == CUDA_R_16BF)
		return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	exponent = (int)(bits >> 23 & 0xff) - 127 + 15;
	return exponent <= 0 ? 0 : (unsigned short)((bits >> 16 & 0x8000) |
						    (unsigned)exponent << 10 |
						    (bits >> 13 & 0x3ff));
}

/* Fills memory of the GPU with random values of this type, in chunks that are the same. */
static bool fill(struct gpu_work *g, void *to, size_t bytes, const struct gpu_type *type)
{
	size_t chunk_bytes = CHUNK * type->size;
	autofree float *chunk = malloc(CHUNK * (type->size == 8 ? sizeof(double) : sizeof(float)));
	bool ok = chunk != NULL;

	if (chunk && type->size == 8)
		random_fill_fp64((double *)(void *)chunk, CHUNK);
	else if (chunk)
		random_fill_fp32(chunk, CHUNK);
	for (size_t i = 0; chunk && type->size == 2 && i < CHUNK; i++) {
		unsigned short y = half_of(chunk[i], type->type);

		memcpy((char *)chunk + i * sizeof(y), &y, sizeof(y));
	}
	for (size_t at = 0; ok && at < bytes; at += chunk_bytes) {
		size_t part = bytes - at < chunk_bytes ? bytes - at : chunk_bytes;

		ok = gpu_ok(g, g->cuda.cudaMemcpy((char *)to + at, chunk, part,
						  cudaMemcpyHostToDevice), "fill memory");
	}
	return ok;
}

bool gpu_fill(struct gpu_work *g, void *to, size_t bytes)
{
	return fill(g, to, bytes, &types[0]);
}

/* --- one product --- */

/* C (m x n) = A (m x k) B (k x n) with matrices stored by rows. For cuBLAS, which stores by
 * columns, this is C' = B' A'. The weights B are stored as k x n, or as n x k as in PyTorch's
 * linear layers. Which of them is faster depends on the type and the GPU.
 *
 * Each product takes the next of several matrices, which lie one after another and are larger than
 * the cache together: in training, too, other layers come between two uses. */
struct matrices {
	char *at;
	size_t bytes, next;
};

struct gpu_product {
	struct gpu_work *g;
	const struct gpu_type *type;
	struct matrices a, b, c;
	int m, n, k;
	cublasOperation_t weights;	/* CUBLAS_OP_N: k x n; CUBLAS_OP_T: n x k */
};

/* Bytes of the matrices of a product of m rows, and the sets that no cache holds. */
struct sizes {
	size_t samples, weights, sets;
};

static struct sizes sizes_of(const struct gpu_work *g, const struct gpu_type *type, int m,
			     int width)
{
	struct sizes s = {
		.samples = (size_t)m * (size_t)width * type->size,
		.weights = (size_t)width * (size_t)width * type->size,
	};
	size_t all = 2 * s.samples + s.weights;

	s.sets = (gpu_beyond_cache(g) + all - 1) / all;
	return s;
}

static char *next_matrix(struct matrices *x, size_t bytes)
{
	size_t at = x->next + bytes <= x->bytes ? x->next : 0;

	x->next = at + bytes;
	return x->at + at;
}

static double run_product(void *state, int64_t count)
{
	struct gpu_product *p = state;
	const float one = 1, zero = 0;
	const double one_fp64 = 1, zero_fp64 = 0;
	bool fp64 = p->type->compute == CUBLAS_COMPUTE_64F;
	const void *alpha = fp64 ? (const void *)&one_fp64 : &one;
	const void *beta = fp64 ? (const void *)&zero_fp64 : &zero;
	int ldb = p->weights == CUBLAS_OP_N ? p->n : p->k;
	struct sizes s = sizes_of(p->g, p->type, p->m, p->k);

	gpu_begin(p->g);
	for (int64_t i = 0; i < count; i++) {
		cublasStatus_t status = p->g->cuda.cublasGemmEx(
			p->g->blas, p->weights, CUBLAS_OP_N, p->n, p->m, p->k, alpha,
			next_matrix(&p->b, s.weights), p->type->type, ldb,
			next_matrix(&p->a, s.samples), p->type->type, p->k, beta,
			next_matrix(&p->c, s.samples), p->type->type, p->n, p->type->compute,
			CUBLAS_GEMM_DEFAULT);

		if (!gpu_blas_ok(p->g, status, "multiply matrices"))
			return (double)NAN;
	}
	return gpu_end(p->g);
}

/* Runs once to load the kernel, then returns the better of two times; HUGE_VAL if a run fails. */
static double glance(struct gpu_product *p, cublasOperation_t weights)
{
	double a, b;

	p->weights = weights;
	a = run_product(p, 1);
	a = isnan(a) ? a : run_product(p, 4);
	b = isnan(a) ? a : run_product(p, 4);
	return isnan(b) ? HUGE_VAL : fmin(a, b);
}

/* --- theoretical rates --- */

/* FLOP per cycle of a multiprocessor, without sparsity, by compute capability: NVIDIA's white
 * papers on the architectures V100 (2017), Turing (2018), A100 (2020), GA102 (2021), Ada (2022),
 * H100 (2022), Blackwell (2024), RTX Blackwell (2025). tf32 0: not supported. fp64 0: too slow to
 * be worth measuring. Consumer GPUs of 7.5, 8.6, 8.9 and 12.0 reach half of the fp16 rate if they
 * accumulate in fp32. */
struct rates {
	int capability, fp64, fp32, tf32, fp16;
};
static const struct rates per_cycle[] = {
	{ 70, 64, 128, 0, 1024 }, { 75, 0, 128, 0, 1024 }, { 80, 128, 128, 1024, 2048 },
	{ 86, 0, 256, 512, 1024 }, { 89, 0, 256, 512, 1024 }, { 90, 256, 256, 2048, 4096 },
	{ 100, 128, 256, 4096, 8192 }, { 120, 0, 256, 512, 1024 },
};

/* All but the capability is 0 for a GPU that is not in the table. */
static struct rates rates_of(struct gpu_work *g)
{
	struct rates r = { .capability = 10 * gpu_attribute(g, cudaDevAttrComputeCapabilityMajor) +
					 gpu_attribute(g, cudaDevAttrComputeCapabilityMinor) };

	for (size_t i = 0; i < sizeof(per_cycle) / sizeof(per_cycle[0]); i++)
		if (per_cycle[i].capability == r.capability)
			r = per_cycle[i];
	return r;
}

/* --- all products --- */

static const int widths[] = { 1024, 4096, 8192 };
#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))
#define ROWS_MAX 8192

/* Allocates what the products of `least` to `most` rows need. */
static bool allocate_matrices(struct gpu_work *g, struct gpu_product *p, int width, int least,
			      int most)
{
	size_t samples = 0, weights = 0;

	for (int m = least; m <= most; m *= 2) {
		struct sizes s = sizes_of(g, p->type, m, width);

		samples = samples < s.sets * s.samples ? s.sets * s.samples : samples;
		weights = weights < s.sets * s.weights ? s.sets * s.weights : weights;
	}
	p->a = p->c = (struct matrices){ .bytes = samples };
	p->b = (struct matrices){ .bytes = weights };
	return gpu_allocate(g, &p->a.at, samples) && gpu_allocate(g, &p->b.at, weights) &&
	       gpu_allocate(g, &p->c.at, samples) && fill(g, p->a.at, samples, p->type) &&
	       fill(g, p->b.at, weights, p->type);
}

static void release_matrices(struct gpu_work *g, struct gpu_product *p)
{
	g->cuda.cudaFree(p->a.at);
	g->cuda.cudaFree(p->b.at);
	g->cuda.cudaFree(p->c.at);
	p->a = p->b = p->c = (struct matrices){ .at = NULL };
}

/* Times the products of a width; false: one failed. */
static bool sweep_rows(struct sink *sink, struct gpu_product *p, int width)
{
	bool ok = allocate_matrices(p->g, p, width, 1, ROWS_MAX);

	p->n = p->k = width;
	for (p->m = 1; ok && p->m <= ROWS_MAX; p->m *= sink->quick ? 8 : 2) {
		struct device_measurement m = {
			.what = MEASURED_PRODUCT, .devices = 1, .m = p->m, .n = p->n, .k = p->k,
		};
		double plain = glance(p, CUBLAS_OP_N), turned = glance(p, CUBLAS_OP_T);

		memcpy(m.variant, p->type->variant, strlen(p->type->variant));
		p->weights = plain <= turned ? CUBLAS_OP_N : CUBLAS_OP_T;
		ok = fmin(plain, turned) < HUGE_VAL && sink_time(sink, &m, run_product, p) == 0;
	}
	release_matrices(p->g, p);
	return ok;
}

void gpu_products(struct sink *sink, struct gpu_work *g)
{
	struct rates rates = rates_of(g);

	for (size_t t = 0; t < N_TYPES; t++) {
		struct gpu_product p = { .g = g, .type = &types[t] };
		bool ok = true;

		if (types[t].compute == CUBLAS_COMPUTE_32F_FAST_TF32 && rates.capability < 80)
			continue;
		if (types[t].compute == CUBLAS_COMPUTE_64F && !rates.fp64)
			continue;
		for (size_t w = 0; ok && w < N_WIDTHS; w++) {
			if (sink->quick && w > 0 && w + 1 < N_WIDTHS)
				continue;	/* only the narrowest and the widest */
			ok = sweep_rows(sink, &p, widths[w]);
			if (!ok)
				sink_note(sink, "no products in %s of width %d and up: %s",
					  types[t].variant, widths[w], g->err->text);
		}
	}
}

#define REFERENCE 4096
#define WARM_S 0.7		/* of computing: clocks have risen, and the GPU is not cold */

double gpu_reference_s(struct gpu_work *g)
{
	struct gpu_product p = {
		.g = g, .type = &types[2], .m = REFERENCE, .n = REFERENCE, .k = REFERENCE,
	};
	double time_s = HUGE_VAL, sum_s = 0;

	if (allocate_matrices(g, &p, REFERENCE, REFERENCE, REFERENCE))
		do {
			time_s = glance(&p, CUBLAS_OP_N);	/* the time of 4 of 9 products */
			sum_s += 9.0 / 4 * time_s;
		} while (sum_s < WARM_S);
	release_matrices(g, &p);
	return time_s;
}

void gpu_peaks(struct sink *sink, struct gpu_work *g)
{
	struct rates rates = rates_of(g);
	int n = gpu_attribute(g, cudaDevAttrMultiProcessorCount);
	double hz = 1e3 * gpu_attribute(g, cudaDevAttrClockRate), cycles = n * hz;
	double memory_hz = 1e3 * gpu_attribute(g, cudaDevAttrMemoryClockRate);
	double bits = gpu_attribute(g, cudaDevAttrGlobalMemoryBusWidth);
	const struct {
		const char *variant;
		int per_cycle;
	} peaks[] = {
		{ "fp64", rates.fp64 }, { "fp32", rates.fp32 }, { "tf32", rates.tf32 },
		{ "fp16", rates.fp16 }, { "bf16", rates.capability >= 80 ? rates.fp16 : 0 },
	};

	if (memory_hz > 0 && bits > 0)	/* two transfers a cycle */
		sink_peak(sink, "memory", 2 * memory_hz * bits / 8);
	if (!rates.fp32 || cycles <= 0)
		return;
	for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
		if (peaks[i].per_cycle)
			sink_peak(sink, peaks[i].variant, cycles * peaks[i].per_cycle);
	sink_peak_basis(sink, "at most: %d multiprocessors at %.2f GHz, compute capability %d.%d, "
			"dense", n, 1e-9 * hz, rates.capability / 10, rates.capability % 10);
}
#endif
