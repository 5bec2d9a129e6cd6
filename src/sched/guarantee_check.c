/* guarantee_check.c - see guarantee_check.h. */
#include "pollux/guarantee_check.h"

#include <math.h>
#include <stdio.h>

#define ROUNDING 1e-9

static double goodput_of(const struct sched_input *in, int j, int replicas, int kind)
{
	const struct sched_job *job = &in->jobs[j];
	return replicas <= job->max_replicas ? offers_at(job, kind, 0, replicas).goodput
					     : (double)NAN;
}

/* The least number of devices on which the job is as fast as promised; 0: no number. */
static int least_of(const struct sched_input *in, int j, double floor)
{
	for (int r = 1; r <= in->jobs[j].max_replicas && r <= sched_devices(in); r++)
		for (int k = 0; k < in->n_kinds; k++)
			if (goodput_of(in, j, r, k) >= floor * (1 - ROUNDING))
				return r;
	return 0;
}

int guarantee_check(const struct sched_input *in, const struct sched_choice *choices,
		    const double *floor, char *why, size_t size)
{
	int devices = 0;

	/* Not all guarantees can be kept where devices went away, or where new measurements raised
	 * the number of devices that a guarantee needs. */
	for (int j = 0; j < in->n_jobs; j++) {
		const struct sched_job *job = &in->jobs[j];

		if (job->replicas > 0 && !job->preemptible)
			devices += job->replicas;
		else if (job->replicas > 0 && floor[j] > 0)
			devices += least_of(in, j, floor[j]);
	}
	if (devices > sched_devices(in))
		return -1;
	for (int j = 0; j < in->n_jobs; j++) {
		const struct sched_job *job = &in->jobs[j];
		const struct sched_choice *c = &choices[j];
		double goodput = goodput_of(in, j, c->replicas, c->kind);

		if (!(floor[j] > 0) || !least_of(in, j, floor[j]))
			continue;
		if (c->replicas == 0 && job->replicas > 0) {
			snprintf(why, size, "it would lose its %d devices", job->replicas);
			return j;
		}
		if (c->replicas > 0 && job->preemptible &&
		    !(goodput >= floor[j] * (1 - ROUNDING))) {
			snprintf(why, size, "%.4g samples/s on %d devices, promised %.4g",
				 goodput, c->replicas, floor[j]);
			return j;
		}
	}
	return -1;
}
