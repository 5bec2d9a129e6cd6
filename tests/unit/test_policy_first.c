/* Jobs that were put first, under each policy of a pass: they start before all other waiting jobs,
 * and take devices only from jobs that lose theirs to any waiting job. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pollux/policy.h"
#include "tap.h"
#include "words.h"

#define SLICE_S 600.0
#define NOW_S 10000.0
#define MAX_JOBS 8

static const double linear[] = { 0, 100, 200, 300, 400 };

static struct sched_job waits(int64_t id, int devices)
{
	return (struct sched_job){
		.id = id, .min_replicas = devices, .max_replicas = devices, .weight = 1,
		.preemptible = true, .restart_s = 10, .submitted_s = NOW_S - 60,
		.waiting_since_s = NOW_S - 60, .offers = { offers_of(4, linear) },
		.goodput_now = (double)NAN, .remaining_samples = (double)NAN,
	};
}

static struct sched_job first(struct sched_job job, int rank)
{
	job.first = rank;
	return job;
}

static struct sched_job holds(struct sched_job job, double age_s)
{
	job.replicas = job.min_replicas;
	job.launched_s = NOW_S - age_s;
	job.submitted_s = NOW_S - age_s - 60;
	job.attained_service_device_s = age_s * job.replicas;
	job.restarts = 1;
	return job;
}

static struct sched_job fixed(struct sched_job job)
{
	job.preemptible = false;
	return job;
}

static struct sched_job served(struct sched_job job, double device_s)
{
	job.attained_service_device_s = device_s;
	return job;
}

/* Fails unless the policy gives the jobs these numbers of devices; returns the reason of job 0. */
static const char *check(const struct policy *policy, const char *name, int n_devices,
			 const struct sched_job *jobs, int n_jobs, const int *wanted)
{
	static struct sched_choice choices[MAX_JOBS];
	struct sched_input in = { jobs, n_jobs, NOW_S, SLICE_S, SCHED_ONE_KIND(n_devices, 0) };
	char what[256];

	policy->decide(&in, choices);
	for (int i = 0; i < n_jobs; i++) {
		snprintf(what, sizeof(what), "%s: %s: job %d has its devices",
			 policy->name, name, (int)jobs[i].id);
		is_int(choices[i].replicas, wanted[i], what);
	}
	return said(&choices[0]);
}

#define CHECK(policy, name, n_devices, jobs, ...) \
	check(policy, name, n_devices, jobs, sizeof(jobs) / sizeof((jobs)[0]), \
	      (const int[]){ __VA_ARGS__ })

static void says(const struct policy *policy, const char *reason, const char *words)
{
	char what[400];

	snprintf(what, sizeof(what), "%s: the reason '%s' has the words '%s'",
		 policy->name, reason, words);
	ok(strstr(reason, words) != NULL, what);
}

/* Job 4 has the worst claim under every rule: the youngest, and much served. */
static void test_before_all(const struct policy *policy)
{
	struct sched_job jobs[] = {
		served(waits(4, 1), 1e6), waits(1, 1), waits(2, 1), waits(3, 1),
	};

	CHECK(policy, "a job waits in its turn", 1, jobs, 0, 1, 0, 0);
	jobs[0].first = 1;
	CHECK(policy, "a job that is put first starts first", 1, jobs, 1, 0, 0, 0);
	jobs[2].first = 2;
	CHECK(policy, "the job that was put first last starts next", 1, jobs, 0, 0, 1, 0);
	CHECK(policy, "the job that was put first before starts then", 2, jobs, 1, 0, 1, 0);
}

/* What runs to its end keeps its devices, whoever is put first. */
static void test_fixed(const struct policy *policy)
{
	const struct sched_job jobs[] = {
		first(waits(2, 1), 1), holds(fixed(waits(1, 1)), 10 * SLICE_S), waits(3, 1),
	};
	const struct sched_job wide[] = {
		first(waits(2, 2), 1), holds(fixed(waits(1, 1)), 10 * SLICE_S),
		fixed(waits(3, 1)),
	};

	says(policy, CHECK(policy, "a job put first takes no device of one that runs to its end",
			   1, jobs, 0, 1, 0),
	     policy == &policy_goodput || policy == &policy_las ? "not preemptible, keeps 1"
								: "put first");
	/* goodput expects that job 3 ends before job 1 does: claims.h. */
	if (policy != &policy_goodput)
		CHECK(policy, "no job behind a job put first starts that would keep devices",
		      2, wide, 0, 1, 0);
}

static void test_once_it_runs(const struct policy *policy)
{
	const struct sched_job jobs[] = {
		first(holds(waits(2, 1), 100 * SLICE_S), 1), first(waits(1, 1), 0),
	};
	struct sched_choice with[2], without[2];
	struct sched_job plain[2];
	struct sched_input in = { jobs, 2, NOW_S + 1e6, SLICE_S, SCHED_ONE_KIND(1, 0) };

	memcpy(plain, jobs, sizeof(plain));
	plain[0].first = 0;
	policy->decide(&in, with);
	in.jobs = plain;
	policy->decide(&in, without);
	is_int(with[0].replicas, without[0].replicas,
	       "a job that has devices is decided on as any other");
}

/* A job that runs, and its slice: policies with slices. */
static void test_slices(const struct policy *policy)
{
	struct sched_job jobs[] = {
		first(served(waits(9, 1), 1e7), 1), holds(waits(1, 1), SLICE_S / 2), waits(2, 1),
	};

	says(policy, CHECK(policy, "a job put first takes no device within a slice",
			   1, jobs, 0, 1, 0), "put first");
	says(policy, CHECK(policy, "a job put first takes no device within a slice",
			   1, jobs, 0, 1, 0), "1st in line");
	jobs[1] = holds(waits(1, 1), 2 * SLICE_S);
	CHECK(policy, "a job put first takes a device after its slice", 1, jobs, 1, 0, 0);
	jobs[0] = first(served(waits(9, 2), 1e7), 1);
	jobs[2] = holds(waits(2, 1), SLICE_S / 2);
	CHECK(policy, "a wide job put first gathers, and none starts behind it", 2, jobs, 0, 1, 1);
}

int main(void)
{
	const struct policy *const live[] = {
		&policy_goodput, &policy_pollux, &policy_las, &policy_fifo,
	};
	const struct sched_job fifo[] = {
		first(waits(4, 1), 1), holds(waits(1, 1), 10 * SLICE_S), waits(2, 1),
	};
	const struct sched_job any_time[] = {
		first(waits(4, 1), 1), holds(waits(1, 1), SLICE_S / 2), waits(2, 1),
	};

	for (int i = 0; i < 4; i++) {
		test_before_all(live[i]);
		test_fixed(live[i]);
		test_once_it_runs(live[i]);
	}
	test_slices(&policy_goodput);
	test_slices(&policy_las);
	is_str(CHECK(&policy_fifo, "a job put first preempts nobody under fifo", 1, fifo, 0, 1, 0),
	       "1st in line, put first; needs 1 device",
	       "the reason of fifo tells that a job was put first");
	CHECK(&policy_pollux, "a job put first takes a device at any time under pollux",
	      1, any_time, 1, 0, 0);
	return done();
}
