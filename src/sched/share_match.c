/* share_match.c - see share_match.h. */
#include "pollux/share_match.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pollux/mem.h"

/* A path is better only by at least this gain, so that rounding errors make no circles. */
#define LEAST_GAIN 1e-9

struct match {
	const double *gain;
	int n_jobs, n_devices;
	int *device_of;		/* of each job; -1: none */
	int *job_at;		/* on each device; -1: none */
	/* The best path that ends at each device: its gain (-HUGE_VAL: there is no path) and the
	 * job before the device. */
	double *reached;
	int *via;
};

/* The gain of the best path to a job. It is 0 for a job without a device. A path to any other job
 * comes through the device that this job leaves. */
static double reached_job(const struct match *m, int j)
{
	int i = m->device_of[j];

	return i < 0 ? 0 : m->reached[i] - m->gain[j * m->n_devices + i];
}

/* Lengthens the paths by one device. False: none became better. */
static bool lengthen(struct match *m)
{
	bool better = false;

	for (int j = 0; j < m->n_jobs; j++) {
		double here = reached_job(m, j);

		for (int i = 0; i < m->n_devices && here > -HUGE_VAL; i++) {
			double gain = m->gain[j * m->n_devices + i];

			if (!(gain > 0) || m->device_of[j] == i ||
			    here + gain <= m->reached[i] + LEAST_GAIN)
				continue;
			m->reached[i] = here + gain;
			m->via[i] = j;
			better = true;
		}
	}
	return better;
}

/* Returns the free device with the best path; -1: no path gains anything. */
static int best_end(const struct match *m)
{
	int best = -1;

	for (int i = 0; i < m->n_devices; i++)
		if (m->job_at[i] < 0 && m->reached[i] > LEAST_GAIN &&
		    (best < 0 || m->reached[i] > m->reached[best] + LEAST_GAIN))
			best = i;
	return best;
}

/* Each job of the path takes the device behind it. */
static void move_along(struct match *m, int end)
{
	for (int i = end; i >= 0;) {
		int j = m->via[i], before = m->device_of[j];

		m->device_of[j] = i;
		m->job_at[i] = j;
		i = before;
	}
}

void share_match(const double *gain, int n_jobs, int n_devices, int *device_of)
{
	struct match m = {
		.gain = gain, .n_jobs = n_jobs, .n_devices = n_devices, .device_of = device_of,
		.job_at = xcalloc((size_t)n_devices + 1, sizeof(int)),
		.reached = xcalloc((size_t)n_devices + 1, sizeof(double)),
		.via = xcalloc((size_t)n_devices + 1, sizeof(int)),
	};
	int end;

	for (int j = 0; j < n_jobs; j++)
		device_of[j] = -1;
	for (int i = 0; i < n_devices; i++)
		m.job_at[i] = -1;
	do {
		for (int i = 0; i < n_devices; i++)
			m.reached[i] = -HUGE_VAL;
		for (int round = 0; round <= n_devices && lengthen(&m); round++)
			;
		end = best_end(&m);
		move_along(&m, end);
	} while (end >= 0);
	free(m.job_at);
	free(m.reached);
	free(m.via);
}
