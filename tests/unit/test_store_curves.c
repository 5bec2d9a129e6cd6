/* test_store_curves.c - a job has curves of what pollux measures, and of as many metrics as it may
 * have, whatever its runs report. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_curves.h"
#include "pollux/store_jobs.h"
#include "pollux/store_metrics.h"
#include "tap.h"

static char root[] = "/tmp/test_curves.XXXXXX";
static struct paths paths;
static struct store store;
static struct err err;

static void add_job(void)
{
	struct dependency_list none = { 0 };
	struct job_command c = { .program = xstrdup("/bin/true"), .directory = xstrdup("/") };
	struct job job;

	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("w");
	job.submit_time_s = 1;
	strings_add(&c.argv, "true");
	if (store_job_add(&store, &job, &c, &none, &err))
		printf("# %s\n", err.text);
	job_command_release(&c);
	job_release(&job);
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
	if (!mkdtemp(root))
		return 1;
	setenv("POLLUX_DIR", root, 1);
	if (paths_init(&paths, &err) || store_open(&store, &paths, STORE_WRITE, &err)) {
		printf("# %s\n", err.text);
		return 1;
	}
	add_job();
	test_names();
	store_close(&store);
	paths_release(&paths);

	char *command = xasprintf("rm -rf '%s'", root);

	if (system(command))
		return 1;
	free(command);
	return done();
}
