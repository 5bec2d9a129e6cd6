/* blas.c - start again with faster kernels, if OpenBLAS did not know the processor. */
#include "blas.h"

#include <cblas.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

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

void blas_choose_kernels(char **argv)
{
	const char *kernels = better_kernels();
	char program[4096];

	/* The variable is read when the library is loaded: too late for this
	 * process; and the next, which has it, does not come here again. */
	/* cppcheck-suppress knownConditionTrueFalse ; not so on x86-64 */
	if (!kernels || getenv("OPENBLAS_CORETYPE") ||
	    strcasecmp(openblas_get_corename(), "Prescott") != 0)
		return;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (n <= 0 || setenv("OPENBLAS_CORETYPE", kernels, 1) < 0)
		return;
	program[n] = '\0';
	setenv("OPENBLAS_NUM_THREADS", "1", 1); /* no idle threads of its own */
	execv(program, argv);
}
