/* supervisor_cores.c - the processors of a run, where a pass gives it others than those of its
 * devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/open_file.h"
#include "pollux/store_runs.h"
#include "supervisor.h"

/* Where the kernel does not tell. */
#define EVERY_PROCESSOR "0-1023"
/* A thread that begins while the others are bound has the processors of the thread that made it. */
#define ROUNDS 2

static int count_processors(const char *list)
{
	long first, last;
	int n = 0;

	while (device_next_span(&list, &first, &last))
		n += (int)(last - first) + 1;
	return n;
}

/* The physical cores of a slot for each of its processors. */
static int cores_among(const struct device *device, int processors)
{
	int all = count_processors(device->binding);

	return all > 0 ? processors * device->cores / all : processors;
}

struct device *supervisor_devices_with_cores(const struct run *run)
{
	int n = run->configuration.replicas;
	struct device *devices = xmalloc((size_t)n * sizeof(*devices));

	memcpy(devices, run->devices, (size_t)n * sizeof(*devices));
	for (int i = 0; run->cores[0] && i < n; i++) {
		int cores = cores_among(&run->devices[i], count_processors(run->cores) / n);

		snprintf(devices[i].binding, sizeof(devices[i].binding), "%s", run->cores);
		devices[i].cores = cores > 1 ? cores : 1;
	}
	return devices;
}

/* The processors of this process, which runs on devices without a binding begin with. */
static void own_processors(char list[RUN_CORES_SIZE])
{
	const char key[] = "Cpus_allowed_list:";
	FILE *status = file_open_stream("/proc/self/status");
	char line[RUN_CORES_SIZE];

	snprintf(list, RUN_CORES_SIZE, EVERY_PROCESSOR);
	while (status && fgets(line, sizeof(line), status))
		if (text_starts_with(line, key)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(list, RUN_CORES_SIZE, "%s",
				 line + strlen(key) + strspn(line + strlen(key), " \t"));
		}
	if (status)
		fclose(status);
}

/* A process that cannot be bound goes on where it was. */
static void bind_processes(struct supervisor *s, const struct device *devices, int n)
{
	const struct device_backend *backend = device_backend_of("cpu:0");
	struct pid_list list;
	struct err err;

	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		if (backend->rebind(list.items[i], devices, n, &err))
			supervisor_log(s, "%s", err.text);
	pid_list_release(&list);
}

void supervisor_look_for_cores(struct supervisor *s, const char *had)
{
	struct device *devices;

	if (strcmp(had, s->run.cores) == 0)
		return;
	devices = supervisor_devices_with_cores(&s->run);
	for (int i = 0; i < s->run.configuration.replicas; i++)
		if (!devices[i].binding[0])
			own_processors(devices[i].binding);
	for (int round = 0; round < ROUNDS; round++)
		bind_processes(s, devices, s->run.configuration.replicas);
	supervisor_log(s, "bound to processors %s", s->run.cores[0] ? s->run.cores
								      : "of its devices");
	free(devices);
}
