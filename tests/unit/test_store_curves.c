/* test_store_curves.c - a job has curves of what pollux measures, and of as many metrics as it may
 * have, whatever its runs report. */
#include "pollux/store_curves.h"
#include "pollux/store_metrics.h"
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
	struct curve_list list;
	int n;

	if (store_curves_of_job(&store, 1, &list, &err))
		return -1;
	n = list.count;
	curve_list_release(&list);
	return n;
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
	is_int(count_curves(), STORE_METRICS_MAX, "a name that is no metric of the job has none");
	store_curve_add(&store, 1, CURVE_THROUGHPUT, 1, 100, &err);
	store_curve_add(&store, 1, CURVE_BATCH_SIZE, 1, 10, &err);
	is_int(count_curves(), STORE_METRICS_MAX + 2, "there is room for what pollux measures");
}

int main(void)
{
	open_fixture();
	add_job();
	test_names();
	return close_fixture();
}
