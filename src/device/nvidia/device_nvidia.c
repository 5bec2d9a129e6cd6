/* device_nvidia.c - NVIDIA's GPUs as devices: what jobs on them get, and what people are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../affinity.h"
#include "freeze_nvidia.h"
#include "gpu.h"
#include "pollux/cuda.h"
#include "pollux/device.h"
#include "pollux/driver_child.h"

/* --- what jobs get --- */

/* Binds to the near processors if possible. If the control group allows none of them, or the job's
 * GPUs are far apart, the job runs on all it may use. */
static int gpu_bind(const struct device *devices, int n, struct err *err)
{
	struct err ignored;

	(void)err;
	for (int i = 0; i < n; i++)
		if (!devices[i].binding[0])
			return 0;
	affinity_bind(devices, n, &ignored);
	return 0;
}

/* GPUs are named by UUID, because CUDA may number them differently. For programs that count them
 * all the same, the order is nvidia-smi's. */
static void gpu_environment(const struct device *devices, int n, struct strings *env)
{
	struct text uuids = TEXT_INIT;

	for (int i = 0; i < n; i++)
		text_addf(&uuids, "%s%s", i ? "," : "", devices[i].id + strlen(GPU_PREFIX));
	strings_set_variable(env, "CUDA_VISIBLE_DEVICES", uuids.data);
	strings_set_variable(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	text_release(&uuids);
}

static struct device_energy read_energy(const struct nvml *n, const struct gpu *g)
{
	unsigned long long millijoules = 0;
	bool known = NVML_ASK(n, energy, g->handle, &millijoules) == NVML_SUCCESS;

	return (struct device_energy){
		.joules = known ? (double)millijoules / 1e3 : (double)NAN, .part = 1,
	};
}

static int read_processes_of(const struct nvml *n, const struct device *device, int index,
			     struct device_process **list, int *count,
			     struct device_energy *energy)
{
	struct gpu g = { .index = 0 };
	int code = NVML_ASK(n, handle_by_uuid, device->id + strlen(GPU_PREFIX), &g.handle);

	if (code != NVML_SUCCESS)
		return code;
	if (energy)
		*energy = read_energy(n, &g);
	return gpu_read_processes(n, &g, index, list, count);
}

static int gpu_processes(const struct device *devices, int n, struct device_process **list,
			 int *count, struct device_energy *energy, struct err *err)
{
	struct nvml nvml;
	int code = NVML_SUCCESS;

	if (!gpu_is_there())
		return err_set(err, EX_UNAVAILABLE, "cannot ask for GPUs: there is none");
	if (nvml_open(&nvml, err))
		return -1;
	for (int i = 0; code == NVML_SUCCESS && i < n; i++)
		code = read_processes_of(&nvml, &devices[i], i, list, count,
					 energy ? &energy[i] : NULL);
	nvml_close(&nvml);
	if (code == NVML_SUCCESS)
		return 0;
	return err_set(err, EX_UNAVAILABLE, "cannot tell what computes on '%s': %s",
		       devices[0].id, nvml_code_text(code));
}

static bool has_variable(const struct strings *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->count; i++)
		if (!strncmp(env->items[i], name, n) && env->items[i][n] == '=')
			return true;
	return false;
}

/* Hides all GPUs from a program on other devices, unless --env names some. */
static void gpu_hide(struct strings *env)
{
	if (gpu_is_there() && !has_variable(env, "CUDA_VISIBLE_DEVICES"))
		strings_set_variable(env, "CUDA_VISIBLE_DEVICES", "");
}

/* --- what people are told --- */

#define RUNTIME_TEXT_SIZE 400

/* Tells CUDA's runtime and the versions, without touching a GPU. Runs in the child. */
static void answer_cuda(int fd, void *arg)
{
	char text[RUNTIME_TEXT_SIZE];
	struct cuda cuda;
	struct err why;
	int n;

	(void)arg;
	if (cuda_open_runtime(&cuda, &why)) {
		n = snprintf(text, sizeof(text), "%.300s", why.text);
	} else {
		n = snprintf(text, sizeof(text), "%d.%d", cuda.runtime_version / 1000,
			     cuda.runtime_version % 1000 / 10);
		if (cuda.driver_version)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				      "; the driver is for %d.%d", cuda.driver_version / 1000,
				      cuda.driver_version % 1000 / 10);
		else
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				      ", but there is no driver");
	}
	driver_child_write(fd, text, (size_t)n);
}

static void describe_cuda(char *text, size_t size)
{
	struct err why;
	size_t n;
	char *answer = driver_child_ask(answer_cuda, NULL, &n, &why);

	if (answer)
		snprintf(text, size, "%.*s", n < 300 ? (int)n : 300, answer);
	else
		snprintf(text, size, "%.300s", why.text);
	free(answer);
}

static const char *const gpu_variables[] = { "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", NULL };

static const struct device_words gpu_words = {
	.driver = "GPUs", .driver_key = "gpu_driver",
	.runtime = "CUDA", .runtime_key = "cuda",
	.fast_link = "NVLink", .fast_link_name = "nvlink",
	.forgets_state = "Persistence mode is off, "
			 "so that each look at the GPUs starts their driver\n"
			 "anew, which takes seconds; once, as root: nvidia-smi -pm 1",
};

const struct device_backend device_nvidia = {
	.name = "gpu",
	.is_accelerator = true,
	.resident = true,
	.words = &gpu_words,
	.variables = gpu_variables,
	.list = gpu_list,
	.asks_driver = gpu_asks_driver,
	.list_unanswered = gpu_list_silent,
	.bind = gpu_bind,
	.environment = gpu_environment,
	.hide = gpu_hide,
	.processes = gpu_processes,
	.describe_runtime = describe_cuda,
	.freezer = &freezer_nvidia,
};
