/* gpu_choice.c - which GPUs are left out: those that the setting gpus does not name; where nothing
 * is set, small cards beside a larger one, which are there for a display. */
#include <ctype.h>
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

void gpu_choose(const char *wish, const struct gpu *gpus, int count, struct device *devices,
		struct text *wrong)
{
	if (!wish || !*wish)
		leave_small(gpus, count, devices);
	else if (!strcmp(wish, "not display"))
		leave_displays(gpus, count, devices);
	else if (strcmp(wish, "all") != 0)
		leave_unnamed(wish, gpus, count, devices, wrong);
}
