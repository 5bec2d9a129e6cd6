/* device.h - what jobs run on. A backend is a struct of functions in a directory of its own
 * (src/device/nvidia, src/device/cpu); device.c has the list of backends. */
#ifndef POLLUX_DEVICE_H
#define POLLUX_DEVICE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/text.h"

#define DEVICE_ID_SIZE 64
#define DEVICE_NODE_SIZE 64
#define DEVICE_NAME_SIZE 16
#define DEVICE_MAX 1024			/* of one machine; a cluster may have any number */

/* Readings of a device at one moment. Unknown: NaN; -1 for bytes. */
struct device_reading {
	double utilization;		/* part of the time in which the device computed, 0 to 1 */
	double temperature_c;
	double power_w, power_limit_w;
	double energy_j;		/* since the driver was loaded */
	/* free memory; that of the machine if the device shares its memory */
	int64_t free_bytes;
	/* "heat", "power cap" ...; a constant; NULL: nothing or unknown */
	const char *slowed_by;
	/* the driver starts anew for each program (persistence mode off) */
	bool forgets_state;
};

#define DEVICE_READING_UNKNOWN ((struct device_reading){ \
	.utilization = (double)NAN, .temperature_c = (double)NAN, .power_w = (double)NAN, \
	.power_limit_w = (double)NAN, .energy_j = (double)NAN, .free_bytes = -1, })

struct device {
	/* Stable while the settings and the machine stay the same: "cpu:0"; "gpu:GPU-5a1e...", by
	 * UUID, so that the order of numbering does not matter; "slurm:NODE:0". */
	char id[DEVICE_ID_SIZE];
	/* The machine that has the device, as its engine names the machine; "": this machine. */
	char node[DEVICE_NODE_SIZE];
	/* Short, for tables: "cpu:0", "gpu:0". A GPU's may change with the hardware. Not kept in
	 * the store ("" there). */
	char name[DEVICE_NAME_SIZE];
	/* Measurements are shared by kind: "Intel Xeon ..., 1 core", "NVIDIA RTX A6000, 48 GiB". */
	char kind[128];
	/* The logical processors to bind to, as a list: "0-3,8". Kept in the store, so that a
	 * supervisor binds as the pass decided. A CPU slot has its processors for itself. A GPU's
	 * are those near it, shared with other GPUs there; "" where all are near. */
	char binding[1024];
	/* Physical cores in the slot, at least 1; for a GPU, the processors of its binding. */
	int cores;
	int64_t memory_bytes;		/* the device's own; 0: it shares the machine's */
	/* of a run's device: the place of the run among those that share it, from 1; 0: the run has
	 * the device alone */
	int seat;
	bool usable;
	bool left_out;		/* not usable because the settings do not want it */
	/* not usable for a moment: runs that have it stay; or left out, and otherwise in order:
	 * runs that are suspended there go on there */
	bool keeps_runs;
	/* one process at a time may have it: no job can wait on it, or share it, beside another */
	bool exclusive;
	/* why the device is not usable, and what to do; "" while usable */
	char reason[160];
	/* Unless the list was made in_full, only free_bytes and utilization are known. */
	struct device_reading now;
};

/* The distance between two devices, nearest first. */
enum device_link {
	DEVICE_LINK_FAST,		/* a link from one to the other, such as NVLink */
	DEVICE_LINK_SWITCH,		/* one PCIe switch; for CPU slots, one last-level cache */
	DEVICE_LINK_NUMA,		/* one NUMA node */
	DEVICE_LINK_MACHINE,		/* nothing nearer: another NUMA node or socket */
};

/* A process that computes on a device, as the driver lists it. Processes that only draw are not
 * listed. */
struct device_process {
	int device;			/* index in the list of devices */
	/* In the machine's numbering, or in that of the driver's own namespace, which may differ
	 * from ours. 0: the driver does not tell; or one entry for all that are not listed. */
	int64_t pid;
	int64_t memory_bytes;		/* -1 unknown */
	bool unlisted;			/* the entry for all that are not listed */
	/* part of the device over the last seconds, 0 to 1; NaN unknown */
	double utilization;
	/* the same over the last one or two seconds; where drivers do not tell it of a process,
	 * that of the device, whoever computes there; NaN unknown */
	double recent;
};

/* A counter of the energy that devices take. */
struct device_energy {
	double joules;			/* since some time in the past; NaN unknown */
	double range_j;			/* the counter begins again there; <= 0: it never does */
	double part;			/* of what is counted, that is the devices' */
};

/* What a driver tells of a device that a run has. */
struct device_taken {
	struct device_energy energy;
	double utilization, temperature_c;	/* at the moment; NaN unknown */
};

struct device_backend;
struct device_freezer;

/* What a backend found out about its driver. */
struct device_driver {
	const struct device_backend *backend;
	/* There may be devices that are not in the list: the driver does not answer at all, or not
	 * for a device whose id is therefore unknown. */
	bool silent;
	bool processes_unknown;		/* the driver did not list all processes although it can */
	bool misnamed;			/* the settings name a device that is not there; see note */
	char version[80];		/* "580.95.05"; "": unknown */
	char note[240];			/* one line: what was found, or why nothing was */
};

struct device_list {
	struct device *items;		/* owned */
	int count;
	struct device_process *processes;	/* owned; processes that drivers listed */
	int n_processes;
	struct device_driver *drivers;	/* owned; one for each backend that looked for its driver */
	int n_drivers;
	/* Owned; enum device_link from device a to device b, both below linked:
	 * links[a * linked + b], or from b to a. NULL: no links are known. */
	unsigned char *links;
	int linked;			/* the devices of one machine, of which links are known */
};

/* Jobs run on the GPUs if there are any, otherwise on CPU slots, one for each physical core. If
 * slots are asked for, jobs run on CPU slots and on no GPU. Never on both: the replicas of a job
 * are of one sort. */
#define DEVICE_SLOTS_AUTO (-1)

/* Slots of two sizes, as one number that can be kept like a number of slots: n of so many cores
 * each, then m of more. Each of the four is 1 to DEVICE_SLOTS_PART. */
#define DEVICE_SLOTS_PART 127
#define DEVICE_SLOTS_OF_TWO_SIZES (1 << 28)
static inline int device_slots_of_two_sizes(int n, int cores, int m, int more_cores)
{
	return DEVICE_SLOTS_OF_TWO_SIZES | n << 21 | cores << 14 | m << 7 | more_cores;
}
static inline int device_slots_part(int slots, int part)
{
	return slots >> (21 - 7 * part) & DEVICE_SLOTS_PART;
}

struct device_settings {
	/* CPU slots, up to DEVICE_MAX, or device_slots_of_two_sizes(). 0: one for each physical
	 * core. DEVICE_SLOTS_AUTO: none were asked for. */
	int slots;
	/* GPUs to use, as the setting gpus has them: "all", "not display", numbers and UUIDs; "" or
	 * NULL: nothing is set. */
	const char *gpus;
	/* For people: with all readings; GPUs that are left out because slots were asked for are
	 * listed as not usable. */
	bool in_full;
};

/* The words for a backend's devices, for people and scripts. */
struct device_words {
	const char *driver, *runtime;		/* names of its driver and its runtime library */
	const char *driver_key, *runtime_key;	/* the same in JSON */
	const char *fast_link, *fast_link_name;	/* DEVICE_LINK_FAST in words, and in JSON */
	const char *forgets_state;		/* what to do if the driver starts anew each time */
};

struct device_backend {
	const char *name;		/* the ids of its devices begin with "NAME:" */
	bool shares_memory;		/* its devices share one memory: the machine's */
	/* True: devices that share a processor are not both given out. False: a device's processors
	 * are only those near it. */
	bool owns_binding;
	bool is_accelerator;		/* has readings; used before processors */
	/* (optional) Sets *parts to the number of devices that share the device's processors, and
	 * *part to the number of this device among them, from 0. */
	void (*part)(const struct device *device, int *part, int *parts);
	const struct device_words *words;	/* NULL: there is no driver */
	/* Variables that environment() sets and that a job does not get from its submitter, with
	 * NULL at the end; NULL: none. */
	const char *const *variables;
	/* (optional: an engine lists the devices) Appends the devices to the list, then their links
	 * where nearer than DEVICE_LINK_MACHINE. No device is a normal answer: 0, nothing appended.
	 * -1: the machine cannot be read at all. */
	int (*list)(const struct device_settings *settings, struct device_list *list,
		    struct err *err);
	/* (optional) True if list() is going to ask a driver, which may hang, or a library, which
	 * may die where memory runs out. list() then runs in a child that is given up after a
	 * while, and list_unanswered() appends what is known without the driver, and why no more is
	 * known. A backend of a library has no list_unanswered: devices cannot be listed then. */
	bool (*asks_driver)(const struct device_settings *settings);
	void (*list_unanswered)(const char *why, struct device_list *list);
	/* (optional) Runs in the child between fork and exec: confines the calling process to these
	 * devices. Uses only id, binding and cores, so devices read from the store will do. */
	int (*bind)(const struct device *devices, int n, struct err *err);
	/* True: a stopped process keeps its memory on the devices, and can go on only there. */
	bool resident;
	/* (optional) Confines a stopped process with all its threads to these devices, on which it
	 * goes on. NULL: a program cannot change its devices. */
	int (*rebind)(pid_t pid, const struct device *devices, int n, struct err *err);
	/* Adds the variables that tell a program its devices (OMP_NUM_THREADS,
	 * CUDA_VISIBLE_DEVICES). Where POLLUX_CUDA_DEVICES is "index", GPUs are named by number if
	 * that is safe; a driver may then be asked. */
	void (*environment)(const struct device *devices, int n, struct strings *env);
	/* (optional) Adds the variables that keep a program off these devices. A variable that is
	 * set already stays. */
	void (*hide)(struct strings *env);
	/* (optional) Appends the processes on these devices, by index in the array, and fills
	 * taken, one for each of the n (NULL: not wanted). -1: unknown. */
	int (*processes)(const struct device *devices, int n, struct device_process **list,
			 int *count, struct device_taken *taken, struct err *err);
	/* (optional) Reads counters that need no driver. Returns their number; the caller frees
	 * *list. */
	int (*energy)(const struct device *devices, int n, struct device_energy **list);
	/* (optional, with words) Writes one line: what was found of the runtime library, or why it
	 * was not found. */
	void (*describe_runtime)(char *text, size_t size);
	/* (optional) True if the runtime starts on the device now, for a program that looks for
	 * libraries in these directories, too: its LD_LIBRARY_PATH. */
	bool (*starts)(const struct device *device, const char *library_path);
	/* (optional) Moves what processes keep on the devices to the host's memory: freeze.h. */
	const struct device_freezer *freezer;
};

extern const struct device_backend device_cpu, device_nvidia, device_slurm;

/* Lists the devices of all backends; the caller releases the list. -1: the machine cannot be read,
 * and the list is empty. */
int devices_list(const struct device_settings *settings, struct device_list *list, struct err *err);
/* True if the list will begin with accelerators, as far as that shows without asking their driver,
 * which may hang. */
bool devices_may_be_accelerators(const struct device_settings *settings);
void devices_release(struct device_list *list);
/* Adds "; kinds here: 'A, 1 core'", with each kind of the usable devices once; "; no device can
 * be used here" where none is usable. */
void devices_add_kinds(const struct device_list *list, struct text *t);
/* The distance of two devices of the list. On different nodes it is DEVICE_LINK_MACHINE. */
enum device_link devices_link(const struct device_list *list, int a, int b);
/* For backends: appends a zeroed entry; sets the link of two entries, once all are appended. */
struct device *devices_append(struct device_list *list);
void devices_set_link(struct device_list *list, int a, int b, enum device_link link);
/* The farthest pair of these devices, all of the list; -1: there are fewer than two, or it is not
 * known how they are joined. */
int devices_farthest(const struct device_list *list, const struct device *devices, int n);
/* True if the two cannot both be given out: they are one device, or share a processor that both
 * own. */
bool device_overlaps(const struct device *a, const struct device *b);
/* True if b is the device a as it was given out: the ids are equal, and so are the bindings of
 * devices that own theirs. Other bindings are hints and change with the processors that are
 * online. */
bool device_is_same(const struct device *a, const struct device *b);
/* For backends: returns the driver's entry, which the first call adds. */
struct device_driver *devices_driver(struct device_list *list,
				     const struct device_backend *backend);
/* Returns the driver of a device; NULL: its backend looked for none. */
const struct device_driver *devices_driver_of(const struct device_list *list, const char *id);
/* Returns what a backend said of its driver; "": nothing. */
const char *devices_note(const struct device_list *list, const struct device_backend *backend);
/* True if the device is not listed but may exist: its driver does not tell all its devices. */
bool devices_may_lack(const struct device_list *list, const char *id);
/* True if every driver that lists processes listed all its devices and all processes on them; false
 * also without such a device. */
bool devices_tell_processes(const struct device_list *list);
/* Returns the backends in the order in which they list devices, then NULL. */
const struct device_backend *device_backend_at(size_t i);
/* Adds the variables for a program on these devices, which have one backend, and those that keep
 * the program off other backends' devices. */
void devices_environment(const struct device *devices, int n, struct strings *env);
/* True if some backend sets the variable, whose name has n bytes. */
bool device_sets_variable(const char *name, size_t n);
/* Reads the next span "A" or "A-B" of a binding. False: the list ends or is malformed. */
bool device_next_span(const char **p, long *first, long *last);
/* Returns the backend of a device id ("cpu:0" -> device_cpu); NULL: no known backend. */
const struct device_backend *device_backend_of(const char *id);

/* --- ask a driver in a child with a deadline, because some drivers hang for ever --- */

/* Runs in the child, which has no other descriptors than fd and /dev/null, and dies with the
 * caller. Writes the answer to fd. */
typedef void driver_child_answer(int fd, void *arg);

/* Returns the answer, which the caller frees, and its size; NULL with *err: EX_TEMPFAIL if there
 * was no answer within driver_limit_s(), or if the child of an earlier question still hangs;
 * EX_UNAVAILABLE if the child died. */
void *driver_child_ask(driver_child_answer *answer, void *arg, size_t *size, struct err *err);

/* The same for a library that has no driver and never hangs, but dies where memory runs out. */
void *library_child_ask(driver_child_answer *answer, void *arg, size_t *size, struct err *err);

/* The children of this process that hang in a driver: that were given up, and not reaped since.
 * They belong to no run. */
struct pid_list;
const struct pid_list *driver_children_left(void);
void driver_child_leave(pid_t pid);
/* After any child was waited for. True: it was one of them. */
bool driver_child_reaped(pid_t pid);

/* Seconds that a driver gets to list its devices: POLLUX_DRIVER_LIMIT, by default 30. A driver that
 * is not kept loaded takes seconds for each GPU. */
double driver_limit_s(void);

#endif
