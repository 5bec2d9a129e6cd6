/* Every policy on input that cannot be right: jobs that hold more than there is, numbers that are
 * not finite, negative or enormous, clocks set back. What the header promises of any decision must
 * hold. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define ANY_JOBS 8
#define CASES 20000

struct any {
	uint64_t random;
	struct sched_job jobs[ANY_JOBS];
	double goodput[ANY_JOBS][CASE_MAX + 1];
	struct sched_input in;
	struct sched_choice choices[ANY_JOBS];
};

/* Mostly in [0, usual). */
static double number(struct any *a, double usual)
{
	static const double odd[] = { (double)NAN, HUGE_VAL, -HUGE_VAL, 0,     -1,
				      1e300,	   -1e300,   1e-300,	5e-324 };

	if (case_below(&a->random, 8))
		return usual * case_uniform(&a->random);
	return odd[case_below(&a->random, (int)(sizeof(odd) / sizeof(odd[0])))];
}

static void draw_job(struct any *a, int i)
{
	uint64_t *x = &a->random;
	struct sched_job *job = &a->jobs[i];

	*job = (struct sched_job){
		.id = case_below(x, 4) ? i + 1 : 7, /* now and then one that occurs twice */
		.min_replicas = 1 + case_below(x, 4),
		.weight = number(a, 3),
		.attained_service_device_s = number(a, 1e5),
		.preemptible = case_below(x, 4) > 0,
		.replicas = case_below(x, 2) * case_below(x, 9),
		.launched_s = number(a, 2e4),
		.submitted_s = number(a, 2e4),
		.waiting_since_s = number(a, 2e4),
		.restarts = case_below(x, 100),
		.restart_s = number(a, 100),
		.relaunch_s = number(a, 100),
		.unsaved_s = number(a, 1000),
		.goodput_now = number(a, 100),
		.remaining_samples = number(a, 1e6), .remaining_spread = number(a, 2),
		.remaining_device_s = number(a, 1e6),
		.workload = case_below(x, 3),
	};
	job->max_replicas = job->min_replicas + case_below(x, 5);
	a->goodput[i][0] = 0;
	for (int r = 1; r <= job->max_replicas; r++)
		a->goodput[i][r] = number(a, 100);
	if (case_below(x, 5))
		job->offers[0] = offers_of(job->max_replicas, a->goodput[i]);
	if (!case_below(x, 4))
		job->first = case_below(x, 4);
}

static void draw(struct any *a)
{
	uint64_t random = a->random;

	*a = (struct any){ .random = random };
	for (int i = 0; i < ANY_JOBS; i++)
		draw_job(a, i);
	a->in = (struct sched_input){ a->jobs,
				      case_below(&a->random, ANY_JOBS + 1),
				      1e4,
				      600,
				      SCHED_ONE_KIND(case_below(&a->random, 9),
						     case_below(&a->random, 6)) };
	if (!case_below(&a->random, 10))
		a->in.slice_s = number(a, 600);
}

static bool is_choice(const struct sched_job *job, const struct sched_choice *c)
{
	bool in_range = c->replicas >= job->min_replicas && c->replicas <= job->max_replicas;

	return (!c->replicas || c->replicas == job->replicas || in_range) &&
	       (!c->reconfigure || c->replicas == job->replicas) &&
	       !isinf(c->next_start_s) && (!c->replicas || isnan(c->next_start_s)) &&
	       *said(c) && strlen(said(c)) < VERDICT_SIZE;
}

/* Who is not preemptible keeps what it holds, within what it asked for, where all that is held
 * fits. */
static bool keeps_fixed(const struct any *a)
{
	int held = 0;

	for (int i = 0; i < a->in.n_jobs; i++)
		held += a->jobs[i].replicas;
	for (int i = 0; i < a->in.n_jobs && held <= a->in.kinds[0].n_devices; i++)
		if (!a->jobs[i].preemptible && a->jobs[i].replicas >= a->jobs[i].min_replicas &&
		    a->choices[i].replicas != a->jobs[i].replicas)
			return false;
	return true;
}

static bool holds(const struct policy *policy, struct any *a)
{
	int used = 0;
	bool right = true;

	memset(a->choices, 0x55, sizeof(a->choices));
	policy->decide(&a->in, a->choices);
	for (int i = 0; i < a->in.n_jobs; i++) {
		used += a->choices[i].replicas;
		right = right && is_choice(&a->jobs[i], &a->choices[i]);
	}
	return right && used <= a->in.kinds[0].n_devices && keeps_fixed(a);
}

int main(void)
{
	for (int p = 0; p < n_policies; p++) {
		struct any a = { .random = 17 };
		char what[128];
		int wrong = 0;

		for (int n = 0; n < CASES; n++) {
			draw(&a);
			wrong += !holds(policies[p], &a);
		}
		snprintf(what, sizeof(what),
			 "%s decides within the rules on 20,000 arbitrary inputs",
			 policies[p]->name);
		is_int(wrong, 0, what);
	}
	return done();
}
