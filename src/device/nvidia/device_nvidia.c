/* device_nvidia.c - NVIDIA's GPUs as devices, known by their UUIDs.
 *
 * gpu_place.c first looks in /dev, /proc and /sys for a GPU. Only if there is one is NVML opened:
 * that takes tens of milliseconds, and seconds where it starts the driver. CUDA is never opened
 * here. POLLUX_NVML names another library, which is then opened in any case; "none" hides all
 * GPUs. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../affinity.h"
#include "freeze_nvidia.h"
#include "gpu.h"
#include "pollux/cuda.h"
#include "pollux/device.h"
#include "pollux/driver_child.h"
#include "pollux/mem.h"

#define PREFIX "gpu:"
#define DRIVER_NOTE_SIZE sizeof(((struct device_driver *)NULL)->note)

/* --- what there is --- */

static bool is_kept_out(void)
{
	const char *named = getenv("POLLUX_NVML");

	return named && !strcmp(named, "none");
}

static enum gpu_presence presence(void)
{
	const char *named = getenv("POLLUX_NVML");

	return named && *named ? GPU_WITH_DRIVER : gpu_presence();
}

bool gpu_is_there(void)
{
	return !is_kept_out() && presence() != GPU_ABSENT;
}

#define LOST "the GPU has fallen off the bus; 'dmesg' may say why, a reboot brings it back"

static void refuse(struct device *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first reason stays. */
static void refuse(struct device *d, const char *format, ...)
{
	va_list ap;

	d->usable = false;
	if (d->reason[0])
		return;
	va_start(ap, format);
	vsnprintf(d->reason, sizeof(d->reason), format, ap);
	va_end(ap);
}

/* A GPU without a UUID from NVML cannot be given out; its id is only for people. */
static void set_identity(struct device *d, const struct gpu *g)
{
	int64_t gib = (g->memory_bytes + (1 << 29)) >> 30;

	snprintf(d->name, sizeof(d->name), PREFIX "%u", g->index);
	if (g->uuid[0] && strlen(g->uuid) < sizeof(d->id) - strlen(PREFIX))
		snprintf(d->id, sizeof(d->id), PREFIX "%.58s", g->uuid);
	else
		snprintf(d->id, sizeof(d->id), PREFIX "%s",
			 g->bus_id[0] ? g->bus_id : d->name + strlen(PREFIX));
	snprintf(d->kind, sizeof(d->kind), "%.90s", g->name[0] ? g->name : "GPU");
	if (g->memory_bytes > 0)
		snprintf(d->kind, sizeof(d->kind), "%.90s, %lld GiB", g->name,
			 (long long)(gib ? gib : 1));
}

static void set_reason(struct device *d, const struct gpu *g,
		       const struct device_settings *settings)
{
	d->usable = true;
	if (g->code == NVML_GPU_IS_LOST)
		refuse(d, LOST);
	else if (g->code != NVML_SUCCESS)
		refuse(d, "%s", nvml_code_text(g->code));
	else if (strcmp(d->id + strlen(PREFIX), g->uuid) != 0)
		refuse(d, "its UUID is not known");
	if (g->mig)
		refuse(d, "MIG is on, and only whole GPUs are given out; off again: "
		       "nvidia-smi -i %u -mig 0", g->index);
	if (g->prohibited)
		refuse(d, "its compute mode is 'prohibited'; to allow programs: "
		       "nvidia-smi -i %u -c 0", g->index);
	if (settings->slots != DEVICE_SLOTS_AUTO)
		refuse(d, "CPU slots are asked for (--slots, POLLUX_SLOTS, or slots in the "
		       "configuration)");
}

/* If the driver does not list the processes on a GPU although it can, then use of the GPU, or more
 * memory than a display takes, shows that somebody is on it. */
#define UNTOLD_BYTES (INT64_C(1) << 30)
#define UNTOLD_SHARE 0.05

static void append_untold(const struct device *d, struct device_list *list)
{
	bool known = d->memory_bytes > 0 && d->now.free_bytes >= 0;
	int64_t used = known ? d->memory_bytes - d->now.free_bytes : 0;

	devices_driver(list, &device_nvidia)->processes_unknown = true;
	if (used <= UNTOLD_BYTES && !(d->now.utilization > UNTOLD_SHARE))
		return;
	list->processes = xreallocarray(list->processes, (size_t)list->n_processes + 1,
					sizeof(*list->processes));
	list->processes[list->n_processes++] = (struct device_process){
		.device = list->count - 1, .memory_bytes = used, .utilization = (double)NAN,
	};
}

static void append_gpu(const struct nvml *n, const struct gpu *g,
		       const struct device_settings *settings, struct device_list *list)
{
	struct device *d = devices_append(list);
	int code = NVML_SUCCESS;

	set_identity(d, g);
	set_reason(d, g, settings);
	/* the GPU tells neither that it is lost nor which one it is */
	if (!g->uuid[0] && !gpu_is_fatal(g->code))
		devices_driver(list, &device_nvidia)->silent = true;
	d->memory_bytes = g->memory_bytes;
	gpu_local_processors(g->bus_id, d->binding, sizeof(d->binding));
	d->cores = gpu_count_processors(d->binding);
	gpu_read_now(n, g, settings->in_full, &d->now);
	if (g->handle)
		code = gpu_read_processes(n, g, list->count - 1, &list->processes,
					  &list->n_processes);
	if (code == NVML_GPU_IS_LOST)	/* lost between two questions */
		refuse(d, LOST);
	else if (code != NVML_SUCCESS && code != NVML_NOT_SUPPORTED &&
		 code != NVML_FUNCTION_NOT_FOUND)
		append_untold(d, list);
}

static void link_gpus(const struct nvml *n, const struct gpu *gpus, int count,
		      struct device_list *list)
{
	for (int a = 0; a < count; a++)
		for (int b = 0; b < a; b++) {
			enum device_link link = gpu_link(n, &gpus[a], &gpus[b]);

			if (link != DEVICE_LINK_MACHINE)
				devices_set_link(list, a, b, link);
		}
}

/* at: its place on the bus; "": unknown. */
static void append_silent(int index, const char *at, const char *reason, struct device_list *list)
{
	struct device *d = devices_append(list);

	snprintf(d->name, sizeof(d->name), PREFIX "%d", index);
	snprintf(d->id, sizeof(d->id), PREFIX "%s", *at ? at : d->name + strlen(PREFIX));
	snprintf(d->kind, sizeof(d->kind), "NVIDIA GPU%s%s", *at ? " at " : "", at);
	d->cores = 1;
	refuse(d, "%.159s", reason);
}

/* Appends the GPUs on the bus that the driver does not tell. Jobs here are meant for GPUs: a driver
 * that does not answer is no reason to start them on processors. The bus shows no GPU in the
 * Windows subsystem for Linux and where /sys is masked; one entry then stands for all. */
static void append_all_silent(bool at_least_one, const char *reason, struct device_list *list)
{
	char (*bus_ids)[GPU_BUS_ID_SIZE];
	int n = gpu_on_bus(&bus_ids);

	for (int i = 0; i < n; i++)
		append_silent(i, bus_ids[i], reason, list);
	if (n == 0 && at_least_one)
		append_silent(0, "", reason, list);
	free(bus_ids);
}

static void note_driver(const struct nvml *n, int count, struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);

	if (NVML_ASK(n, driver_version, driver->version, sizeof(driver->version)) != NVML_SUCCESS)
		driver->version[0] = '\0';
	snprintf(driver->note, DRIVER_NOTE_SIZE, "NVIDIA driver %.79s, %d GPU%s",
		 driver->version[0] ? driver->version : "of unknown version", count,
		 count == 1 ? "" : "s");
}

static unsigned count_gpus(const struct nvml *n, int *code)
{
	unsigned count;

	*code = n->count(&count);
	if (*code != NVML_SUCCESS)
		return 0;
	return count < DEVICE_MAX ? count : DEVICE_MAX;
}

static void list_with(const struct nvml *n, const struct device_settings *settings,
		      struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);
	int code;
	unsigned count = count_gpus(n, &code);
	struct gpu *gpus = xcalloc(count, sizeof(*gpus));

	for (unsigned i = 0; i < count; i++) {
		gpu_read(n, i, &gpus[i]);
		append_gpu(n, &gpus[i], settings, list);
	}
	link_gpus(n, gpus, (int)count, list);
	free(gpus);
	note_driver(n, (int)count, list);
	if (driver->processes_unknown) {
		size_t used = strlen(driver->note);

		snprintf(driver->note + used, sizeof(driver->note) - used,
			 "; it does not tell who is on them all");
	}
	if (code != NVML_SUCCESS) {
		driver->silent = true;
		append_all_silent(true, nvml_code_text(code), list);
	} else if (count == 0) {
		append_all_silent(false, "the driver does not list it; 'dmesg' may say why", list);
	}
}

/* Lists what there is without the driver. */
static void list_silent(const char *why, struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);

	snprintf(driver->note, sizeof(driver->note), "%.239s", why);
	driver->silent = true;
	append_all_silent(true, why, list);
}

/* Without library and device files, the GPUs on the bus are not for this system, as in a container
 * that was given none. With either, the driver is installed and does not work. */
static void note_failure(const struct err *err, enum gpu_presence there, bool opened,
			 struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);

	if (there == GPU_WITH_DRIVER || opened) {
		list_silent(err->text, list);
		return;
	}
	snprintf(driver->note, sizeof(driver->note), "%.239s", err->text);
	driver->silent = true;
}

static void set_note(struct device_list *list, const char *text)
{
	snprintf(devices_driver(list, &device_nvidia)->note, DRIVER_NOTE_SIZE, "%s", text);
}

static bool wants_gpus(const struct device_settings *settings)
{
	return settings->slots == DEVICE_SLOTS_AUTO || settings->in_full;
}

static bool asks_driver(const struct device_settings *settings)
{
	return wants_gpus(settings) && gpu_is_there();
}

static int gpu_list(const struct device_settings *settings, struct device_list *list,
		    struct err *err)
{
	struct err why = { 0 };
	enum gpu_presence there;
	struct nvml nvml;

	(void)err;
	if (is_kept_out()) {
		set_note(list, "POLLUX_NVML is 'none'");
		return 0;
	}
	if (!wants_gpus(settings))
		return 0;
	there = presence();
	if (there == GPU_ABSENT) {
		set_note(list, "no NVIDIA GPU on the PCI bus, and no driver of one");
	} else if (nvml_open(&nvml, &why) == 0) {
		list_with(&nvml, settings, list);
		nvml_close(&nvml);
	} else {
		note_failure(&why, there, nvml.library != NULL, list);
	}
	return 0;
}

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
		text_addf(&uuids, "%s%s", i ? "," : "", devices[i].id + strlen(PREFIX));
	strings_set_variable(env, "CUDA_VISIBLE_DEVICES", uuids.data);
	strings_set_variable(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	text_release(&uuids);
}

static int read_processes_of(const struct nvml *n, const struct device *device, int index,
			     struct device_process **list, int *count)
{
	struct gpu g = { .index = 0 };
	int code = NVML_ASK(n, handle_by_uuid, device->id + strlen(PREFIX), &g.handle);

	return code == NVML_SUCCESS ? gpu_read_processes(n, &g, index, list, count) : code;
}

static int gpu_processes(const struct device *devices, int n, struct device_process **list,
			 int *count, struct err *err)
{
	struct nvml nvml;
	int code = NVML_SUCCESS;

	if (!gpu_is_there())
		return err_set(err, EX_UNAVAILABLE, "cannot ask for GPUs: there is none");
	if (nvml_open(&nvml, err))
		return -1;
	for (int i = 0; code == NVML_SUCCESS && i < n; i++)
		code = read_processes_of(&nvml, &devices[i], i, list, count);
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
	.asks_driver = asks_driver,
	.list_unanswered = list_silent,
	.bind = gpu_bind,
	.environment = gpu_environment,
	.hide = gpu_hide,
	.processes = gpu_processes,
	.describe_runtime = describe_cuda,
	.freezer = &freezer_nvidia,
};
