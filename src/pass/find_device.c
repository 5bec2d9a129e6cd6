/* find_device.c - the device that a run was given, in the list of a pass. A list of many devices is
 * searched by an index. */
#include <stdlib.h>
#include <string.h>

#include "decision.h"
#include "pollux/mem.h"

#define FEW 64		/* devices that are looked at one by one */

static int compare_devices(const struct device *a, const struct device *b)
{
	int order = strcmp(a->node, b->node);

	return order ? order : strcmp(a->id, b->id);
}

static int by_name(const void *a, const void *b)
{
	return compare_devices(*(const struct device *const *)a, *(const struct device *const *)b);
}

void index_devices(const struct snapshot *s, struct decision *d)
{
	size_t n = (size_t)s->devices.count;

	if (n <= FEW)
		return;
	d->by_name = xcalloc(n, sizeof(const struct device *));
	for (size_t i = 0; i < n; i++)
		d->by_name[i] = &s->devices.items[i];
	qsort(d->by_name, n, sizeof(const struct device *), by_name);
}

static int find_index(const struct snapshot *s, const struct decision *d,
		      const struct device *wanted)
{
	int low = 0, high = s->devices.count;

	if (!d->by_name) {
		for (int i = 0; i < s->devices.count; i++)
			if (device_is_same(&s->devices.items[i], wanted))
				return i;
		return -1;
	}
	while (low < high) {
		int middle = (low + high) / 2;

		if (compare_devices(d->by_name[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->devices.count && device_is_same(d->by_name[low], wanted)
		? (int)(d->by_name[low] - s->devices.items) : -1;
}

int decision_find_device(const struct snapshot *s, const struct decision *d,
			 const struct device *wanted)
{
	int i = find_index(s, d, wanted);

	return i >= 0 && d->usable[i] ? i : -1;
}
