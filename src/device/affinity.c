/* affinity.c - confine a process to the processors of its devices.
 *
 * Uses sched_setaffinity(2) with the lists kept with the devices. hwloc would do the same in the
 * end, but would first read the topology again in every child between fork and exec. */
#include <dirent.h>
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "pollux/device.h"

/* Returns the processors of all devices together; NULL: a list is malformed. The caller frees. */
static hwloc_bitmap_t union_of(const struct device *devices, int n)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
	int rc = all && one ? 0 : -1;

	for (int i = 0; rc == 0 && i < n; i++) {
		rc = hwloc_bitmap_list_sscanf(one, devices[i].binding);
		if (rc == 0)
			rc = hwloc_bitmap_or(all, all, one);
	}
	if (rc || hwloc_bitmap_iszero(all) || hwloc_bitmap_weight(all) < 0) {
		hwloc_bitmap_free(all);
		all = NULL;
	}
	hwloc_bitmap_free(one);
	return all;
}

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

static int cannot_bind(hwloc_const_bitmap_t cores, int reason, struct err *err)
{
	char text[256];

	hwloc_bitmap_list_snprintf(text, sizeof(text), cores);
	return err_set(err, EX_OSERR, "cannot bind to cores '%s': %s", text,
		       reason == EINVAL ? "this process may use none of them" : strerror(reason));
}

/* Threads of a stopped process neither begin nor end. */
static int set_affinity_of_all(pid_t pid, hwloc_const_bitmap_t cores)
{
	char path[48];
	const struct dirent *entry;
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (rc == 0 && dir && (entry = readdir(dir))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread > 0 && set_affinity(thread, cores) && errno != ESRCH)
			rc = -1;
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* pid 0: the calling process, which has one thread. */
static int bind_process(pid_t pid, const struct device *devices, int n, struct err *err)
{
	hwloc_bitmap_t cores = union_of(devices, n);
	int rc;

	if (!cores)
		return err_set(err, EX_SOFTWARE, "cannot bind to cores '%s': not a list of cores",
			       n > 0 ? devices[0].binding : "");
	rc = pid ? set_affinity_of_all(pid, cores) : set_affinity(0, cores);
	if (rc)
		cannot_bind(cores, errno, err);
	hwloc_bitmap_free(cores);
	return rc;
}

int affinity_bind(const struct device *devices, int n, struct err *err)
{
	return bind_process(0, devices, n, err);
}

int affinity_rebind(pid_t pid, const struct device *devices, int n, struct err *err)
{
	return bind_process(pid, devices, n, err);
}

/* --- the spans of a binding --- */

bool device_next_span(const char **p, long *first, long *last)
{
	char *end;

	*p += strspn(*p, ",");
	*first = *last = strtol(*p, &end, 10);
	if (end == *p)
		return false;
	if (*end == '-')
		*last = strtol(end + 1, &end, 10);
	*p = end;
	return true;
}
