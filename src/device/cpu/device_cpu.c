/* device_cpu.c - slots of the CPU as devices, and the energy that they take. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/device.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

/* --- the counters of energy of the processors' packages --- */

/* RAPL, "running average power limit", in Linux's powercap. Most systems let only root read it. */

#define ZONES "/sys/class/powercap/intel-rapl:*"
/* begins the name of a package's zone; other zones are parts of packages */
#define PACKAGE "package-"

static const char *rapl_root(void)
{
	const char *named = getenv("POLLUX_CPU_ROOT");

	return named ? named : "";
}

/* -1: it is not known. */
static double read_joules(const char *zone, const char *name)
{
	char *path = xasprintf("%s/%s", zone, name), line[32];

	file_find_line(path, "", line, sizeof(line));
	free(path);
	return line[0] ? strtod(line, NULL) / 1e6 : -1;
}

/* --- whose processors --- */

/* Returns how many processors of a list are of the package. */
static int count_in(const char *list, long package)
{
	long first, last;
	int n = 0;

	while (device_next_span(&list, &first, &last))
		for (long p = first; p <= last; p++) {
			autofree char *path = xasprintf("%s/sys/devices/system/cpu/cpu%ld/topology/"
							"physical_package_id", rapl_root(), p);
			char line[32];

			file_find_line(path, "", line, sizeof(line));
			n += line[0] && strtol(line, NULL, 10) == package;
		}
	return n;
}

/* False: the zone is no package's, has no counter, or has no processors of these slots. */
static bool read_zone(const char *zone, const struct device *slots, int n,
		      struct device_energy *energy)
{
	autofree char *cpus = xasprintf("%s/sys/devices/system/cpu/online", rapl_root());
	char *name_path = xasprintf("%s/name", zone), name[32], online[1024];
	double processors = 0;
	long package;
	int all;

	file_find_line(name_path, "", name, sizeof(name));
	file_find_line(cpus, "", online, sizeof(online));
	free(name_path);
	if (strncmp(name, PACKAGE, strlen(PACKAGE)) != 0)
		return false;
	energy->joules = read_joules(zone, "energy_uj");
	energy->range_j = read_joules(zone, "max_energy_range_uj");
	if (energy->joules < 0)
		return false;
	package = strtol(name + strlen(PACKAGE), NULL, 10);
	all = count_in(online, package);
	/* Several slots may share a processor: each has as much of the processor. */
	for (int i = 0; i < n && all > 0; i++) {
		int part, parts;

		device_cpu.part(&slots[i], &part, &parts);
		processors += (double)count_in(slots[i].binding, package) / parts;
	}
	energy->part = all > 0 ? processors / all : 0;
	return energy->part > 0;
}

/* The counter of each package that has processors of these slots, with the part of the package's
 * processors that are theirs. Returns their number; the caller frees *list. 0: none can be read.
 * For tests, POLLUX_CPU_ROOT is put before /sys. */
static int rapl_read(const struct device *slots, int n, struct device_energy **list)
{
	autofree char *pattern = xasprintf("%s" ZONES, rapl_root());
	glob_t zones = { .gl_pathc = 0 };
	int count = 0;

	*list = NULL;
	if (glob(pattern, 0, NULL, &zones) == 0) {
		*list = xcalloc(zones.gl_pathc, sizeof(**list));
		for (size_t i = 0; i < zones.gl_pathc; i++)
			count += read_zone(zones.gl_pathv[i], slots, n, &(*list)[count]);
		globfree(&zones);
	}
	return count;
}

/* --- CPU slots: groups of physical cores, taken from those that this process may use --- */

/* The topology is read only to list slots, and only as much of it as is needed. */

/* Settings that hwloc reads only from the environment: no complaints on stderr, which cron would
 * mail; and no plugins, since those for GPUs load vendor libraries that are of no use here. */
static struct hush {
	const char *name, *value;
	char *old;
} hushed[] = {
	{ "HWLOC_HIDE_ERRORS", "2", NULL },
	{ "HWLOC_PLUGINS_PATH", "", NULL },
};
static const size_t n_hushed = sizeof(hushed) / sizeof(hushed[0]);

static void hush(void)
{
	for (struct hush *h = hushed; h < hushed + n_hushed; h++) {
		const char *old = getenv(h->name);

		h->old = old ? xstrdup(old) : NULL;
		setenv(h->name, h->value, 1);
	}
}

static int topology_open(hwloc_topology_t *topology, struct err *err)
{
	hwloc_bitmap_t allowed;
	int rc;

	hush();
	rc = hwloc_topology_init(topology);
	if (rc == 0) {
		/* Keeps cores, packages (so that the cores of one are numbered together),
		 * last-level caches, and the NUMA nodes, which hwloc never leaves out. Without the
		 * x86 component, which would move this process over all cores. */
		hwloc_topology_set_all_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
		hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_CORE,
					       HWLOC_TYPE_FILTER_KEEP_ALL);
		hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_PACKAGE,
					       HWLOC_TYPE_FILTER_KEEP_ALL);
		hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_L3CACHE,
					       HWLOC_TYPE_FILTER_KEEP_ALL);
		hwloc_topology_set_components(*topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      "x86");
		rc = hwloc_topology_load(*topology);
		if (rc)
			hwloc_topology_destroy(*topology);
	}
	for (struct hush *h = hushed; h < hushed + n_hushed; h++) {
		if (h->old)
			setenv(h->name, h->old, 1);
		else
			unsetenv(h->name);
		free(h->old);
		h->old = NULL;
	}
	if (rc)
		return err_set(err, EX_OSERR, "cannot read the processor's topology: %s",
			       strerror(errno));
	/* hwloc leaves out processors that the control group forbids, but not those that taskset(1)
	 * forbids. */
	allowed = hwloc_bitmap_alloc();
	if (allowed && hwloc_topology_is_thissystem(*topology) &&
	    hwloc_get_cpubind(*topology, allowed, HWLOC_CPUBIND_THREAD) == 0)
		hwloc_topology_restrict(*topology, allowed, 0);
	hwloc_bitmap_free(allowed);
	return 0;
}

#define SHARED_BY " shared by "

/* Reads what append_slot() wrote: the store keeps the kind of each device. Slots that share a core
 * have numbers that follow each other, so the numbers' remainders differ. */
static void cpu_part(const struct device *d, int *part, int *parts)
{
	const char *sharing = strstr(d->kind, SHARED_BY);
	long n = sharing ? strtol(sharing + strlen(SHARED_BY), NULL, 10) : 1;
	long index = strtol(d->id + strlen("cpu:"), NULL, 10);

	*parts = n >= 1 && n <= DEVICE_MAX ? (int)n : 1;
	*part = index >= 0 ? (int)(index % *parts) : 0;
}

/* sharing: the number of slots that have these cores. */
static void append_slot(hwloc_topology_t topology, int index, hwloc_const_cpuset_t set, int cores,
			int sharing, struct device_list *list)
{
	hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
	const char *name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
	struct device *d = devices_append(list);
	int n;

	snprintf(d->id, sizeof(d->id), "cpu:%d", index);
	snprintf(d->name, sizeof(d->name), "cpu:%d", index);
	d->cores = cores;
	/* "1 core", "4 cores" or "1 core shared by 2 slots": measurements are shared by slots with
	 * the same text. */
	n = snprintf(d->kind, sizeof(d->kind), "%.80s, %d core%s", name && *name ? name : "CPU",
		     cores, cores == 1 ? "" : "s");
	if (sharing > 1)
		snprintf(d->kind + n, sizeof(d->kind) - (size_t)n, SHARED_BY "%d slots", sharing);
	n = hwloc_bitmap_list_snprintf(d->binding, sizeof(d->binding), set);
	d->usable = n > 0 && (size_t)n < sizeof(d->binding);
	if (!d->usable) {
		d->binding[0] = '\0';
		snprintf(d->reason, sizeof(d->reason), "the list of its cores is too long; use "
			 "more slots, so that each has fewer cores");
	}
}

/* Returns the number of the object of this type that contains the slot; -1: none, or several. */
static int place_in(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t set)
{
	hwloc_obj_t o = NULL;

	while ((o = hwloc_get_next_obj_by_type(topology, type, o)))
		if (hwloc_bitmap_isincluded(set, o->cpuset))
			return (int)o->logical_index;
	return -1;
}

static void link_slots(hwloc_topology_t topology, hwloc_cpuset_t *sets, int n,
		       struct device_list *list)
{
	struct place {
		int cache, numa;
	} *places = xcalloc((size_t)n, sizeof(*places));
	int first = list->count - n;

	for (int a = 0; a < n; a++) {
		places[a].cache = place_in(topology, HWLOC_OBJ_L3CACHE, sets[a]);
		places[a].numa = place_in(topology, HWLOC_OBJ_NUMANODE, sets[a]);
		for (int b = 0; b < a; b++)
			if (places[a].cache >= 0 && places[a].cache == places[b].cache)
				devices_set_link(list, first + a, first + b, DEVICE_LINK_SWITCH);
			else if (places[a].numa >= 0 && places[a].numa == places[b].numa)
				devices_set_link(list, first + a, first + b, DEVICE_LINK_NUMA);
	}
	free(places);
}

/* One slot after the other takes the next cores; behind the last core, the first comes again. */
static void cut_sizes(hwloc_topology_t topology, int depth, int slots, hwloc_cpuset_t *sets)
{
	unsigned n_cores = (unsigned)hwloc_get_nbobjs_by_depth(topology, depth), core = 0;
	int n = 0;

	for (int size = 0; size < 4; size += 2)
		for (int i = 0; i < device_slots_part(slots, size); i++, n++) {
			sets[n] = hwloc_bitmap_alloc();
			for (int c = 0; c < device_slots_part(slots, size + 1); c++, core++)
				hwloc_bitmap_or(sets[n], sets[n], hwloc_get_obj_by_depth(
							topology, depth, core % n_cores)->cpuset);
		}
}

/* If the machine does not tell its cores, each logical processor counts as one. */
static void append_slots(hwloc_topology_t topology, int slots, struct device_list *list)
{
	int depth = hwloc_get_type_or_below_depth(topology, HWLOC_OBJ_CORE);
	int n_cores = (int)hwloc_get_nbobjs_by_depth(topology, depth);
	hwloc_obj_t root = hwloc_get_root_obj(topology);
	bool sizes = slots >= DEVICE_SLOTS_OF_TWO_SIZES;
	int n = sizes ? device_slots_part(slots, 0) + device_slots_part(slots, 2)
		: slots > 0 ? slots : n_cores;
	autofree hwloc_cpuset_t *sets = NULL;

	n = n < DEVICE_MAX ? n : DEVICE_MAX;
	sets = xcalloc((size_t)n, sizeof(hwloc_cpuset_t));
	if (sizes)
		cut_sizes(topology, depth, slots, sets);
	else
		hwloc_distrib(topology, &root, 1, sets, (unsigned)n, depth, 0);
	for (int i = 0; i < n; i++) {
		int equal = 0;

		for (int k = 0; k < n; k++)
			equal += hwloc_bitmap_isequal(sets[k], sets[i]);
		append_slot(topology, i, sets[i],
			    (int)hwloc_get_nbobjs_inside_cpuset_by_depth(topology, sets[i], depth),
			    equal, list);
	}
	link_slots(topology, sets, n, list);
	for (int i = 0; i < n; i++)
		hwloc_bitmap_free(sets[i]);
}

static int cpu_list(const struct device_settings *settings, struct device_list *list,
		    struct err *err)
{
	hwloc_topology_t topology;

	/* if there are GPUs, slots are listed only when asked for */
	if (settings->slots == DEVICE_SLOTS_AUTO && list->count > 0)
		return 0;
	if (topology_open(&topology, err))
		return -1;
	append_slots(topology, settings->slots, list);
	hwloc_topology_destroy(topology);
	return 0;
}

/* hwloc 2.9 dies by SIGSEGV where memory runs out. */
static bool cpu_asks_library(const struct device_settings *settings)
{
	(void)settings;
	return true;
}

/* Each replica has one slot, and one thread to a core is best. If the slots differ, every replica
 * has as many threads as the smallest slot has cores. */
static void cpu_environment(const struct device *devices, int n, struct strings *env)
{
	int cores = n > 0 ? devices[0].cores : 1;
	char text[16];

	for (int i = 1; i < n; i++)
		cores = devices[i].cores < cores ? devices[i].cores : cores;
	snprintf(text, sizeof(text), "%d", cores > 0 ? cores : 1);
	strings_set_variable(env, "OMP_NUM_THREADS", text);
}

/* --- confines processes to the processors of their devices --- */

/* sched_setaffinity(2) with the lists kept with the devices. hwloc would do the same in the end,
 * but would first read the topology again in every child between fork and exec. */

/* thread 0: the calling one. */
static int set_affinity(pid_t thread, hwloc_const_bitmap_t cores)
{
	int last = hwloc_bitmap_last(cores);
	size_t size = CPU_ALLOC_SIZE((size_t)last + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)last + 1);
	int rc;

	if (!set)
		return -1;
	CPU_ZERO_S(size, set);
	for (int core = hwloc_bitmap_first(cores); core >= 0; core = hwloc_bitmap_next(cores, core))
		CPU_SET_S((size_t)core, size, set);
	rc = sched_setaffinity(thread, size, set);
	CPU_FREE(set);
	return rc;
}

/* Threads of a stopped process neither begin nor end. */
static int set_affinity_of_all(pid_t pid, hwloc_const_bitmap_t cores)
{
	scoped(pid_list_release) struct pid_list threads = { 0 };
	char path[48];
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	pid_list_read(&threads, path);
	for (int i = 0; rc == 0 && i < threads.count; i++)
		if (set_affinity(threads.items[i], cores) && errno != ESRCH)
			rc = -1;
	return rc;
}

/* pid 0: the calling process, which has one thread. */
static int cpu_rebind(pid_t pid, const struct device *devices, int n, struct err *err)
{
	hwloc_bitmap_t cores = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
	int rc = cores && one ? 0 : -1;

	for (int i = 0; rc == 0 && i < n; i++) {
		rc = hwloc_bitmap_list_sscanf(one, devices[i].binding);
		if (rc == 0)
			rc = hwloc_bitmap_or(cores, cores, one);
	}
	hwloc_bitmap_free(one);
	if (rc || hwloc_bitmap_iszero(cores) || hwloc_bitmap_weight(cores) < 0) {
		hwloc_bitmap_free(cores);
		return err_set(err, EX_SOFTWARE, "cannot bind to cores '%s': not a list of cores",
			       n > 0 ? devices[0].binding : "");
	}
	rc = pid ? set_affinity_of_all(pid, cores) : set_affinity(0, cores);
	if (rc) {
		int reason = errno;
		char text[256];

		hwloc_bitmap_list_snprintf(text, sizeof(text), cores);
		err_set(err, EX_OSERR, "cannot bind to cores '%s': %s", text,
			reason == EINVAL ? "this process may use none of them"
					 : strerror(reason));
	}
	hwloc_bitmap_free(cores);
	return rc;
}

static int cpu_bind(const struct device *devices, int n, struct err *err)
{
	return cpu_rebind(0, devices, n, err);
}

const struct device_backend device_cpu = {
	.name = "cpu",
	.shares_memory = true,
	.owns_binding = true,
	.part = cpu_part,
	.list = cpu_list,
	.asks_driver = cpu_asks_library,
	.bind = cpu_bind,
	.rebind = cpu_rebind,
	.environment = cpu_environment,
	.energy = rapl_read,
};
