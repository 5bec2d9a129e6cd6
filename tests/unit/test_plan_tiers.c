/* test_plan_tiers.c - a pass on devices that are joined alike decides as if nothing were known of
 * tiers; on two pairs a job waits, and is decided on without the devices that are kept. */
#define DEVICES 4
#define MOST_JOBS 12
#include "drawn_snapshot.h"
#include "pass/tiers.h"
#include "pollux/execution_plan.h"
#include "tap.h"

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
		       !strcmp(x->reason, y->reason) &&
		       same_number(a->sizes[j].goodput, b->sizes[j].goodput) &&
		       same_number(a->sizes[j].goodput_now, b->sizes[j].goodput_now) &&
		       configuration_equal(&a->sizes[j].configuration, &b->sizes[j].configuration);
	}
	return same;
}

static void test_one_tier(void)
{
	int n_same = 0, n_several = 0;

	for (uint64_t seed = 1; seed <= 200; seed++)
		for (int link = DEVICE_LINK_FAST; link <= DEVICE_LINK_MACHINE; link++) {
			struct snapshot without = drawn(seed, -1), with = drawn(seed, link);
			struct decision *a = pass_decide(&without), *b = pass_decide(&with);

			n_same += same_decision(a, b);
			for (int j = 0; j < a->n; j++)
				n_several += a->choices[j].replicas > 1;
			decision_free(a);
			decision_free(b);
			snapshot_free(&without);
			snapshot_free(&with);
		}
	is_int(n_same, 800, "with one tier every decision is as before");
	ok(n_several > 400, "many of them about several devices");
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
	   "half of which is kept for it");
	is_int(strncmp(d->choices[2].reason, "waits up to ", 12), 0, "as it is told");
	decision_free(d);
	add_job(&s, 1, 1, 1e8);
	d = pass_decide(&s);
	is_int(d->owner[3], 3, "another one is given what is not kept");
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
	ok(d->owner[1] == 2 && d->owner[3] == 2, "not for an hour");
	is_int((int)d->sizes[2].configuration.tier, TIER_FAR, "its run will know its tier");
	decision_free(d);
	snapshot_free(&s);
	s = halves(60);
	add_job(&s, 2, 2, 1e6);
	never.locality_wait_s = 0;
	s.config = &never;
	d = pass_decide(&s);
	ok(d->owner[1] == 2 && d->owner[3] == 2, "nor where nobody is to wait");
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
	ok(d->choices[2].replicas == 0 && d->tiers->holds[2].waits, "a demanding job waits");
	ok(!d->tiers->kept[1] && !d->tiers->kept[3], "for whom no device is idle for an hour");
	decision_free(d);
	snapshot_free(&s);
}

/* A job with a plan runs across pairs, and could have no pair: its goodput is what it has there,
 * which no relaunch changes. */
static void test_plan(void)
{
	struct snapshot s = halves(7200);
	struct execution_plans plans;
	struct decision *d;
	struct err err;
	struct job *job;
	struct run *run;

	is_int(execution_plans_parse("dp=--dp", &plans, &err), 0, "a plan");
	free(s.workloads.items[0].name);
	s.workloads.items[0].name = execution_plan_workload("w", "dp", plans.items[0].hash);
	job = add_job(&s, 2, 2, 1e7);
	job->declared.plans = xstrdup("dp=--dp");
	job->declared.suspend = SUSPEND_NEVER;
	add_run(&s, job, 1, 2, TIER_FAR);
	run = &s.runs.items[s.runs.count - 1];
	run->devices[1] = s.devices.items[3];
	snprintf(run->configuration.plan, sizeof(run->configuration.plan), "dp");
	d = pass_decide(&s);
	is_int(d->choices[2].replicas, 2, "a job with a plan goes on across pairs");
	ok(!d->choices[2].reconfigure, "without a relaunch that would change nothing");
	ok(d->sizes[2].goodput <= d->sizes[2].goodput_now, "nor would another configuration");
	decision_free(d);
	snapshot_free(&s);
	execution_plans_release(&plans);
}

int main(void)
{
	test_one_tier();
	test_waits();
	test_does_not_wait();
	test_grows();
	test_demands("goodput");
	test_demands("pollux");
	test_plan();
	return done();
}
