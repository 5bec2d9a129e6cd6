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

/* Makes room for another reason: nobody has to mend a GPU that is not wanted. */
static struct device *leave_out(struct device *d)
{
	d->keeps_runs = d->usable;
	d->left_out = true;
	d->reason[0] = '\0';
	return d;
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
	autofree bool *named = xcalloc((size_t)count + 1, sizeof(*named));
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
			refuse_device(leave_out(&devices[i]),
				      "left out by the setting gpus (%.100s)", words);
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
			refuse_device(leave_out(&devices[i]), "left out as a card for a display, "
				      "beside %s with %.0f GiB; to use it: gpus = all",
				      devices[largest].name, (double)most / (1 << 30));
	}
}

/* Marks the devices of these GPUs that are left out. wish: as in struct
 * device_settings. Adds what the wish names in vain, as clauses. */
static void gpu_choose(const char *wish, const struct gpu *gpus, int count, struct device *devices,
		       struct text *wrong)
{
	bool no_display = wish && !strcmp(wish, "not display");

	if (!wish || !*wish)
		leave_small(gpus, count, devices);
	else if (!no_display && strcmp(wish, "all") != 0)
		leave_unnamed(wish, gpus, count, devices, wrong);
	for (int i = 0; no_display && i < count; i++)
		if (gpus[i].display == GPU_DISPLAY_ON)
			refuse_device(leave_out(&devices[i]), "left out by the setting gpus (not "
				      "display): it has a display");
}

/* --- lists NVIDIA's GPUs, known by their UUIDs --- */

/* gpu_place.c first looks in /dev, /proc and /sys for a GPU. Only if there is one is NVML opened:
 * that takes tens of milliseconds, and seconds where it starts the driver. CUDA is never opened
 * here. POLLUX_NVML names another library, which is then opened in any case; "none" hides all
 * GPUs. */

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

static void append_gpu(const struct nvml *n, const struct gpu *g,
		       const struct device_settings *settings, struct device_list *list)
{
	struct device *d = devices_append(list);
	int code = NVML_SUCCESS;
	bool unlisted = false;
	int64_t untold;

	set_identity(d, g);
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
	    (unlisted && d->now.utilization > UNTOLD_SHARE)) {
		list->processes = xreallocarray(list->processes, (size_t)list->n_processes + 1,
						sizeof(*list->processes));
		list->processes[list->n_processes++] = (struct device_process){
			.device = list->count - 1, .memory_bytes = untold, .unlisted = true,
			.utilization = (double)NAN,
		};
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

static void list_with(const struct nvml *n, const struct device_settings *settings,
		      struct device_list *list)
{
	struct device_driver *driver = devices_driver(list, &device_nvidia);
	int count, first = list->count, code;
	scoped(text_release) struct text note = TEXT_INIT, wrong = TEXT_INIT;
	struct gpu *gpus;
	unsigned told = 0;

	code = n->count(&told);
	count = code != NVML_SUCCESS ? 0 : told < DEVICE_MAX ? (int)told : DEVICE_MAX;
	gpus = xcalloc((size_t)count, sizeof(*gpus));
	for (int i = 0; i < count; i++) {
		gpu_read(n, (unsigned)i, &gpus[i]);
		append_gpu(n, &gpus[i], settings, list);
	}
	for (int a = 0; a < count; a++)
		for (int b = 0; b < a; b++) {
			enum device_link link = gpu_link(n, &gpus[a], &gpus[b]);

			if (link != DEVICE_LINK_MACHINE)
				devices_set_link(list, a, b, link);
		}
	if (NVML_ASK(n, driver_version, driver->version, sizeof(driver->version)) != NVML_SUCCESS)
		driver->version[0] = '\0';
	text_addf(&note, "NVIDIA driver %.79s, %d GPU%s",
		  driver->version[0] ? driver->version : "of unknown version", count,
		  count == 1 ? "" : "s");
	if (settings->slots == DEVICE_SLOTS_AUTO && count > 0)
		gpu_choose(settings->gpus, gpus, count, list->items + first, &wrong);
	free(gpus);
	driver->misnamed = wrong.length > 0;
	if (driver->misnamed)
		text_addf(&note, "; of the setting gpus %.120s", wrong.data);
	if (driver->processes_unknown)
		text_add(&note, "; it does not tell who is on them all");
	snprintf(driver->note, sizeof(driver->note), "%s", note.data);
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
	const char *note = "";
	struct device_driver *driver;
	struct err why = { 0 };
	enum gpu_presence there;
	struct nvml nvml;

	(void)err;
	if (!is_kept_out() && !wants_gpus(settings))
		return 0;
	driver = devices_driver(list, &device_nvidia);
	there = is_kept_out() ? GPU_ABSENT : presence();
	if (is_kept_out()) {
		note = "POLLUX_NVML is 'none'";
	} else if (there == GPU_ABSENT) {
		note = "no NVIDIA GPU on the PCI bus, and no driver of one";
	} else if (nvml_open(&nvml, &why) == 0) {
		list_with(&nvml, settings, list);
		nvml_close(&nvml);
		return 0;
	} else if (there == GPU_WITH_DRIVER || nvml.library) {
		/* the driver is installed and does not work */
		gpu_list_silent(why.text, list);
		return 0;
	} else {
		/* The machine's GPUs are not for this system, as in a container that was given
		 * none, or are another maker's. */
		snprintf(driver->note, sizeof(driver->note), "none for this system, so jobs run on "
			 "CPU slots: %.170s", why.text);
		driver->silent = true;
		return 0;
	}
	snprintf(driver->note, sizeof(driver->note), "%s", note);
	return 0;
}
