/* The policy rubick, by hand; and two jobs of the paper, RoBERTa and T5-3B on 4 GPUs, with the
 * published times of an iteration (placements.csv of the artifact). */
#include <math.h>

#include "pollux/policy.h"
#include "tap.h"

#define GPUS 4

static struct sched_job job(int64_t id, const double *goodput, double reference)
{
	return (struct sched_job){
		.id = id, .min_replicas = 1, .max_replicas = GPUS, .weight = 1,
		.preemptible = true, .restart_s = 260, .offers = { offers_of(GPUS, goodput) },
		.reference_goodput = reference, .remaining_samples = (double)NAN,
		.goodput_now = (double)NAN, .demoted_s = (double)NAN,
	};
}

static void decide(const struct policy *policy, const struct sched_job *jobs, int n, double now_s,
		   struct sched_choice *choices)
{
	struct sched_input in = {
		.jobs = jobs, .n_jobs = n, SCHED_ONE_KIND(GPUS, 0), .now_s = now_s, .slice_s = 600,
	};

	policy_decide(policy, &in, false, choices);
}

static void test_published_pair(void)
{
	/* RoBERTa: zero-dp, zero-dp, ga; T5-3B: offload twice, then tp. No RoBERTa on 3 GPUs. */
	static const double roberta[] = { 0, 1 / .68361435, 1 / .697693418, (double)NAN,
					  1 / .372841222 };
	static const double t5[] = { 0, 1 / 4.0345, 1 / 3.2757, 1 / .9301, 1 / .8233 };
	const struct sched_job jobs[] = { job(1, roberta, roberta[4]), job(2, t5, t5[4]) };
	const struct policy *const both[] = { &policy_rubick, &policy_goodput };
	struct sched_choice choices[2];

	for (int p = 0; p < 2; p++) {
		decide(both[p], jobs, 2, 60, choices);
		is_int(choices[0].replicas, 1, both[p]->name);
		is_int(choices[1].replicas, 3,
		       "T5-3B gets 3 GPUs beside RoBERTa on 1: 0.55 + 0.89");
	}
}

static const double linear[] = { 0, 1, 2, 3, 4 }, flat[] = { 0, 1, 1.1, 1.2, 1.3 };

static void test_victims(void)
{
	struct sched_job jobs[] = { job(1, flat, 1), job(2, linear, 2) };
	struct sched_choice choices[2];

	jobs[0].replicas = 4;
	decide(&policy_rubick, jobs, 2, 2500, choices);
	is_int(choices[0].replicas, 4,
	       "a run keeps its GPUs if a restart takes too much of its time");
	is_int(choices[1].replicas, 0, "a job waits if no run may be restarted");
	decide(&policy_rubick, jobs, 2, 2700, choices);
	is_int(choices[0].replicas, 1, "a run gives up steps of slope 0.1 after 2700 s");
	is_int(choices[1].replicas, 3, "the job of the highest slope gets the other GPUs");
	jobs[0].restarts = 1;
	decide(&policy_rubick, jobs, 2, 2700, choices);
	is_int(choices[0].replicas, 4, "a run keeps its GPUs if two restarts take too much");
}

static void test_guarantees(void)
{
	struct sched_job jobs[] = { job(1, linear, 1), job(2, flat, 1.3) };
	struct sched_choice choices[2];

	jobs[0].replicas = 4;
	jobs[1].guaranteed = true;
	jobs[1].min_replicas = 3;
	decide(&policy_rubick, jobs, 2, 5000, choices);
	ok(choices[1].replicas >= 3, "a guaranteed job takes from a steeper one");
	jobs[0].guaranteed = true;
	jobs[0].min_replicas = 2;
	decide(&policy_rubick, jobs, 2, 5000, choices);
	is_int(choices[0].replicas, 4, "a guaranteed job keeps its guarantee beside another");
	is_int(choices[1].replicas, 0, "a guaranteed job waits for another one's guarantee");
}

static void test_overdue(void)
{
	static const double wide[] = { 0, (double)NAN, (double)NAN, (double)NAN, .1 };
	struct sched_job jobs[] = { job(1, linear, 4), job(2, wide, .4) };
	struct sched_choice choices[2];

	jobs[0].replicas = 4;
	jobs[1].min_replicas = 4;
	decide(&policy_rubick, jobs, 2, 19 * 3600, choices);
	is_int(choices[1].replicas, 0, "a slope of 0.0625 does not displace one of 0.25");
	decide(&policy_rubick, jobs, 2, 21 * 3600, choices);
	is_int(choices[1].replicas, 4, "a job that waited for 20 hours comes first");
}

int main(void)
{
	test_published_pair();
	test_victims();
	test_guarantees();
	test_overdue();
	return done();
}
