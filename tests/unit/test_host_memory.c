/* Host memory in decisions of the policy goodput: the exact search against all allocations, the
 * search by a price against the exact one, and cases by hand. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/policy.h"
#include "sched/allocation.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define GIB 0x1p30
#define NOW_S 10000.0
#define SLICE_S 600.0
#define DEVICES 4
#define JOBS 5
#define CASES 3000

static const double linear[] = { 0, 100, 200, 300, 400 };

static struct sched_job waits(int64_t id, double gib)
{
	return (struct sched_job){
		.id = id, .min_replicas = 1, .max_replicas = DEVICES, .weight = 1,
		.preemptible = true, .restart_s = 10, .submitted_s = NOW_S - 60,
		.waiting_since_s = NOW_S - 60, .offers = { offers_of(DEVICES, linear) },
		.goodput_now = (double)NAN, .remaining_samples = (double)NAN,
		.memory_bytes = gib * GIB,
	};
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

static struct sched_choice choices[JOBS + MEMORY_MOST_JOBS];

static void decide(const struct sched_job *jobs, int n, double gib)
{
	struct sched_input in = {
		.jobs = jobs, .n_jobs = n, SCHED_ONE_KIND(DEVICES, 0), .now_s = NOW_S,
		.slice_s = SLICE_S, .memory_bytes = gib * GIB,
	};

	policy_goodput.decide(&in, choices);
}

static void test_by_hand(void)
{
	struct sched_job two[] = {
		holds(waits(1, 14), 2, SLICE_S / 2), waits(2, 20), waits(3, 1),
	};
	const struct sched_job over[] = {
		holds(waits(1, 20), 2, SLICE_S / 2), holds(waits(2, 20), 2, SLICE_S / 2),
	};
	const struct sched_job huge[] = { waits(1, 100) };
	struct sched_job old[] = {
		waits(1, 20), holds(waits(2, 14), 1, 10 * SLICE_S), waits(3, 14),
	};

	decide(two, 3, 31);
	ok(choices[0].replicas > 0 && !choices[1].replicas && choices[2].replicas > 0,
	   "a job without enough memory waits, a smaller one does not");
	is_str(said(&choices[1]),
	       "waits for host memory: needs 20 of 31 GiB, 15 are in use",
	       "the reason tells the memory that is needed and in use");
	two[0].max_replicas = 2;
	two[2].max_replicas = 1;
	decide(two, 3, 31);
	ok(strstr(said(&choices[1]), "waits for host memory"),
	   "a job waits for memory beside a free device, too");
	decide(two, 3, 0);
	ok(choices[1].replicas > 0, "no job waits for memory that is not known");
	decide(over, 2, 31);
	ok(choices[0].replicas && choices[1].replicas, "jobs in their slices keep their memory");
	decide(huge, 1, 31);
	ok(choices[0].replicas > 0, "a job that needs more than there is runs alone");
	old[0].submitted_s = old[0].waiting_since_s = NOW_S - 1e6;
	decide(old, 3, 31);
	ok(choices[0].replicas > 0 && !choices[1].replicas && !choices[2].replicas,
	   "an overdue job gets the memory of jobs beyond their slices");
	old[1].launched_s = NOW_S - SLICE_S / 2;
	decide(old, 3, 31);
	ok(!choices[0].replicas && choices[1].replicas && !choices[2].replicas,
	   "no other job takes memory before an overdue job");
}

/* --- by the number of devices, and leaner ways --- */

/* Two jobs of two devices at most. On one each takes 14 of 31 GiB, on two 20. */
static void test_numbers(void)
{
	const double bytes[] = { 0, 14 * GIB, 20 * GIB, 0, 0 };
	struct sched_job two[] = { waits(1, 20), waits(2, 20) };

	two[0].max_replicas = two[1].max_replicas = 2;
	decide(two, 2, 31);
	is_int((choices[0].replicas > 0) + (choices[1].replicas > 0), 1,
	       "one of two jobs waits if one number tells the memory of all");
	two[0].offers[0].host_bytes[0] = two[1].offers[0].host_bytes[0] = bytes;
	decide(two, 2, 31);
	ok(choices[0].replicas == 1 && choices[1].replicas == 1,
	   "two jobs run on one device each where that takes less");
}

/* Beside a job that has 14 of 31 GiB, another one runs in a way that takes 15 instead of 20. */
static void test_lean(void)
{
	static const double slower[] = { 0, 90, 180, 0, 0 };
	const double fat[] = { 0, 20 * GIB, 20 * GIB, 0, 0 };
	const double lean[] = { 0, 15 * GIB, 15 * GIB, 0, 0 };
	struct sched_job two[] = { holds(waits(1, 14), 2, SLICE_S / 2), waits(2, 20) };

	two[1].max_replicas = 2;
	two[1].offers[0].host_bytes[0] = fat;
	two[1].offers[0].goodput[1] = slower;
	two[1].offers[0].host_bytes[1] = lean;
	decide(two, 2, 31);
	ok(choices[1].replicas == 2 && choices[1].way == 1,
	   "a job starts in a leaner way beside another");
	decide(two, 2, 62);
	ok(choices[1].replicas == 2 && choices[1].way == 0,
	   "a job does not start in a leaner way where memory suffices");
	two[1].offers[0].host_bytes[1] = fat;
	decide(two, 2, 31);
	is_int(choices[1].replicas, 0,
	       "a job does not start if the leaner way takes too much, too");
	/* on its devices, in the leaner way: a relaunch gains half as much again */
	two[1] = holds(waits(2, 15), 2, 10 * SLICE_S);
	two[1].offers[0].host_bytes[0] = fat;
	two[1].goodput_now = 130;
	decide(two, 2, 31);
	ok(!choices[1].reconfigure, "a run stays in the leaner way beside the other job");
	decide(two, 2, 62);
	ok(choices[1].reconfigure, "a run changes to the fatter way with more memory");
}

/* As a pass tells it: 0 where there is no leaner way. An overdue job needs 20 of 31 GiB, or 18;
 * another one has 14 within its slice, a third one wants 14. */
static void test_overdue_lean(void)
{
	static const double slower[] = { 0, 90, 180, 0, 0 }, none[] = { 0, 0, 0, 0, 0 };
	const double fat[] = { 0, 20 * GIB, 20 * GIB, 0, 0 };
	const double lean[] = { 0, 18 * GIB, 18 * GIB, 0, 0 };
	struct sched_job old[] = {
		waits(1, 20), holds(waits(2, 14), 1, SLICE_S / 2), waits(3, 14),
	};

	old[0].submitted_s = old[0].waiting_since_s = NOW_S - 1e6;
	old[0].max_replicas = 2;
	old[0].offers[0].host_bytes[0] = fat;
	for (int way = 1; way < SCHED_WAYS; way++) {
		old[0].offers[0].goodput[way] = way > 1 ? none : slower;
		old[0].offers[0].host_bytes[way] = way > 1 ? none : lean;
	}
	decide(old, 3, 31);
	ok(!choices[0].replicas && choices[1].replicas && !choices[2].replicas,
	   "an overdue job waits for the least memory that it can run with");
	is_str(said(&choices[0]),
	       "waits for host memory: needs 18 of 31 GiB, 14 are in use",
	       "the reason tells the memory of the leaner way");
}

/* --- the searches --- */

struct problem {
	uint64_t random;
	struct sched_job jobs[JOBS];
	double goodput[JOBS][DEVICES + 1], values[SCHED_WAYS * JOBS * (DEVICES + 1)];
	double memory[SCHED_WAYS][JOBS][DEVICES + 1];
	struct curves curves;
	struct sched_input in;
};

static double *value_of(double *values, int job, int way, int r)
{
	return &values[(way * JOBS + job) * (DEVICES + 1) + r];
}

/* Half of the jobs need memory by their number of devices, and have a leaner way. */
static void draw_ways(struct problem *p, int j)
{
	bool by_number = case_below(&p->random, 2);

	for (int way = 0; way < SCHED_WAYS; way++)
		for (int r = 0; r <= DEVICES; r++) {
			double *value = value_of(p->values, j, way, r);

			p->memory[way][j][r] = (1 + case_below(&p->random, 31)) * GIB / (1 + way);
			if (way)
				*value = -HUGE_VAL;
			if (way == 1 && by_number && r)
				*value = 0.9 * *value_of(p->values, j, 0, r);
		}
	if (!by_number)
		return;
	p->jobs[j].offers[0].host_bytes[0] = p->memory[0][j];
	p->jobs[j].offers[0].host_bytes[1] = p->memory[1][j];
}

static void draw(struct problem *p)
{
	for (int j = 0; j < JOBS; j++) {
		p->jobs[j] = waits(j + 1, case_below(&p->random, 4) ? 1 + case_below(&p->random, 31)
								    : 0);
		p->jobs[j].offers[0] = offers_of(DEVICES, p->goodput[j]);
		for (int r = 1; r <= DEVICES; r++)
			p->goodput[j][r] = 100 * pow(r, 0.5);
		p->values[(size_t)j * (DEVICES + 1)] = 0;
		for (int r = 1; r <= DEVICES; r++)
			p->values[(size_t)j * (DEVICES + 1) + (size_t)r] =
				case_below(&p->random, 6) ? 100 * case_uniform(&p->random)
							  : -HUGE_VAL;
		draw_ways(p, j);
	}
	p->in = (struct sched_input){
		.jobs = p->jobs, .n_jobs = JOBS, SCHED_ONE_KIND(DEVICES, 0), .now_s = NOW_S,
		.slice_s = SLICE_S, .memory_bytes = 32 * GIB,
	};
}

static double best_from(struct problem *p, int j, int devices, int units)
{
	double best = -HUGE_VAL;

	if (j == JOBS)
		return 0;
	for (int r = 0; r <= devices; r++)
		for (int way = 0; way < SCHED_WAYS; way++) {
			int need = r ? memory_units_of(&p->curves, j, way, r) : 0;
			double value = *value_of(p->values, j, way, r);

			if (isfinite(value) && need <= units)
				best = fmax(best, value + best_from(p, j + 1, devices - r,
								    units - need));
		}
	return best;
}

/* True if one job could have more worth of what the others leave. */
static bool can_gain(struct problem *p, const int *at, const int *way)
{
	int devices = DEVICES, units = MEMORY_UNITS;
	bool can = false;

	for (int j = 0; j < JOBS; j++) {
		devices -= at[j];
		units -= at[j] ? memory_units_of(&p->curves, j, way[j], at[j]) : 0;
	}
	for (int j = 0; j < JOBS; j++) {
		double now = *value_of(p->values, j, way[j], at[j]);
		int own = at[j] ? memory_units_of(&p->curves, j, way[j], at[j]) : 0;

		for (int r = 1; r <= devices + at[j]; r++)
			for (int w = 0; w < SCHED_WAYS; w++)
				can |= *value_of(p->values, j, w, r) > now &&
				       memory_units_of(&p->curves, j, w, r) <= units + own;
	}
	return can;
}

static double allocate(struct problem *p, int n_kinds, bool *fits, bool *gains)
{
	double values[SCHED_WAYS * JOBS * (DEVICES + 1)], sum = 0;
	struct curves curves = p->curves;
	scoped(claims_release) struct claims claims = claims_of_fixed(&curves);
	int at[JOBS], way[JOBS], used = 0;

	memcpy(values, p->values, sizeof(values));
	curves.n_kinds = n_kinds;
	memory_allocate(&curves, &claims, values, at, way);
	for (int j = 0; j < JOBS; j++) {
		used += at[j] ? memory_units_of(&curves, j, way[j], at[j]) : 0;
		sum += *value_of(p->values, j, way[j], at[j]);
	}
	*fits = used <= MEMORY_UNITS;
	*gains = can_gain(p, at, way);
	return sum;
}

static void test_searches(void)
{
	struct problem p = { .random = 3 };
	int wrong = 0, beyond = 0, wasted = 0;
	double exact_sum = 0, priced_sum = 0;

	for (int n = 0; n < CASES; n++) {
		double exact, priced;
		bool fits, fits_priced, gains;

		draw(&p);
		p.curves = curves_of(&p.in);
		exact = allocate(&p, 1, &fits, &gains);
		wrong += fabs(exact - best_from(&p, 0, DEVICES, MEMORY_UNITS)) > 1e-6;
		p.curves.kinds[1] = (struct curve_kind){ DEVICES, 0, "none" };
		priced = allocate(&p, 2, &fits_priced, &gains);
		wasted += gains;
		beyond += !fits || !fits_priced || priced > exact + 1e-6;
		exact_sum += exact;
		priced_sum += priced;
		curves_release(&p.curves);
	}
	is_int(wrong, 0, "no allocation that fits is worth more in 3,000 problems");
	is_int(beyond, 0, "each allocation by prices fits and is worth no more");
	is_int(wasted, 0, "no allocation by prices leaves what a job could gain by");
	ok(priced_sum > 0.9 * exact_sum, "the allocations by prices are worth 0.9 of the best");
}

int main(void)
{
	test_by_hand();
	test_numbers();
	test_lean();
	test_overdue_lean();
	test_searches();
	return done();
}
