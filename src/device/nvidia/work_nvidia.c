/* work_nvidia.c - a small program that computes on a GPU, for the self-test of freezes. Its words
 * depend on every round of every launch, so that memory that came back wrong shows.
 *
 * A driver may freeze a program of one kernel and refuse PyTorch (NVIDIA/cuda-checkpoint issue 34).
 * So the program also has what every program of PyTorch has: cuBLAS, pinned memory and two
 * streams. Where it cannot, it says so and goes on without. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_driver.h"
#include "pollux/cuda.h"
#include "pollux/mem.h"

#define FACTOR 1664525u
#define ADDEND 1013904223u
#define THREADS 256
#define CHUNK_WORDS ((size_t)4 << 20)

/* words[i] = words[i] * FACTOR + ADDEND, `rounds` times. The driver compiles it for its GPU. */
static const char kernel_text[] =
	".version 6.3\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry pollux_mix(.param .u64 words, .param .u32 count, .param .u32 rounds)\n"
	"{\n"
	".reg .pred %p<3>;\n"
	".reg .b32 %r<9>;\n"
	".reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [words];\n"
	"ld.param.u32 %r1, [count];\n"
	"ld.param.u32 %r2, [rounds];\n"
	"mov.u32 %r3, %ctaid.x;\n"
	"mov.u32 %r4, %ntid.x;\n"
	"mov.u32 %r5, %tid.x;\n"
	"mad.lo.u32 %r6, %r3, %r4, %r5;\n"
	"setp.ge.u32 %p1, %r6, %r1;\n"
	"@%p1 bra DONE;\n"
	"cvta.to.global.u64 %rd2, %rd1;\n"
	"mul.wide.u32 %rd3, %r6, 4;\n"
	"add.u64 %rd4, %rd2, %rd3;\n"
	"ld.global.u32 %r7, [%rd4];\n"
	"mov.u32 %r8, 0;\n"
	"AGAIN:\n"
	"setp.ge.u32 %p2, %r8, %r2;\n"
	"@%p2 bra STORE;\n"
	"mad.lo.u32 %r7, %r7, 1664525, 1013904223;\n"
	"add.u32 %r8, %r8, 1;\n"
	"bra AGAIN;\n"
	"STORE:\n"
	"st.global.u32 [%rd4], %r7;\n"
	"DONE:\n"
	"ret;\n"
	"}\n";

#define WIDTH ((size_t)128)		/* of the matrices; their products are exact in fp32 */
#define MATRIX_BYTES (WIDTH * WIDTH * sizeof(float))
#define OLDEST_CUDA 11

/* C = A B + C, WIDTH wide, by cuBLAS in a stream of its own, and then to pinned memory. */
struct blas {
	void *handle;			/* NULL: cuBLAS is not used */
	int (*sgemm)(void *handle, int turn_a, int turn_b, int m, int n, int k, const float *alpha,
		     cu_pointer a, int lda, cu_pointer b, int ldb, const float *beta, cu_pointer c,
		     int ldc);
	cu_stream stream;
	cu_pointer a, b, c;
	float *pinned;
	int n;				/* products so far */
};

struct work {
	struct cuda_driver driver;
	cu_function mix;
	cu_pointer words;
	uint32_t n_words, rounds;
	uint32_t *chunk;		/* owned; CHUNK_WORDS words */
	cu_stream stream;		/* of the kernel; NULL: CUDA's own */
	struct blas blas;
};

static int check_code(const struct work *w, int code, const char *what, struct err *err)
{
	if (code == CU_OK)
		return 0;
	return err_set(err, code == CU_OUT_OF_MEMORY || code == CU_NO_DEVICE ? EX_UNAVAILABLE
									     : EX_OSERR,
		       "cannot %s: %s", what, cuda_driver_text(&w->driver, code));
}

static int prepare_gpu(struct work *w, struct err *err)
{
	struct cuda_driver *d = &w->driver;
	cu_context context;
	cu_module module;
	int device;

	if (cuda_driver_open(d, "", err) ||
	    check_code(w, d->init(0), "start CUDA's driver", err) ||
	    check_code(w, d->device(&device, 0), "find the GPU", err) ||
	    check_code(w, d->retain(&context, device), "use the GPU", err) ||
	    check_code(w, d->set_current(context), "use the GPU", err) ||
	    check_code(w, d->load(&module, kernel_text), "compile a kernel", err) ||
	    check_code(w, d->function(&w->mix, module, "pollux_mix"), "find the kernel", err))
		return -1;
	return check_code(w, d->allocate(&w->words, (size_t)w->n_words * 4), "allocate GPU memory",
			  err);
}

/* --- cuBLAS --- */

static float value_at(size_t i, uint32_t salt)
{
	return (float)((i * salt + i / WIDTH) % 8);
}

static int multiply(struct work *w, struct err *err)
{
	struct blas *b = &w->blas;
	const float one = 1;
	int n = (int)WIDTH;
	int status = b->sgemm(b->handle, 0, 0, n, n, n, &one, b->a, n, b->b, n, &one, b->c, n);

	if (status)
		return err_set(err, EX_OSERR, "cuBLAS cannot multiply: its error %d", status);
	b->n++;
	return check_code(w, w->driver.to_host_later(b->pinned, b->c, MATRIX_BYTES, b->stream),
			  "copy to pinned memory", err);
}

/* Takes one version of cuBLAS into use. */
static int start_blas(struct work *w, const char *library, struct err *err)
{
	struct blas *b = &w->blas;
	int (*create)(void **handle), (*set_stream)(void *handle, cu_stream stream), status;
	void *from = cuda_open_library(library, err);

	if (!from)
		return -1;
	*(void **)&create = dlsym(from, "cublasCreate_v2");
	*(void **)&set_stream = dlsym(from, "cublasSetStream_v2");
	*(void **)&b->sgemm = dlsym(from, "cublasSgemm_v2");
	if (!create || !set_stream || !b->sgemm)
		return err_set(err, EX_UNAVAILABLE, "'%s' lacks a function", library);
	status = create(&b->handle);
	if (status == 0)
		status = set_stream(b->handle, b->stream);
	if (status == 0)
		return 0;
	b->handle = NULL;
	return err_set(err, EX_OSERR, "'%s' does not start: its error %d", library, status);
}

static int prepare_streams(struct work *w, struct err *err)
{
	static float values[WIDTH * WIDTH];
	struct cuda_driver *d = &w->driver;
	struct blas *b = &w->blas;
	cu_pointer *const matrices[] = { &b->a, &b->b, &b->c };

	if (!d->new_stream || !d->allocate_pinned || !d->to_host_later)
		return err_set(err, EX_UNAVAILABLE, "the driver has no streams or pinned memory");
	if (check_code(w, d->new_stream(&w->stream, 1), "make a stream", err) ||
	    check_code(w, d->new_stream(&b->stream, 1), "make a stream", err) ||
	    check_code(w, d->allocate_pinned((void **)&b->pinned, MATRIX_BYTES),
		       "allocate pinned memory", err))
		return -1;
	for (uint32_t m = 0; m < 3; m++) {
		for (size_t i = 0; i < WIDTH * WIDTH; i++)
			values[i] = m < 2 ? value_at(i, 3 + 2 * m) : 0;
		if (check_code(w, d->allocate(matrices[m], MATRIX_BYTES), "allocate GPU memory",
			       err) ||
		    check_code(w, d->to_device(*matrices[m], values, MATRIX_BYTES),
			       "copy to the GPU", err))
			return -1;
	}
	return 0;
}

/* -1: the program does without, for this reason. The newest cuBLAS that the driver is for comes
 * first. */
static int prepare_blas(struct work *w, struct err *err)
{
	struct err tried = { 0 };
	char library[32];
	int version = 0;

	if (prepare_streams(w, err))
		return -1;
	if (w->driver.version(&version) != CU_OK || version / 1000 < OLDEST_CUDA)
		return err_set(err, EX_UNAVAILABLE, "the driver is too old for any cuBLAS");
	for (int major = version / 1000; major >= OLDEST_CUDA && !w->blas.handle; major--) {
		snprintf(library, sizeof(library), "libcublas.so.%d", major);
		if (start_blas(w, library, &tried) &&
		    (major == version / 1000 || tried.exit_status == EX_OSERR))
			*err = tried;
	}
	if (!w->blas.handle)
		return -1;
	if (multiply(w, err) == 0 &&
	    check_code(w, w->driver.synchronize(), "compute by cuBLAS", err) == 0)
		return 0;
	w->blas.handle = NULL;
	return -1;
}

static bool product_is_right(const struct blas *b)
{
	for (size_t i = 0; i < WIDTH * WIDTH; i++) {
		size_t row = i % WIDTH, column = i / WIDTH;
		float sum = 0;

		for (size_t k = 0; k < WIDTH; k++)
			sum += value_at(row + k * WIDTH, 3) * value_at(k + column * WIDTH, 5);
		if (b->pinned[i] < (float)b->n * sum || b->pinned[i] > (float)b->n * sum)
			return false;
	}
	return true;
}

/* --- the words --- */

static size_t chunk_at(const struct work *w, size_t first)
{
	return w->n_words - first < CHUNK_WORDS ? w->n_words - first : CHUNK_WORDS;
}

/* Many rounds are one multiplication and one addition, modulo 2^32. */
static int compare_words(struct work *w, uint32_t rounds, bool *right, struct err *err)
{
	uint32_t factor = 1, addend = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		factor *= FACTOR;
		addend = addend * FACTOR + ADDEND;
	}
	*right = !w->blas.handle || product_is_right(&w->blas);
	for (size_t first = 0; first < w->n_words; first += CHUNK_WORDS) {
		size_t n = chunk_at(w, first);

		if (check_code(w, w->driver.to_host(w->chunk, w->words + 4 * first, 4 * n),
			       "copy from the GPU", err))
			return -1;
		for (size_t i = 0; i < n; i++)
			*right &= w->chunk[i] == (uint32_t)(first + i) * factor + addend;
	}
	return 0;
}

/* Returns false at end of file. */
static bool next_order(void)
{
	char order;
	ssize_t n;

	do
		n = read(0, &order, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static int send_answer(char c, struct err *err)
{
	ssize_t n;

	do
		n = write(1, &c, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : err_set(err, EX_IOERR, "nobody takes the result");
}

static int follow_orders(struct work *w, struct err *err)
{
	void *arguments[] = { &w->words, &w->n_words, &w->rounds };
	unsigned blocks = (w->n_words + THREADS - 1) / THREADS;
	uint32_t rounds = 0;
	struct err why;
	bool right;

	if (prepare_gpu(w, err))
		return -1;
	for (size_t first = 0; first < w->n_words; first += CHUNK_WORDS) {
		size_t words = chunk_at(w, first);

		for (size_t i = 0; i < words; i++)
			w->chunk[i] = (uint32_t)(first + i);
		if (check_code(w, w->driver.to_device(w->words + 4 * first, w->chunk, 4 * words),
			       "copy to the GPU", err))
			return -1;
	}
	if (prepare_blas(w, &why)) {
		char text[sizeof(why.text) + 1];
		int n = snprintf(text, sizeof(text), "w%s", why.text);

		if (write(1, text, (size_t)n) != n)
			exit(1);	/* nobody listens */
		next_order();
	}
	for (; next_order(); rounds += w->rounds)
		if (check_code(w, w->driver.launch(w->mix, blocks, 1, 1, THREADS, 1, 1, 0,
						   w->stream, arguments, NULL),
			       "start the kernel", err) ||
		    (w->blas.handle && multiply(w, err)) ||
		    check_code(w, w->driver.synchronize(), "compute on the GPU", err) ||
		    send_answer('k', err))
			return -1;
	return compare_words(w, rounds, &right, err) ||
	       send_answer(right ? 'y' : 'n', err) ? -1 : 0;
}

int nvidia_work(int64_t bytes, int rounds, struct err *err)
{
	struct work w = { .n_words = (uint32_t)(bytes / 4), .rounds = (uint32_t)rounds };
	int rc;

	w.chunk = xcalloc(CHUNK_WORDS, sizeof(*w.chunk));
	rc = follow_orders(&w, err);
	free(w.chunk);
	return rc;
}
