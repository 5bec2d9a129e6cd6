/* test_share_match.c - jobs beside jobs: the sum of gains against a search of all assignments. */
#include <math.h>
#include <stdlib.h>

#include "pollux/random_numbers.h"
#include "pollux/share_pair.h"
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
	is_int(wrong, 0, "every random case gets the best sum");
	is_int(cases, 1500, "all random cases are tried");
}

/* --- as many jobs as devices --- */

#define WIDE 16

/* The largest sum for each set of devices that the first jobs have taken: every assignment of these
 * jobs to these devices is looked at, in whatever order. */
static double best_by_sets(const double *gain, int n_jobs, int n_devices)
{
	static double best[1U << WIDE];
	unsigned n_sets = 1U << n_devices;

	for (unsigned set = 0; set < n_sets; set++)
		best[set] = 0;
	for (int j = 0; j < n_jobs; j++)
		for (unsigned set = n_sets; set-- > 0;)
			for (int i = 0; i < n_devices; i++) {
				double here = gain[j * n_devices + i];

				if (set & 1U << i && here > 0)
					best[set] = fmax(best[set], best[set ^ 1U << i] + here);
			}
	return best[n_sets - 1];
}

/* Gains of any value, of few values, and of equal rows: many jobs of one workload. */
static void test_wide(void)
{
	uint64_t state = 11;
	int wrong = 0;

	for (int n = 0; n < 12; n++) {
		int n_jobs = n % 2 ? WIDE : 1 + (int)(random_uniform(&state) * WIDE);
		int n_devices = n % 4 < 2 ? WIDE : 1 + (int)(random_uniform(&state) * WIDE);
		double gain[WIDE * WIDE], want, got;
		int device_of[WIDE];

		for (int k = 0; k < n_jobs * n_devices; k++) {
			double x = random_uniform(&state);

			gain[k] = x < 0.3 ? (double)NAN : n % 3 == 0 ? x : floor(4 * x) / 4;
			if (n % 3 == 2 && k >= 2 * n_devices)
				gain[k] = gain[k - 2 * n_devices];
		}
		share_match(gain, n_jobs, n_devices, device_of);
		want = best_by_sets(gain, n_jobs, n_devices);
		got = sum_of(gain, n_jobs, n_devices, device_of);
		if (!(fabs(got - want) < 1e-6) && wrong++ < 3)
			printf("# case %d, %d jobs, %d devices: %g, the best is %g\n", n, n_jobs,
			       n_devices, got, want);
	}
	is_int(wrong, 0, "up to 16 jobs and 16 devices get the best sum");
}

/* Every table of three jobs and three devices with gains of none, 1, 2 and 3. */
static void test_all_small(void)
{
	static const double values[] = { (double)NAN, 1, 2, 3 };
	int wrong = 0, unlike = 0;

	for (int n = 0; n < 1 << 18; n++) {
		double gain[9], want, got;
		int device_of[3];

		for (int k = 0; k < 9; k++)
			gain[k] = values[n >> 2 * k & 3];
		share_match(gain, 3, 3, device_of);
		want = best_of_all(gain, 3, 3, 0, 0);
		got = sum_of(gain, 3, 3, device_of);
		wrong += !(fabs(got - want) < 1e-6);
		unlike += !(fabs(best_by_sets(gain, 3, 3) - want) < 1e-6);
	}
	is_int(wrong, 0, "every small table gets the best sum");
	is_int(unlike, 0, "both searches of all assignments agree on every small table");
}

static void test_ties(void)
{
	double same[] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 }, none[] = { NAN, 0, -1 };
	int device_of[3];

	share_match(same, 3, 2, device_of);
	ok(device_of[0] == 0 && device_of[1] == 1 && device_of[2] == -1,
	   "the first jobs in line get the devices among equals");
	share_match(none, 3, 1, device_of);
	ok(device_of[0] == -1 && device_of[1] == -1 && device_of[2] == -1,
	   "a job that gains nothing gets no device");
	share_match(NULL, 0, 4, device_of);
	share_match(none, 3, 0, device_of);
	is_int(device_of[2], -1, "a job gets no device where there are none");
}

static void test_example(void)
{
	double gain[] = { 0.6, 0.5, 0.6, NAN };
	int device_of[2];

	share_match(gain, 2, 2, device_of);
	ok(device_of[0] == 1 && device_of[1] == 0,
	   "the first job leaves the better device to one that fits only there");
}

int main(void)
{
	test_random();
	test_wide();
	test_all_small();
	test_ties();
	test_example();
	return done();
}
