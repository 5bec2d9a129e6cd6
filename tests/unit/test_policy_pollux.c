/* The published fitness: its exact maximum, against all allocations of small problems; and that it
 * keeps what it must. The formulas are stated here once more. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define CASES 10000

/* --- the fitness --- */

static int fair_share(const struct sched_case *c)
{
	int jobs = 0;

	for (int i = 0; i < c->in.n_jobs; i++)
		jobs += case_least(&c->in, &c->jobs[i]) > 0;
	return jobs && sched_devices(&c->in) ? (int)ceil((double)sched_devices(&c->in) / jobs) : 1;
}

static bool is_given(const struct sched_case *c, const struct sched_job *job, int r)
{
	return case_startable(&c->in, job, r) || (r && r == job->replicas);
}

static double rate(const struct sched_job *job, int r)
{
	return job->offers[0].goodput[0] ? job->offers[0].goodput[0][r] : r;
}

/* goodput on the fair share; where there is none, of the nearest number below that has one, else
 * above, in proportion. */
static double fair_rate(const struct sched_case *c, const struct sched_job *job)
{
	int fair = fair_share(c);

	for (int r = fair; r >= 1; r--)
		if (is_given(c, job, r))
			return rate(job, r) * fair / r;
	for (int r = fair + 1; r <= c->in.kinds[0].n_devices; r++)
		if (is_given(c, job, r))
			return rate(job, r) * fair / r;
	return (double)NAN;
}

static double inverse(const struct sched_case *c, const struct sched_job *job, int r)
{
	int g = c->in.kinds[0].devices_per_node;
	double nodes = g > 0 ? ceil((double)c->in.kinds[0].n_devices / g) : 1;
	double age_s = c->in.now_s - job->submitted_s;
	double scaled = 0;

	if (r)
		scaled = rate(job, r) / fair_rate(c, job) / c->in.kinds[0].n_devices * nodes;
	if (r != job->replicas)
		scaled *=
			fmax(age_s - job->restarts * job->restart_s, 0) / (age_s + job->restart_s);
	return 1 / (scaled + 1e-3);
}

static void set_values(const struct sched_case *c, struct case_values *v)
{
	for (int i = 0; i < c->in.n_jobs; i++) {
		const struct sched_job *job = &c->jobs[i];
		bool keeps = job->replicas && !job->preemptible;

		for (int r = 0; r <= c->in.kinds[0].n_devices; r++) {
			bool may = (!r || is_given(c, job, r)) && (!keeps || r == job->replicas);

			v->of[i][r] = may ? -job->weight * inverse(c, job, r) : (double)NAN;
		}
	}
}

static void test_exact(void)
{
	struct sched_case c = { .random = 5 };
	int wrong = 0, changed = 0, nodes = 0;

	for (int n = 0; n < CASES; n++) {
		struct case_values v = { { { 0 } } };

		case_draw(&c);
		policy_pollux.decide(&c.in, c.choices);
		set_values(&c, &v);
		wrong += !case_is_best(&c, &v);
		nodes += c.in.kinds[0].devices_per_node &&
			 c.in.kinds[0].n_devices > c.in.kinds[0].devices_per_node;
		for (int i = 0; i < c.in.n_jobs; i++) {
			changed += c.choices[i].replicas != c.jobs[i].replicas;
			wrong += !*said(&c.choices[i]) || !isnan(c.choices[i].next_start_s) ||
				 c.choices[i].reconfigure;
		}
	}
	is_int(wrong, 0, "10,000 problems get the maximum of the published fitness");
	ok(changed > 5000 && nodes > 1000, "the problems are decided on, on several nodes too");
}

/* --- by hand --- */

static struct sched_job job(int64_t id, const double *goodput, int max)
{
	return (struct sched_job){
		.id = id, .min_replicas = 1, .max_replicas = max, .weight = 1, .preemptible = true,
		.offers = { offers_of(max, goodput) }, .goodput_now = (double)NAN,
		.remaining_samples = (double)NAN, .restart_s = 30,
	};
}

static const double linear[] = { 0, 10, 20, 30, 40 }, flat[] = { 0, 10, 11, 12, 12 };

static void test_shares(void)
{
	struct sched_job jobs[] = { job(1, linear, 4), job(2, flat, 4), job(3, NULL, 4) };
	struct sched_input in = { jobs, 3, 1e5, 600, SCHED_ONE_KIND(4, 0) };
	struct sched_choice choices[3];

	policy_pollux.decide(&in, choices);
	is_int(choices[0].replicas, 2, "the device over goes where it adds most");
	is_int(choices[1].replicas, 1, "the device over does not go where it adds little");
	is_int(choices[2].replicas, 1, "the device over does not go where nothing is known");
	is_str(said(&choices[0]), "2 devices: 2.0x of one; one more would add 50 %; fair share 2",
	       "the reason tells what one more device would add");
	is_str(said(&choices[2]), "1 device; goodput not known yet; fair share 2",
	       "the reason tells that the goodput is not known");
	in.kinds[0].n_devices = 2;
	policy_pollux.decide(&in, choices);
	is_str(said(&choices[2]), "needs 1 device; adds more to the mean speedup elsewhere",
	       "the reason tells why a job waits");
}

/* The jobs are judged by the first kind, which has one device; of the other kind, a second device
 * adds less. */
static void test_kinds(void)
{
	static const double there[] = { 0, 40, 44, 46, 47 }, only_one[] = { 0, 40, NAN, NAN, NAN };
	struct sched_job jobs[] = { job(1, linear, 4), job(2, linear, 4), job(3, linear, 4) };
	struct sched_input in = {
		.jobs = jobs, .n_jobs = 3, .now_s = 1e5, .slice_s = 600, .n_kinds = 2,
		.kinds = { { 1, 0, "small" }, { 3, 0, "large" } },
	};
	struct sched_choice choices[3];

	for (int j = 0; j < 3; j++)
		jobs[j].offers[1] = offers_of(4, there);
	policy_decide(&policy_pollux, &in, false, choices);
	ok(choices[0].kind == 1 && choices[1].kind == 0 && choices[2].kind == 1,
	   "two jobs are given another kind than the one by which they are judged");
	is_str(said(&choices[0]), "2 devices: 1.1x of one; one more would add 5 %; fair share 2",
	       "the reason tells how much faster a job is on two of the kind that it is given");
	is_str(said(&choices[2]), "1 device; one more would add 10 %; fair share 2",
	       "the reason tells what one more device of that kind would add");
	is_str(said(&choices[1]), "1 device; fair share 2",
	       "the reason tells of no more devices than there are of the kind");
	jobs[0].offers[1] = offers_of(4, only_one);
	policy_decide(&policy_pollux, &in, false, choices);
	is_str(said(&choices[0]), "2 devices: 2.0x of one; one more would add 50 %; fair share 2",
	       "where nothing is known of two of that kind, the reason tells of the first kind");
}

/* One that was restarted too often for its age is left alone; and the published system starts
 * nobody at the moment of submission. */
static void test_restarts(void)
{
	struct sched_job jobs[] = { job(1, linear, 4) };
	struct sched_input in = { jobs, 1, 1000, 600, SCHED_ONE_KIND(4, 0) };
	struct sched_choice choice;

	jobs[0].replicas = 1;
	jobs[0].restarts = 40;
	policy_pollux.decide(&in, &choice);
	is_int(choice.replicas, 1, "a run with 40 restarts of 30 s in 1000 s is not changed");
	jobs[0].restarts = 2;
	policy_pollux.decide(&in, &choice);
	is_int(choice.replicas, 4, "a run with 2 restarts grows");
	jobs[0].replicas = 0;
	jobs[0].restarts = 0;
	jobs[0].submitted_s = in.now_s;
	policy_pollux.decide(&in, &choice);
	is_int(choice.replicas, 0, "a job of age 0 does not start");
	jobs[0].submitted_s--;
	policy_pollux.decide(&in, &choice);
	is_int(choice.replicas, 4, "a job of age 1 s starts");
}

static void test_odd(void)
{
	struct sched_job jobs[] = { job(1, NULL, 4), job(2, linear, 4), job(3, flat, 4) };
	struct sched_input in = { jobs, 3, 1e5, 600, SCHED_ONE_KIND(2, 0) };
	struct sched_choice choices[3];

	jobs[0].replicas = 4;
	jobs[0].preemptible = false;
	policy_pollux.decide(&in, choices);
	ok(choices[0].replicas == 1 && choices[1].replicas == 1 && !choices[2].replicas,
	   "a job on 1 or 4 devices has 1 after two were lost");
	jobs[0].offers[0] = offers_of(4, linear);
	policy_pollux.decide(&in, choices);
	ok(choices[0].replicas == 2 && !choices[1].replicas && !choices[2].replicas,
	   "a job on 1 to 4 devices has 2 after two were lost");
	is_str(said(&choices[0]), "2 devices to its end: not preemptible",
	       "the reason tells that a job is not preemptible");
	jobs[0].why_kept = KEPT_UNSAVED;
	policy_pollux.decide(&in, choices);
	is_str(said(&choices[0]), "keeps 2 devices: it has saved nothing",
	       "the reason tells what keeps a job on its devices");
	in.kinds[0].n_devices = 0;
	policy_pollux.decide(&in, choices);
	is_str(said(&choices[1]), "needs 1 device; none can be used here",
	       "the reason tells that there are no devices");
	in.n_jobs = 0;
	policy_pollux.decide(&in, choices);
	ok(1, "no jobs are accepted");
	in.n_jobs = 1;
	in.kinds[0].n_devices = 2;
	jobs[0] = job(1, linear, 4);
	jobs[0].weight = jobs[0].restart_s = jobs[0].attained_service_device_s = (double)NAN;
	policy_pollux.decide(&in, choices);
	is_int(choices[0].replicas, 2, "a job of unknown weight and restart gets its devices");
}

int main(void)
{
	test_exact();
	test_shares();
	test_kinds();
	test_restarts();
	test_odd();
	return done();
}
