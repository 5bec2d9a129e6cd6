/* nvml.h - NVIDIA's management library, opened at run time; private to src/device.
 *
 * Toolkits may lack a header for it, so what is used is declared here, as in the drivers' ABI: old
 * symbols stay for ever, and a changed structure gets a new symbol. The symbol that is found
 * decides the layout. tests/cli/abi.t compares the declarations with NVIDIA's headers.
 *
 * 	struct nvml nvml;
 * 	if (nvml_open(&nvml, err))		// EX_UNAVAILABLE: no library, too old, no driver
 * 		return -1;
 * 	... nvml.handle_by_index(0, &handle) ...
 * 	nvml_close(&nvml);
 *
 * Members return an enum nvml_code. Optional members are NULL if the library lacks them:
 * NVML_ASK(&nvml, power, handle, &milliwatts) calls one, or returns NVML_FUNCTION_NOT_FOUND. */
#ifndef POLLUX_DEVICE_NVML_H
#define POLLUX_DEVICE_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"

enum nvml_code {
	NVML_SUCCESS = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_ALREADY_INITIALIZED = 5,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_INSUFFICIENT_POWER = 8,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_TIMEOUT = 10,
	NVML_IRQ_ISSUE = 11,
	NVML_LIBRARY_NOT_FOUND = 12,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_CORRUPTED_INFOROM = 14,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_OPERATING_SYSTEM = 17,
	NVML_LIB_RM_VERSION_MISMATCH = 18,
	NVML_IN_USE = 19,
	NVML_MEMORY = 20,
	NVML_NO_DATA = 21,
	NVML_VGPU_ECC_NOT_SUPPORTED = 22,
	NVML_INSUFFICIENT_RESOURCES = 23,
	NVML_FREQ_NOT_SUPPORTED = 24,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_DEPRECATED = 26,
	NVML_NOT_READY = 27,
	NVML_GPU_NOT_FOUND = 28,
	NVML_INVALID_STATE = 29,
	NVML_RESET_TYPE_NOT_SUPPORTED = 30,
	NVML_UNKNOWN = 999,
};

typedef struct nvml_device *nvml_handle;	/* opaque */

#define NVML_UUID_SIZE 96
#define NVML_NAME_SIZE 96
#define NVML_NOT_AVAILABLE UINT64_MAX		/* as a process's memory */
#define NVML_LINKS 36				/* the most NVLink links on one GPU */

struct nvml_pci {
	char legacy_id[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	/* differs between versions; only domain, bus and device are used */
	char rest[64];
};

struct nvml_memory {
	uint64_t total_bytes, free_bytes, used_bytes;
};

struct nvml_rates {
	uint32_t gpu_percent, memory_percent;
};

struct nvml_process_sample {
	uint32_t pid;
	uint64_t time_us;		/* wall clock */
	uint32_t sm_percent, memory_percent, encoder_percent, decoder_percent;
};

struct nvml_temperature {
	uint32_t version;		/* NVML_TEMPERATURE_VERSION */
	int sensor, celsius;
};
#define NVML_TEMPERATURE_VERSION (1U << 24 | (uint32_t)sizeof(struct nvml_temperature))

/* values of the ABI's enums */
#define NVML_TEMPERATURE_GPU 0
#define NVML_COMPUTE_EXCLUSIVE_THREAD 1
#define NVML_COMPUTE_PROHIBITED 2
#define NVML_COMPUTE_EXCLUSIVE_PROCESS 3
#define NVML_P2P_CAPS_NVLINK 2
#define NVML_P2P_OK 0
/* nvmlDeviceGetTopologyCommonAncestor */
#define NVML_ANCESTOR_BOARD 0
#define NVML_ANCESTOR_SWITCHES 20	/* 10: one PCIe switch; 20: several, not the host's */
#define NVML_ANCESTOR_NODE 40		/* 30: one host bridge; 40: one NUMA node */
/* Reasons for a lowered clock that show trouble, as bits. */
#define NVML_SLOWED_POWER_CAP 0x04
#define NVML_SLOWED_HARDWARE 0x08
#define NVML_SLOWED_HEAT_SOFTWARE 0x20
#define NVML_SLOWED_HEAT_HARDWARE 0x40
#define NVML_SLOWED_POWER_BRAKE 0x80

struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *n);
	int (*handle_by_index)(unsigned index, nvml_handle *handle);
	int (*uuid)(nvml_handle handle, char *uuid, unsigned size);
	int (*name)(nvml_handle handle, char *name, unsigned size);
	int (*memory)(nvml_handle handle, struct nvml_memory *memory);
	/* optional from here on */
	int (*handle_by_uuid)(const char *uuid, nvml_handle *handle);
	int (*driver_version)(char *version, unsigned size);
	int (*pci)(nvml_handle handle, struct nvml_pci *pci);
	int (*rates)(nvml_handle handle, struct nvml_rates *rates);
	int (*process_samples)(nvml_handle handle, struct nvml_process_sample *samples, unsigned *n,
			       unsigned long long after_us);
	int (*temperature)(nvml_handle handle, struct nvml_temperature *temperature);
	/* what drivers before 2025 have in its place */
	int (*old_temperature)(nvml_handle handle, int sensor, unsigned *celsius);
	int (*power)(nvml_handle handle, unsigned *milliwatts);
	int (*power_limit)(nvml_handle handle, unsigned *milliwatts);
	int (*energy)(nvml_handle handle, unsigned long long *millijoules);
	int (*slowed)(nvml_handle handle, unsigned long long *bits);
	int (*mig)(nvml_handle handle, unsigned *now, unsigned *after_reset);
	int (*persistence)(nvml_handle handle, int *on);
	int (*compute_mode)(nvml_handle handle, int *mode);
	int (*display_mode)(nvml_handle handle, int *connected);
	int (*display_active)(nvml_handle handle, int *active);
	int (*ancestor)(nvml_handle a, nvml_handle b, int *level);
	int (*p2p)(nvml_handle a, nvml_handle b, int capability, int *status);
	int (*link_state)(nvml_handle handle, unsigned link, int *on);
	int (*link_remote)(nvml_handle handle, unsigned link, struct nvml_pci *pci);
	/* Called through nvml_processes only. */
	int (*compute_processes)(nvml_handle handle, unsigned *n, void *entries);
	int (*mps_processes)(nvml_handle handle, unsigned *n, void *entries);
	size_t compute_bytes, mps_bytes;	/* size of their entries */
};

struct nvml_process {
	uint32_t pid;
	uint64_t memory_bytes;		/* NVML_NOT_AVAILABLE: not known */
};

#define NVML_ASK(n, member, ...) ((n)->member ? (n)->member(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)

/* Opens libnvidia-ml.so.1, then libnvidia-ml.so; or only the library that POLLUX_NVML names. After
 * a failure n->library only tells if there was a library; it is closed. */
int nvml_open(struct nvml *n, struct err *err);
void nvml_close(struct nvml *n);

/* Describes a code for people: "the GPU has fallen off the bus". */
const char *nvml_code_text(int code);

/* Lists the compute processes of a GPU, each once, with those behind the MPS server. pid 0: a
 * process that the driver does not name. Returns an enum nvml_code; unless it is NVML_SUCCESS,
 * *list is NULL. The caller frees the list. */
int nvml_processes(const struct nvml *n, nvml_handle handle, struct nvml_process **list,
		   int *count);

#endif
