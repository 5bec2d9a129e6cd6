/* nvml.c - open NVML by a table of its symbols; the newest name first. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nvml.h"
#include "pollux/mem.h"

#define MAX_NAMES 3

/* Names are tried in order. Each name of a process list implies the size of an entry. */
static const struct symbol {
	size_t offset;			/* of the member in struct nvml */
	bool needed;
	const char *names[MAX_NAMES];
} symbols[] = {
#define S(member) offsetof(struct nvml, member)
	{ S(init), true, { "nvmlInit_v2", "nvmlInit" } },
	{ S(shutdown), true, { "nvmlShutdown" } },
	{ S(count), true, { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount" } },
	{ S(handle_by_index), true,
	  { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex" } },
	{ S(uuid), true, { "nvmlDeviceGetUUID" } },
	{ S(name), true, { "nvmlDeviceGetName" } },
	{ S(memory), true, { "nvmlDeviceGetMemoryInfo" } },
	{ S(handle_by_uuid), false, { "nvmlDeviceGetHandleByUUID" } },
	{ S(driver_version), false, { "nvmlSystemGetDriverVersion" } },
	{ S(pci), false, { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2" } },
	{ S(rates), false, { "nvmlDeviceGetUtilizationRates" } },
	{ S(process_samples), false, { "nvmlDeviceGetProcessUtilization" } },
	{ S(temperature), false, { "nvmlDeviceGetTemperatureV" } },
	{ S(old_temperature), false, { "nvmlDeviceGetTemperature" } },
	{ S(power), false, { "nvmlDeviceGetPowerUsage" } },
	{ S(power_limit), false, { "nvmlDeviceGetEnforcedPowerLimit" } },
	{ S(energy), false, { "nvmlDeviceGetTotalEnergyConsumption" } },
	{ S(slowed), false, { "nvmlDeviceGetCurrentClocksEventReasons",
			      "nvmlDeviceGetCurrentClocksThrottleReasons" } },
	{ S(mig), false, { "nvmlDeviceGetMigMode" } },
	{ S(persistence), false, { "nvmlDeviceGetPersistenceMode" } },
	{ S(compute_mode), false, { "nvmlDeviceGetComputeMode" } },
	{ S(display_mode), false, { "nvmlDeviceGetDisplayMode" } },
	{ S(display_active), false, { "nvmlDeviceGetDisplayActive" } },
	{ S(ancestor), false, { "nvmlDeviceGetTopologyCommonAncestor" } },
	{ S(p2p), false, { "nvmlDeviceGetP2PStatus" } },
	{ S(link_state), false, { "nvmlDeviceGetNvLinkState" } },
	{ S(link_remote), false, { "nvmlDeviceGetNvLinkRemotePciInfo_v2" } },
#undef S
};

static const char *const compute_names[MAX_NAMES] = {
	"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
	"nvmlDeviceGetComputeRunningProcesses",
};
static const char *const mps_names[MAX_NAMES] = {
	"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
	"nvmlDeviceGetMPSComputeRunningProcesses",
};

/* Under every name an entry begins with these two members; the rest only sets the distance to the
 * next. */
struct entry {
	uint32_t pid;
	uint64_t memory_bytes;
};
#define ENTRY_V1 16
#define ENTRY_V2 24	/* also _v3: followed by two 32-bit instance numbers of MIG */
#define ENTRY_V3_535 32	/* _v3 in the first drivers 535 only: also 64 bits of protected memory */

static void set_member(struct nvml *n, size_t offset, void *address)
{
	memcpy((char *)n + offset, &address, sizeof(address));
}

/* Returns the index of the first name found; MAX_NAMES: none. */
static int look_up(void *library, const char *const names[MAX_NAMES], void **address)
{
	int i = 0;

	*address = NULL;
	while (i < MAX_NAMES && !(names[i] && (*address = dlsym(library, names[i]))))
		i++;
	return i;
}

static void take_processes(struct nvml *n, const char *const names[MAX_NAMES], size_t offset,
			   size_t *bytes)
{
	void *address;
	int i = look_up(n->library, names, &address);

	set_member(n, offset, address);
	/* The drivers with the longer entry know of protected memory, but not yet of the list of
	 * details that replaced it. */
	if (i == 0 && dlsym(n->library, "nvmlDeviceGetConfComputeMemSizeInfo") &&
	    !dlsym(n->library, "nvmlDeviceGetRunningProcessDetailList"))
		*bytes = ENTRY_V3_535;
	else
		*bytes = i <= 1 ? ENTRY_V2 : ENTRY_V1;
}

int nvml_open(struct nvml *n, struct err *err)
{
	const char *named = getenv("POLLUX_NVML");
	bool chosen = named && *named;
	void *address;
	int code;

	*n = (struct nvml){ 0 };
	n->library = dlopen(chosen ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		err_set(err, EX_UNAVAILABLE, "cannot open NVML: %s", dlerror());
	/* this name exists where only the developers' files are installed */
	if (!n->library && !chosen)
		n->library = dlopen("libnvidia-ml.so", RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		return -1;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		look_up(n->library, symbols[i].names, &address);
		set_member(n, symbols[i].offset, address);
		if (!address && symbols[i].needed) {
			dlclose(n->library);
			return err_set(err, EX_UNAVAILABLE, "cannot ask for GPUs: NVML has no "
				       "'%s'; the NVIDIA driver is too old", symbols[i].names[0]);
		}
	}
	take_processes(n, compute_names, offsetof(struct nvml, compute_processes),
		       &n->compute_bytes);
	take_processes(n, mps_names, offsetof(struct nvml, mps_processes), &n->mps_bytes);
	code = n->init();
	if (code == NVML_SUCCESS || code == NVML_ALREADY_INITIALIZED)
		return 0;
	dlclose(n->library);
	return err_set(err, EX_UNAVAILABLE, "cannot ask for GPUs: %s", nvml_code_text(code));
}

void nvml_close(struct nvml *n)
{
	n->shutdown();
	dlclose(n->library);
}

const char *nvml_code_text(int code)
{
	static const char *const texts[] = {
		[NVML_SUCCESS] = "no error",
		[NVML_UNINITIALIZED] = "NVML is not initialized",
		[NVML_INVALID_ARGUMENT] = "NVML refuses an argument",
		[NVML_NOT_SUPPORTED] = "not supported by this GPU",
		[NVML_NO_PERMISSION] = "no permission",
		[NVML_ALREADY_INITIALIZED] = "NVML is initialized already",
		[NVML_NOT_FOUND] = "not found",
		[NVML_INSUFFICIENT_SIZE] = "more than there is room for",
		[NVML_INSUFFICIENT_POWER] = "its external power cables are not connected",
		[NVML_DRIVER_NOT_LOADED] = "the NVIDIA driver is not loaded",
		[NVML_TIMEOUT] = "the driver did not answer in time",
		[NVML_IRQ_ISSUE] = "the kernel reports a problem with the GPU's interrupts",
		[NVML_LIBRARY_NOT_FOUND] = "a library of the NVIDIA driver is missing",
		[NVML_FUNCTION_NOT_FOUND] = "the NVIDIA driver is too old for this",
		[NVML_CORRUPTED_INFOROM] = "the GPU's infoROM is corrupted",
		[NVML_GPU_IS_LOST] = "the GPU has fallen off the bus",
		[NVML_RESET_REQUIRED] = "the GPU has to be reset",
		[NVML_OPERATING_SYSTEM] = "the operating system keeps it from this process",
		[NVML_LIB_RM_VERSION_MISMATCH] =
			"the NVIDIA driver was updated and not reloaded yet: reboot",
		[NVML_IN_USE] = "in use",
		[NVML_MEMORY] = "out of memory",
		[NVML_NO_DATA] = "no data",
		[NVML_VGPU_ECC_NOT_SUPPORTED] = "a virtual GPU does not go with ECC",
		[NVML_INSUFFICIENT_RESOURCES] = "the driver has run out of something",
		[NVML_FREQ_NOT_SUPPORTED] = "the GPU does not have this clock",
		[NVML_ARGUMENT_VERSION_MISMATCH] =
			"the driver does not know this version of a call",
		[NVML_DEPRECATED] = "the driver no longer has this call",
		[NVML_NOT_READY] = "the GPU is not ready yet",
		[NVML_GPU_NOT_FOUND] = "the driver finds no GPU",
		[NVML_INVALID_STATE] = "the GPU is not in a state for this",
		[NVML_RESET_TYPE_NOT_SUPPORTED] = "the GPU does not have this reset",
	};

	if (code >= 0 && (size_t)code < sizeof(texts) / sizeof(texts[0]))
		return texts[code];
	return "an unknown error of the NVIDIA driver";
}

/* --- processes --- */

typedef int list_function(nvml_handle handle, unsigned *n, void *entries);

/* Asks until all fit: the list may grow between two questions. */
static int read_entries(list_function *list, nvml_handle handle, char **entries, unsigned *n)
{
	int code = NVML_FUNCTION_NOT_FOUND;
	unsigned room = 16;

	*entries = NULL;
	*n = 0;
	for (int attempt = 0; list && attempt < 8; attempt++) {
		*entries = xcalloc(room, ENTRY_V3_535);	/* room for the longest entry */
		*n = room;
		code = list(handle, n, *entries);
		if (code != NVML_INSUFFICIENT_SIZE)
			break;
		free(*entries);
		*entries = NULL;
		room = *n > room ? *n + 8 : 2 * room;
	}
	if (code == NVML_SUCCESS && *n > room)
		code = NVML_INSUFFICIENT_SIZE;
	if (code != NVML_SUCCESS) {
		free(*entries);
		*entries = NULL;
		*n = 0;
	}
	return code;
}

static void append(const char *entries, unsigned n, size_t bytes, struct nvml_process **list,
		   int *count)
{
	*list = xreallocarray(*list, (size_t)*count + n + 1, sizeof(**list));
	for (unsigned i = 0; i < n; i++) {
		struct entry e;
		int k = 0;

		memcpy(&e, entries + i * bytes, sizeof(e));
		while (k < *count && (*list)[k].pid != e.pid)
			k++;
		if (e.pid == 0 || k == *count)
			(*list)[(*count)++] = (struct nvml_process){ e.pid, e.memory_bytes };
	}
}

int nvml_processes(const struct nvml *n, nvml_handle handle, struct nvml_process **list, int *count)
{
	char *entries;
	unsigned n_entries;
	int code = read_entries(n->compute_processes, handle, &entries, &n_entries);

	*list = NULL;
	*count = 0;
	if (code != NVML_SUCCESS)
		return code;
	append(entries, n_entries, n->compute_bytes, list, count);
	free(entries);
	if (read_entries(n->mps_processes, handle, &entries, &n_entries) == NVML_SUCCESS)
		append(entries, n_entries, n->mps_bytes, list, count);
	free(entries);
	return NVML_SUCCESS;
}
