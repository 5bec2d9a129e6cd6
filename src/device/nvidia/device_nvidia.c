/* device_nvidia.c - NVIDIA's GPUs as devices: what jobs on them get, and what people are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"
#include "gpu.h"
#include "pollux/cuda.h"
#include "pollux/device.h"
#include "pollux/file.h"
#include "pollux/mem.h"

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
	device_cpu.bind(devices, n, &ignored);
	return 0;
}

#define ORDER_OF_BUS "PCI_BUS_ID"

struct numbering {
	const struct device *devices;
	int n;
};

/* Writes the number of each device: of all GPUs, those before it on the bus. Writes none where CUDA
 * may count other GPUs than these: one of them does not answer, has no place on the bus that is its
 * own, or is divided by MIG. Runs in the child. */
static void answer_numbers(int fd, void *arg)
{
	static struct gpu gpus[DEVICE_MAX];
	const struct numbering *a = arg;
	struct err ignored;
	unsigned count = 0;
	struct nvml nvml;

	if (nvml_open(&nvml, &ignored) || nvml.count(&count) != NVML_SUCCESS || count > DEVICE_MAX)
		return;
	for (unsigned i = 0; i < count; i++) {
		gpu_read(&nvml, i, &gpus[i]);
		if (gpus[i].code != NVML_SUCCESS || gpus[i].mig || !gpus[i].bus_id[0])
			return;
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(gpus[k].bus_id, gpus[i].bus_id))
				return;
	}
	for (int d = 0; d < a->n; d++)
		for (unsigned i = 0; i < count; i++) {
			int number = 0;

			if (strcmp(gpus[i].uuid, a->devices[d].id + strlen(GPU_PREFIX)) != 0)
				continue;
			for (unsigned k = 0; k < count; k++)
				number += strcmp(gpus[k].bus_id, gpus[i].bus_id) < 0;
			file_write_all(fd, &number, sizeof(number));
		}
}

/* Many programs take numbers only, and a number is another GPU's where CUDA counts in another
 * order, or not all GPUs. What --env sets stays. */
static void gpu_environment(const struct device *devices, int n, struct strings *env)
{
	const char *order = strings_variable(env, "CUDA_DEVICE_ORDER");
	const char *by = strings_variable(env, "POLLUX_CUDA_DEVICES");
	bool is_set = strings_variable(env, "CUDA_VISIBLE_DEVICES") != NULL;
	bool by_number = !is_set && by && !strcmp(by, "index") &&
			 (!order || !strcmp(order, ORDER_OF_BUS));
	struct numbering asked = { devices, n };
	scoped(text_release) struct text names = TEXT_INIT;
	struct err ignored;
	size_t size = 0;
	/* as CUDA knows the GPUs in the order of the bus */
	int *numbers = by_number ? driver_child_ask(answer_numbers, &asked, &size, &ignored) : NULL;

	for (int i = 0; i < n; i++)
		if (numbers && size == (size_t)n * sizeof(*numbers))
			text_addf(&names, "%s%d", i ? "," : "", numbers[i]);
		else
			text_addf(&names, "%s%s", i ? "," : "", devices[i].id + strlen(GPU_PREFIX));
	if (!is_set)
		strings_set_variable(env, "CUDA_VISIBLE_DEVICES", names.data);
	if (!order)
		strings_set_variable(env, "CUDA_DEVICE_ORDER", ORDER_OF_BUS);
	free(numbers);
}

static int gpu_processes(const struct device *devices, int n, struct device_process **list,
			 int *count, struct device_taken *taken, struct err *err)
{
	struct nvml nvml;
	int code = NVML_SUCCESS;

	if (!gpu_is_there())
		return err_set(err, EX_UNAVAILABLE, "cannot ask for GPUs: there is none");
	if (nvml_open(&nvml, err))
		return -1;
	for (int i = 0; code == NVML_SUCCESS && i < n; i++) {
		struct gpu g = { .index = 0 };
		struct device_reading now = DEVICE_READING_UNKNOWN;

		code = NVML_ASK(&nvml, handle_by_uuid, devices[i].id + strlen(GPU_PREFIX),
				&g.handle);
		if (code != NVML_SUCCESS)
			break;
		if (taken) {
			gpu_read_now(&nvml, &g, true, &now);
			taken[i] = (struct device_taken){
				.energy = { .joules = now.energy_j, .part = 1 },
				.utilization = now.utilization,
				.temperature_c = now.temperature_c,
			};
		}
		code = gpu_read_processes(&nvml, &g, i, list, count);
	}
	nvml_close(&nvml);
	if (code == NVML_SUCCESS)
		return 0;
	return err_set(err, EX_UNAVAILABLE, "cannot tell what computes on '%s': %s",
		       devices[0].id, nvml_code_text(code));
}

/* Hides all GPUs from a program on other devices, unless --env names some. */
static void gpu_hide(struct strings *env)
{
	if (gpu_is_there() && !strings_variable(env, "CUDA_VISIBLE_DEVICES"))
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
	file_write_all(fd, text, (size_t)n);
}

static void describe_cuda(char *text, size_t size)
{
	struct err why;
	size_t n;
	autofree char *answer = driver_child_ask(answer_cuda, NULL, &n, &why);

	if (answer)
		snprintf(text, size, "%.*s", n < 300 ? (int)n : 300, answer);
	else
		snprintf(text, size, "%.300s", why.text);
}

struct start {
	const struct device *device;
	const char *library_path;
};

/* Writes a byte if CUDA starts on the device. One without free memory is no fault. Runs in the
 * child. */
static void answer_start(int fd, void *arg)
{
	const struct start *asked = arg;
	struct cuda_driver driver;
	struct err ignored;
	cu_context context;
	int number, code;

	unsetenv("CUDA_DEVICE_ORDER");
	if (setenv("CUDA_VISIBLE_DEVICES", asked->device->id + strlen(GPU_PREFIX), 1) ||
	    cuda_driver_open(&driver, asked->library_path, &ignored) || driver.init(0) != CU_OK ||
	    driver.device(&number, 0) != CU_OK)
		return;
	code = driver.retain(&context, number);
	if (code == CU_OK || code == CU_OUT_OF_MEMORY)
		file_write_all(fd, "", 1);
}

static bool gpu_starts(const struct device *device, const char *library_path)
{
	struct start asked = { device, library_path };
	struct err ignored;
	size_t n = 0;
	autofree char *answer = driver_child_ask(answer_start, &asked, &n, &ignored);

	return answer && n == 1;
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
	.starts = gpu_starts,
	.freezer = &freezer_nvidia,
};
