/* goodput.c - how long a job's table of best goodputs takes, one entry for each number of devices.
 *
 *	goodput [DEVICES]		(16)
 *
 * Of 20,000 random models, whose parameters are as often at their bounds as fits leave them there:
 * the median, the 99th percentile and the maximum of the table's time, in microseconds. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/goodput.h"
#include "pollux/text.h"
#include "timing.h"

#define MODELS 20000
#define TARGET_US 100.0

static double times[MODELS];
static uint64_t state = 1;

static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double log_uniform(double low, double high)
{
	return low * pow(high / low, uniform());
}

static double parameter(double low, double high)
{
	return uniform() < 0.15 ? THROUGHPUT_TIME_MIN_S : log_uniform(low, high);
}

static struct goodput_model random_model(void)
{
	int64_t initial = (int64_t)log_uniform(8, 1024);

	return (struct goodput_model){
		.params = { parameter(1e-4, 1), parameter(1e-6, 1e-1), parameter(1e-4, 1),
			    parameter(1e-5, 1e-1), parameter(1e-4, 1), parameter(1e-5, 1e-1),
			    1 + 9 * uniform() * uniform(), { 0 } },
		.noise_scale = log_uniform(1, 1e6),
		.batch = { .size = initial, .max = initial * (int64_t)log_uniform(1, 128),
			   .max_local = (int64_t)log_uniform(4, 2.0 * (double)initial),
			   .accumulates = true },
	};
}

int main(int argc, char **argv)
{
	int devices = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 16;
	struct goodput_choice choice;

	for (int i = 0; i < MODELS; i++) {
		struct goodput_model model = random_model();
		double begin = 1e3 * cpu_ms();

		for (int r = 1; r <= devices; r++)
			goodput_best(&model, throughput_place_on(1, r),
				     &choice);
		times[i] = 1e3 * cpu_ms() - begin;
	}
	qsort(times, MODELS, sizeof(times[0]), number_compare);
	printf("median_us %.1f\np99_us %.1f\nmax_us %.1f\n", times[MODELS / 2],
	       times[MODELS * 99 / 100], times[MODELS - 1]);
	if (times[MODELS / 2] >= TARGET_US)
		printf("missed: the median is not under %g us\n", TARGET_US);
	return 0;
}
