/* gpu_list.c - which GPUs are left out: those that the setting gpus does not name; where nothing
 * is set, small cards beside a larger one, which are there for a display. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpu.h"
#include "pollux/mem.h"

#define SEPARATORS ", \t"
#define SMALL_BYTES (INT64_C(5) << 30)

static void leave_out(struct device *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Replaces another reason: nobody has to mend a GPU that is not wanted. */
static void leave_out(struct device *d, const char *format, ...)
{
	va_list ap;

	d->keeps_runs = d->usable;
	d->usable = false;
	d->left_out = true;
	va_start(ap, format);
	vsnprintf(d->reason, sizeof(d->reason), format, ap);
	va_end(ap);
}

/* The beginning of a UUID will do, as for CUDA. */
static bool is_named(const struct gpu *g, const char *word, size_t n)
{
	if (isdigit((unsigned char)*word))
		return strtoul(word, NULL, 10) == g->index;
	return !strncasecmp(g->uuid, word, n);
}

static void leave_unnamed(const char *words, const struct gpu *gpus, int count,
			  struct device *devices, struct text *wrong)
{
	bool *named = xcalloc((size_t)count + 1, sizeof(*named));
	size_t n;

	for (const char *p = words + strspn(words, SEPARATORS); *p;
	     p += n + strspn(p + n, SEPARATORS)) {
		int found = 0, again = 0;

		n = strcspn(p, SEPARATORS);
		for (int i = 0; i < count; i++)
			if (is_named(&gpus[i], p, n)) {
				found++;
				again += named[i];
				named[i] = true;
			}
		if (found == 0 || found == again)
			text_addf(wrong, "%s'%.*s' is %s", wrong->length ? ", " : "", (int)n, p,
				  found ? "there twice" : "no GPU here");
	}
	for (int i = 0; i < count; i++)
		if (!named[i])
			leave_out(&devices[i], "left out by the setting gpus (%.100s)", words);
	free(named);
}

static void leave_displays(const struct gpu *gpus, int count, struct device *devices)
{
	for (int i = 0; i < count; i++)
		if (gpus[i].display == GPU_DISPLAY_ON)
			leave_out(&devices[i], "left out by the setting gpus (not display): it has "
				  "a display");
}

/* A card whose driver says that no display is there computes, however small. */
static void leave_small(const struct gpu *gpus, int count, struct device *devices)
{
	int largest = 0;
	int64_t most;

	for (int i = 1; i < count; i++)
		if (gpus[i].memory_bytes > gpus[largest].memory_bytes)
			largest = i;
	most = gpus[largest].memory_bytes;
	for (int i = 0; most > SMALL_BYTES && i < count; i++) {
		int64_t bytes = gpus[i].memory_bytes;

		if (bytes > 0 && bytes <= SMALL_BYTES && gpus[i].display != GPU_DISPLAY_OFF &&
		    2 * bytes <= most)
			leave_out(&devices[i], "left out as a card for a display, beside %s with "
				  "%.0f GiB; to use it: gpus = all", devices[largest].name,
				  (double)most / (1 << 30));
	}
}

/* Marks the devices of these GPUs that are left out. wish: as in struct
 * device_settings. Adds what the wish names in vain, as clauses. */
static void gpu_choose(const char *wish, const struct gpu *gpus, int count, struct device *devices,
		       struct text *wrong)
{
	if (!wish || !*wish)
		leave_small(gpus, count, devices);
	else if (!strcmp(wish, "not display"))
		leave_displays(gpus, count, devices);
	else if (strcmp(wish, "all") != 0)
		leave_unnamed(wish, gpus, count, devices, wrong);
}

/* --- lists NVIDIA's GPUs, known by their UUIDs --- */

/* gpu_place.c first looks in /dev, /proc and /sys for a GPU. Only if there is one is NVML opened:
 * that takes tens of milliseconds, and seconds where it starts the driver. CUDA is never opened
 * here. POLLUX_NVML names another library, which is then opened in any case; "none" hides all
 * GPUs. */

#define DRIVER_NOTE_SIZE sizeof(((struct device_driver *)NULL)->note)

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

static void refuse_device(struct device *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Marks the device as unusable. The first reason stays. */
static void refuse_device(struct device *d, const char *format, ...)
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

	snprintf(d->name, sizeof(d->name), GPU_PREFIX "%u", g->index);
	if (g->uuid[0] && strlen(g->uuid) < sizeof(d->id) - strlen(GPU_PREFIX))
		snprintf(d->id, sizeof(d->id), GPU_PREFIX "%.58s", g->uuid);
	else
		snprintf(d->id, sizeof(d->id), GPU_PREFIX "%s",
			 g->bus_id[0] ? g->bus_id : d->name + strlen(GPU_PREFIX));
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
		refuse_device(d, LOST);
	else if (g->code != NVML_SUCCESS)
		refuse_device(d, "%s", nvml_code_text(g->code));
	else if (strcmp(d->id + strlen(GPU_PREFIX), g->uuid) != 0)
		refuse_device(d, "its UUID is not known");
	if (g->mig)
		refuse_device(d, "MIG is on, and only whole GPUs are given out; off again: "
			      "nvidia-smi -i %u -mig 0", g->index);
	if (g->prohibited)
		refuse_device(d, "its compute mode is 'prohibited'; to allow programs: "
			      "nvidia-smi -i %u -c 0", g->index);
	if (settings->slots != DEVICE_SLOTS_AUTO)
		refuse_device(d, "CPU slots are asked for (--slots, POLLUX_SLOTS, or slots in the "
			      "configuration)");
}

/* More memory than a display takes, and use of the GPU, show that somebody is on it whom the driver
 * does not list: a program that draws, one of another container, a context that was left. */
#define UNTOLD_BYTES (INT64_C(1) << 30)
#define UNTOLD_SHARE 0.05
#define RESERVED_PART 32	/* of the memory, what the driver takes for itself at most */

/* Returns the memory in use that no listed process has; 0: unknown. */
static int64_t untold_bytes(const struct device *d, const struct device_list *list)
{
	int64_t used = d->memory_bytes - d->now.free_bytes;

	if (d->memory_bytes <= 0 || d->now.free_bytes < 0)
		return 0;
	for (int i = 0; i < list->n_processes; i++) {
		if (list->processes[i].device != list->count - 1)
			continue;
		if (list->processes[i].memory_bytes < 0)
			return 0;
		used -= list->processes[i].memory_bytes;
	}
	return used;
}

static void append_untold(int64_t used, struct device_list *list)
{
	list->processes = xreallocarray(list->processes, (size_t)list->n_processes + 1,
					sizeof(*list->processes));
	list->processes[list->n_processes++] = (struct device_process){
		.device = list->count - 1, .memory_bytes = used, .unlisted = true,
		.utilization = (double)NAN,
	};
}

static void append_gpu(const struct nvml *n, const struct gpu *g,
		       const struct device_settings *settings, struct device_list *list)
{
	struct device *d = devices_append(list);
	int code = NVML_SUCCESS;
	bool unlisted = false;
	int64_t untold;

	set_identity(d, g);
	set_reason(d, g, settings);
	/* the GPU tells neither that it is lost nor which one it is */
	if (!g->uuid[0] && !gpu_is_fatal(g->code))
		devices_driver(list, &device_nvidia)->silent = true;
	d->memory_bytes = g->memory_bytes;
	d->exclusive = g->exclusive;
	gpu_local_processors(g->bus_id, d->binding, sizeof(d->binding));
	d->cores = gpu_count_processors(d->binding);
	gpu_read_now(n, g, settings->in_full, &d->now);
	if (g->handle)
		code = gpu_read_processes(n, g, list->count - 1, &list->processes,
					  &list->n_processes);
	if (code == NVML_GPU_IS_LOST)	/* lost between two questions */
		refuse_device(d, LOST);
	else if (code != NVML_SUCCESS && code != NVML_NOT_SUPPORTED &&
		 code != NVML_FUNCTION_NOT_FOUND)
		devices_driver(list, &device_nvidia)->processes_unknown = unlisted = true;
	untold = untold_bytes(d, list);
	if (untold > UNTOLD_BYTES + d->memory_bytes / RESERVED_PART ||
	    (unlisted && d->now.utilization > UNTOLD_SHARE))
		append_untold(untold, list);
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

	snprintf(d->name, sizeof(d->name), GPU_PREFIX "%d", index);
	snprintf(d->id, sizeof(d->id), GPU_PREFIX "%s", *at ? at : d->name + strlen(GPU_PREFIX));
	snprintf(d->kind, sizeof(d->kind), "NVIDIA GPU%s%s", *at ? " at " : "", at);
	d->cores = 1;
	refuse_device(d, "%.159s", reason);
}

/* Appends the GPUs on the bus that the driver does not list. Jobs here are meant for GPUs: a driver
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

/* first: index of the first GPU's device. */
static void choose(const char *wish, const struct gpu *gpus, int count, int first,
		   struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);
	size_t used = strlen(driver->note);
	struct text wrong = TEXT_INIT;

	gpu_choose(wish, gpus, count, list->items + first, &wrong);
	driver->misnamed = wrong.length > 0;
	if (driver->misnamed)
		snprintf(driver->note + used, sizeof(driver->note) - used,
			 "; of the setting gpus %.120s", wrong.data);
	text_release(&wrong);
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
	int code, first = list->count;
	unsigned count = count_gpus(n, &code);
	struct gpu *gpus = xcalloc(count, sizeof(*gpus));

	for (unsigned i = 0; i < count; i++) {
		gpu_read(n, i, &gpus[i]);
		append_gpu(n, &gpus[i], settings, list);
	}
	link_gpus(n, gpus, (int)count, list);
	note_driver(n, (int)count, list);
	if (settings->slots == DEVICE_SLOTS_AUTO && count > 0)
		choose(settings->gpus, gpus, (int)count, first, list);
	free(gpus);
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

void gpu_list_silent(const char *why, struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);

	snprintf(driver->note, sizeof(driver->note), "%.239s", why);
	driver->silent = true;
	append_all_silent(true, why, list);
}

/* Without library and device files, the machine's GPUs are not for this system, as in a container
 * that was given none, or are another maker's. With either, the driver is installed and does not
 * work. */
static void note_failure(const struct err *err, enum gpu_presence there, bool opened,
			 struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);

	if (there == GPU_WITH_DRIVER || opened) {
		gpu_list_silent(err->text, list);
		return;
	}
	snprintf(driver->note, sizeof(driver->note), "none for this system, so jobs run on CPU "
		 "slots: %.170s", err->text);
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

bool gpu_asks_driver(const struct device_settings *settings)
{
	return wants_gpus(settings) && gpu_is_there();
}

int gpu_list(const struct device_settings *settings, struct device_list *list, struct err *err)
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
