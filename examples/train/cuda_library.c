/* cuda_library.c - open CUDA's libraries by tables of their functions. */
#include "cuda_library.h"

#ifdef TRAIN_CUDA
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda cuda;

static char why[400];                    /* what was not there */

static void *open_in(const char *directory, const char *library)
{
	char path[4096];

	if (!directory || !*directory)
		return NULL;
	snprintf(path, sizeof(path), "%s/lib64/%s", directory, library);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The linker's word is about the name as such, which is what the user can mend. */
static void *open_library(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		snprintf(why, sizeof(why), "cannot open CUDA: %s", dlerror());
	if (!handle)
		handle = open_in(getenv("CUDA_HOME"), library);
	if (!handle)
		handle = open_in(getenv("CUDA_PATH"), library);
	return handle ? handle : open_in("/usr/local/cuda", library);
}

const char *cuda_load(const char *library, const struct cuda_symbol *symbols, size_t n,
		      void *table)
{
	void *handle = open_library(library);

	if (!handle)
		return why;
	for (size_t i = 0; i < n; i++) {
		void *address = dlsym(handle, symbols[i].name);

		if (!address) {
			snprintf(why, sizeof(why), "cannot use CUDA: '%s' has no '%s'", library,
				 symbols[i].name);
			return why;
		}
		memcpy((char *)table + symbols[i].offset, &address, sizeof(address));
	}
	return NULL;
}

#define SYMBOL(name) { CUDA_TEXT(name), offsetof(struct cuda, name) },
static const struct cuda_symbol driver_symbols[] = { DRIVER_FUNCTIONS(SYMBOL) };
static const struct cuda_symbol blas_symbols[] = { BLAS_FUNCTIONS(SYMBOL) };
enum {
	N_DRIVER = sizeof(driver_symbols) / sizeof(*driver_symbols),
	N_BLAS = sizeof(blas_symbols) / sizeof(*blas_symbols),
};

static const char *failed(const char *what, CUresult status)
{
	const char *text = NULL;

	cuda.cuGetErrorString(status, &text);
	snprintf(why, sizeof(why), "cannot %s: %s", what, text ? text : "unknown error");
	return why;
}

static const char *check_version(void)
{
	int version = 0;
	CUresult status = cuda.cuDriverGetVersion(&version);

	if (status != CUDA_SUCCESS)
		return failed("use CUDA", status);
	if (version / 1000 >= CUDA_VERSION / 1000)
		return NULL;
	snprintf(why, sizeof(why),
		 "cannot use CUDA %d: the NVIDIA driver is for CUDA %d.%d at most",
		 CUDA_VERSION / 1000, version / 1000, version % 1000 / 10);
	return why;
}

/* cuBLAS last: it is by far the largest, and of no use without a GPU. */
const char *cuda_open(void)
{
	const char *fault = cuda_load("libcuda.so.1", driver_symbols, N_DRIVER, &cuda);
	CUresult status;

	if (!fault)
		fault = check_version();
	if (fault)
		return fault;
	status = cuda.cuInit(0);
	if (status == CUDA_SUCCESS)
		status = cuda.cuDeviceGetCount(&cuda.n_gpus);
	if (status != CUDA_SUCCESS)
		return failed("use CUDA", status);
	return cuda_load("libcublas.so." CUDA_TEXT(CUBLAS_VER_MAJOR), blas_symbols, N_BLAS, &cuda);
}

#else
typedef int no_cuda;                     /* ISO C has no empty files */
#endif
