/* test_plan_tiers.c - a pass on devices that are joined alike decides as if nothing were known of
 * tiers; on two pairs a job waits, and is decided on without the devices that are kept. */
#define DEVICES 4
#define MOST_JOBS 48
#define DRAWN_JOBS 12
#include "drawn_snapshot.h"
#include "pass/actions.h"
#include "pollux/execution_plan.h"
#include "tap.h"
#include "words.h"

static bool same_number(double a, double b)
{
	return isnan(a) ? isnan(b) : a <= b && a >= b;
}

static bool same_decision(const struct decision *a, const struct decision *b)
{
	bool same = a->n == b->n;

	for (int i = 0; same && i < DEVICES; i++)
		same = a->owner[i] == b->owner[i];
	for (int j = 0; same && j < a->n; j++) {
		const struct sched_choice *x = &a->choices[j], *y = &b->choices[j];

		same = x->replicas == y->replicas && x->reconfigure == y->reconfigure &&
		       same_number(x->next_start_s, y->next_start_s) &&
		       !strcmp(said(x), said(y)) &&
		       same_number(a->sizes[j].goodput, b->sizes[j].goodput) &&
		       same_number(a->sizes[j].goodput_now, b->sizes[j].goodput_now) &&
		       configuration_equal(&a->sizes[j].configuration, &b->sizes[j].configuration);
	}
	return same;
}

/* What is known of the workload is known under plan dp as well. With both, plan zero takes twice as
 * long for a pass and has next to no synchronisation. */
static void with_plans(struct snapshot *s, struct job *job, bool both)
{
	const char *declared = both ? "dp=--dp\nzero=--zero" : "dp=--dp";
	scoped(execution_plans_release) struct execution_plans plans = { 0 };
	struct workload *w;
	struct err err;

	if (execution_plans_parse(declared, &plans, &err)) {
		ok(false, err.text);
		return;
	}
	w = s->workloads.items = xreallocarray(s->workloads.items, 3, sizeof(*w));
	for (int i = 0; i < plans.count; i++) {
		w[1 + i] = w[0];
		w[1 + i].name = execution_plan_workload("w", plans.items[i].name,
							plans.items[i].hash);
	}
	if (both) {
		struct throughput_params *zero = &w[2].k.model.fit.params;

		zero->alpha_grad *= 2;
		zero->beta_grad *= 2;
		zero->alpha_sync_local = 1e-3;
	}
	s->workloads.count += plans.count;
	job->declared.plans = xstrdup(declared);
	job->declared.suspend = SUSPEND_NEVER;
}

/* As drawn(); the first job of every second one has plans. */
static struct snapshot drawn_with_plans(uint64_t seed, int link)
{
	struct snapshot s = drawn(seed, link);

	if (seed % 2)
		return s;
	with_plans(&s, &s.jobs.items[0], true);
	for (int i = 0; i < s.runs.count; i++)
		if (s.runs.items[i].job_id == s.jobs.items[0].id)
			snprintf(s.runs.items[i].configuration.plan,
				 sizeof(s.runs.items[i].configuration.plan), "dp");
	return s;
}

static void test_one_tier(void)
{
	int n_same = 0, n_several = 0;

	for (uint64_t seed = 1; seed <= 200; seed++)
		for (int link = DEVICE_LINK_FAST; link <= DEVICE_LINK_MACHINE; link++) {
			struct snapshot without = drawn_with_plans(seed, -1);
			struct snapshot with = drawn_with_plans(seed, link);
			struct decision *a = pass_decide(&without), *b = pass_decide(&with);

			n_same += same_decision(a, b);
			for (int j = 0; j < a->n; j++)
				n_several += a->choices[j].replicas > 1;
			decision_free(a);
			decision_free(b);
			snapshot_free(&without);
			snapshot_free(&with);
		}
	is_int(n_same, 800, "every decision with one tier is as without tiers");
	ok(n_several > 400, "many decisions are about several devices");
}

/* A single on each pair, of which the first ends in so many seconds. */
static struct snapshot halves(double first_s)
{
	static const int on[] = { 0, 2 };
	struct snapshot s = snapshot_new(-2);

	add_workload(&s, TIER_FAST);
	for (int i = 0; i < 2; i++) {
		struct job *job = add_job(&s, 1, 1, (i ? 7200 : first_s) * 64 / .074);

		job->declared.preemption = PREEMPT_NEVER;
		job->declared.suspend = SUSPEND_NEVER;
		add_run(&s, job, on[i], 1, TIER_UNKNOWN);
	}
	return s;
}

static void test_waits(void)
{
	struct snapshot s = halves(60);
	struct decision *d;

	add_job(&s, 2, 2, 1e6);
	d = pass_decide(&s);
	is_int(d->choices[2].replicas, 0, "a job waits for the pair");
	ok(d->tiers->holds[2].waits && d->tiers->kept[1] && !d->tiers->kept[3],
	   "half of the pair is kept for the job that waits");
	is_int(strncmp(said(&d->choices[2]), "waits up to ", 12), 0,
	       "the reason tells that the job waits up to a time");
	decision_free(d);
	add_job(&s, 1, 1, 1e8);
	d = pass_decide(&s);
	is_int(d->owner[3], 3, "another job gets the device that is not kept");
	decision_free(d);
	snapshot_free(&s);
}

static void test_does_not_wait(void)
{
	struct snapshot s = halves(3600);
	struct config never = config;
	struct decision *d;

	add_job(&s, 2, 2, 1e6);
	d = pass_decide(&s);
	ok(d->owner[1] == 2 && d->owner[3] == 2, "a job does not wait an hour for a pair");
	is_int((int)d->sizes[2].configuration.tier, TIER_FAR,
	       "a run across pairs will know its tier");
	decision_free(d);
	snapshot_free(&s);
	s = halves(60);
	add_job(&s, 2, 2, 1e6);
	never.locality_wait_s = 0;
	s.config = &never;
	d = pass_decide(&s);
	ok(d->owner[1] == 2 && d->owner[3] == 2, "a job does not wait where nobody is to wait");
	decision_free(d);
	snapshot_free(&s);
}

static void test_grows(void)
{
	struct snapshot s = snapshot_new(-2);
	struct decision *d;
	struct job *job;

	add_workload(&s, TIER_FAST);
	for (int i = 0; i < 2; i++) {
		job = add_job(&s, 1, i ? 2 : 1, 1e7);
		job->declared.preemption = i ? PREEMPT_ALWAYS : PREEMPT_NEVER;
		job->declared.suspend = SUSPEND_NEVER;
		add_run(&s, job, i, 1, TIER_UNKNOWN);
	}
	d = pass_decide(&s);
	is_int(d->choices[1].replicas, 1, "a job does not grow across pairs, where it is slower");
	decision_free(d);
	snapshot_free(&s);
}

/* A job that accepts pairs alone waits; under a policy that tells no latest start, too, nothing is
 * kept for it while the other half of the pair is taken for long. */
static void test_demands(const char *policy)
{
	struct snapshot s = halves(3600);
	struct decision *d;
	struct job *job;

	s.policy = policy_find(policy);
	job = add_job(&s, 2, 2, 1e6);
	job->declared.worst_tier = TIER_FAST;
	d = pass_decide(&s);
	ok(d->choices[2].replicas == 0 && d->tiers->holds[2].waits,
	   "a job that accepts pairs alone waits");
	ok(!d->tiers->kept[1] && !d->tiers->kept[3],
	   "no device is kept idle for an hour for a waiting job");
	decision_free(d);
	snapshot_free(&s);
}

/* So many jobs accept pairs alone that deciding again for each of them takes many rounds. */
static void test_many_demand(void)
{
	struct snapshot s = halves(3600);
	struct decision *d;
	int n_given = 0;

	for (int i = 0; i < 40; i++)
		add_job(&s, 2, 2, 1e6)->declared.worst_tier = TIER_FAST;
	d = pass_decide(&s);
	for (int i = 0; i < DEVICES; i++)
		n_given += d->owner[i] >= 2;
	is_int(n_given, 0, "of forty demanding jobs none is given devices across pairs");
	decision_free(d);
	snapshot_free(&s);
}

/* --- jobs with plans --- */

/* The job runs in plan dp on two devices that are no pair. */
static void run_across(struct snapshot *s, struct job *job, int a, int b)
{
	struct run *run;

	add_run(s, job, a, 2, TIER_FAR);
	run = &s->runs.items[s->runs.count - 1];
	run->devices[1] = s->devices.items[b];
	snprintf(run->configuration.plan, sizeof(run->configuration.plan), "dp");
}

/* A job with a plan runs across pairs, and could have no pair: its goodput is what it has there,
 * which no relaunch changes. */
static void test_plan_stays(void)
{
	struct snapshot s = halves(7200);
	struct decision *d;
	struct job *job;

	job = add_job(&s, 2, 2, 1e7);
	with_plans(&s, job, false);
	run_across(&s, job, 1, 3);
	d = pass_decide(&s);
	is_int(d->choices[2].replicas, 2, "a job with a plan goes on across pairs");
	ok(!d->choices[2].reconfigure, "a job with a plan is not relaunched across pairs");
	ok(d->sizes[2].goodput <= d->sizes[2].goodput_now,
	   "a job with a plan gains nothing by another configuration");
	ok(d->owner[1] == 2 && d->owner[3] == 2,
	   "a job with a plan stays on the devices that it has");
	decision_free(d);
	snapshot_free(&s);
}

static void test_plan_waits(void)
{
	struct snapshot s = halves(60);
	struct decision *d;

	with_plans(&s, add_job(&s, 2, 2, 1e6), false);
	d = pass_decide(&s);
	ok(d->choices[2].replicas == 0 && d->tiers->holds[2].waits,
	   "a job with a plan waits for the pair");
	is_int(strncmp(said(&d->choices[2]), "waits up to ", 12), 0,
	       "the reason tells that a job with a plan waits up to a time");
	decision_free(d);
	snapshot_free(&s);
	s = halves(3600);
	with_plans(&s, add_job(&s, 2, 2, 1e6), false);
	d = pass_decide(&s);
	ok(d->owner[1] == 2 && d->owner[3] == 2,
	   "a job with a plan does not wait an hour for a pair");
	decision_free(d);
	snapshot_free(&s);
}

static void test_plan_moves(void)
{
	struct snapshot s = snapshot_new(-2);
	struct decision *d;
	struct job *job;

	add_workload(&s, TIER_FAST);
	job = add_job(&s, 2, 2, 1e7);
	with_plans(&s, job, false);
	run_across(&s, job, 1, 2);
	d = pass_decide(&s);
	ok(d->choices[0].replicas == 2 && d->owner[0] == d->owner[1] && d->owner[2] == d->owner[3],
	   "a job with a plan moves to a pair that is free");
	is_int(strncmp(said(&d->choices[0]), "plan dp; moves to ", 18), 0,
	       "the reason tells that a job with a plan moves");
	is_int((int)d->sizes[0].configuration.tier, TIER_FAST,
	       "a run that moves to a pair will know its tier");
	decision_free(d);
	snapshot_free(&s);
}

/* Across pairs, another plan is best than on a pair. */
static void test_plan_by_tier(void)
{
	struct snapshot s = halves(7200);
	struct decision *d;

	with_plans(&s, add_job(&s, 2, 2, 1e6), true);
	d = pass_decide(&s);
	ok(d->owner[1] == 2 && d->owner[3] == 2, "a job with plans starts across pairs");
	is_str(d->sizes[2].configuration.plan, "zero",
	       "a job with plans starts in the plan that is best there");
	ok(strstr(said(&d->choices[2]), "plan zero (dp would be ") != NULL,
	   "the reason tells the plan that would be best on a pair");
	decision_free(d);
	snapshot_free(&s);
	s = snapshot_new(-2);
	add_workload(&s, TIER_FAST);
	with_plans(&s, add_job(&s, 2, 2, 1e6), true);
	d = pass_decide(&s);
	is_str(d->sizes[0].configuration.plan, "dp",
	       "a job on a pair starts in the plan that is best there");
	decision_free(d);
	snapshot_free(&s);
}

/* On a pair dp is best, and zero takes less of the host's memory. */
static void test_lean_plan_by_tier(void)
{
	struct snapshot s = halves(7200);
	struct decision *d;

	with_plans(&s, add_job(&s, 2, 2, 1e6), true);
	for (int i = 0; i < 2; i++) {
		struct knowledge *k = &s.workloads.items[1 + i].k;

		k->host_peaks = xcalloc(1, sizeof(*k->host_peaks));
		k->host_peaks[0] = (struct memory_peak){ 2, 32, i ? 1e9 : 2e9 };
		k->n_host_peaks = 1;
	}
	s.memory.total_bytes = (int64_t)1e11;
	s.host_needs = xcalloc(MOST_JOBS, sizeof(*s.host_needs));
	d = pass_decide(&s);
	ok(d->sched_jobs[2].offers[0].goodput[1][2] > 0 &&
	   d->sched_jobs[2].offers[0].goodput[1][2] <= d->sched_jobs[2].offers[0].goodput[0][2],
	   "a leaner plan across pairs is worth no more than the best there");
	decision_free(d);
	snapshot_free(&s);
}

/* --- runs that would be suspended, or are --- */

static const struct config suspending = {
	.slice_s = 600, .locality_wait_s = (double)INFINITY, .suspend_memory = .5,
};

/* A job has a run across two pairs that are free, on GPUs or on slots of the CPU. A turn suspends
 * the run. loses: a stop loses all that it did. */
static struct snapshot suspendable(const char *ids, bool loses)
{
	struct snapshot s = snapshot_new(-2);
	struct job *job;

	for (int i = 0; i < DEVICES; i++)
		snprintf(s.devices.items[i].id, sizeof(s.devices.items[i].id), "%s:%d", ids, i);
	s.config = &suspending;
	s.memory = (struct snapshot_memory){ .total_bytes = 1 << 30, .available_bytes = 1 << 30 };
	s.loses = xcalloc(MOST_JOBS, sizeof(*s.loses));
	s.loses[0] = loses;
	add_workload(&s, TIER_FAST);
	job = add_job(&s, 2, 2, 1e7);
	job->declared.suspend = SUSPEND_ALWAYS;
	add_run(&s, job, 1, 2, TIER_FAR);
	return s;
}

static struct snapshot suspended(const char *ids, bool loses)
{
	struct snapshot s = suspendable(ids, loses);

	s.runs.items[0].suspension = SUSPENSION_DONE;
	s.runs.items[0].suspended_boot_s = NOW_BOOT_S - 500;
	return s;
}

static const char *letter_of(enum action_kind kind)
{
	return kind == ACTION_STOP ? "s" : kind == ACTION_START ? "r"
	     : kind == ACTION_SUSPEND ? "p" : kind == ACTION_RESUME ? "c" : "";
}

/* The actions on the run, a letter each, and the devices that the decision gives the job. */
static char *letters_of(const struct snapshot *s)
{
	struct decision *d = pass_decide(s);
	struct actions *p = actions_of(s, d, verdict_words);
	struct text t = TEXT_INIT;

	for (int i = 0; i < p->count; i++)
		text_add(&t, letter_of(p->items[i].kind));
	for (int i = 0; i < DEVICES; i++)
		text_addf(&t, "%c", d->owner[i] == 0 ? '0' + i : '-');
	actions_free(p);
	decision_free(d);
	return text_detach(&t);
}

static void acts(struct snapshot s, const char *want, const char *name)
{
	autofree char *got = letters_of(&s);

	is_str(got, want, name);
	snapshot_free(&s);
}

static void test_suspends(void)
{
	struct snapshot s;
	struct job *job;

	acts(suspendable("cpu", false), "sr01--", "a run that saves is relaunched on a pair");
	acts(suspendable("cpu", true), "-12-", "a run that would lose its work stays across pairs");
	acts(suspended("gpu", false), "sr01--", "a suspended run is relaunched on a pair");
	acts(suspended("gpu", true), "c-12-", "a suspended run goes on where its memory is");
	acts(suspended("cpu", true), "c01--",
	     "a suspended run on slots goes on on a pair in place");
	s = suspended("cpu", true);
	s.jobs.items[0].declared.worst_tier = TIER_FAST;
	s.workloads.items[0].measured = false;
	acts(s, "c01--", "a suspended run of unknown speed goes on on a pair it demands");
	s = suspended("cpu", true);
	s.jobs.items[0].declared.worst_tier = TIER_FAST;
	for (int i = 0; i < 2; i++) {
		job = add_job(&s, 1, 1, 1e8);
		job->declared.preemption = PREEMPT_NEVER;
		job->declared.suspend = SUSPEND_NEVER;
		add_run(&s, job, i ? 3 : 0, 1, TIER_UNKNOWN);
	}
	acts(s, "----", "a suspended run that demands a pair waits where there is none");
}

int main(void)
{
	test_one_tier();
	test_waits();
	test_does_not_wait();
	test_grows();
	test_demands("goodput");
	test_demands("pollux");
	test_many_demand();
	test_plan_stays();
	test_plan_waits();
	test_plan_moves();
	test_plan_by_tier();
	test_lean_plan_by_tier();
	test_suspends();
	return done();
}
