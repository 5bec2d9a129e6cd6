/* test_plan_tiers.c - a pass on devices that are joined alike decides as if nothing were known of
 * tiers; on two pairs a job waits, and is decided on without the devices that are kept. */
#include <math.h>

#include "pass/decision.h"
#include "pass/tiers.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "tap.h"

#define NOW_BOOT_S 10000.0
#define NOW_WALL_S 50000.0
#define DEVICES 4
#define MOST_JOBS 12

static const struct config config = { .slice_s = 600, .locality_wait_s = (double)INFINITY };
static uint64_t state;

static int draw(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (uint64_t)n);
}

/* All pairs of devices have this distance. -1: none is told; -2: there are two near pairs. */
static struct snapshot snapshot_new(int link)
{
	struct snapshot s = {
		.config = &config, .policy = policy_find("goodput"),
		.now_boot_s = NOW_BOOT_S, .now_wall_s = NOW_WALL_S,
	};

	for (int i = 0; i < DEVICES; i++) {
		struct device *d = devices_append(&s.devices);

		snprintf(d->id, sizeof(d->id), "gpu:%d", i);
		snprintf(d->name, sizeof(d->name), "gpu:%d", i);
		snprintf(d->kind, sizeof(d->kind), "k");
		d->cores = 1;
		d->usable = true;
	}
	for (int a = 0; link != -1 && a < DEVICES; a++)
		for (int b = 0; b < a; b++)
			devices_set_link(&s.devices, a, b, link >= 0 ? (enum device_link)link
					 : a / 2 == b / 2 ? DEVICE_LINK_FAST : DEVICE_LINK_MACHINE);
	return s;
}

static void add_workload(struct snapshot *s, enum configuration_tier base)
{
	struct knowledge k = knowledge_of_nothing();
	struct workload *w = xcalloc(1, sizeof(*w));

	k.modelled = true;
	k.restart_s = 3;
	k.model.max_replicas = DEVICES;
	k.model.max_local_batch_size = 64;
	k.model.fit.params = (struct throughput_params){ .01, .001, .02, .002, 1e-8, 1e-8, 1,
							   { 0 } };
	for (int t = TIER_FAST; base != TIER_UNKNOWN && t < CONFIGURATION_TIERS; t++)
		k.model.fit.params.ln_tier[t] = t == (int)base ? 0 : t > (int)base ? 2 : -2;
	*w = (struct workload){ .name = xstrdup("w"), .measured = true, .k = k };
	snprintf(w->kind, sizeof(w->kind), "k");
	s->workloads.items = w;
	s->workloads.count = 1;
}

static struct job *add_job(struct snapshot *s, int least, int most, double samples)
{
	struct job *job;

	if (!s->jobs.items) {
		s->jobs.items = xcalloc(MOST_JOBS, sizeof(*job));
		s->setbacks = xcalloc(MOST_JOBS, sizeof(*s->setbacks));
		s->runs.items = xcalloc(MOST_JOBS, sizeof(*s->runs.items));
		s->answers = xcalloc(MOST_JOBS, sizeof(*s->answers));
		s->windows = xcalloc(MOST_JOBS, sizeof(*s->windows));
	}
	job = &s->jobs.items[s->jobs.count++];
	job_init(job);
	job->id = s->jobs.count;
	job->reason = xstrdup("");
	job->submit_time_s = NOW_WALL_S - 10 * (MOST_JOBS - s->jobs.count);
	job->declared.name = xstrdup("job");
	job->declared.workload = xstrdup("w");
	job->declared.min_replicas = least;
	job->declared.max_replicas = most;
	job->declared.preemption = PREEMPT_ALWAYS;
	job->declared.batch_size = job->declared.min_batch_size = 64;
	job->declared.total_samples = samples;
	return job;
}

static void add_run(struct snapshot *s, struct job *job, int first, int n,
		    enum configuration_tier tier)
{
	struct run *run = &s->runs.items[s->runs.count];

	s->answers[s->runs.count++] = ENGINE_ALIVE;
	run_init(run);
	run->id = 100 + job->id;
	run->job_id = job->id;
	run->number = 1;
	run->state = RUN_RUNNING;
	run->configuration = configuration_make(n, 64 / n, 1);
	run->configuration.tier = n > 1 ? tier : TIER_UNKNOWN;
	run->launch_boot_s = NOW_BOOT_S - 5000;
	run->first_step_s = 1;
	run->devices = xcalloc((size_t)n, sizeof(*run->devices));
	for (int i = 0; i < n; i++)
		run->devices[i] = s->devices.items[first + i];
	job->state = JOB_RUNNING;
	job->progress.runs = job->progress.launches = 1;
	job->progress.samples = 0;
}

static void snapshot_free(struct snapshot *s)
{
	s->config = NULL;
	snapshot_release(s);
}

/* Jobs drawn by a seed, of which the first may run. */
static struct snapshot drawn(uint64_t seed, int link)
{
	enum configuration_tier tier = link < 0 ? TIER_UNKNOWN
						: (enum configuration_tier)(TIER_FAST + link);
	struct snapshot s = snapshot_new(link);
	int taken = 0, n;

	state = seed;
	add_workload(&s, tier);
	n = 1 + draw(MOST_JOBS - 1);
	for (int i = 0; i < n; i++) {
		int least = 1 + draw(3), most = least + draw(DEVICES + 1 - least);
		struct job *job = add_job(&s, least, most,
					  draw(3) ? 1e3 * (1 + draw(2000)) : (double)NAN);

		if (taken + least <= DEVICES && draw(2)) {
			add_run(&s, job, taken, least, tier);
			taken += least;
		}
	}
	return s;
}

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
