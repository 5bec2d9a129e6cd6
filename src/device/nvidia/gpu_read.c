/* gpu_read.c - ask NVML for all there is to know of one GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "pollux/clock.h"
#include "pollux/mem.h"

bool gpu_is_fatal(int code)
{
	return code == NVML_GPU_IS_LOST || code == NVML_RESET_REQUIRED || code == NVML_IRQ_ISSUE ||
	       code == NVML_INSUFFICIENT_POWER || code == NVML_OPERATING_SYSTEM;
}

/* Keeps the first code that matters: any failure of a required question, and a fatal one of any
 * other. */
static bool answered(struct gpu *g, int code, bool needed)
{
	if (code != NVML_SUCCESS && g->code == NVML_SUCCESS && (needed || gpu_is_fatal(code)))
		g->code = code;
	return code == NVML_SUCCESS;
}

void gpu_read(const struct nvml *n, unsigned index, struct gpu *g)
{
	struct nvml_pci pci = { .domain = 0 };
	struct nvml_memory memory = { 0 };
	unsigned mig = 0, after_reset;
	int mode = 0, connected = 0, active = 0;
	bool known;

	*g = (struct gpu){ .index = index, .free_bytes = -1 };
	if (!answered(g, n->handle_by_index(index, &g->handle), true)) {
		g->handle = NULL;
		return;
	}
	if (answered(g, NVML_ASK(n, pci, g->handle, &pci), false))
		/* function 0 is the only function of a GPU that computes */
		snprintf(g->bus_id, GPU_BUS_ID_SIZE, "%04x:%02x:%02x.0", pci.domain & 0xffff,
			 pci.bus & 0xff, pci.device & 0xff);
	if (!answered(g, n->uuid(g->handle, g->uuid, sizeof(g->uuid)), true))
		g->uuid[0] = '\0';
	if (!answered(g, n->name(g->handle, g->name, sizeof(g->name)), false))
		snprintf(g->name, sizeof(g->name), "GPU");
	/* GPUs that share the machine's memory have none of their own, or do not tell. */
	if (answered(g, n->memory(g->handle, &memory), false) && memory.total_bytes > 0) {
		g->memory_bytes = (int64_t)memory.total_bytes;
		g->free_bytes = (int64_t)memory.free_bytes;
	} else if (g->code == NVML_SUCCESS) {
		g->free_bytes = gpu_available_memory();
	}
	if (answered(g, NVML_ASK(n, mig, g->handle, &mig, &after_reset), false))
		g->mig = mig != 0;
	if (answered(g, NVML_ASK(n, compute_mode, g->handle, &mode), false)) {
		g->prohibited = mode == NVML_COMPUTE_PROHIBITED;
		g->exclusive = mode == NVML_COMPUTE_EXCLUSIVE_THREAD ||
			       mode == NVML_COMPUTE_EXCLUSIVE_PROCESS;
	}
	known = answered(g, NVML_ASK(n, display_mode, g->handle, &connected), false);
	known |= answered(g, NVML_ASK(n, display_active, g->handle, &active), false);
	if (known)
		g->display = connected || active ? GPU_DISPLAY_ON : GPU_DISPLAY_OFF;
}

static const char *slowed_by(unsigned long long bits)
{
	if (bits & (NVML_SLOWED_HEAT_SOFTWARE | NVML_SLOWED_HEAT_HARDWARE))
		return "heat";
	if (bits & NVML_SLOWED_POWER_BRAKE)
		return "power brake";
	if (bits & NVML_SLOWED_HARDWARE)
		return "hardware slowdown";
	return bits & NVML_SLOWED_POWER_CAP ? "power cap" : NULL;
}

void gpu_read_now(const struct nvml *n, const struct gpu *g, bool in_full,
		  struct device_reading *now)
{
	struct nvml_temperature t = { NVML_TEMPERATURE_VERSION, NVML_TEMPERATURE_GPU, 0 };
	struct nvml_rates rates;
	unsigned value = 0;
	unsigned long long large = 0;
	int on = 0;

	now->free_bytes = g->free_bytes;
	if (!g->handle)
		return;
	if (NVML_ASK(n, rates, g->handle, &rates) == NVML_SUCCESS && rates.gpu_percent <= 100)
		now->utilization = rates.gpu_percent / 100.0;
	if (!in_full)
		return;
	if (NVML_ASK(n, temperature, g->handle, &t) == NVML_SUCCESS)
		now->temperature_c = t.celsius;
	else if (NVML_ASK(n, old_temperature, g->handle, NVML_TEMPERATURE_GPU, &value) ==
		 NVML_SUCCESS)
		now->temperature_c = value;
	if (NVML_ASK(n, power, g->handle, &value) == NVML_SUCCESS)
		now->power_w = value / 1e3;
	if (NVML_ASK(n, power_limit, g->handle, &value) == NVML_SUCCESS)
		now->power_limit_w = value / 1e3;
	if (NVML_ASK(n, energy, g->handle, &large) == NVML_SUCCESS)
		now->energy_j = (double)large / 1e3;
	if (NVML_ASK(n, slowed, g->handle, &large) == NVML_SUCCESS)
		now->slowed_by = slowed_by(large);
	if (NVML_ASK(n, persistence, g->handle, &on) == NVML_SUCCESS)
		now->forgets_state = !on;
}

/* --- processes --- */

/* seconds looked back: a training process pauses between epochs */
#define SAMPLES_S 10.0
/* Samples are up to a second apart, and each is the mean of it. */
#define RECENT_S 1.5

/* Reads what processes did since so many seconds ago: the driver answers with one sample for each,
 * of all that time. Returns NULL with *n = 0 if there are none, NULL with -1 if the GPU keeps
 * none. */
static struct nvml_process_sample *read_samples(const struct nvml *n, const struct gpu *g,
						double since_s, int *n_samples)
{
	unsigned long long after_us = (unsigned long long)((clock_wall_s() - since_s) * 1e6);
	struct nvml_process_sample *samples = NULL;
	unsigned room = 0;
	int code = NVML_ASK(n, process_samples, g->handle, NULL, &room, after_us);

	for (int i = 0; code == NVML_INSUFFICIENT_SIZE && room > 0 && i < 4; i++) {
		free(samples);
		samples = xcalloc(room, sizeof(*samples));
		code = n->process_samples(g->handle, samples, &room, after_us);
	}
	if (code == NVML_SUCCESS && samples)
		*n_samples = (int)room;
	else
		*n_samples = code == NVML_SUCCESS || code == NVML_NOT_FOUND ? 0 : -1;
	if (*n_samples > 0)
		return samples;
	free(samples);
	return NULL;
}

/* The mean of a process's samples since then, or the newest of them. A process that did nothing has
 * no sample. Some drivers return old samples, and percentages above 100. NaN: unknown. */
static double utilization_of(uint32_t pid, const struct nvml_process_sample *samples, int n_samples,
			     double since_s, bool newest)
{
	double oldest_us = (clock_wall_s() - since_s) * 1e6, sum = 0;
	int n = 0;

	if (!newest && (n_samples < 0 || pid == 0))
		return (double)NAN;
	for (int i = 0; samples && i < n_samples; i++) {
		const struct nvml_process_sample *s = &samples[i];

		if (s->pid != pid || s->sm_percent > 100 || (double)s->time_us < oldest_us)
			continue;
		if (newest) {
			oldest_us = (double)s->time_us;
			sum = n = 0;
		}
		sum += s->sm_percent;
		n++;
	}
	return n > 0 ? sum / n / 100 : 0;
}

int gpu_read_processes(const struct nvml *n, const struct gpu *g, int device,
		       struct device_process **list, int *count)
{
	autofree struct nvml_process *processes = NULL;
	autofree struct nvml_process_sample *samples = NULL, *recent = NULL;
	struct device_reading now = DEVICE_READING_UNKNOWN;
	int n_processes, n_samples, n_recent;
	int code = nvml_processes(n, g->handle, &processes, &n_processes);

	if (code != NVML_SUCCESS || n_processes == 0)
		return code;
	samples = read_samples(n, g, SAMPLES_S, &n_samples);
	recent = read_samples(n, g, RECENT_S, &n_recent);
	if (n_recent < 0)
		gpu_read_now(n, g, false, &now);
	*list = xreallocarray(*list, (size_t)*count + (size_t)n_processes, sizeof(**list));
	for (int i = 0; i < n_processes; i++) {
		uint64_t bytes = processes[i].memory_bytes;

		(*list)[(*count)++] = (struct device_process){
			.device = device, .pid = processes[i].pid,
			.memory_bytes = bytes > INT64_MAX ? -1 : (int64_t)bytes,
			.utilization = utilization_of(processes[i].pid, samples, n_samples,
						      2 * SAMPLES_S, false),
			.recent = n_recent < 0 ? now.utilization
				: utilization_of(processes[i].pid, recent, n_recent, RECENT_S,
						 true),
		};
	}
	return NVML_SUCCESS;
}
