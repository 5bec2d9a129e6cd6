/* host_cores.c - see pollux/host_cores.h. */
#include "pollux/host_cores.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/file.h"

#define PROCESSORS_MAX 1024

/* Marks the processors of a list such as "0-1,8". */
static void mark(const char *list, bool *marked)
{
	while (*list) {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long p = first; p >= 0 && p <= last && p < PROCESSORS_MAX; p++)
			marked[p] = true;
		list = end + strspn(end, ",");
	}
}

/* Adds the processors of the core of this one that may be used, and marks them as seen. */
static void read_core(int processor, const cpu_set_t *allowed, bool *seen, struct text *list)
{
	bool of_core[PROCESSORS_MAX] = { false };
	char path[96], line[1024];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor);
	file_find_line(path, "", line, sizeof(line));
	mark(line, of_core);
	of_core[processor] = true;
	for (int p = 0; p < PROCESSORS_MAX; p++) {
		if (!of_core[p] || !CPU_ISSET((size_t)p, allowed))
			continue;
		seen[p] = true;
		text_addf(list, "%s%d", list->length ? "," : "", p);
	}
}

int host_cores(struct strings *processors)
{
	bool seen[PROCESSORS_MAX] = { false };
	cpu_set_t allowed;
	int n = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed)) {
		if (processors)
			strings_add(processors, "");
		return 1;
	}
	for (int p = 0; p < PROCESSORS_MAX; p++) {
		struct text list = TEXT_INIT;

		if (seen[p] || !CPU_ISSET((size_t)p, &allowed))
			continue;
		read_core(p, &allowed, seen, &list);
		if (processors)
			strings_add(processors, list.data);
		text_release(&list);
		n++;
	}
	return n > 0 ? n : 1;
}
