/* work_nvidia.c - a small program that computes on a GPU, for the self-test of freezes. Its words
 * depend on every round of every launch, so that memory that came back wrong shows. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "freeze_nvidia.h"
#include "cuda_driver.h"
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

struct work {
	struct cuda_driver driver;
	cu_function mix;
	cu_pointer words;
	uint32_t n_words, rounds;
	uint32_t *chunk;		/* owned; CHUNK_WORDS words */
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

	if (cuda_driver_open(d, err) ||
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

static size_t chunk_at(const struct work *w, size_t first)
{
	return w->n_words - first < CHUNK_WORDS ? w->n_words - first : CHUNK_WORDS;
}

static int fill_words(struct work *w, struct err *err)
{
	for (size_t first = 0; first < w->n_words; first += CHUNK_WORDS) {
		size_t n = chunk_at(w, first);

		for (size_t i = 0; i < n; i++)
			w->chunk[i] = (uint32_t)(first + i);
		if (check_code(w, w->driver.to_device(w->words + 4 * first, w->chunk, 4 * n),
			       "copy to the GPU", err))
			return -1;
	}
	return 0;
}

static int compute(struct work *w, struct err *err)
{
	void *arguments[] = { &w->words, &w->n_words, &w->rounds };
	unsigned blocks = (w->n_words + THREADS - 1) / THREADS;

	if (check_code(w, w->driver.launch(w->mix, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments,
					   NULL), "start the kernel", err))
		return -1;
	return check_code(w, w->driver.synchronize(), "compute on the GPU", err);
}

/* Many rounds are one multiplication and one addition, modulo 2^32. */
static int compare_words(struct work *w, uint32_t rounds, bool *right, struct err *err)
{
	uint32_t factor = 1, addend = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		factor *= FACTOR;
		addend = addend * FACTOR + ADDEND;
	}
	*right = true;
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
	uint32_t rounds = 0;
	bool right;

	if (prepare_gpu(w, err) || fill_words(w, err))
		return -1;
	for (; next_order(); rounds += w->rounds)
		if (compute(w, err) || send_answer('k', err))
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
