/* gpu_link.c - how near two GPUs are: NVLink first, else their common ancestor on the PCI bus. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

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

/* Asks the driver whether one GPU reads the other's memory over NVLink, switches included. Older
 * drivers cannot tell. */
static bool joined_by_nvlink(const struct nvml *n, const struct gpu *a, const struct gpu *b)
{
	int status = 0;

	if (NVML_ASK(n, p2p, a->handle, b->handle, NVML_P2P_CAPS_NVLINK, &status) == NVML_SUCCESS)
		return status == NVML_P2P_OK;
	return joined_by_links(n, a, b);
}

enum device_link gpu_link(const struct nvml *n, const struct gpu *a, const struct gpu *b)
{
	int level = 0;

	if (!a->handle || !b->handle)
		return DEVICE_LINK_MACHINE;
	if (joined_by_nvlink(n, a, b))
		return DEVICE_LINK_FAST;
	if (NVML_ASK(n, ancestor, a->handle, b->handle, &level) != NVML_SUCCESS)
		return DEVICE_LINK_MACHINE;
	if (level <= NVML_ANCESTOR_SWITCHES)
		return DEVICE_LINK_SWITCH;
	return level <= NVML_ANCESTOR_NODE ? DEVICE_LINK_NUMA : DEVICE_LINK_MACHINE;
}
