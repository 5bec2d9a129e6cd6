/* The policy by goodput over many passes: random mixes of jobs that come, learn, grow and end, held
 * to the rules and to the bound on waiting that policy.h states; that it rotates; that it does not
 * thrash. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define SLICE_S 600.0
#define RUN_JOBS 24
#define RUN_MAX 16

struct run_job {
	struct sched_job job;
	double truth[RUN_MAX + 1];	/* goodput */
	double known[RUN_MAX + 1];	/* what the policy is told of it */
	int largest;			/* replicas it ever ran on */
	double lost_s;			/* of the restart to come */
	double work;			/* samples; ends then */
	bool tells;			/* its remaining work */
	bool here;
	double limit_s;			/* B at its largest since it waits */
	double turn_s;			/* L likewise */
	int before;			/* jobs that have waited longer */
	double gathered_s;		/* what the last pass told, if it was gathering then */
	double told_limit_s;		/* B at that time */
	/* when it starts as a slice ends then, as it was told; NaN: it was not */
	double slice_end_s;
	/* the latest start that it was told; NaN: none, or by the end of another */
	double told_by_s;
};

struct run {
	uint64_t random;
	struct run_job jobs[RUN_JOBS];
	int n_jobs, n_devices, per_node;
	/* the time between passes is in [pass_s / 2, pass_s] */
	double now_s, previous_s, pass_s;
	bool fixed;			/* some are not preemptible: no bound holds */
	bool steady;			/* nobody comes, nobody ends */
	double worst;			/* longest wait / bound */
	int launches, waits, gathered;
	int slices_kept, slices_broken;	/* starts told by the end of a slice */
	const char *fault;		/* the first rule broken */
	double fault_s;
};

static void require(struct run *s, bool holds, const char *rule)
{
	if (holds || s->fault)
		return;
	s->fault = rule;
	s->fault_s = s->now_s;
}

static struct sched_input input_of(const struct run *s, const struct sched_job *jobs, int n)
{
	return (struct sched_input){ .jobs = jobs, .n_jobs = n, .now_s = s->now_s,
				     .slice_s = SLICE_S,
				     SCHED_ONE_KIND(s->n_devices, s->per_node) };
}

static void draw_job(struct run *s, int i)
{
	static const double weights[] = { 0.5, 1, 1, 1, 2, 3 },
			    restart_s[] = { 120, 120, 120, 900 };
	struct run_job *j = &s->jobs[i];
	uint64_t *x = &s->random;

	*j = (struct run_job){ .here = s->steady,
			       .tells = case_below(x, 2),
			       .gathered_s = (double)NAN,
			       .told_by_s = (double)NAN,
			       .slice_end_s = (double)NAN };
	j->job = (struct sched_job){
		.id = i + 1,
		.min_replicas = 1,
		.weight = weights[case_below(x, 6)],
		.preemptible = !s->fixed || case_below(x, 5),
		.restart_s = restart_s[case_below(x, 4)] * case_uniform(x),
		.goodput_now = (double)NAN,
		.remaining_samples = (double)NAN,
		.remaining_spread = case_below(x, 4) > 0,
	};
	if (!case_below(x, 3))
		j->job.min_replicas = 1 + case_below(x, s->n_devices);
	if (!case_below(x, 20))
		j->job.min_replicas = s->n_devices + 1;
	j->job.max_replicas = j->job.min_replicas + case_below(x, 2) * case_below(x, 8);
	case_curve(x, j->job.max_replicas, j->truth);
	j->work = 1 +
		  samples_100_s(j->truth, j->job.max_replicas) * pow(10, 3 * case_uniform(x) - 0.5);
}

static void run_init(struct run *s, uint64_t seed)
{
	static const int per_node[] = { 0, 0, 2, 4 };

	*s = (struct run){ .random = seed };
	s->n_devices = 1 + case_below(&s->random, 8);
	s->per_node = per_node[case_below(&s->random, 4)];
	s->n_jobs = 2 + case_below(&s->random, RUN_JOBS - 2);
	s->pass_s = SLICE_S / (1 + case_below(&s->random, 10));
	s->fixed = !case_below(&s->random, 4);
	s->steady = !s->fixed && !case_below(&s->random, 3);
	for (int i = 0; i < s->n_jobs; i++)
		draw_job(s, i);
}

static void advance(struct run *s)
{
	double dt = s->pass_s * (0.5 + 0.5 * case_uniform(&s->random));

	s->previous_s = s->now_s;
	s->now_s += dt;
	for (int i = 0; i < s->n_jobs; i++) {
		struct run_job *j = &s->jobs[i];
		double lost_s = fmin(j->lost_s, dt);

		if (!j->here || !j->job.replicas)
			continue;
		j->lost_s -= lost_s;
		j->job.attained_service_device_s += dt * j->job.replicas;
		if (!s->steady && !isnan(j->truth[j->job.replicas]))
			j->work -= (dt - lost_s) * j->truth[j->job.replicas];
		if (j->work <= 0)
			j->here = false;
	}
}

static void arrive(struct run *s)
{
	for (int i = 0; i < s->n_jobs; i++) {
		struct run_job *j = &s->jobs[i];

		if (j->work <= 0 || (j->here && s->now_s > s->previous_s && s->previous_s > 0))
			continue;
		if (!j->here && case_below(&s->random, 8))
			continue;
		if (!j->here || s->previous_s <= 0)
			j->job.submitted_s = j->job.waiting_since_s = s->now_s;
		j->here = true;
	}
}

/* Nothing before it ran, then up to twice what it ran on; in a third of the jobs all from the
 * start. */
static void learn(struct run_job *j)
{
	int reach = j->job.id % 3 ? 2 * j->largest : RUN_MAX;

	for (int r = 0; r <= j->job.max_replicas; r++)
		j->known[r] = r <= reach || r == j->job.min_replicas ? j->truth[r] : (double)NAN;
	j->job.offers[0] = offers_of(j->job.max_replicas, reach ? j->known : NULL);
	j->job.remaining_samples = reach && j->tells ? j->work : (double)NAN;
}

static void check_choice(struct run *s, const struct sched_input *in, int i,
			 const struct sched_choice *c)
{
	const struct sched_job *job = &in->jobs[i];
	double ran_s = s->now_s - job->launched_s;
	double settles_s = fmax(3 * job->restart_s, SLICE_S / 10);
	bool slice = job->replicas && ran_s < case_run_slice_s(in, job);
	bool overdue = job->launched_s - job->waiting_since_s >= case_limit_s(in, job);
	bool known = !isnan(job->remaining_samples) && !(job->remaining_spread > 0) &&
		     !overdue && ran_s >= settles_s;

	require(s, job->preemptible || !job->replicas || c->replicas == job->replicas,
		"what is not preemptible is not touched");
	require(s, !slice || known || c->replicas || job->restart_s < SLICE_S / 50,
		"nobody of unknown length is stopped within its slice, if that costs more than a "
		"suspension");
	require(s,
		!c->replicas || c->replicas == job->replicas ||
			case_startable(in, job, c->replicas),
		"only what it may be given");
	require(s, strlen(said(c)) < VERDICT_SIZE && *said(c), "a reason");
	require(s, strlen(said(c)) <= 110, "a short reason");
	require(s, isnan(c->next_start_s) || (!c->replicas && c->next_start_s >= s->now_s),
		"the next start is not in the past");
	require(s, !c->reconfigure, "nothing to reconfigure");
}

static bool same_choice(const struct sched_choice *a, const struct sched_choice *b)
{
	return a->replicas == b->replicas && !strcmp(said(a), said(b)) &&
	       (a->next_start_s == b->next_start_s ||
		(isnan(a->next_start_s) && isnan(b->next_start_s)));
}

static bool has_run(const struct sched_job *job)
{
	return job->replicas > 0 || job->attained_service_device_s > 0;
}

/* The order of the input does not matter; what was decided stays decided. */
static void check_again(struct run *s, const struct sched_input *in,
			const struct sched_choice *choices)
{
	struct sched_job jobs[RUN_JOBS] = { 0 };
	struct sched_choice again[RUN_JOBS];
	struct sched_input other = input_of(s, jobs, in->n_jobs);
	bool same = true, stable = true;

	for (int i = 0; i < in->n_jobs; i++)
		jobs[i] = in->jobs[in->n_jobs - 1 - i];
	policy_goodput.decide(&other, again);
	for (int i = 0; i < in->n_jobs; i++)
		same = same && same_choice(&choices[i], &again[in->n_jobs - 1 - i]);
	require(s, same, "the order of the input does not matter");

	for (int i = 0; i < in->n_jobs; i++) {
		jobs[i] = in->jobs[i];
		if (jobs[i].replicas && jobs[i].replicas != choices[i].replicas)
			jobs[i].waiting_since_s = s->now_s;
		if (jobs[i].replicas != choices[i].replicas) {
			jobs[i].launched_s = s->now_s;
			jobs[i].restarts += choices[i].replicas && has_run(&jobs[i]);
		}
		jobs[i].replicas = choices[i].replicas;
	}
	policy_goodput.decide(&other, again);
	for (int i = 0; i < in->n_jobs; i++)
		stable = stable && same_choice(&choices[i], &again[i]);
	require(s, stable, "what was decided stays decided, reasons too");
}

static int longer_waiting(const struct sched_input *in, const struct sched_job *w)
{
	int n = 0;

	for (int i = 0; i < in->n_jobs; i++)
		n += !in->jobs[i].replicas && in->jobs[i].id != w->id &&
		     case_least(in, &in->jobs[i]) &&
		     in->jobs[i].waiting_since_s <= w->waiting_since_s;
	return n;
}

static void follow_waiting(struct run *s, struct run_job *j, const struct sched_input *in,
			   double limit, const struct sched_choice *c)
{
	double waited_s = s->now_s - j->job.waiting_since_s, bound_s;

	j->limit_s = fmax(j->limit_s, limit);
	j->turn_s = fmax(j->turn_s, case_turn_s(in));
	if (!j->before || waited_s < j->limit_s)
		j->before = longer_waiting(in, &j->job);
	bound_s = j->limit_s + s->pass_s + (j->before + 1) * (j->turn_s + s->pass_s);
	require(s, s->fixed || waited_s <= bound_s, "every job starts within the bound");
	if (!s->fixed)
		s->worst = fmax(s->worst, waited_s / bound_s);
	require(s,
		!s->steady || !(s->now_s > j->told_by_s + (j->before + 2) * s->pass_s) ||
			c->replicas,
		"it starts by the time it was told");
	if (s->steady && s->now_s >= j->slice_end_s) {
		*(c->replicas ? &s->slices_kept : &s->slices_broken) += 1;
		j->slice_end_s = (double)NAN;
	}
	if (!c->replicas && strstr(said(c), "to end "))
		j->slice_end_s = c->next_start_s;
	if (!c->replicas && !strstr(said(c), " job ") && !strstr(said(c), " jobs ") &&
	    !strstr(said(c), "waited over"))
		j->told_by_s = c->next_start_s;
	if (!c->replicas) {
		j->told_limit_s = limit;
		j->gathered_s = strstr(said(c), "gathers") || strstr(said(c), "lets")
					? c->next_start_s
					: (double)NAN;
		return;
	}
	s->waits++;
	if (!isnan(j->gathered_s) && s->steady && limit <= j->told_limit_s) {
		s->gathered++;
		require(s, j->gathered_s <= s->now_s && j->gathered_s >= s->previous_s,
			"one that gathers starts at the pass after it was told to");
	}
	j->limit_s = j->turn_s = j->before = 0;
	j->gathered_s = j->told_by_s = j->slice_end_s = (double)NAN;
}

static void apply(struct run *s, struct run_job *j, int replicas)
{
	if (replicas == j->job.replicas)
		return;
	if (j->job.replicas)
		j->job.waiting_since_s = s->now_s;
	if (replicas) {
		j->job.restarts += j->job.replicas > 0 || j->largest;
		j->job.launched_s = s->now_s;
		j->lost_s = j->job.restart_s;
		s->launches++;
	}
	j->job.replicas = replicas;
	j->largest = replicas > j->largest ? replicas : j->largest;
}

static void pass(struct run *s)
{
	struct sched_job jobs[RUN_JOBS];
	struct sched_choice choices[RUN_JOBS];
	int of[RUN_JOBS] = { 0 }, n = 0, left = s->n_devices;
	struct sched_input in;

	for (int i = 0; i < s->n_jobs; i++) {
		if (!s->jobs[i].here)
			continue;
		learn(&s->jobs[i]);
		of[n] = i;
		jobs[n++] = s->jobs[i].job;
	}
	in = input_of(s, jobs, n);
	policy_goodput.decide(&in, choices);
	for (int i = 0; i < n; i++) {
		check_choice(s, &in, i, &choices[i]);
		left -= choices[i].replicas;
		if (!jobs[i].replicas && case_least(&in, &jobs[i]))
			follow_waiting(s, &s->jobs[of[i]], &in, case_limit_s(&in, &jobs[i]),
				       &choices[i]);
	}
	require(s, left >= 0, "no more devices than there are");
	check_again(s, &in, choices);
	for (int i = 0; i < n; i++)
		apply(s, &s->jobs[of[i]], choices[i].replicas);
}

static void test_at_random(void)
{
	int broken = 0, launches = 0, waits = 0, gathered = 0, fixed_mixes = 0, slices_kept = 0,
	    slices_broken = 0;
	double worst = 0;

	for (uint64_t seed = 1; seed <= RANDOM_CASES(1000); seed++) {
		struct run s;

		run_init(&s, seed);
		for (int n = 0; n < 600 && !s.fault; n++) {
			advance(&s);
			arrive(&s);
			pass(&s);
		}
		if (s.fault && broken < 5)
			printf("# seed %llu, at %.0f s: broken: %s\n", (unsigned long long)seed,
			       s.fault_s, s.fault);
		broken += s.fault != NULL;
		launches += s.launches;
		waits += s.waits;
		gathered += s.gathered;
		fixed_mixes += s.fixed;
		slices_kept += s.slices_kept;
		slices_broken += s.slices_broken;
		worst = fmax(worst, s.worst);
	}
	is_int(broken, 0, "random mixes over 600 passes keep every rule and the bound");
	printf("# %d launches, %d waits, %d after gathering in steady mixes; the longest was %.2f "
	       "of its "
	       "bound; %d mixes with jobs that are not preemptible\n",
	       launches, waits, gathered, worst, fixed_mixes);
	printf("# told that they start as a slice ends: %d did, %d did not\n", slices_kept,
	       slices_broken);
	ok(slices_kept > RANDOM_CASES(70) && slices_broken < 4 + slices_kept / 5,
	   "jobs told to start as a slice ends mostly do");
	ok(launches > RANDOM_CASES(10000) && waits > RANDOM_CASES(10000) &&
	   gathered > RANDOM_CASES(100) && worst > 0.5, "the random mixes launch, wait and gather");
}

/* --- steady mixes, worked by hand --- */

static void steady(struct run *s, int n_jobs, int n_devices, double serial)
{
	*s = (struct run){ .random = 7, .n_jobs = n_jobs, .n_devices = n_devices, .pass_s = 60,
			   .steady = true };
	for (int i = 0; i < n_jobs; i++) {
		struct run_job *j = &s->jobs[i];

		j->job = (struct sched_job){
			.id = 3 * i + 3, .min_replicas = 1, .max_replicas = n_devices, .weight = 1,
			.preemptible = true, .restart_s = 30, .goodput_now = (double)NAN,
		};
		for (int r = 1; r <= n_devices; r++)
			j->truth[r] = 10 * r / (1 + serial * (r - 1));
		j->here = true;
		j->work = 1e9;
		j->gathered_s = j->told_by_s = j->slice_end_s = (double)NAN;
	}
}

static void day(struct run *s)
{
	for (int n = 0; n < 1920 && !s->fault; n++) {	/* 45 s each in the mean */
		advance(s);
		pass(s);
	}
}

static void test_rotation(void)
{
	struct run s;
	double least = HUGE_VAL, most = 0;

	steady(&s, 4, 2, 0.2);
	day(&s);
	for (int i = 0; i < 4; i++) {
		least = fmin(least, s.jobs[i].job.attained_service_device_s);
		most = fmax(most, s.jobs[i].job.attained_service_device_s);
	}
	printf("# 4 jobs, 2 devices: %d launches in a day, service %.0f to %.0f device-seconds\n",
	       s.launches, least, most);
	is_str(s.fault, NULL, "a day of more jobs than devices breaks no rule");
	ok(least > 0.8 * most, "equal jobs have equal service, to a fifth");
	ok(s.launches <= 2 * 86400 / 600 / 2,
	   "jobs run for two slices or more at a time on average");
}

/* On one device, beside a job of weight 1: what it has for each second of the other. */
static double service_by_weight(double weight)
{
	struct run s;

	steady(&s, 2, 1, 0);
	s.jobs[0].job.weight = weight;
	for (int n = 0; n < 4; n++)
		day(&s);
	is_str(s.fault, NULL, "a day with a weight breaks no rule");
	return s.jobs[0].job.attained_service_device_s / s.jobs[1].job.attained_service_device_s;
}

/* As pollux-submit(1) says. Bins of service double: of two equal jobs, one is ahead by a bin at
 * most, which is as much as the other has had. A job of much weight leaves the other a slice after
 * each wait of 24 rounds of two slices; the first of these slices is a short one. */
static void test_weights_are_no_shares(void)
{
	double equal = service_by_weight(1), hundred = service_by_weight(100);

	printf("# service beside a job of weight 1: %.2f with 1, %.2f with 100\n", equal, hundred);
	ok(equal > 0.5 && equal < 2, "jobs of equal weight have equal service, to a bin");
	near(service_by_weight(1000), hundred, 0.05,
	     "a weight of 1000 brings no more service than 100");
	ok(hundred > 45 && hundred < 65, "a weight of 100 brings about 48 slices to one");
}

/* Two jobs cannot halve three devices; a restart must not be paid again and again to try. */
static void test_no_thrashing(void)
{
	struct run s;

	steady(&s, 2, 3, 0.1);
	day(&s);
	is_str(s.fault, NULL, "a day of two jobs on three devices breaks no rule");
	printf("# 2 jobs, 3 devices: %d launches in a day\n", s.launches);
	ok(s.launches <= 12, "two jobs on three devices are hardly ever relaunched");

	steady(&s, 2, 4, 0.1);
	day(&s);
	is_int(s.launches, 2, "two jobs on four devices are launched once each");
}

/* Each half an hour one of 1600 s. */
static void add_short(struct run *s, struct run_job *j)
{
	j->here = true;
	j->work = 16000;
	j->job.replicas = j->largest = 0;
	j->job.waiting_since_s = s->now_s;
}

/* Beside short jobs that fill most of a device a long one is only ever given its slices as it is
 * overdue; with a restart that takes as long as the configured slice it would else come and go
 * without any work. */
static void slow_to_start(double restart_s)
{
	struct run s;
	struct run_job *slow = &s.jobs[0];

	steady(&s, 2, 1, 0);
	s.steady = s.jobs[1].here = false;
	slow->tells = s.jobs[1].tells = true;
	slow->job.restart_s = restart_s;
	slow->work = 300000;
	for (int n = 0; n < 4000 && !s.fault && slow->here; n++) {
		if (n % 40 == 0 && !s.jobs[1].here)
			add_short(&s, &s.jobs[1]);
		advance(&s);
		pass(&s);
	}
	is_str(s.fault, NULL, "a job of a slow restart breaks no rule");
	printf("# a restart of %.0f s: 30000 s of work in %.0f s, %.0f of them on the device, %d "
	       "launches\n",
	       restart_s, s.now_s, slow->job.attained_service_device_s, slow->job.restarts + 1);
	ok(!slow->here && slow->job.attained_service_device_s < 30000 / 0.6,
	   "a job of a slow restart works for 60 % of its time");
}

static void test_slow_restarts(void)
{
	slow_to_start(300);
	slow_to_start(600);
	slow_to_start(900);
}

/* A job that runs for days, and every half hour another of five minutes; nobody knows how long they
 * are. */
static void test_newcomers(void)
{
	struct run s;
	double longest_s = 0;

	steady(&s, 21, 1, 0.2);
	s.steady = false;
	for (int i = 1; i <= 20; i++) {
		s.jobs[i].here = false;
		s.jobs[i].work = 10 * 300;
	}
	for (int n = 0; n < 900 && !s.fault; n++) {
		int i = (int)((s.now_s - SLICE_S) / 1800) + 1;

		advance(&s);
		if (i >= 1 && i <= 20 && !s.jobs[i].here && s.jobs[i].work > 0) {
			s.jobs[i].here = true;
			s.jobs[i].job.submitted_s = s.jobs[i].job.waiting_since_s = s.now_s;
		}
		for (int k = 1; k <= 20; k++)
			if (s.jobs[k].here && !s.jobs[k].largest)
				longest_s = fmax(longest_s, s.now_s - s.jobs[k].job.submitted_s);
		pass(&s);
	}
	is_str(s.fault, NULL, "newcomers break no rule");
	printf("# 20 newcomers: %d launches; the first turn came after %.0f s at the latest\n",
	       s.launches, longest_s);
	ok(longest_s <= SLICE_S + s.pass_s,
	   "each newcomer has its first turn within a slice and a pass");
	is_int(s.launches, 41, "a long job is stopped once for each newcomer");
}

/* One of 12 h, one that needs both devices, and from then on one of 50 min each 40 min, so that
 * there is always one that waits. */
static void plain_jobs(struct run *s)
{
	steady(s, 24, 2, 0);
	s->steady = false;
	s->fixed = true;
	for (int i = 0; i < s->n_jobs; i++) {
		s->jobs[i].job.preemptible = s->jobs[i].here = false;
		s->jobs[i].job.max_replicas = 1;
		s->jobs[i].work = 10 * (i ? 3000 : 43200);
	}
	s->jobs[1].job.min_replicas = s->jobs[1].job.max_replicas = 2;
}

static void submit_plain(struct run *s)
{
	for (int i = 0; i < s->n_jobs; i++) {
		struct run_job *j = &s->jobs[i];

		if (j->here || j->largest || s->now_s < (i < 2 ? 100 * i : (i - 1) * 2400))
			continue;
		j->here = true;
		j->job.submitted_s = j->job.waiting_since_s = s->now_s;
	}
}

static void until_it_has_run(struct run *s, const struct run_job *j)
{
	while (!s->fault && s->now_s < 2 * 86400 && (j->here || !j->largest)) {
		submit_plain(s);
		advance(s);
		pass(s);
	}
}

/* Commands of unknown length that keep what they have run beside the first; when that has ended,
 * none but the one that runs comes before the wide one. */
static void test_plain(void)
{
	struct run s;
	double first_end_s, beside_s = 0;

	plain_jobs(&s);
	until_it_has_run(&s, &s.jobs[0]);
	first_end_s = s.now_s;
	for (int i = 2; i < s.n_jobs; i++)
		beside_s += s.jobs[i].job.attained_service_device_s;
	until_it_has_run(&s, &s.jobs[1]);
	is_str(s.fault, NULL, "plain jobs break no rule");
	printf("# 12 h of one job, %.0f s of others beside it; the wide one starts %.0f s later\n",
	       beside_s, s.jobs[1].job.launched_s - first_end_s);
	ok(beside_s > 30000, "no device is idle while a wide plain job could not start");
	ok(s.jobs[1].job.launched_s < first_end_s + 3000 + 30 + 60,
	   "a wide plain job waits for no other once it could start");
}

int main(void)
{
	test_at_random();
	test_rotation();
	test_weights_are_no_shares();
	test_newcomers();
	test_no_thrashing();
	test_slow_restarts();
	test_plain();
	return done();
}
