/* kernels.c - open NVRTC and have it compile the kernels. */
#include "kernels.h"

#ifdef TRAIN_CUDA
#include "cuda_library.h"

#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS(...) \
	"#define KERNEL extern \"C\" __global__\n#define FUNCTION static __device__\n" #__VA_ARGS__
static const char text[] =
#include "kernel_text.h"
;

#define NVRTC_FUNCTIONS(X) \
	X(nvrtcGetErrorString) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs) \
	X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcCompileProgram) \
	X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
	X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)

static struct nvrtc { NVRTC_FUNCTIONS(FUNCTION_MEMBER) } nvrtc;

#define SYMBOL(name) { CUDA_TEXT(name), offsetof(struct nvrtc, name) },
static const struct cuda_symbol symbols[] = { NVRTC_FUNCTIONS(SYMBOL) };

static char failure[1000];

static const char *open_nvrtc(void)
{
	char name[32];

	if (nvrtc.nvrtcCreateProgram)
		return NULL;
	/* Of 11.2 to 11.8 it has one name, with the minor version of the first. */
	snprintf(name, sizeof(name), "libnvrtc.so.%d%s", CUDA_VERSION / 1000,
		 CUDA_VERSION < 12000 ? ".2" : "");
	return cuda_load(name, symbols, sizeof(symbols) / sizeof(*symbols), &nvrtc);
}

static const char *failed(const char *what, nvrtcResult result)
{
	snprintf(failure, sizeof(failure), "cannot %s: %s", what,
		 nvrtc.nvrtcGetErrorString(result));
	return failure;
}

int kernels_capabilities(int *capabilities, int capacity, const char **why)
{
	nvrtcResult result;
	int n = 0, *all;

	*why = open_nvrtc();
	if (*why)
		return -1;
	result = nvrtc.nvrtcGetNumSupportedArchs(&n);
	all = calloc((size_t)n + 1, sizeof(*all));
	if (all && result == NVRTC_SUCCESS)
		result = nvrtc.nvrtcGetSupportedArchs(all);
	if (!all || result != NVRTC_SUCCESS) {
		*why = failed("ask NVRTC for its GPUs", all ? result : NVRTC_ERROR_OUT_OF_MEMORY);
		free(all);
		return -1;
	}
	if (n > capacity)
		n = capacity;
	memcpy(capabilities, all, (size_t)n * sizeof(*all));
	free(all);
	return n;
}

/* capability, or the newest one before it that NVRTC knows. */
static int nearest_known(int capability, const char **why)
{
	int known[64], nearest = -1, n = kernels_capabilities(known, 64, why);

	for (int i = 0; i < n; i++)
		if (known[i] <= capability && known[i] > nearest)
			nearest = known[i];
	if (n >= 0 && nearest < 0) {
		snprintf(failure, sizeof(failure),
			 "cannot use CUDA: this version compiles for no "
			 "GPU as old as compute capability %d.%d",
			 capability / 10, capability % 10);
		*why = failure;
	}
	return nearest;
}

/* The compiler's first words, as one line. */
static const char *complaint(nvrtcProgram program)
{
	size_t bytes = 0;
	char *log = NULL;

	if (nvrtc.nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS)
		log = calloc(bytes + 1, 1);
	if (log)
		nvrtc.nvrtcGetProgramLog(program, log);
	snprintf(failure, sizeof(failure), "cannot compile for the GPU: %.800s", log ? log : "");
	free(log);
	failure[strcspn(failure, "\n")] = '\0';
	return failure;
}

static char *code_of(nvrtcProgram program, int translated, size_t *bytes, const char **why)
{
	nvrtcResult result = translated ? nvrtc.nvrtcGetPTXSize(program, bytes) :
			     nvrtc.nvrtcGetCUBINSize(program, bytes);
	char *code = result == NVRTC_SUCCESS ? malloc(*bytes + 1) : NULL;

	if (result == NVRTC_SUCCESS && !code)
		result = NVRTC_ERROR_OUT_OF_MEMORY;
	if (code)
		result = translated ? nvrtc.nvrtcGetPTX(program, code) :
			 nvrtc.nvrtcGetCUBIN(program, code);
	if (result == NVRTC_SUCCESS)
		return code;
	free(code);
	*why = failed("take code from NVRTC", result);
	return NULL;
}

char *kernels_compile(int capability, size_t *bytes, const char **why)
{
	int target = nearest_known(capability, why);
	char option[40], *code = NULL;
	const char *options[] = { option };
	nvrtcProgram program;
	nvrtcResult result;

	if (target < 0)
		return NULL;
	snprintf(option, sizeof(option), "--gpu-architecture=%s_%d",
		 target == capability ? "sm" : "compute", target);
	result = nvrtc.nvrtcCreateProgram(&program, text, "kernel_text.h", 0, NULL, NULL);
	if (result != NVRTC_SUCCESS) {
		*why = failed("compile for the GPU", result);
		return NULL;
	}
	if (nvrtc.nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS)
		code = code_of(program, target != capability, bytes, why);
	else
		*why = complaint(program);
	nvrtc.nvrtcDestroyProgram(&program);
	return code;
}

#else
typedef int no_kernels;                  /* ISO C has no empty files */
#endif
