/* recorder_cores.c - step times count for one number of cores. */
#include "recorder.h"

#define PROCESSORS_MAX 1024

/* Marks the processors of a list, and returns how many were not marked before. */
static int mark(bool *seen, const char *list)
{
	long first, last;
	int n = 0;

	while (device_next_span(&list, &first, &last))
		for (long p = first; p >= 0 && p <= last && p < PROCESSORS_MAX; p++) {
			n += !seen[p];
			seen[p] = true;
		}
	return n;
}

/* The processors that the run has for each device: those that a pass gave it, or those near its
 * devices. 0: it may have any. */
static int cores_of(const struct run *run)
{
	bool seen[PROCESSORS_MAX] = { false };
	int replicas = run->configuration.replicas, n = mark(seen, run->cores);

	for (int i = 0; !run->cores[0] && run->devices && i < replicas; i++) {
		if (!run->devices[i].binding[0])
			return 0;
		n += mark(seen, run->devices[i].binding);
	}
	if (n == 0 || replicas < 1)
		return 0;
	return n < replicas ? 1 : n / replicas;
}

/* Step times with more or fewer cores are others: a pass may have bound the run anew. */
void recorder_see_cores(struct recorder *r, const struct run *run)
{
	int cores = cores_of(run);
	bool changed = r->cores_are_known && r->cores != cores;

	r->cores = cores;
	r->cores_are_known = true;
	if (!changed)
		return;
	step_stats_init(&r->stats);
	r->last_step = -1;
	observation_init(&r->earlier);
}

/* Until step times with another number of cores take their place, those of the number before are
 * stored. Where the run had other sizes or another tier, step times of both numbers stay, and the
 * number is not known. */
void recorder_tell_cores(const struct recorder *r, struct run *run)
{
	bool stay = run->config_version > 0 || r->tiers_differ;

	if (run->measured_cores > 0 && run->measured_cores != r->cores && stay)
		run->measured_cores = RUN_CORES_DIFFER;
	else if (run->measured_cores >= 0)
		run->measured_cores = r->cores;
}
