/* device.h - what jobs run on. A backend is a struct of functions, one file each; device.c has the table.
 *
 *	struct device_list list;
 *	struct device_settings settings = { .slots = 0 };
 *	if (devices_list(&settings, &list, err)) return -1;
 *	... list.items[i].id, .usable, .reason ...
 *	devices_release(&list);
 */
#ifndef POLLUX_DEVICE_H
#define POLLUX_DEVICE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/text.h"

#define DEVICE_ID_SIZE 64
#define DEVICE_NAME_SIZE 16
#define DEVICE_MAX 1024

/* What was read of a device in passing. Unknown is NaN, -1 for bytes. */
struct device_reading {
	double utilization;		/* the part of the time in which it computed, 0 to 1 */
	double temperature_c;
	double power_w, power_limit_w;
	double energy_j;		/* since its driver was loaded */
	int64_t free_bytes;		/* of memory; where it shares the machine's, of that */
	const char *slowed_by;		/* "heat", "power cap" ...; NULL: nothing, or not known. A constant */
	bool forgets_state;		/* its driver starts anew for each program (persistence mode is off) */
};

#define DEVICE_READING_UNKNOWN ((struct device_reading){ \
	.utilization = (double)NAN, .temperature_c = (double)NAN, .power_w = (double)NAN, \
	.power_limit_w = (double)NAN, .energy_j = (double)NAN, .free_bytes = -1, })

struct device {
	char id[DEVICE_ID_SIZE];	/* "cpu:0", "gpu:GPU-5a1e..." (by UUID, so that no order of numbering
					   matters); stable while the settings and the machine are */
	char name[DEVICE_NAME_SIZE];	/* short, for tables: "cpu:0", "gpu:0"; of GPUs it may change with
					   the hardware, and it is not kept in the store ("" there) */
	char kind[128];			/* what measurements are shared by: "Intel Xeon ..., 1 core",
					   "NVIDIA RTX A6000, 48 GiB" */
	char binding[1024];		/* the logical processors to bind to, as a list: "0-3,8"; kept in
					   the store so that a supervisor binds as the pass decided.
					   Slots have theirs for themselves; of GPUs it is all that are near,
					   shared with the other GPUs there, and "" where all are */
	int cores;			/* physical cores in the slot, at least 1; of a GPU the processors of
					   its binding */
	int64_t memory_bytes;		/* the device's own; 0 where it shares the machine's */
	bool usable;
	char reason[160];		/* why not usable, and what to do; "" while usable */
	struct device_reading now;	/* not in a list made in_full: free_bytes and utilization only */
};

/* How far apart two devices are, nearest first. */
enum device_link {
	DEVICE_LINK_FAST,		/* NVLink from one GPU to the other */
	DEVICE_LINK_SWITCH,		/* one PCIe switch; for CPU slots, one last-level cache */
	DEVICE_LINK_NUMA,		/* one NUMA node */
	DEVICE_LINK_MACHINE,		/* nothing nearer: another NUMA node or socket */
};

/* A process that computes on a device, as its driver lists it. One that only draws is not listed. */
struct device_process {
	int device;			/* index in the list of devices */
	int64_t pid;			/* of the machine, or of the driver's own namespace of processes, which
					   need not be ours; 0: it does not tell */
	int64_t memory_bytes;		/* -1 unknown */
	double utilization;		/* its part of the device over the last seconds, 0 to 1; NaN unknown */
};

struct device_list {
	struct device *items;		/* owned */
	int count;
	struct device_process *processes;	/* owned; on devices of a driver that lists them */
	int n_processes;
	bool processes_unknown;		/* a driver did not tell all: one that ought to is out of order */
	bool gpus_unknown;		/* there may be GPUs that are not in the list: NVIDIA's driver does
					   not answer, or not for one whose id is therefore not known */
	char gpu_note[240];		/* what was found of NVIDIA's driver, or why nothing was; one line */
	unsigned char *links;		/* owned; enum device_link of a and b: links[a * count + b],
					   as from b to a */
	int linked;			/* devices that links is for: count, once all are listed */
};

/* Jobs run on the GPUs where there are any, else on CPU slots, one per physical core; on CPU slots and no
 * GPU where slots are asked for. Never on both: the replicas of a job are of one sort. */
#define DEVICE_SLOTS_AUTO (-1)

struct device_settings {
	int slots;			/* CPU slots, up to DEVICE_MAX; 0: one per physical core;
					   DEVICE_SLOTS_AUTO: not asked for */
	bool in_full;			/* for people: with readings, and GPUs that are left out because
					   slots are asked for, as not usable */
};

struct device_backend {
	const char *name;
	bool shares_memory;		/* its devices have one memory together: the machine's */
	/* Append what is there to the list, then say how it is linked, where nearer than
	 * DEVICE_LINK_MACHINE. Absence is a normal answer: 0, nothing appended.
	 * -1 only when the machine cannot be read at all. */
	int (*list)(const struct device_settings *settings, struct device_list *list,
		    struct err *err);
	/* In the child, between fork and exec: confine the calling process to these devices. Uses id,
	 * binding and cores of each, so devices read back from the store will do. */
	int (*bind)(const struct device *devices, int n, struct err *err);
	/* Add the variables that tell a program its devices (OMP_NUM_THREADS, CUDA_VISIBLE_DEVICES). */
	void (*environment)(const struct device *devices, int n, struct strings *env);
	/* (optional) Append the processes on these devices, by their index among them. -1: it cannot be
	 * told. */
	int (*processes)(const struct device *devices, int n, struct device_process **list, int *count,
			 struct err *err);
};

extern const struct device_backend device_cpu, device_gpu;

int devices_list(const struct device_settings *settings, struct device_list *list, struct err *err);
void devices_release(struct device_list *list);
/* For backends: a zeroed entry; and the link of two entries, when all have been appended. */
struct device *devices_append(struct device_list *list);
void devices_set_link(struct device_list *list, int a, int b, enum device_link link);
/* Whether they cannot both be given out: one and the same, or two slots whose bindings have a number in
 * common. */
bool device_overlaps(const struct device *a, const struct device *b);
/* Whether b is a as it was given out: of the same id, and of slots also of the same binding, which of a GPU is a
 * hint and changes with the processors that are online. */
bool device_is_same(const struct device *a, const struct device *b);
/* The backend a device id belongs to ("cpu:0" -> device_cpu); NULL for an id of no known backend. */
const struct device_backend *device_backend_of(const char *id);

#endif
