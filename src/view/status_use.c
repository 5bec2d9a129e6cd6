/* status_use.c - what runs took of the machine, beside what was declared, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"
#include "pollux/text.h"

#define MOST_RUNS 5		/* the last ones; JSON has all */

static int64_t largest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* "declared 20.0 GiB, took 7.4 GiB of a GPU (5.1 GiB on average)" */
static void add_device_memory(struct text *t, const struct job *job, const struct run *run)
{
	int64_t most = largest(run->use.memory_bytes,
			       largest(run->peak_device_memory_bytes, run->device_memory_bytes));
	double declared = job->declared.gpu_memory_bytes;

	if (most <= 0)
		return;
	if (isfinite(declared))
		text_addf(t, "declared %s, ", format_bytes(declared).s);
	text_addf(t, "%s%s of a GPU", isfinite(declared) ? "took " : "",
		  format_bytes((double)most).s);
	if (isfinite(run->use.mean_memory_bytes))
		text_addf(t, " (%s on average)", format_bytes(run->use.mean_memory_bytes).s);
}

/* Of processor time is known what ended processes took: of a run that has ended, all. */
static void add_cores(struct text *t, const struct run *run)
{
	bool is_cpu = text_starts_with(run->devices[0].id, "cpu:");
	double used = run->cpu_time_s / run->duration_s;
	int cores = 0;

	if (run->state != RUN_ENDED || !(run->duration_s >= 1) || !isfinite(used))
		return;
	for (int i = 0; i < run->configuration.replicas; i++)
		cores += run->devices[i].cores;
	text_addf(t, "%s%.1f", status_separator(t), used);
	if (is_cpu && cores > 0 && !run->cores[0])
		text_addf(t, " of %d", cores);
	text_addf(t, " core%s", plural(is_cpu && cores == 1 ? 1 : 2));
}

static void add_use(struct text *t, const struct job *job, const struct run *run)
{
	double watts = run_mean_power_w(run);

	add_device_memory(t, job, run);
	if (isfinite(run->use.utilization))
		text_addf(t, "%scomputed %.0f %% of the time", status_separator(t),
			  100 * run->use.utilization);
	add_cores(t, run);
	if (run->peak_memory_bytes > 0)
		text_addf(t, "%s%s of memory", status_separator(t),
			  format_bytes((double)run->peak_memory_bytes).s);
	if (isfinite(watts))
		text_addf(t, "%s%.*f W", status_separator(t), watts < 10, watts);
	if (isfinite(run->use.temperature_c))
		text_addf(t, "%s%.0f C at most", status_separator(t), run->use.temperature_c);
}

void status_print_use(const struct job *job, const struct status_details *d,
		      const struct output *out)
{
	int first = d->runs.count > MOST_RUNS ? d->runs.count - MOST_RUNS : 0;
	const char *low = NULL;
	struct text t = TEXT_INIT;
	bool begun = false;

	for (int i = 0; i < d->events.count; i++)
		if (!strcmp(d->events.items[i].kind, EVENT_LOW_USE))
			low = d->events.items[i].text;
	for (int i = first; i < d->runs.count; i++) {
		const struct run *run = &d->runs.items[i];
		char label[32];

		add_use(&t, job, run);
		if (t.length && !begun)
			fputs("\ntook\n", out->file);
		begun |= t.length > 0;
		snprintf(label, sizeof(label), "run %d", run->number);
		output_text_if(out, label, &t);
	}
	if (begun && low)
		output_line(out, "low use", low);
	text_release(&t);
}
