/* Tiresias, Optimus, Sia and shortest remaining time first, beside their rules: Sia's sum against
 * all allocations of small problems, the others on cases worked out by hand. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define CASES 10000
#define MANY 8

struct hand {
	struct sched_job jobs[MANY];
	struct sched_choice choices[MANY];
	struct sched_input in;
};

static struct sched_job job_of(int64_t id, int min, int max)
{
	return (struct sched_job){
		.id = id,
		.min_replicas = min,
		.max_replicas = max,
		.weight = 1,
		.preemptible = true,
		.restart_s = 30,
		.goodput_now = (double)NAN,
		.remaining_samples = (double)NAN,
	};
}

static void decide(struct hand *h, const struct policy *policy, int n_jobs, int n_devices)
{
	h->in = (struct sched_input){
		.jobs = h->jobs,
		.n_jobs = n_jobs,
		SCHED_ONE_KIND(n_devices, 0),
		.now_s = 1e5,
		.slice_s = 600,
	};
	policy->decide(&h->in, h->choices);
}

static void has(const struct hand *h, const int want[MANY], const char *what)
{
	bool right = true;

	for (int i = 0; i < h->in.n_jobs; i++)
		right = right && h->choices[i].replicas == want[i];
	if (!ok(right, what))
		for (int i = 0; i < h->in.n_jobs; i++)
			printf("# job %d: got %d, want %d: %s\n", i + 1, h->choices[i].replicas,
			       want[i], said(&h->choices[i]));
}

/* --- tiresias --- */

static void tiresias(void)
{
	struct hand h = { .jobs = { job_of(1, 2, 4), job_of(2, 3, 3), job_of(3, 1, 1) } };

	decide(&h, &policy_tiresias, 3, 4);
	has(&h, (int[MANY]){ 2, 0, 1 },
	    "tiresias gives jobs what they ask for, past what does not fit");
	is_str(said(&h.choices[1]),
	       "1st in line; needs 3 devices; in the first queue, up to 16 device-hours",
	       "tiresias tells a waiting job why");
	h.jobs[0].attained_service_device_s = TIRESIAS_QUEUE_DEVICE_S;
	h.jobs[0].replicas = 2;
	decide(&h, &policy_tiresias, 3, 4);
	has(&h, (int[MANY]){ 0, 3, 1 }, "tiresias serves the second queue after the first");
	h.jobs[0].weight = 2;
	decide(&h, &policy_tiresias, 3, 4);
	has(&h, (int[MANY]){ 2, 0, 1 }, "tiresias counts service half for a weight of 2");
	h.jobs[0].weight = 1;
	h.jobs[0].preemptible = false;
	decide(&h, &policy_tiresias, 3, 4);
	has(&h, (int[MANY]){ 2, 0, 1 },
	    "tiresias leaves a job that is not preemptible its devices");
	for (int i = 0; i < 3; i++) {
		h.jobs[i] = job_of(i + 1, 2, 2);
		h.jobs[i].attained_service_device_s = 1e6;
		h.jobs[i].demoted_s = 300 - 100 * i;
	}
	decide(&h, &policy_tiresias, 3, 4);
	has(&h, (int[MANY]){ 0, 2, 2 },
	    "tiresias serves the second queue in the order of demotion");
	for (int i = 0; i < 3; i++)
		h.jobs[i].demoted_s = 0;
	decide(&h, &policy_tiresias, 3, 4);
	has(&h, (int[MANY]){ 2, 2, 0 },
	    "tiresias serves the second queue by id if demotion is unknown");
}

/* --- optimus --- */

static void optimus(void)
{
	/* Rates on 1, 2 and 3 devices. */
	static const double good[] = { 0, 1, 2, 3 }, poor[] = { 0, 1, 1.1, 1.15 },
			    falls[] = { 0, 1, 0.9, 2 };
	struct hand h = { .jobs = { job_of(1, 1, 3), job_of(2, 1, 3), job_of(3, 1, 3) } };

	for (int i = 0; i < 3; i++)
		h.jobs[i].remaining_samples = 100;
	h.jobs[0].offers[0] = offers_of(3, poor);
	h.jobs[1].offers[0] = offers_of(3, good);
	h.jobs[2].offers[0] = offers_of(3, good);
	decide(&h, &policy_optimus, 3, 2);
	has(&h, (int[MANY]){ 1, 1, 0 }, "optimus gives each job one device first, in order");
	decide(&h, &policy_optimus, 3, 5);
	/* The second device saves 9.1 s of 1, 50 s of 2 and of 3. */
	has(&h, (int[MANY]){ 1, 2, 2 }, "optimus gives further devices where most time is saved");
	h.jobs[0].remaining_samples = 1000;
	decide(&h, &policy_optimus, 3, 4);
	has(&h, (int[MANY]){ 2, 1, 1 }, "optimus gives a longer job more, which saves 91 s");
	decide(&h, &policy_optimus, 3, 5);
	has(&h, (int[MANY]){ 2, 2, 1 }, "optimus gives devices to the first one of equal gains");
	h.jobs[1].offers[0] = offers_of(3, falls);
	decide(&h, &policy_optimus, 2, 6);
	has(&h, (int[MANY]){ 3, 1 }, "optimus looks past no number that is worse");
	h.jobs[0] = job_of(1, 1, 3);
	h.jobs[0].offers[0] = offers_of(3, good);
	h.jobs[1] = job_of(2, 1, 3);
	h.jobs[1].offers[0] = offers_of(3, good);
	h.jobs[1].attained_service_device_s = 9000;
	decide(&h, &policy_optimus, 2, 3);
	has(&h, (int[MANY]){ 1, 2 }, "optimus takes what a job had for what remains unknown");
}

/* --- srtf --- */

static void srtf(void)
{
	static const double rates[] = { 0, 1, 2, 3 }, flat[] = { 0, 1, 1, 1 };
	struct hand h = { .jobs = { job_of(1, 1, 3), job_of(2, 1, 3), job_of(3, 2, 2) } };

	for (int i = 0; i < 3; i++) {
		h.jobs[i].offers[0] = offers_of(3, rates);
		h.jobs[i].remaining_samples = 100 - 10 * i;
	}
	decide(&h, &policy_srtf, 3, 3);
	has(&h, (int[MANY]){ 0, 1, 2 }, "srtf gives devices to the shortest jobs first");
	is_str(said(&h.choices[0]), "1st in line; needs 1 device; shorter jobs first",
	       "srtf tells a waiting job why");
	decide(&h, &policy_srtf, 2, 4);
	has(&h, (int[MANY]){ 1, 3 }, "srtf gives the shortest job that starts what is left over");
	h.jobs[1].offers[0] = offers_of(3, flat);
	decide(&h, &policy_srtf, 2, 4);
	has(&h, (int[MANY]){ 3, 1 }, "srtf gives a job no devices that bring nothing");
	h.jobs[1].offers[0] = offers_of(3, rates);
	h.jobs[0].replicas = 2;
	decide(&h, &policy_srtf, 2, 4);
	has(&h, (int[MANY]){ 2, 2 }, "srtf gives a running job back what it holds first");
	h.jobs[0].remaining_samples = h.jobs[1].remaining_samples = (double)NAN;
	h.jobs[0].replicas = 0;
	h.jobs[0].attained_service_device_s = 50;
	h.jobs[1].attained_service_device_s = 60;
	decide(&h, &policy_srtf, 2, 1);
	has(&h, (int[MANY]){ 1, 0 }, "srtf takes the service had for unknown lengths");
}

/* --- sia --- */

static bool is_given(const struct sched_case *c, const struct sched_job *job, int r)
{
	return case_startable(&c->in, job, r) || (r && r == job->replicas);
}

/* The term that r devices put into the sum to be minimised. */
static double term(const struct sched_case *c, const struct sched_job *job, int r)
{
	int least = case_least(&c->in, job);
	double age_s = c->in.now_s - job->submitted_s;
	double speedup = r;

	if (!r)
		return 1.1;
	if (job->offers[0].goodput[0])
		speedup = offers_at(job, 0, 0, r).goodput /
			  offers_at(job, 0, 0, least).goodput * least;
	if (job->replicas && r != job->replicas && age_s >= job->restart_s)
		speedup *=
			fmax(age_s - job->restarts * job->restart_s, 0) / (age_s + job->restart_s);
	return speedup > 0 ? fmin(1 / sqrt(speedup), 3000) : 3000;
}

static void set_values(const struct sched_case *c, struct case_values *v)
{
	for (int i = 0; i < c->in.n_jobs; i++) {
		const struct sched_job *job = &c->jobs[i];
		bool keeps = job->replicas && !job->preemptible;

		for (int r = 0; r <= c->in.kinds[0].n_devices; r++) {
			bool may = (!r || is_given(c, job, r)) && (!keeps || r == job->replicas);

			v->of[i][r] = may ? -job->weight * term(c, job, r) : (double)NAN;
		}
	}
}

static void sia(void)
{
	struct sched_case c = { .random = 11 };
	int wrong = 0, changed = 0;

	for (int k = 0; k < CASES; k++) {
		struct case_values v = { { { 0 } } };

		case_draw(&c);
		policy_sia.decide(&c.in, c.choices);
		set_values(&c, &v);
		wrong += !case_is_best(&c, &v);
		for (int i = 0; i < c.in.n_jobs; i++)
			changed += c.choices[i].replicas != c.jobs[i].replicas;
	}
	is_int(wrong, 0, "sia has the smallest sum of all allocations in 10,000 problems");
	ok(changed > 5000, "sia decides something in the problems");
}

int main(void)
{
	tiresias();
	optimus();
	srtf();
	sia();
	return done();
}
