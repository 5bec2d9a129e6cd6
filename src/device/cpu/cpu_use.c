/* cpu_use.c - how busy the logical processors are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/cpu_use.h"
#include "pollux/device.h"
#include "pollux/file.h"
#include "pollux/mem.h"

#define PROCESSORS_MAX 4096

/* Clock ticks since boot. */
struct cpu_ticks {
	double busy, all;
};

/* The numbers behind "cpu0" in /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal;
 * guests count in the first two. */
#define N_COUNTERS 8
#define IDLE 3
#define IOWAIT 4

static struct cpu_ticks ticks_in(const char *counters)
{
	struct cpu_ticks ticks = { 0, 0 };

	for (int i = 0; i < N_COUNTERS; i++) {
		char *end;
		double n = (double)strtoull(counters, &end, 10);

		if (end == counters)
			break;
		ticks.all += n;
		ticks.busy += i == IDLE || i == IOWAIT ? 0 : n;
		counters = end;
	}
	return ticks;
}

void cpu_use_read(struct cpu_use *u)
{
	FILE *in = file_open_stream("/proc/stat");
	struct cpu_ticks *now = xcalloc(PROCESSORS_MAX, sizeof(*now));
	char line[512];

	while (in && fgets(line, sizeof(line), in)) {
		char *end;
		long cpu;

		if (!text_starts_with(line, "cpu"))
			break;
		cpu = strtol(line + 3, &end, 10);
		if (end > line + 3 && cpu >= 0 && cpu < PROCESSORS_MAX)
			now[cpu] = ticks_in(end);
	}
	if (in)
		fclose(in);
	free(u->before);
	u->before = u->now;
	u->now = now;
}

static void add_span(const struct cpu_use *u, long first, long last, struct cpu_ticks *sum)
{
	for (long i = first; i <= last && i >= 0 && i < PROCESSORS_MAX; i++) {
		sum->busy += u->now[i].busy - u->before[i].busy;
		sum->all += u->now[i].all - u->before[i].all;
	}
}

double cpu_use_of(const struct cpu_use *u, const char *binding)
{
	struct cpu_ticks sum = { 0, 0 };
	long first, last;

	if (!u->before || !u->now)
		return NAN;
	if (!*binding)
		add_span(u, 0, PROCESSORS_MAX - 1, &sum);
	while (device_next_span(&binding, &first, &last))
		add_span(u, first, last, &sum);
	return sum.all > 0 ? fmin(fmax(sum.busy / sum.all, 0), 1) : (double)NAN;
}

void cpu_use_release(struct cpu_use *u)
{
	free(u->before);
	free(u->now);
	*u = (struct cpu_use){ NULL, NULL };
}
