/* device.h - what jobs run on. A backend is a struct of functions in a directory of its own
 * (src/device/nvidia, src/device/cpu); device.c has the list of backends.
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
#define DEVICE_NODE_SIZE 64
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
	char node[DEVICE_NODE_SIZE];	/* the machine that has the device, as its engine names the machine;
					   "" this one */
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
	DEVICE_LINK_FAST,		/* a link from one to the other, such as NVLink */
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

struct device_backend;

/* What a backend found of its driver. */
struct device_driver {
	const struct device_backend *backend;
	bool silent;			/* there may be devices that are not in the list: the driver does not
					   answer, or not for one whose id is therefore not known */
	bool processes_unknown;		/* it did not tell all processes, although it ought to */
	char note[240];			/* what was found, or why nothing was; one line */
};

struct device_list {
	struct device *items;		/* owned */
	int count;
	struct device_process *processes;	/* owned; on devices of a driver that lists them */
	int n_processes;
	struct device_driver *drivers;	/* owned; of each backend that looked for its driver */
	int n_drivers;
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

/* What people and scripts are told of a backend's devices. */
struct device_words {
	const char *driver, *runtime;		/* what its driver and its runtime library are called */
	const char *driver_key, *runtime_key;	/* the same in JSON */
	const char *fast_link, *fast_link_name;	/* DEVICE_LINK_FAST in a sentence, and in JSON */
	const char *forgets_state;		/* what to do where the driver starts anew each time */
};

struct device_backend {
	const char *name;		/* ids of its devices begin with "NAME:" */
	bool shares_memory;		/* its devices have one memory together: the machine's */
	bool owns_binding;		/* no two devices that share a processor are given out; else the
					   processors of a device are only those near to it */
	bool is_accelerator;		/* has readings, and goes before processors */
	const struct device_words *words;	/* NULL: there is no driver to tell of */
	const char *const *variables;	/* names that environment() sets and a job does not get from its
					   submitter, NULL at the end; NULL: none */
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
	/* (optional) Add the variables that keep a program off these devices, where there are any; a
	 * variable that is there already stays. */
	void (*hide)(struct strings *env);
	/* (optional) Append the processes on these devices, by their index among them. -1: it cannot be
	 * told. */
	int (*processes)(const struct device *devices, int n, struct device_process **list, int *count,
			 struct err *err);
	/* (optional, with words) What was found of the runtime library, or why it was not; one line. */
	void (*describe_runtime)(char *text, size_t size);
};

extern const struct device_backend device_cpu, device_nvidia;

int devices_list(const struct device_settings *settings, struct device_list *list, struct err *err);
void devices_release(struct device_list *list);
/* For backends: a zeroed entry; and the link of two entries, when all have been appended. */
struct device *devices_append(struct device_list *list);
void devices_set_link(struct device_list *list, int a, int b, enum device_link link);
/* True if the two cannot both be given out: they are one device, or share a processor that both own. */
bool device_overlaps(const struct device *a, const struct device *b);
/* True if b is a as it was given out: the ids are the same, and so are the bindings if the devices own
 * theirs. The binding of others is a hint, and changes with the processors that are online. */
bool device_is_same(const struct device *a, const struct device *b);
/* For backends: what they say of their driver, an entry that is added at the first time. */
struct device_driver *devices_driver(struct device_list *list, const struct device_backend *backend);
/* What a backend has said of its driver; "": nothing. */
const char *devices_note(const struct device_list *list, const struct device_backend *backend);
/* True if the device is not in the list, but may be there: its driver does not tell all devices. */
bool devices_may_lack(const struct device_list *list, const char *id);
/* True if drivers that tell processes have told of all their devices and all processes on them;
 * false also where there is no such device. */
bool devices_tell_processes(const struct device_list *list);
/* The backends in the order in which they list devices; NULL behind the last. */
const struct device_backend *device_backend_at(size_t i);
/* The variables for a program on these devices, which are of one backend; it is kept off others. */
void devices_environment(const struct device *devices, int n, struct strings *env);
/* True if some backend sets the variable, whose name has n bytes. */
bool device_sets_variable(const char *name, size_t n);
/* The backend a device id belongs to ("cpu:0" -> device_cpu); NULL for an id of no known backend. */
const struct device_backend *device_backend_of(const char *id);

#endif
