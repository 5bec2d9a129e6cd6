/* test_store_curves.c - a job has curves of what pollux measures, and of as many metrics as it may
 * have, whatever its runs report. */
#include <math.h>

#include "pollux/store_measurements.h"
#include "pollux/text.h"
#include "store_fixture.h"

static void add_job(void)
{
	struct job job;

	job_init(&job);
	add_to_fixture(&job, "w");
}

/* As a run writes what its program reports. */
static void report(const char *name, double value)
{
	struct job_metric m = { .last = value, .samples = 1, .lowest = value, .highest = value };

	snprintf(m.name, sizeof(m.name), "%s", name);
	if (store_metric_set(&store, 1, &m, &err) ||
	    store_curve_add(&store, 1, name, 1, value, &err))
		printf("# %s\n", err.text);
}

static int count_curves(void)
{
	scoped(curve_list_release) struct curve_list list = { 0 };

	if (store_curves_of_job(&store, 1, &list, &err))
		return -1;
	return list.count;
}

static void test_names(void)
{
	char name[64];

	report("loss", 0.5);
	is_int(count_curves(), 1, "a metric has a curve");
	for (int i = 0; i < 5 * STORE_METRICS_MAX; i++) {
		snprintf(name, sizeof(name), "loss_of_run_%d", i);
		report(name, i);
	}
	is_int(count_curves(), STORE_METRICS_MAX,
	       "a name that is no metric of the job has no curve");
	store_curve_add(&store, 1, CURVE_THROUGHPUT, 1, 100, &err);
	store_curve_add(&store, 1, CURVE_BATCH_SIZE, 1, 10, &err);
	is_int(count_curves(), STORE_METRICS_MAX + 2, "there is room for what pollux measures");
}

static struct job_metric metric(double last, double lowest, double highest)
{
	return (struct job_metric){
		.name = "loss", .last = last, .samples = 1, .lowest = lowest, .highest = highest,
		.lowest_samples = 1, .highest_samples = 1,
	};
}

/* What is kept of "loss" once these were written, one after the other. */
static void is_kept(const char *want, const char *name, const struct job_metric *written, int n)
{
	scoped(job_metric_list_release) struct job_metric_list list = { 0 };
	char *got = NULL;

	run_sql("DELETE FROM job_metrics");
	for (int i = 0; i < n; i++)
		store_metric_set(&store, 1, &written[i], &err);
	store_metrics_of_job(&store, 1, &list, &err);
	if (list.count == 1)
		got = xasprintf("%s %s %s", value_format(list.items[0].last, 4).s,
				value_format(list.items[0].lowest, 4).s,
				value_format(list.items[0].highest, 4).s);
	is_str(got ? got : "", want, name);
	free(got);
}

static void test_not_finite(void)
{
	const struct job_metric bad = metric((double)NAN, (double)NAN, (double)NAN),
		endless = metric((double)INFINITY, (double)NAN, (double)NAN),
		two = metric(2, 2, 2), three = metric(3, 3, 3);
	scoped(curve_list_release) struct curve_list list = { 0 };

	is_kept("nan nan nan", "a value that was never finite is kept as NaN", &bad, 1);
	is_kept("nan 2 2", "a value that became NaN keeps its finite bounds",
		(const struct job_metric[]){ two, bad }, 2);
	is_kept("2 2 2", "a value that became finite is kept with its bounds",
		(const struct job_metric[]){ bad, two }, 2);
	is_kept("inf 2 3", "a value that became infinite keeps its finite bounds",
		(const struct job_metric[]){ three, two, endless }, 3);
	is_kept("3 2 3", "a value that became finite again is kept with its bounds",
		(const struct job_metric[]){ two, endless, three }, 3);
	run_sql("DELETE FROM curve_points");
	store_curve_add(&store, 1, "loss", 1, (double)NAN, &err);
	store_curves_of_job(&store, 1, &list, &err);
	ok(list.count == 1 && list.items[0].n == 1 && isnan(list.items[0].points[0].value),
	   "a curve has a point for a value that is not finite");
}

int main(void)
{
	open_fixture();
	add_job();
	test_names();
	test_not_finite();
	return close_fixture();
}
