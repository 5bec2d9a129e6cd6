/* Guarantees: what --guarantee takes, what the policy goodput makes of jobs that have one, and the
 * checker, which finds each way to break one. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pollux/execution_plan.h"
#include "pollux/policy.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define SLICE_S 600.0
#define NOW_S 10000.0
#define DEVICES 4
#define JOBS 5
#define PASSES 200
#define RUNS 200

static const double linear[] = { 0, 100, 200, 300, 400 };
static const double from_two[] = { 0, (double)NAN, 200, 300, 400 };
static const double from_three[] = { 0, (double)NAN, (double)NAN, 300, 400 };

static void test_parse(void)
{
	static const char *const wrong[] = { "", "0", "two", "2x", "2:", "1025", ":dp", "-1", "+2",
					     "99999999999", "2:abcdefghijklmnopqrstuvwxyz0123456" };
	struct guarantee g;
	struct err err;

	is_int(guarantee_parse("2", &g, &err), 0, "a guarantee may be a number of devices");
	ok(g.replicas == 2 && !g.plan[0], "a guarantee of a number of devices has no plan");
	is_int(guarantee_parse("16:zero-2", &g, &err), 0,
	       "a guarantee may be a number of devices and a plan");
	ok(g.replicas == 16 && !strcmp(g.plan, "zero-2"), "the plan of a guarantee is named");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char what[100];

		snprintf(what, sizeof(what), "'%s' is refused", wrong[i]);
		ok(guarantee_parse(wrong[i], &g, &err) == -1 && err.exit_status == EX_USAGE, what);
	}
}

static struct sched_job waits(int64_t id, const double *goodput)
{
	return (struct sched_job){
		.id = id, .min_replicas = 1, .max_replicas = DEVICES, .weight = 1,
		.preemptible = true, .restart_s = 10, .submitted_s = NOW_S - 60,
		.waiting_since_s = NOW_S - 60, .offers = { offers_of(DEVICES, goodput) },
		.goodput_now = (double)NAN, .remaining_samples = (double)NAN,
	};
}

static struct sched_job sure(struct sched_job job)
{
	job.guaranteed = true;
	return job;
}

static struct sched_job holds(struct sched_job job, int replicas, double age_s)
{
	job.replicas = replicas;
	job.launched_s = NOW_S - age_s;
	job.submitted_s = NOW_S - age_s - 60;
	job.attained_service_device_s = age_s * replicas;
	job.restarts = 1;
	return job;
}

static struct sched_choice choices[JOBS];

static void decide(const struct sched_job *jobs, int n)
{
	struct sched_input in = { jobs, n, NOW_S, SLICE_S, SCHED_ONE_KIND(DEVICES, 0) };

	policy_goodput.decide(&in, choices);
}

static void test_by_hand(void)
{
	const struct sched_job newest[] = {
		waits(1, linear), waits(2, linear), waits(3, linear), waits(4, linear),
		sure(waits(5, from_three)),
	};
	const struct sched_job wide[] = {
		sure(holds(waits(1, from_two), 4, 10 * SLICE_S)), waits(2, linear),
		waits(3, linear), waits(4, linear),
	};
	struct sched_job old[] = {
		sure(holds(waits(1, from_three), 3, 10 * SLICE_S)),
		waits(2, from_two), waits(3, linear),
	};
	const struct sched_job slow[] = {
		sure(holds(waits(1, from_three), 2, 10 * SLICE_S)),
		holds(waits(2, linear), 2, 10 * SLICE_S),
	};

	decide(newest, 5);
	is_int(choices[4].replicas, 3, "the newest job with a guarantee starts before all others");
	decide(wide, 4);
	is_int(choices[0].replicas, 2,
	       "a running job with a guarantee gives up what it does not need");
	ok(choices[1].replicas + choices[2].replicas + choices[3].replicas == 2,
	   "what a job with a guarantee gives up goes to others");
	old[1].submitted_s = old[1].waiting_since_s = NOW_S - 1e6;
	decide(old, 3);
	is_int(choices[0].replicas, 3,
	       "a job keeps its guaranteed devices, however long others wait");
	is_int(choices[2].replicas, 1, "jobs that do not fit do not keep back those that fit");
	ok(strstr(said(&choices[1]), "job 1, not preemptible or guaranteed, keeps 3"),
	   "a reason names the job whose guaranteed devices are kept");
	decide(slow, 2);
	ok(choices[0].replicas >= 3, "a job that became slower than promised grows at once");
}

static void test_slices(void)
{
	struct sched_job all = waits(1, linear), jobs[] = { all, sure(waits(2, from_two)) };

	all.min_replicas = DEVICES;
	jobs[0] = holds(all, 4, 59);
	decide(jobs, 2);
	is_int(choices[0].replicas, 4, "a job keeps its devices until it has settled");
	ok(strstr(said(&choices[1]), "needs 2 devices; guaranteed: gathers devices"),
	   "a job with a guarantee gathers devices until the others have settled");
	ok(fabs(choices[1].next_start_s - (NOW_S + 1)) < 1e-6,
	   "a job with a guarantee starts when the others have settled");
	jobs[0] = holds(all, 4, 60);
	decide(jobs, 2);
	ok(choices[1].replicas >= 2, "no slice of a settled job holds up a guarantee");
	jobs[0].waiting_since_s = NOW_S - 60 - 1e6;
	decide(jobs, 2);
	is_int(choices[0].replicas, 4, "a job that was overdue when it started has its slice");
	ok(fabs(choices[1].next_start_s - (NOW_S + SLICE_S - 60)) < 1e-6,
	   "a job with a guarantee starts when that slice ends");
	jobs[0] = holds(all, 4, 60);
	jobs[1].guaranteed = false;
	decide(jobs, 2);
	is_int(choices[1].replicas, 0, "a job without a guarantee waits for the slice");
}

static bool starts_alone(int n, int index)
{
	for (int i = 0; i < n; i++)
		if (choices[i].replicas >= 3 ? i != index : i == index)
			return false;
	return true;
}

static void test_order(void)
{
	struct sched_job sizes[] = { sure(waits(1, from_three)), sure(waits(2, from_two)) };
	struct sched_job jobs[] = {
		sure(waits(1, from_three)), sure(waits(2, from_three)), sure(waits(3, from_three)),
	};
	static const double samples[] = { 3e6, 1e6, 2e6 };

	decide(sizes, 2);
	ok(choices[1].replicas >= 2 && !choices[0].replicas,
	   "of two guarantees that do not fit together the smaller one is kept first");
	sizes[0].submitted_s = sizes[0].waiting_since_s = NOW_S - 1e6;
	decide(sizes, 2);
	ok(choices[0].replicas >= 3 && !choices[1].replicas,
	   "a guarantee that has waited longer than its limit comes before smaller ones");
	decide(jobs, 3);
	ok(starts_alone(3, 0), "of equal guarantees the first is kept first");
	for (int i = 0; i < 3; i++)
		jobs[i].remaining_samples = samples[i];
	decide(jobs, 3);
	ok(starts_alone(3, 1), "of guarantees of known length the shortest is kept first");
	jobs[2].weight = 10;
	decide(jobs, 3);
	ok(starts_alone(3, 2), "of guarantees that of much more weight is kept first");
	jobs[0] = sure(waits(1, from_three));
	jobs[1] = sure(waits(2, from_two));
	jobs[2] = holds(waits(3, linear), DEVICES, 59);
	decide(jobs, 3);
	ok(strstr(said(&choices[1]), "1st in line") && strstr(said(&choices[0]), "2nd in line"),
	   "the places in line are in the same order");
}

/* --- many passes --- */

struct world {
	uint64_t random;
	struct sched_job jobs[JOBS];
	double goodput[JOBS][DEVICES + 1], floor[JOBS];
	double now_s;
};

static void draw(struct world *w)
{
	int promised = 0;

	for (int j = 0; j < JOBS; j++) {
		struct sched_job *job = &w->jobs[j];
		int least = 1 + case_below(&w->random, 3);

		*job = waits(j + 1, w->goodput[j]);
		job->submitted_s = job->waiting_since_s = w->now_s;
		job->min_replicas = 1 + case_below(&w->random, 2);
		job->restart_s = 1 + 100 * case_uniform(&w->random);
		job->preemptible = case_below(&w->random, 5) > 0;
		least = least < job->min_replicas ? job->min_replicas : least;
		job->guaranteed = promised + least <= DEVICES && case_below(&w->random, 2);
		promised += job->guaranteed ? least : 0;
		for (int r = 1; r <= DEVICES; r++)
			w->goodput[j][r] = 100 * pow(r, 0.3 + 0.1 * j);
		w->floor[j] = job->guaranteed ? w->goodput[j][least] : 0;
		for (int r = 1; job->guaranteed && r < least; r++)
			w->goodput[j][r] = (double)NAN;
	}
}

/* Carries the decision out; returns false if a guarantee was broken. */
static bool pass(struct world *w)
{
	struct sched_input in = { w->jobs, JOBS, w->now_s, SLICE_S, SCHED_ONE_KIND(DEVICES, 0) };
	struct fact why;
	bool kept;

	policy_goodput.decide(&in, choices);
	kept = guarantee_check(&in, choices, w->floor, &why) < 0;
	for (int j = 0; j < JOBS; j++) {
		struct sched_job *job = &w->jobs[j];
		int replicas = choices[j].replicas;

		job->attained_service_device_s += 60.0 * job->replicas;
		if (replicas == job->replicas)
			continue;
		job->restarts += replicas > 0 && job->attained_service_device_s > 0;
		job->replicas = replicas;
		job->launched_s = job->waiting_since_s = w->now_s;
	}
	w->now_s += 60;
	return kept;
}

static void test_many_passes(void)
{
	struct world w = { .random = 5, .now_s = NOW_S };
	int broken = 0, idle = 0, guaranteed = 0;

	for (int run = 0; run < RUNS; run++) {
		draw(&w);
		for (int n = 0; n < PASSES; n++)
			broken += !pass(&w);
		for (int j = 0; j < JOBS; j++) {
			bool fixed = false;

			for (int i = 0; i < JOBS; i++)
				fixed |= !w.jobs[i].preemptible;
			guaranteed += w.jobs[j].guaranteed && !fixed;
			idle += w.jobs[j].guaranteed && !fixed && !w.jobs[j].replicas;
		}
	}
	is_int(broken, 0, "40,000 decisions keep all guarantees");
	ok(guaranteed > 40, "many of the jobs have a guarantee");
	is_int(idle, 0, "jobs with a guarantee all run in the end");
}

/* --- the checker --- */

static void test_checker(void)
{
	const struct sched_job jobs[] = {
		sure(holds(waits(1, from_two), 2, SLICE_S)), holds(waits(2, linear), 2, SLICE_S),
		sure(waits(3, from_two)),
	};
	struct sched_input in = { jobs, 3, NOW_S, SLICE_S, SCHED_ONE_KIND(DEVICES, 0) };
	const double floor[] = { 200, 0, 200 };
	struct sched_choice chosen[] = { { .replicas = 2 }, { .replicas = 2 }, { .replicas = 0 } };
	struct fact why;

	is_int(guarantee_check(&in, chosen, floor, &why), -1,
	       "a decision that keeps all guarantees is found to keep them");
	chosen[0].replicas = 0;
	is_int(guarantee_check(&in, chosen, floor, &why), 0,
	       "the checker finds a job that loses its devices");
	ok(why.kind == FACT_GUARANTEE_LOST && why.n == 2,
	   "the checker says that the job would lose its 2 devices");
	chosen[0].replicas = 1;
	is_int(guarantee_check(&in, chosen, floor, &why), 0,
	       "the checker finds a running job that is too slow");
	chosen[0].replicas = 2;
	chosen[2].replicas = 1;
	is_int(guarantee_check(&in, chosen, floor, &why), 2,
	       "the checker finds a starting job that is too slow");
	in.kinds[0].n_devices = 1;
	is_int(guarantee_check(&in, chosen, floor, &why), -1,
	       "devices that went away break no guarantee");
}

int main(void)
{
	test_parse();
	test_by_hand();
	test_slices();
	test_order();
	test_many_passes();
	test_checker();
	return done();
}
