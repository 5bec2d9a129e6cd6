/* gpu.h - readings of GPUs: of one, of the link between two, of their place in the machine. Private
 * to src/device; device_nvidia.c makes devices of them. */
#ifndef POLLUX_DEVICE_GPU_H
#define POLLUX_DEVICE_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml.h"
#include "pollux/device.h"

#define GPU_BUS_ID_SIZE 16

struct gpu {
	unsigned index;			/* NVML's number, in the order of the PCI bus */
	nvml_handle handle;		/* NULL: not available */
	/* enum nvml_code of the first failed question without whose answer the GPU is unusable */
	int code;
	char uuid[NVML_UUID_SIZE];	/* "GPU-5a1e..."; "" unknown */
	char name[NVML_NAME_SIZE];
	char bus_id[GPU_BUS_ID_SIZE];	/* as sysfs names it: "0000:01:00.0"; "" unknown */
	int64_t memory_bytes;		/* 0: shares the machine's memory, or does not tell */
	int64_t free_bytes;		/* -1 unknown */
	bool mig, prohibited, exclusive;
	/* a screen is connected, or a server draws on the GPU */
	enum { GPU_DISPLAY_UNKNOWN, GPU_DISPLAY_OFF, GPU_DISPLAY_ON } display;
};

#define GPU_PREFIX "gpu:"		/* of the ids of GPUs */

/* gpu_list.c */
/* True if there are GPUs, as far as known without a library, and they are not hidden. */
bool gpu_is_there(void);
/* For device_nvidia: list, asks_driver and list_unanswered of pollux/device.h. */
int gpu_list(const struct device_settings *settings, struct device_list *list, struct err *err);
bool gpu_asks_driver(const struct device_settings *settings);
void gpu_list_silent(const char *why, struct device_list *list);

/* gpu_read.c: gpu_read reads what does not depend on load, then what does. A question that is not
 * answered leaves "unknown"; a lost GPU is a code. */
void gpu_read(const struct nvml *n, unsigned index, struct gpu *g);
/* True if the GPU itself is out of order, whatever the question was. */
bool gpu_is_fatal(int code);
/* Unless in_full, reads only what decisions need: memory and utilization. */
void gpu_read_now(const struct nvml *n, const struct gpu *g, bool in_full,
		  struct device_reading *now);
/* Appends the compute processes of g to *list, which the caller owns, as processes of device.
 * Returns an enum nvml_code. */
int gpu_read_processes(const struct nvml *n, const struct gpu *g, int device,
		       struct device_process **list, int *count);

/* gpu_place.c */
enum device_link gpu_link(const struct nvml *n, const struct gpu *a, const struct gpu *b);

/* gpu_place.c. For tests, POLLUX_GPU_ROOT is put before /dev, /proc and /sys. */
enum gpu_presence {
	GPU_ABSENT,		/* no sign of a GPU */
	/* The machine may have one that this system cannot use: on the PCI bus, not taken by
	 * another driver than NVIDIA's; a driver in /proc, which containers see; /dev/dxg, by which
	 * Windows lends GPUs of all makers. */
	GPU_POSSIBLE,
	GPU_WITH_DRIVER,	/* the driver's device files are there */
};

/* Makes a few system calls if there is a driver, or no NVIDIA device on the bus; otherwise reads
 * one file for each such device. *bus_ids: the GPUs on the bus (the caller frees each and the
 * array; NULL: not wanted). */
enum gpu_presence gpu_presence(void);
int gpu_on_bus(char (**bus_ids)[GPU_BUS_ID_SIZE]);
/* Returns the processors near it, as a list; "": all, or unknown. */
void gpu_local_processors(const char *bus_id, char *list, size_t size);
/* Returns the number of processors in a list, at least 1; for an empty list, those online. */
int gpu_count_processors(const char *list);
/* Returns the machine's memory that programs can still get; -1 unknown. */
int64_t gpu_available_memory(void);

#endif
