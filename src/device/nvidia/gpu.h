/* gpu.h - what is read of GPUs: of one, of how two are joined, of where they are in the machine. Private to
 * src/device; device_nvidia.c makes devices of it. */
#ifndef POLLUX_DEVICE_GPU_H
#define POLLUX_DEVICE_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml.h"
#include "pollux/device.h"

#define GPU_BUS_ID_SIZE 16

struct gpu {
	unsigned index;			/* NVML's, in the order of the PCI bus */
	nvml_handle handle;		/* NULL: not to be had */
	int code;			/* of the first question without which it cannot be used; enum nvml_code */
	char uuid[NVML_UUID_SIZE];	/* "GPU-5a1e..."; "" unknown */
	char name[NVML_NAME_SIZE];
	char bus_id[GPU_BUS_ID_SIZE];	/* as sysfs names it: "0000:01:00.0"; "" unknown */
	int64_t memory_bytes;		/* 0: it shares the machine's, or does not tell */
	int64_t free_bytes;		/* -1 unknown */
	bool mig, prohibited;
};

/* device_nvidia.c: as far as can be told without a library; not where they are kept out. */
bool gpu_is_there(void);

/* gpu_read.c. All that does not depend on its load; then what does. Questions that are not answered leave
 * "unknown"; a lost GPU is a code. */
void gpu_read(const struct nvml *n, unsigned index, struct gpu *g);
/* The GPU itself is out of order: whatever was asked. */
bool gpu_is_fatal(int code);
/* Not in full: what a decision may rest on, memory and utilization. */
void gpu_read_now(const struct nvml *n, const struct gpu *g, bool in_full, struct device_reading *now);
/* Appends the compute processes of g to *list (owned by the caller), as those of device. An enum nvml_code. */
int gpu_read_processes(const struct nvml *n, const struct gpu *g, int device,
		       struct device_process **list, int *count);

/* gpu_link.c */
enum device_link gpu_link(const struct nvml *n, const struct gpu *a, const struct gpu *b);

/* gpu_place.c. POLLUX_GPU_ROOT is put before /dev, /proc and /sys, for tests. */
enum gpu_presence {
	GPU_ABSENT,		/* nothing here tells of a GPU */
	GPU_ON_BUS,		/* on the PCI bus, not taken by another driver than NVIDIA's */
	GPU_WITH_DRIVER,	/* the driver has its device files or its directory in /proc */
};

/* A few system calls where there is a driver, or no device of NVIDIA's on the bus; else a file read for each
 * device there. *bus_ids (the
 * caller frees each and the array; NULL: not wanted) are the GPUs of the bus. */
enum gpu_presence gpu_presence(void);
int gpu_on_bus(char (**bus_ids)[GPU_BUS_ID_SIZE]);
/* The processors near it, as a list; "": all of them are, or it cannot be told. */
void gpu_local_processors(const char *bus_id, char *list, size_t size);
/* How many processors a list has; of an empty one, how many are online. At least 1. */
int gpu_count_processors(const char *list);
/* What programs can still get of the machine's memory; -1 unknown. */
int64_t gpu_available_memory(void);

#endif
