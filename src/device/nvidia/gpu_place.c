/* gpu_place.c - find out from /dev, /proc and /sys if there are GPUs and which processors are near.
 *
 * No library is opened for this: without a GPU it costs a pass four failed lookups and one short
 * file. */
#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "pollux/file.h"
#include "pollux/mem.h"

#define VENDOR_NVIDIA 0x10de
/* VGA and 3D controllers; not the audio and USB functions of a GPU */
#define CLASS_DISPLAY 0x03

/* Tests look at other trees. */
static char *make_path(const char *path)
{
	const char *root = getenv("POLLUX_GPU_ROOT");

	return xasprintf("%s%s", root ? root : "", path);
}

static bool exists(const char *path)
{
	autofree char *full = make_path(path);

	return access(full, F_OK) == 0;
}

static void read_line(char *line, size_t size, const char *path)
{
	autofree char *full = make_path(path);

	file_find_line(full, "", line, size);
}

static unsigned long read_number(const char *bus_id, const char *name)
{
	autofree char *path = xasprintf("/sys/bus/pci/devices/%s/%s", bus_id, name);
	char line[32];

	read_line(line, sizeof(line), path);
	return strtoul(line, NULL, 0);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int gpu_on_bus(char (**bus_ids)[GPU_BUS_ID_SIZE])
{
	autofree char *path = make_path("/sys/bus/pci/devices");
	DIR *dir = opendir(path);
	const struct dirent *entry;
	char target[256], name[64];
	ssize_t length;
	int n = 0;

	*bus_ids = NULL;
	while (dir && (entry = readdir(dir))) {
		if (strlen(entry->d_name) >= GPU_BUS_ID_SIZE ||
		    read_number(entry->d_name, "vendor") != VENDOR_NVIDIA ||
		    read_number(entry->d_name, "class") >> 16 != CLASS_DISPLAY)
			continue;
		/* A GPU given to a virtual machine (vfio-pci) or to the free driver cannot compute
		 * for us. */
		snprintf(name, sizeof(name), "%.15s/driver", entry->d_name);
		length = readlinkat(dirfd(dir), name, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (length >= 0 && strcmp(basename(target), "nvidia") != 0)
			continue;
		*bus_ids = xreallocarray(*bus_ids, (size_t)n + 1, sizeof(**bus_ids));
		snprintf((*bus_ids)[n++], GPU_BUS_ID_SIZE, "%.15s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (n > 1)
		qsort(*bus_ids, (size_t)n, sizeof(**bus_ids), by_name);
	return n;
}

enum gpu_presence gpu_presence(void)
{
	char (*bus_ids)[GPU_BUS_ID_SIZE], *path, line[512];
	bool found;
	FILE *file;
	int n;

	if (exists("/dev/nvidiactl") || exists("/dev/nvidia0"))
		return GPU_WITH_DRIVER;
	if (exists("/proc/driver/nvidia/version") || exists("/dev/dxg"))
		return GPU_POSSIBLE;
	/* Looks for NVIDIA's number in the kernel's list of the bus: each device has a line, with
	 * vendor and model as 8 hexadecimal digits after the first tab. Some containers have no
	 * list. */
	path = make_path("/proc/bus/pci/devices");
	file = file_open_stream(path);
	free(path);
	found = !file;
	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *tab = strchr(line, '\t');

		found = tab && strtoul(tab, NULL, 16) >> 16 == VENDOR_NVIDIA;
	}
	if (file)
		fclose(file);
	if (!found)
		return GPU_ABSENT;
	n = gpu_on_bus(&bus_ids);
	free(bus_ids);
	return n > 0 ? GPU_POSSIBLE : GPU_ABSENT;
}

void gpu_local_processors(const char *bus_id, char *list, size_t size)
{
	char *path = xasprintf("/sys/bus/pci/devices/%s/local_cpulist", *bus_id ? bus_id : "none");
	char online[1024];

	read_line(list, size, path);
	free(path);
	read_line(online, sizeof(online), "/sys/devices/system/cpu/online");
	if (!strcmp(list, online) || strlen(list) == size - 1)
		list[0] = '\0';
}

int gpu_count_processors(const char *list)
{
	char online[1024] = "";
	long first, last;
	int n = 0;

	if (!*list) {
		read_line(online, sizeof(online), "/sys/devices/system/cpu/online");
		list = online;
	}
	while (device_next_span(&list, &first, &last))
		n += last >= first ? (int)(last - first) + 1 : 0;
	return n > 0 ? n : 1;
}

int64_t gpu_available_memory(void)
{
	autofree char *path = make_path("/proc/meminfo");
	scoped(close_file) FILE *file = file_open_stream(path);
	char line[128];
	long long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, "MemAvailable:", 13))
			kib = strtoll(line + 13, NULL, 10);
	return kib < 0 ? -1 : kib * 1024;
}

/* --- how near two GPUs are --- */

/* NVLink first, else their common ancestor on the PCI bus. */

static bool same_place(const struct nvml_pci *a, const struct nvml_pci *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->device == b->device;
}

/* Lists the other ends of the links that are up: GPUs or switches. */
static int linked_to(const struct nvml *n, const struct gpu *g, struct nvml_pci *remote)
{
	int count = 0;

	for (unsigned link = 0; link < NVML_LINKS; link++) {
		int on = 0;

		if (NVML_ASK(n, link_state, g->handle, link, &on) != NVML_SUCCESS || !on)
			continue;
		if (NVML_ASK(n, link_remote, g->handle, link, &remote[count]) == NVML_SUCCESS)
			count++;
	}
	return count;
}

/* True if a link ends at the other GPU, or links of both end at one switch. */
static bool joined_by_links(const struct nvml *n, const struct gpu *a, const struct gpu *b)
{
	struct nvml_pci from_a[NVML_LINKS], from_b[NVML_LINKS], place = { .domain = 0 };
	int count_a = linked_to(n, a, from_a), count_b = linked_to(n, b, from_b);
	bool known = NVML_ASK(n, pci, b->handle, &place) == NVML_SUCCESS;

	for (int i = 0; i < count_a; i++) {
		if (known && same_place(&from_a[i], &place))
			return true;
		for (int j = 0; j < count_b; j++)
			if (same_place(&from_a[i], &from_b[j]))
				return true;
	}
	return false;
}

enum device_link gpu_link(const struct nvml *n, const struct gpu *a, const struct gpu *b)
{
	int level = 0, status = 0;
	bool joined;

	if (!a->handle || !b->handle)
		return DEVICE_LINK_MACHINE;
	/* Older drivers cannot tell whether one GPU reads the other's memory over NVLink, switches
	 * included. */
	if (NVML_ASK(n, p2p, a->handle, b->handle, NVML_P2P_CAPS_NVLINK, &status) == NVML_SUCCESS)
		joined = status == NVML_P2P_OK;
	else
		joined = joined_by_links(n, a, b);
	if (joined)
		return DEVICE_LINK_FAST;
	if (NVML_ASK(n, ancestor, a->handle, b->handle, &level) != NVML_SUCCESS)
		return DEVICE_LINK_MACHINE;
	if (level <= NVML_ANCESTOR_SWITCHES)
		return DEVICE_LINK_SWITCH;
	return level <= NVML_ANCESTOR_NODE ? DEVICE_LINK_NUMA : DEVICE_LINK_MACHINE;
}
