/* blas.c - opens OpenBLAS by dlopen, with the signatures of its header. */
#include "blas.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef POLLUX_OPENBLAS
#include <cblas.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each signature is taken from the header, so a wrong call does not compile. */
#define FUNCTIONS(X) X(cblas_sgemm) X(cblas_dgemm) X(openblas_get_corename)
#define FIELD(name) __typeof__(&(name)) (name);
static struct { FUNCTIONS(FIELD) } open_blas;
#define SYMBOL(function) { #function, &open_blas.function },
static const struct { const char *name; void *slot; } symbols[] = { FUNCTIONS(SYMBOL) };

static int load_openblas(struct err *err)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return err_set(err, EX_UNAVAILABLE, "no products: OpenBLAS is not there (%s)",
			       dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (!address)
			return err_set(err, EX_UNAVAILABLE, "no products: this OpenBLAS has no %s",
				       symbols[i].name);
		memcpy(symbols[i].slot, &address, sizeof(address));
	}
	return 0;
}

/* The best kernels for which this processor has the instructions. */
static const char *better_kernels(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
#endif
	return NULL;
}

/* True if OpenBLAS falls back to its oldest kernels. Checked in a child process, since a loaded
 * library does not choose again. */
static int falls_back(void)
{
	struct err ignored;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(load_openblas(&ignored) == 0 &&
		      strcasecmp(open_blas.openblas_get_corename(), "Prescott") == 0);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void product_fp32(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
	open_blas.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n,
			      (blasint)k, 1, a, (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

static void product_fp64(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
	open_blas.cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n,
			      (blasint)k, 1, a, (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

int blas_open(struct blas *blas, int threads, struct err *err)
{
	const char *better = better_kernels();
	char text[16];

	snprintf(text, sizeof(text), "%d", threads);
	setenv("OPENBLAS_NUM_THREADS", text, 1);
	/* cppcheck-suppress knownConditionTrueFalse ; not so on x86-64 */
	if (better && !getenv("OPENBLAS_CORETYPE") && falls_back())
		setenv("OPENBLAS_CORETYPE", better, 1);
	if (load_openblas(err))
		return -1;
	*blas = (struct blas){ product_fp32, product_fp64, open_blas.openblas_get_corename() };
	return 0;
}

#else

int blas_open(struct blas *blas, int threads, struct err *err)
{
	(void)blas;
	(void)threads;
	return err_set(err, EX_UNAVAILABLE, "no products: pollux was built where OpenBLAS's header "
		       "was not found");
}

#endif
