/* share_pair.c - see share_pair.h. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/share_pair.h"

/* The rate of i beside j, relative to its rate alone; NaN: nothing is known of the pair. */
static double factor(const struct share_group *g, int i, int j)
{
	const struct share_factor *here = &g->factors[i][j], *there = &g->factors[j][i];
	double one = here->n_windows >= SHARE_WINDOWS ? here->relative : (double)NAN;

	if (isnan(one) && !here->was_alone && there->n_windows >= SHARE_WINDOWS)
		one = there->relative;
	return one;
}

/* The sum of relative rates of the first n jobs; NaN: a pair was not measured. */
static double sum_of(const struct share_group *g, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		double rate = 1;

		for (int j = 0; j < n; j++)
			rate *= i == j ? 1 : factor(g, i, j);
		sum += rate;
	}
	return sum;
}

struct share_answer share_judge(const struct share_group *g)
{
	struct share_answer answer = { SHARE_TOGETHER, sum_of(g, g->n), SHARE_GAIN - 1 };
	double need = 0;
	bool ran_out = false;

	for (int i = 0; i < g->n; i++) {
		need += g->need_bytes[i];
		for (int j = 0; j < g->n; j++)
			ran_out |= i != j && g->factors[i][j].out_of_memory;
	}
	if (ran_out)
		answer.verdict = SHARE_NOT_AGAIN;
	/* A peak that is NaN is not known, and counts as one that does not fit. */
	else if (g->room_bytes != 0 && !(need <= (1 - SHARE_SPARE) * g->room_bytes))
		answer.verdict = SHARE_NO_ROOM;
	else if (isnan(answer.sum))
		answer.verdict = g->n == 2 ? SHARE_TRY : SHARE_APART;
	else if (answer.sum <= SHARE_GAIN * sum_of(g, g->n - 1))
		answer.verdict = SHARE_APART;
	if (!isnan(answer.sum))
		answer.gain = answer.sum - sum_of(g, g->n - 1);
	return answer;
}

/* --- which jobs go where --- */

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

/* Lengthens the paths by one device. False: none became better. */
static bool lengthen(struct match *m)
{
	bool better = false;

	for (int j = 0; j < m->n_jobs; j++) {
		int own = m->device_of[j];
		/* The gain of the best path to the job: 0 if it has no device. Otherwise a path
		 * comes through the device that the job leaves. */
		double here = own < 0 ? 0 : m->reached[own] - m->gain[j * m->n_devices + own];

		for (int i = 0; i < m->n_devices && here > -HUGE_VAL; i++) {
			double gain = m->gain[j * m->n_devices + i];

			if (!(gain > 0) || own == i ||
			    here + gain <= m->reached[i] + LEAST_GAIN)
				continue;
			m->reached[i] = here + gain;
			m->via[i] = j;
			better = true;
		}
	}
	return better;
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
		/* The free device with the best path; -1: no path gains anything. */
		end = -1;
		for (int i = 0; i < n_devices; i++)
			if (m.job_at[i] < 0 && m.reached[i] > LEAST_GAIN &&
			    (end < 0 || m.reached[i] > m.reached[end] + LEAST_GAIN))
				end = i;
		/* Each job of the path takes the device behind it. */
		for (int i = end; i >= 0;) {
			int j = m.via[i], before = device_of[j];

			device_of[j] = i;
			m.job_at[i] = j;
			i = before;
		}
	} while (end >= 0);
	free(m.job_at);
	free(m.reached);
	free(m.via);
}
