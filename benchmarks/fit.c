/* fit.c - how long a fit takes.
 *
 *	fit [REPEAT]			(10)
 *
 * Each of the 500 random subsets (4 to 30 points) of the published profiles that
 * tests/unit/test_fit compares is fitted REPEAT times. Printed are, in milliseconds, the median,
 * the 99th percentile and the maximum of all times, and the mean number of evaluations of the
 * objective. Skipped, with exit status 0, where the profiles are not. */

#include "published.h"
#include "pollux/text.h"
#include "timing.h"

#define CASES 500
#define REPEAT_MAX 100
#define TARGET_MS 1.0

static double times[CASES * REPEAT_MAX];

/* Adds to times; returns the evaluations of one fit. */
static int time_fits(const struct observation *o, int points, int repeat, int *n)
{
	int evaluations = 0;

	for (int i = 0; i < repeat; i++) {
		double begin = cpu_ms();

		evaluations = fit_throughput(o, points, &FIT_OPTIONS_DEFAULT).evaluations;
		times[(*n)++] = cpu_ms() - begin;
	}
	return evaluations;
}

static void report(int n, double evaluations)
{
	qsort(times, (size_t)n, sizeof(times[0]), number_compare);
	printf("median_ms %.3f\np99_ms %.3f\nmax_ms %.3f\nevaluations %.0f\n", times[n / 2],
	       times[n - 1 - n / 100], times[n - 1], evaluations);
	if (times[n / 2] >= TARGET_MS)
		printf("missed: the median is not under %g ms\n", TARGET_MS);
}

int main(int argc, char **argv)
{
	static struct published all[PUBLISHED_APPLICATIONS];
	int repeat = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10, n = 0, cases = 0;
	struct published_line line;
	double evaluations = 0;
	FILE *f = published_reference("fit_subsets.csv");

	if (!f || repeat < 1 || repeat > REPEAT_MAX)
		return 2;
	for (int i = 0; i < PUBLISHED_APPLICATIONS; i++) {
		if (!published_read(published_applications[i], &all[i])) {
			puts("# SKIP: the published profiles are not here; "
			     "POLLUX_DATA says where they are");
			fclose(f);
			return 0;
		}
	}
	while (cases < CASES && published_line_read(f, &line)) {
		struct observation o[PUBLISHED_POINTS];
		int points = published_subset(all, &line, o);

		evaluations += time_fits(o, points, repeat, &n);
		cases++;
	}
	fclose(f);
	report(n, evaluations / cases);
	return 0;
}
