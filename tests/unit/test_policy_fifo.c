/* First in, first out; and the table of policies. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "tap.h"
#include "words.h"

struct wanted {
	int replicas;
	const char *reason;	/* NULL: any */
};

static struct sched_job job(int64_t id, int min, int max, int holds)
{
	return (struct sched_job){
		.id = id, .min_replicas = min, .max_replicas = max, .weight = 1, .replicas = holds,
		.preemptible = true, .attained_service_device_s = 1000.0 * holds,
	};
}

static void check(const char *name, int n_devices, const struct sched_job *jobs, int n_jobs,
		  const struct wanted *wanted)
{
	struct sched_choice choices[8];
	struct sched_input in = { jobs, n_jobs, 1e6, 600, SCHED_ONE_KIND(n_devices, 0) };
	char what[256];

	policy_fifo.decide(&in, choices);
	for (int i = 0; i < n_jobs; i++) {
		snprintf(what, sizeof(what), "%s: job %d has its devices", name, (int)jobs[i].id);
		is_int(choices[i].replicas, wanted[i].replicas, what);
		snprintf(what, sizeof(what), "%s: job %d has no known start", name,
			 (int)jobs[i].id);
		ok(isnan(choices[i].next_start_s), what);
		snprintf(what, sizeof(what), "%s: job %d has its reason", name, (int)jobs[i].id);
		if (wanted[i].reason)
			is_str(said(&choices[i]), wanted[i].reason, what);
	}
}

#define CHECK(name, n_devices, jobs, wanted) \
	check(name, n_devices, jobs, sizeof(jobs) / sizeof((jobs)[0]), wanted)

static void test_order(void)
{
	/* 9 runs on, for however long; 2 does not fit; 3 would, but does not pass it. */
	const struct sched_job jobs[] = {
		job(3, 1, 1, 0), job(2, 2, 2, 0), job(9, 1, 2, 1), job(1, 1, 1, 0), job(4, 5, 5, 0),
	};
	const struct wanted wanted[] = {
		{ 0, "2nd in line, first in first out; needs 1 device" },
		{ 0, "1st in line, first in first out; needs 2 devices" },
		{ 1, "1 device (1 to 2 asked) to its end: first in, first out" },
		{ 1, "1 device to its end: first in, first out" },
		{ 0, "needs 5 devices; 3 can be used here" },
	};

	CHECK("no job passes another one", 3, jobs, wanted);
}

static void test_shares(void)
{
	const struct sched_job jobs[] = { job(1, 1, 3, 0), job(2, 1, 8, 0), job(3, 1, 8, 1) };
	const struct wanted all[] = { { 3, NULL }, { 2, NULL }, { 1, NULL } };
	const struct wanted some_wait[] = { { 1, NULL }, { 0, NULL }, { 1, NULL } };

	CHECK("the first job has its most and the next one the rest", 6, jobs, all);
	CHECK("jobs have their least while some wait", 2, jobs, some_wait);
}

static void test_devices_vanish(void)
{
	const struct sched_job jobs[] = { job(1, 2, 4, 4), job(2, 1, 1, 1), job(3, 1, 1, 0) };
	const struct wanted of_3[] = { { 3, NULL }, { 0, NULL }, { 0, NULL } };
	const struct wanted of_1[] = { { 0, "needs 2 devices; 1 can be used here" }, { 1, NULL },
				       { 0, NULL } };
	const struct wanted of_0[] = { { 0, "needs 2 devices; none can be used here" }, { 0, NULL },
				       { 0, NULL } };

	CHECK("three of five devices are left", 3, jobs, of_3);
	CHECK("one of five devices is left", 1, jobs, of_1);
	CHECK("no device is left", 0, jobs, of_0);
}

/* Nobody is ever stopped or resized, and devices are never exceeded, whatever comes. */
static void test_many(void)
{
	static struct sched_job jobs[200];
	static struct sched_choice choices[200];
	struct sched_input in = { jobs, 0, 0, 600, SCHED_ONE_KIND(8, 0) };
	bool kept = true, within = true, in_order = true;
	int64_t last = 0;

	for (int n = 0; n < 200; n++) {
		int sum = 0;

		jobs[in.n_jobs++] = job(n + 1, 1 + n * 7 % 9, 1 + n * 7 % 9 + n % 3, 0);
		policy_fifo.decide(&in, choices);
		for (int i = 0; i < in.n_jobs; i++) {
			kept = kept &&
			       (!jobs[i].replicas || choices[i].replicas == jobs[i].replicas);
			if (choices[i].replicas && !jobs[i].replicas) {
				in_order = in_order && jobs[i].id > last;
				last = jobs[i].id;
			}
			jobs[i].replicas = choices[i].replicas;
			sum += choices[i].replicas;
		}
		within = within && sum <= in.kinds[0].n_devices;
		/* One that runs ends now and then. */
		for (int i = 0; i < in.n_jobs && n % 3 == 0; i++)
			if (jobs[i].replicas) {
				jobs[i] = jobs[--in.n_jobs];
				break;
			}
	}
	ok(kept, "no job is stopped or resized");
	ok(within, "no more devices are given than there are");
	ok(in_order, "jobs start in order of their ids");
	ok(last > 30, "more than 30 jobs start");
}

static void test_table(void)
{
	ok(policy_find("las") == &policy_las, "las is found");
	ok(policy_find("fifo") == &policy_fifo, "fifo is found");
	ok(!policy_find("") && !policy_find("LAS") && !policy_find("las "),
	   "other names of policies are not found");
	for (int i = 0; i < n_policies; i++)
		ok(policy_find(policies[i]->name) == policies[i] && *policies[i]->summary,
		   policies[i]->name);
}

int main(void)
{
	test_order();
	test_shares();
	test_devices_vanish();
	test_many();
	test_table();
	return done();
}
