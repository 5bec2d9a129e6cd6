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

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/text.h"

#define DEVICE_ID_SIZE 64
#define DEVICE_MAX 1024

struct device {
	char id[DEVICE_ID_SIZE];	/* "cpu:0"; stable while the settings and the machine are */
	char kind[128];			/* what measurements are shared by: "Intel Xeon ..., 1 core" */
	char binding[1024];		/* the logical processors to bind to, as a list: "0-3,8"; kept in
					   the store so that a supervisor binds as the pass decided */
	int cores;			/* physical cores in the slot; at least 1 */
	int64_t memory_bytes;		/* the device's own; 0 where it shares the machine's */
	bool usable;
	char reason[160];		/* why not usable, and what to do; "" while usable */
};

/* How far apart two devices are, nearest first. */
enum device_link {
	DEVICE_LINK_FAST,		/* NVLink from one GPU to the other */
	DEVICE_LINK_SWITCH,		/* one PCIe switch; for CPU slots, one last-level cache */
	DEVICE_LINK_NUMA,		/* one NUMA node */
	DEVICE_LINK_MACHINE,		/* nothing nearer: another NUMA node or socket */
};

struct device_list {
	struct device *items;		/* owned */
	int count;
	unsigned char *links;		/* owned; enum device_link of a and b: links[a * count + b],
					   as from b to a */
	int linked;			/* devices that links is for: count, once all are listed */
};

struct device_settings {
	int slots;			/* CPU slots, up to DEVICE_MAX; 0: one per physical core */
};

struct device_backend {
	const char *name;
	/* Append what is there to the list, then say how it is linked, where nearer than
	 * DEVICE_LINK_MACHINE. Absence is a normal answer: 0, nothing appended.
	 * -1 only when the machine cannot be read at all. */
	int (*list)(const struct device_settings *settings, struct device_list *list,
		    struct err *err);
	/* In the child, between fork and exec: confine the calling process to these devices. Uses id,
	 * binding and cores of each, so devices read back from the store will do. */
	int (*bind)(const struct device *devices, int n, struct err *err);
	/* Add the variables that tell a program its devices (OMP_NUM_THREADS, ...). */
	void (*environment)(const struct device *devices, int n, struct strings *env);
};

extern const struct device_backend device_cpu;

int devices_list(const struct device_settings *settings, struct device_list *list, struct err *err);
void devices_release(struct device_list *list);
/* For backends: a zeroed entry; and the link of two entries, when all have been appended. */
struct device *devices_append(struct device_list *list);
void devices_set_link(struct device_list *list, int a, int b, enum device_link link);
/* Whether they share a processor: their bindings have a number in common. */
bool device_overlaps(const struct device *a, const struct device *b);
/* The backend a device id belongs to ("cpu:0" -> device_cpu); NULL for an id of no known backend. */
const struct device_backend *device_backend_of(const char *id);

#endif
