/* Devices of several kinds: the search held to all allocations of small problems, the prices to the
 * exact search; that each policy keeps within each kind on any input; who gets the fast kind. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched/allocation.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define JOBS 4
#define WIDE_JOBS 24
#define CASES 3000

/* --- the search --- */

struct problem {
	struct allocation_job jobs[WIDE_JOBS];
	double value[WIDE_JOBS][64];
	int capacity[SCHED_KINDS], n_kinds, n_jobs, n_devices;
	double best;
};

static void draw_problem(uint64_t *x, struct problem *p, int n_jobs, int n_kinds, int most)
{
	*p = (struct problem){ .n_jobs = n_jobs, .n_kinds = n_kinds, .best = -HUGE_VAL };
	for (int k = 0; k < n_kinds; k++)
		p->n_devices += p->capacity[k] = most / 2 + case_below(x, most - most / 2 + 1);
	for (int j = 0; j < n_jobs; j++) {
		p->jobs[j] = (struct allocation_job){ case_below(x, p->n_devices + 1),
						      p->value[j] };
		for (int at = 1; at <= p->n_devices; at++)
			p->value[j][at] = case_below(x, 4) ? 10 * case_uniform(x) : -HUGE_VAL;
	}
}

static int kind_of(const struct problem *p, int at, int *devices)
{
	int k = 0;

	while (at > p->capacity[k])
		at -= p->capacity[k++];
	*devices = at;
	return k;
}

static void try_all(struct problem *p, int job, int *left, double sum)
{
	if (job == p->n_jobs) {
		p->best = fmax(p->best, sum);
		return;
	}
	for (int at = 0; at <= p->n_devices; at++) {
		int n, k = kind_of(p, at, &n);

		if (!isfinite(p->value[job][at]) || n > left[k])
			continue;
		left[k] -= n;
		try_all(p, job + 1, left, sum + p->value[job][at]);
		left[k] += n;
	}
}

/* The worth of the result; NaN: more devices of a kind than there are. */
static double worth(const struct problem *p, const int *at)
{
	int left[SCHED_KINDS];
	double sum = 0;

	memcpy(left, p->capacity, sizeof(left));
	for (int j = 0; j < p->n_jobs; j++) {
		int n, k = kind_of(p, at[j], &n);

		left[k] -= n;
		if (left[k] < 0)
			return (double)NAN;
		sum += p->value[j][at[j]];
	}
	return sum;
}

static void test_search(void)
{
	uint64_t random = 1;
	int wrong = 0;

	for (int n = 0; n < CASES; n++) {
		struct problem p;
		int at[JOBS], left[SCHED_KINDS];

		draw_problem(&random, &p, JOBS, 2 + case_below(&random, 2), 3);
		memcpy(left, p.capacity, sizeof(left));
		try_all(&p, 0, left, 0);
		allocation_best(p.jobs, p.n_jobs, p.capacity, p.n_kinds, at, NULL);
		wrong += !(fabs(worth(&p, at) - p.best) < 1e-9);
	}
	is_int(wrong, 0, "3,000 small problems get the best of all allocations");
}

/* A dynamic program of its own, in plain numbers. */
static double exact(const struct problem *p)
{
	static double row[2][20 * 20 * 20];
	int a = p->capacity[0] + 1, b = p->capacity[1] + 1, states = a * b * (p->capacity[2] + 1);

	memset(row, 0, sizeof(row));
	for (int j = 0; j < p->n_jobs; j++)
		for (int s = 0; s < states; s++) {
			int left[] = { s % a, s / a % b, s / a / b };
			int step[] = { 1, a, a * b };
			double best = row[j & 1][s];

			for (int at = 1; at <= p->n_devices; at++) {
				int n, k = kind_of(p, at, &n);

				if (n <= left[k])
					best = fmax(best, p->value[j][at] +
								  row[j & 1][s - n * step[k]]);
			}
			row[!(j & 1)][s] = best;
		}
	return row[p->n_jobs & 1][states - 1];
}

static void test_prices(void)
{
	uint64_t random = 2;
	int wrong = 0, loose = 0;

	for (int n = 0; n < 12; n++) {
		struct problem p;
		int at[WIDE_JOBS];
		double gap, best, found;

		draw_problem(&random, &p, WIDE_JOBS, 3, 19);
		p.capacity[0] += 19 - p.capacity[0];
		p.capacity[1] = p.capacity[2] = 19;
		p.n_devices = 57;
		for (int j = 0; j < WIDE_JOBS; j++)
			for (int i = 1, k; i <= p.n_devices; i++) {
				k = (i - 1) / 19;
				p.value[j][i] = 3 * (1 + j % 5) *
						pow((i - 19 * k) * (1 + k * (j % 3)), 0.6) +
						case_uniform(&random);
			}
		allocation_best(p.jobs, p.n_jobs, p.capacity, 3, at, &gap);
		best = exact(&p);
		found = worth(&p, at);
		wrong += !(found <= best * (1 + 1e-9)) || !(best <= found * (1 + gap) + 1e-9);
		loose += !(found >= 0.995 * best);
	}
	is_int(wrong, 0, "problems of 8,000 states are solved within the reported gap");
	is_int(loose, 0, "problems of 8,000 states are solved within 0.5 % of the best");
}

/* --- policies on any input --- */

struct any {
	uint64_t random;
	struct sched_job jobs[JOBS];
	double goodput[JOBS][SCHED_KINDS][12];
	struct sched_input in;
	struct sched_choice choices[JOBS];
};

static void draw_input(struct any *a)
{
	uint64_t random = a->random, *x = &a->random;
	int held[SCHED_KINDS] = { 0 };

	*a = (struct any){ .random = random };
	a->in = (struct sched_input){
		.jobs = a->jobs, .n_jobs = JOBS, .now_s = 1e4, .slice_s = 600,
		.n_kinds = 2 + case_below(x, 2),
	};
	for (int k = 0; k < a->in.n_kinds; k++)
		a->in.kinds[k] = (struct sched_kind){ 1 + case_below(x, 4), 0, "kind" };
	for (int i = 0; i < JOBS; i++) {
		struct sched_job *job = &a->jobs[i];
		int kind = case_below(x, a->in.n_kinds);
		int left = a->in.kinds[kind].n_devices - held[kind];

		*job = (struct sched_job){
			.id = i + 1, .min_replicas = 1 + case_below(x, 3), .weight = 1,
			.preemptible = case_below(x, 4) > 0, .kind = kind,
			.submitted_s = 1e4 * case_uniform(x), .goodput_now = (double)NAN,
			.waiting_since_s = case_below(x, 3) ? 1e4 * case_uniform(x) : -1e9,
			.restart_s = 60 * case_uniform(x), .remaining_samples = (double)NAN,
		};
		job->max_replicas = job->min_replicas + case_below(x, 5);
		if (case_below(x, 2) && left >= job->min_replicas) {
			job->replicas = left < job->max_replicas ? left : job->max_replicas;
			job->launched_s = 1e4 - 2e3 * case_uniform(x);
			held[kind] += job->replicas;
		} else {
			job->offers[kind].barred = !case_below(x, 3);
			job->first = case_below(x, 8) ? 0 : 1;
		}
		for (int k = 0; k < a->in.n_kinds; k++)
			for (int r = 1; r <= job->max_replicas; r++)
				a->goodput[i][k][r] = (1 + 9 * case_uniform(x)) * sqrt(r);
		for (int k = 0; i % 2 && k < a->in.n_kinds; k++)
			if (k == job->kind || case_below(x, 3))
				job->offers[k] = (struct sched_offers){
					job->offers[k].barred, 11, { a->goodput[i][k] }, { NULL },
				};
		if (case_below(x, 2))
			job->remaining_samples = 1e4 * case_uniform(x);
	}
}

/* True if another job is before the job in line for the kind. */
static bool is_behind(const struct any *a, int job, int kind)
{
	const struct sched_job *behind = &a->jobs[job];

	for (int i = 0; i < JOBS; i++) {
		const struct sched_job *j = &a->jobs[i];
		bool before = j->first != behind->first ? j->first > behind->first
							: j->id < behind->id;

		if (before && !a->choices[i].replicas && !j->offers[kind].barred &&
		    j->min_replicas <= a->in.kinds[kind].n_devices)
			return true;
	}
	return false;
}

/* True if no job waits for devices that are free, but behind others that may have them. */
static bool leaves_none_idle(const struct any *a, const int *left)
{
	for (int i = 0; i < JOBS; i++)
		for (int k = 0; k < a->in.n_kinds && !a->choices[i].replicas; k++)
			if (!a->jobs[i].offers[k].barred &&
			    a->jobs[i].min_replicas <= left[k] && !is_behind(a, i, k))
				return false;
	return true;
}

static bool holds(const struct policy *policy, struct any *a, bool blind)
{
	int left[SCHED_KINDS];
	bool right = true;

	for (int k = 0; k < a->in.n_kinds; k++)
		left[k] = a->in.kinds[k].n_devices;
	policy_decide(policy, &a->in, blind, a->choices);
	for (int i = 0; i < JOBS; i++) {
		const struct sched_job *job = &a->jobs[i];
		const struct sched_choice *c = &a->choices[i];
		bool stays = c->replicas == job->replicas && c->kind == job->kind;

		if (!c->replicas)
			continue;
		left[c->kind] -= c->replicas;
		right = right && said(c)[0] &&
			(stays || (c->replicas >= job->min_replicas &&
				   c->replicas <= job->max_replicas &&
				   !job->offers[c->kind].barred));
	}
	for (int i = 0; i < JOBS; i++)
		if (!a->jobs[i].preemptible && a->jobs[i].replicas)
			right = right && a->choices[i].replicas == a->jobs[i].replicas &&
				a->choices[i].kind == a->jobs[i].kind;
	for (int k = 0; k < a->in.n_kinds; k++)
		right = right && left[k] >= 0;
	return right && (policy != &policy_fifo || leaves_none_idle(a, left));
}

static void test_policies(void)
{
	for (int p = 0; p < n_policies; p++) {
		struct any a = { .random = 5 };
		char what[128];
		int wrong = 0;

		for (int n = 0; n < CASES; n++) {
			draw_input(&a);
			wrong += !holds(policies[p], &a, n % 2);
		}
		snprintf(what, sizeof(what), "%s gives nothing out twice, in 3,000 inputs%s",
			 policies[p]->name, policies[p] == &policy_fifo ?
			 ", and leaves none idle" : "");
		is_int(wrong, 0, what);
	}
}

/* --- who gets what --- */

/* Two slow devices and two fast ones: the first job gains 2x from the fast ones, the other 10x. */
static void test_gain(const struct policy *policy)
{
	static const double slow[] = { 0, 1, 1.2 }, twice[] = { 0, 2, 2.4 }, ten[] = { 0, 10, 12 };
	struct sched_job jobs[2];
	struct sched_choice choices[2];
	struct sched_input in = {
		.jobs = jobs, .n_jobs = 2, .now_s = 1000, .slice_s = 600,
		.n_kinds = 2, .kinds = { { 2, 0, "slow" }, { 1, 0, "fast" } },
	};

	for (int i = 0; i < 2; i++)
		jobs[i] = (struct sched_job){
			.id = i + 1, .min_replicas = 1, .max_replicas = 2, .weight = 1,
			.preemptible = true, .goodput_now = (double)NAN, .restart_s = 10,
			.remaining_samples = (double)NAN,
			.offers = { offers_of(2, slow), offers_of(2, i ? ten : twice) },
		};
	policy_decide(policy, &in, false, choices);
	ok(choices[1].kind == 1 && choices[1].replicas == 1,
	   "the job that gains 10x gets the fast device");
	ok(choices[0].kind == 0 && choices[0].replicas >= 1,
	   "the job that gains 2x gets a slow device");
	ok(strstr(said(&choices[1]), "fast"), "the reason names the kind");
	jobs[1].offers[1].barred = true;
	policy_decide(policy, &in, false, choices);
	ok(choices[1].kind == 0 && choices[0].kind == 1,
	   "a job does not get a kind that it must not have");
}

/* --- jobs that may not have each kind --- */

enum { FAST, SLOW };

static struct sched_job job_with(int64_t id, int least, unsigned barred, int replicas, int kind)
{
	return (struct sched_job){
		.id = id, .min_replicas = least, .max_replicas = least, .weight = 1,
		.offers = { { .barred = barred & 1U << FAST }, { .barred = barred & 1U << SLOW } },
		.replicas = replicas, .kind = kind, .launched_s = 100,
		.attained_service_device_s = replicas ? 900 : 0, .submitted_s = (double)id,
		.goodput_now = (double)NAN, .restart_s = 10, .remaining_samples = (double)NAN,
	};
}

/* Decides on so many fast and slow devices; is says where each job is: "f", "ss", "-". */
static void placed(const struct policy *policy, struct sched_job *jobs, int n_jobs, int n_fast,
		   int n_slow, const char *is, const char *what)
{
	struct sched_choice choices[8];
	struct sched_input in = {
		.jobs = jobs, .n_jobs = n_jobs, .now_s = 1000,
		.slice_s = 600, .n_kinds = 2,
		.kinds = { { n_fast, 0, "fast" }, { n_slow, 0, "slow" } },
	};
	char got[64] = "", name[128];

	policy_decide(policy, &in, false, choices);
	for (int j = 0; j < n_jobs; j++) {
		size_t n = strlen(got);

		if (n + 4 > sizeof(got))
			break;
		if (j)
			got[n++] = ' ';
		got[n++] = "-sf"[choices[j].replicas == 0 ? 0 : choices[j].kind == FAST ? 2 : 1];
		if (choices[j].replicas == 2)
			got[n++] = '2';
		got[n] = '\0';
		if (!said(&choices[j])[0])
			strcpy(got, "no reason");
	}
	snprintf(name, sizeof(name), "%s: %s", policy->name, what);
	is_str(got, is, name);
}

/* A job of two devices that may not have the kind of which there are two. */
static void test_told_why(const struct policy *policy)
{
	static char name[100];
	struct sched_job jobs[] = { job_with(1, 2, 1U << SLOW, 0, 0), job_with(2, 1, 0, 1, SLOW) };
	struct sched_choice choices[2];
	struct sched_input in = {
		.jobs = jobs, .n_jobs = 1, .now_s = 1000, .slice_s = 600, .n_kinds = 2,
		.kinds = { { 1, 0, "fast" }, { 2, 0, "slow" } },
	};

	policy_decide(policy, &in, false, choices);
	snprintf(name, sizeof(name), "%s: a barred job is told how many it may have, not that "
		 "other jobs have all", policy->name);
	is_str(said(&choices[0]), "needs 2 devices; 1 can be used here", name);
	jobs[0].offers[FAST].barred = true;
	policy_decide(policy, &in, false, choices);
	snprintf(name, sizeof(name), "%s: a job that is barred from all kinds is told so",
		 policy->name);
	is_str(said(&choices[0]), "needs 2 devices; none can be used here", name);
	jobs[0] = job_with(1, 4, 0, 0, 0);
	policy_decide(policy, &in, false, choices);
	snprintf(name, sizeof(name), "%s: a job that is larger than all kinds together is told "
		 "how many there are", policy->name);
	is_str(said(&choices[0]), "needs 4 devices; 3 can be used here", name);
	jobs[0] = job_with(1, 3, 0, 0, 0);
	for (in.n_jobs = 1; in.n_jobs <= 2; in.n_jobs++) {
		policy_decide(policy, &in, false, choices);
		snprintf(name, sizeof(name), "%s: a job that is larger than each kind is told so, "
			 "with %d beside it", policy->name, in.n_jobs - 1);
		is_str(said(&choices[0]),
		       "needs 3 devices of one kind; no kind here has more than 2", name);
		ok(isnan(choices[0].next_start_s), "no time is told for what never comes");
	}
}

static void test_bars(const struct policy *policy)
{
	struct sched_job jobs[5];

	jobs[0] = job_with(1, 1, 1U << FAST, 0, 0);
	placed(policy, jobs, 1, 1, 1, "s", "a job that may not have the first kind has the other");
	jobs[0] = job_with(1, 1, 1U << FAST | 1U << SLOW, 0, 0);
	placed(policy, jobs, 1, 1, 1, "-", "a job that may have no kind waits");
	jobs[0] = job_with(1, 1, 0, 1, FAST);
	jobs[1] = job_with(2, 1, 1U << SLOW, 0, 0);
	jobs[2] = job_with(3, 1, 0, 0, 0);
	placed(policy, jobs, 3, 1, 1, "f - s",
	       "a job behind one of a busy kind has the other kind");
	jobs[0] = job_with(1, 2, 0, 2, FAST);
	jobs[1] = job_with(2, 2, 0, 0, 0);
	jobs[2] = job_with(3, 1, 0, 0, 0);
	placed(policy, jobs, 3, 2, 1, "f2 - s",
	       "a job behind one that is too wide has the other kind");
	jobs[0] = job_with(1, 3, 0, 0, 0);
	jobs[1] = job_with(2, 1, 0, 0, 0);
	jobs[2] = job_with(3, 2, 0, 0, 0);
	placed(policy, jobs, 3, 2, 2, "- f s2", "nobody waits behind a job that fits on no kind");
	jobs[0] = job_with(1, 1, 0, 1, FAST);
	jobs[1] = job_with(2, 1, 1U << SLOW, 0, 0);
	jobs[2] = job_with(3, 1, 1U << SLOW, 0, 0);
	jobs[3] = job_with(4, 1, 1U << FAST, 0, 0);
	jobs[4] = job_with(5, 1, 1U << FAST, 0, 0);
	placed(policy, jobs, 5, 1, 2, "f - - s s", "each kind has its own line");
}

/* The waiting job has had least, and may have the kind alone that is not the most served one's. */
static void test_turns_on_a_kind(void)
{
	struct sched_job jobs[3] = {
		job_with(1, 1, 0, 1, FAST), job_with(2, 1, 0, 1, SLOW),
		job_with(3, 1, 1U << SLOW, 0, 0),
	};

	jobs[0].preemptible = jobs[1].preemptible = jobs[2].preemptible = true;
	jobs[1].attained_service_device_s = 5000;
	placed(&policy_las, jobs, 3, 1, 1, "- s f",
	       "a job has its turn on a kind that it may have");
	jobs[2].offers[FAST].barred = jobs[2].offers[SLOW].barred = false;
	placed(&policy_las, jobs, 3, 1, 1, "f - s",
	       "a job that may have each kind has that of the job with most");
}

/* A job that is put first, or came first, is not overtaken on a kind that it may have. */
static void test_line_on_a_kind(void)
{
	struct sched_job jobs[3] = {
		job_with(1, 1, 0, 1, FAST), job_with(2, 2, 1U << SLOW, 0, 0),
		job_with(3, 1, 0, 0, 0),
	};

	placed(&policy_fifo, jobs, 3, 2, 1, "f - s", "a free device is kept for the first job");
	jobs[2].offers[SLOW].barred = true;
	placed(&policy_fifo, jobs, 3, 2, 1, "f - -",
	       "a device is kept for the first where the next has no other kind");
}

/* --- offers --- */

static void test_offers(void)
{
	static const double rates[] = { 0, 10, 20 }, bytes[] = { 0, 1e9, 2e9 };
	struct sched_job job = { .memory_bytes = 5e9, .offers = { offers_of(2, rates) } };

	near(offers_at(&job, 0, 0, 2).goodput, 20, 1e-9, "the last offer of a kind is told");
	ok(isnan(offers_at(&job, 0, 0, 3).goodput) && isnan(offers_at(&job, 0, 0, -1).goodput),
	   "beyond its offers a job has no goodput");
	ok(isnan(offers_at(&job, 1, 0, 1).goodput),
	   "of a kind without offers a job has no goodput");
	ok(isnan(offers_at(&job, 0, 1, 1).goodput),
	   "in a leaner way without offers a job has no goodput");
	near(offers_at(&job, 0, 0, 1).host_bytes, 5e9, 1,
	     "an offer has the job's own memory while no other is told");
	job.offers[0].host_bytes[0] = bytes;
	near(offers_at(&job, 0, 0, 1).host_bytes, 1e9, 1,
	     "an offer has the memory told for so many devices");
	ok(isnan(offers_at(&job, 0, 0, 3).host_bytes), "beyond the offers the memory is not known");
}

/* A policy that knows no kinds is told what a job makes of the kind that it has or would have. */
static void test_merged(void)
{
	static const double slow[] = { 0, 1, 2 }, fast[] = { 0, 9, 18 };
	struct sched_job jobs[] = {
		{ .kind = SLOW, .replicas = 1,
		  .offers = { offers_of(2, fast), offers_of(2, slow) } },
		{ .kind = SLOW, .offers = { offers_of(2, fast), { .barred = true } } },
		{ .offers = { { .barred = true }, { .barred = true } } },
	};
	struct sched_input in = {
		.jobs = jobs, .n_jobs = 3, .n_kinds = 2,
		.kinds = { { 8, 4, "fast" }, { 6, 2, "slow" } },
	};
	struct sched_job merged[3];
	struct sched_input one = sched_merge_kinds(&in, merged);

	is_int(one.n_kinds, 1, "merged kinds are one kind");
	is_int(one.kinds[0].n_devices, 14, "the merged kind has the devices of all kinds");
	is_int(one.kinds[0].devices_per_node, 2, "the merged kind has nodes of the smallest size");
	ok(one.jobs == merged && merged[0].kind == 0,
	   "the jobs of merged kinds are copies on the one kind");
	ok(merged[0].offers[0].goodput[0] == slow, "a run is judged by the kind that it has");
	ok(merged[1].offers[0].goodput[0] == fast && !merged[1].offers[0].barred,
	   "a job that is barred from its kind is judged by the one that it may have");
	ok(merged[2].offers[0].barred, "a job that is barred from all kinds has none");
}

int main(void)
{
	test_search();
	test_prices();
	test_policies();
	test_gain(&policy_goodput);
	test_gain(&policy_sia);
	for (int p = 0; p < n_policies; p++) {
		test_bars(policies[p]);
		test_told_why(policies[p]);
	}
	test_turns_on_a_kind();
	test_line_on_a_kind();
	test_offers();
	test_merged();
	return done();
}
