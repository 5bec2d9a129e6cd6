/* cuda.c - open CUDA's libraries by a table of their functions; say what is missing. */
#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/cuda.h"
#include "pollux/mem.h"
#include "pollux/text.h"

/* Opens the first that matches the pattern below the prefix; NULL: none. */
static void *open_below(const char *prefix, const char *pattern, const char *library)
{
	autofree char *full =
		prefix && *prefix ? xasprintf("%s/%s/%s", prefix, pattern, library) : NULL;
	void *handle = NULL;
	glob_t found;

	if (full && glob(full, 0, NULL, &found) == 0) {
		for (size_t i = 0; !handle && i < found.gl_pathc; i++)
			handle = dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL);
		globfree(&found);
	}
	return handle;
}

/* Opens a library. If every name fails, keeps the dynamic linker's message for the plain name,
 * which the user can mend. Last come NVIDIA's wheels from PyPI, which PyTorch brings: below
 * nvidia/, each has a directory of its own for CUDA 12, and all share one for CUDA 13. */
void *cuda_open_library(const char *library, struct err *err)
{
	const char *home = getenv("HOME");
	autofree char *own = home && *home ? xasprintf("%s/.local", home) : NULL;
	const char *const toolkits[] = { getenv("CUDA_HOME"), getenv("CUDA_PATH"),
					 "/usr/local/cuda" };
	const char *const prefixes[] = {
		getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), own, "/usr/local", "/usr",
	};
	void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	const char *said = handle ? NULL : dlerror();

	if (said)
		err_set(err, EX_UNAVAILABLE, "cannot open CUDA: %s", said);
	for (size_t i = 0; !handle && i < sizeof(toolkits) / sizeof(toolkits[0]); i++)
		handle = open_below(toolkits[i], "lib64", library);
	for (size_t i = 0; !handle && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		handle = open_below(prefixes[i], "lib/python3*/site-packages/nvidia/*/lib",
				    library);
		if (!handle)
			handle = open_below(prefixes[i], "lib/python3*/dist-packages/nvidia/*/lib",
					    library);
	}
	return handle;
}

#ifdef POLLUX_CUDA

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)	/* expands a macro of the headers to the name that it stands for */

#define RUNTIME_MAJOR (CUDART_VERSION / 1000)
#if CUDART_VERSION < 12000
#define RUNTIME_MINOR ".0"	/* the libraries 11.0 to 11.8 all have the name of the first */
#else
#define RUNTIME_MINOR ""
#endif
#define BLAS_LIBRARY "libcublas.so." TEXT(CUBLAS_VER_MAJOR)

struct symbol {
	const char *name;
	size_t offset;		/* offset of its member in struct cuda */
};

#define SYMBOL(name) { TEXT(name), offsetof(struct cuda, name) },
static const struct symbol runtime_symbols[] = { CUDA_RUNTIME_FUNCTIONS(SYMBOL) { NULL, 0 } };
static const struct symbol blas_symbols[] = { CUDA_BLAS_FUNCTIONS(SYMBOL) { NULL, 0 } };

static int take_symbols(struct cuda *c, const char *library, const struct symbol *symbols,
			struct err *err)
{
	void *handle = cuda_open_library(library, err);

	if (!handle)
		return -1;
	for (const struct symbol *s = symbols; s->name; s++) {
		void *address = dlsym(handle, s->name);

		if (!address)
			return err_set(err, EX_UNAVAILABLE,
				       "cannot use CUDA: '%s' has no '%s'; another "
				       "version of it is needed", library, s->name);
		memcpy((char *)c + s->offset, &address, sizeof(address));
	}
	return 0;
}

static int ask_version(cudaError_t (*function)(int *version))
{
	int version = 0;

	return function && function(&version) == cudaSuccess ? version : 0;
}

int cuda_open_runtime(struct cuda *c, struct err *err)
{
	char library[32];

	*c = (struct cuda){ 0 };
	snprintf(library, sizeof(library), "libcudart.so.%d" RUNTIME_MINOR, RUNTIME_MAJOR);
	/* a shell's are meant for its programs: each GPU that pollux asks for is to be seen */
	unsetenv("CUDA_VISIBLE_DEVICES");
	if (take_symbols(c, library, runtime_symbols, err))
		return -1;
	c->runtime_version = ask_version(c->cudaRuntimeGetVersion);
	c->driver_version = ask_version(c->cudaDriverGetVersion);
	return 0;
}

/* cuBLAS comes last: it is the largest by far, and useless without a GPU. */
int cuda_open(struct cuda *c, struct err *err)
{
	if (cuda_open_runtime(c, err))
		return -1;
	if (c->driver_version == 0)
		return err_set(err, EX_UNAVAILABLE, "cannot use CUDA: there is no NVIDIA driver");
	if (c->driver_version / 1000 < c->runtime_version / 1000)
		return err_set(err, EX_UNAVAILABLE,
			       "cannot use CUDA %d.%d: the NVIDIA driver is for "
			       "CUDA %d.%d at most", c->runtime_version / 1000,
			       c->runtime_version % 1000 / 10, c->driver_version / 1000,
			       c->driver_version % 1000 / 10);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): take_symbols has filled it in */
	if (cuda_check(c, c->cudaGetDeviceCount(&c->n_gpus), "use CUDA", err))
		return -1;
	if (c->n_gpus == 0)
		return err_set(err, EX_UNAVAILABLE, "cannot use CUDA: it shows no GPU");
	return take_symbols(c, BLAS_LIBRARY, blas_symbols, err);
}

int cuda_check(const struct cuda *c, cudaError_t status, const char *what, struct err *err)
{
	bool unavailable;

	if (status == cudaSuccess)
		return 0;
	unavailable = status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice ||
		      status == cudaErrorInsufficientDriver ||
		      status == cudaErrorDevicesUnavailable || status == cudaErrorInvalidDevice;
	return err_set(err, unavailable ? EX_UNAVAILABLE : EX_OSERR, "cannot %s: %s", what,
		       c->cudaGetErrorString(status));
}

int cublas_check(const struct cuda *c, cublasStatus_t status, const char *what, struct err *err)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return 0;
	return err_set(err, status == CUBLAS_STATUS_ALLOC_FAILED ? EX_UNAVAILABLE : EX_OSERR,
		       "cannot %s: %s", what, c->cublasGetStatusString(status));
}

int cuda_ordinal(const struct cuda *c, const char *device_id, int *ordinal, struct err *err)
{
	const char *wanted = text_starts_with(device_id, "gpu:") ? device_id + 4 : device_id;
	struct cudaDeviceProp properties;
	scoped(text_release) struct text uuid = TEXT_INIT;
	bool found = false;
	int rc = 0;

	for (int i = 0; rc == 0 && !found && i < c->n_gpus; i++) {
		*ordinal = i;
		rc = cuda_check(c, c->cudaGetDeviceProperties(&properties, i), "look at a GPU",
				err);
		if (rc)
			break;
		/* as NVML and CUDA_VISIBLE_DEVICES write it: GPU-8-4-4-4-12 hexadecimal digits */
		text_clear(&uuid);
		text_add(&uuid, "GPU-");
		for (size_t k = 0; k < sizeof(properties.uuid.bytes); k++)
			text_addf(&uuid, "%s%02x", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "",
				  (unsigned)(unsigned char)properties.uuid.bytes[k]);
		found = !strcmp(uuid.data, wanted);
	}
	if (rc || found)
		return rc;
	return err_set(err, EX_UNAVAILABLE, "CUDA does not show device '%s'", device_id);
}

#else /* no POLLUX_CUDA */

int cuda_open_runtime(struct cuda *c, struct err *err)
{
	*c = (struct cuda){ 0 };
	return err_set(err, EX_UNAVAILABLE,
		       "cannot use CUDA: pollux was built where CUDA's headers were not found");
}

int cuda_open(struct cuda *c, struct err *err)
{
	return cuda_open_runtime(c, err);
}

#endif
