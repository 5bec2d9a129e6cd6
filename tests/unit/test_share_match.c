/* test_share_match.c - jobs beside jobs: the sum of gains against a search of all assignments. */
#include <math.h>
#include <stdlib.h>

#include "pollux/random_numbers.h"
#include "pollux/share_match.h"
#include "tap.h"

#define JOBS 5
#define DEVICES 16

/* Tries every device, and none, for job j and those behind it. */
static double best_of_all(const double *gain, int n_jobs, int n_devices, int j, unsigned taken)
{
	double best;

	if (j == n_jobs)
		return 0;
	best = best_of_all(gain, n_jobs, n_devices, j + 1, taken);
	for (int i = 0; i < n_devices; i++) {
		double here = gain[j * n_devices + i];

		if (here > 0 && !(taken & 1U << i))
			best = fmax(best, here + best_of_all(gain, n_jobs, n_devices, j + 1,
							     taken | 1U << i));
	}
	return best;
}

/* Returns the sum; NaN: a device has two jobs, or a job that does not go there. */
static double sum_of(const double *gain, int n_jobs, int n_devices, const int *device_of)
{
	unsigned taken = 0;
	double sum = 0;

	for (int j = 0; j < n_jobs; j++) {
		int i = device_of[j];

		if (i < 0)
			continue;
		if (i >= n_devices || taken & 1U << i || !(gain[j * n_devices + i] > 0))
			return (double)NAN;
		taken |= 1U << i;
		sum += gain[j * n_devices + i];
	}
	return sum;
}

/* Two rounds of cases: few devices that all want, and up to 16 devices; gains are of few values,
 * so that there are ties, or of any value. */
static void test_random(void)
{
	uint64_t state = 7;
	int wrong = 0, cases = 0;

	for (int n = 0; n < 1500; n++) {
		int n_jobs = 1 + (int)(random_uniform(&state) * JOBS);
		int most = n % 3 ? 5 : DEVICES;
		int n_devices = 1 + (int)(random_uniform(&state) * most);
		double gain[JOBS * DEVICES], want, got;
		int device_of[JOBS];

		if (n_devices > 10)
			n_jobs = n_jobs < 4 ? n_jobs : 4;
		for (int k = 0; k < n_jobs * n_devices; k++) {
			double x = random_uniform(&state);

			gain[k] = x < 0.3 ? (double)NAN : n % 2 ? x : floor(4 * x) / 4;
		}
		share_match(gain, n_jobs, n_devices, device_of);
		want = best_of_all(gain, n_jobs, n_devices, 0, 0);
		got = sum_of(gain, n_jobs, n_devices, device_of);
		cases++;
		if (!(fabs(got - want) < 1e-6) && wrong++ < 3)
			printf("# case %d, %d jobs, %d devices: %g, the best is %g\n", n, n_jobs,
			       n_devices, got, want);
	}
	is_int(wrong, 0, "the best sum in random cases");
	is_int(cases, 1500, "all of them");
}

static void test_ties(void)
{
	double same[] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 }, none[] = { NAN, 0, -1 };
	int device_of[3];

	share_match(same, 3, 2, device_of);
	ok(device_of[0] == 0 && device_of[1] == 1 && device_of[2] == -1,
	   "among equals the first in line, on the first device");
	share_match(none, 3, 1, device_of);
	ok(device_of[0] == -1 && device_of[1] == -1 && device_of[2] == -1, "what gains nothing");
	share_match(NULL, 0, 4, device_of);
	share_match(none, 3, 0, device_of);
	is_int(device_of[2], -1, "no device");
}

static void test_example(void)
{
	double gain[] = { 0.6, 0.5, 0.6, NAN };
	int device_of[2];

	share_match(gain, 2, 2, device_of);
	ok(device_of[0] == 1 && device_of[1] == 0,
	   "the first in line leaves the better device to one that fits nowhere else");
}

int main(void)
{
	test_random();
	test_ties();
	test_example();
	return done();
}
