/* cuda_driver.c - open libcuda.so.1 by a table of its symbols. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"
#include "pollux/mem.h"

static const struct symbol {
	size_t offset;			/* of the member in struct cuda_driver */
	bool needed;
	const char *name;
} symbols[] = {
#define S(member) offsetof(struct cuda_driver, member)
	{ S(init), true, "cuInit" },
	{ S(version), true, "cuDriverGetVersion" },
	{ S(error_text), true, "cuGetErrorString" },
	{ S(find), false, "cuCheckpointProcessGetState" },
	{ S(lock), false, "cuCheckpointProcessLock" },
	{ S(checkpoint), false, "cuCheckpointProcessCheckpoint" },
	{ S(restore), false, "cuCheckpointProcessRestore" },
	{ S(unlock), false, "cuCheckpointProcessUnlock" },
	{ S(device), true, "cuDeviceGet" },
	{ S(retain), true, "cuDevicePrimaryCtxRetain" },
	{ S(set_current), true, "cuCtxSetCurrent" },
	{ S(allocate), true, "cuMemAlloc_v2" },
	{ S(to_device), true, "cuMemcpyHtoD_v2" },
	{ S(to_host), true, "cuMemcpyDtoH_v2" },
	{ S(load), true, "cuModuleLoadData" },
	{ S(function), true, "cuModuleGetFunction" },
	{ S(launch), true, "cuLaunchKernel" },
	{ S(synchronize), true, "cuCtxSynchronize" },
	{ S(new_stream), false, "cuStreamCreate" },
	{ S(allocate_pinned), false, "cuMemAllocHost_v2" },
	{ S(to_host_later), false, "cuMemcpyDtoHAsync_v2" },
#undef S
};

int cuda_driver_open(struct cuda_driver *d, const char *library_path, struct err *err)
{
	size_t n;

	*d = (struct cuda_driver){ 0 };
	d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!d->library)
		err_set(err, EX_UNAVAILABLE, "cannot open CUDA's driver: %s", dlerror());
	for (const char *p = library_path; *p && !d->library; p += n + (p[n] == ':')) {
		autofree char *file = NULL;

		n = strcspn(p, ":");
		file = xasprintf("%.*s/libcuda.so.1", (int)n, p);
		if (*p == '/')
			d->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	}
	if (!d->library)
		return -1;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(d->library, symbols[i].name);

		if (!address && symbols[i].needed)
			return err_set(err, EX_UNAVAILABLE, "cannot use CUDA's driver: it has no "
				       "'%s'", symbols[i].name);
		memcpy((char *)d + symbols[i].offset, &address, sizeof(address));
	}
	return 0;
}

int cuda_driver_can_freeze(const struct cuda_driver *d, struct err *err)
{
	int version = 0;

	if (d->find && d->lock && d->checkpoint && d->restore && d->unlock)
		return 0;
	if (d->version(&version) != CU_OK)
		version = 0;
	return err_set(err, EX_UNAVAILABLE, "the NVIDIA driver cannot move a process's memory to "
		       "the host's: it is for CUDA %d.%d, and 12.8 (driver 570) is needed",
		       version / 1000, version % 1000 / 10);
}

const char *cuda_driver_text(const struct cuda_driver *d, int code)
{
	static char number[32];
	const char *text = NULL;

	if (d->error_text(code, &text) == CU_OK && text)
		return text;
	snprintf(number, sizeof(number), "unknown error %d", code);
	return number;
}
