/* test_job_plans.c - the plans of a job in a decision, held to values worked out by hand: on two
 * kinds of device, and in the host's memory.
 *
 * Kind a has 24 GiB, kind b 12 GiB. An update has 64 samples. Plan dp was measured on a alone:
 * 10 ms and 1 ms a sample, 74 ms in all. Plan gc was measured on both: 84 ms on a, 168 ms on b. So
 * b is slower by 2, which counts for dp with the deviation 0.2, beside a ratio of 1 with deviation
 * 1. */
#define DEVICES 4
#define MOST_JOBS 4
#include "drawn_snapshot.h"
#include "pass/stages.h"
#include "tap.h"
#include "words.h"

#define GIB 1073741824.0
#define DP_A (64 / 0.074)
#define GC_B (64 / 0.168)
#define RATIO exp(log(2) * 25 / 26)

static void add_plan(struct snapshot *s, const char *plan, const char *kind, double pass_s,
		     double sample_s)
{
	struct throughput_params params = { pass_s, sample_s, .02, .002, 1e-8, 1e-8, 1, { 0 } };
	struct execution_plans parsed;
	struct workload *w;
	struct err ignored;

	s->workloads.items = xreallocarray(s->workloads.items, (size_t)s->workloads.count + 1,
					   sizeof(*w));
	w = &s->workloads.items[s->workloads.count++];
	*w = (struct workload){ .measured = true, .k = knowledge_of_nothing() };
	execution_plans_parse(plan, &parsed, &ignored);
	w->name = execution_plan_workload("w", parsed.items[0].name, parsed.items[0].hash);
	execution_plans_release(&parsed);
	snprintf(w->kind, sizeof(w->kind), "%s", kind);
	w->k.modelled = true;
	w->k.model.max_replicas = 1;
	w->k.model.max_local_batch_size = 64;
	w->k.model.fit.params = params;
	w->k.seen = (struct observation_list){ xcalloc(1, sizeof(struct observation)), 1 };
	w->k.seen.items[0] = (struct observation){
		.configuration = configuration_make(1, 64, 1),
		.step_time_s = pass_s + 64 * sample_s,
	};
}

/* Two devices of each kind. */
static struct snapshot two_kinds(void)
{
	struct snapshot s = snapshot_new(-1);

	for (int i = 0; i < DEVICES; i++) {
		struct device *d = &s.devices.items[i];

		snprintf(d->kind, sizeof(d->kind), i < 2 ? "a" : "b");
		d->memory_bytes = (int64_t)((i < 2 ? 24 : 12) * GIB);
	}
	add_plan(&s, "dp=", "a", .010, .001);
	add_plan(&s, "gc=-g", "a", .020, .001);
	add_plan(&s, "gc=-g", "b", .040, .002);
	return s;
}

static struct job *add_planned(struct snapshot *s, const char *plans)
{
	struct job *job = add_job(s, 1, 1, 1e6);

	job->declared.plans = xstrdup(plans);
	return job;
}

/* What the policy is told of the first job. */
static struct offer told(const struct decision *d, int kind, int way, int r)
{
	return offers_at(&d->sched_jobs[0], kind, way, r);
}

static void test_curves(void)
{
	struct snapshot s = two_kinds();
	struct decision *d;

	add_planned(&s, "dp=\ngc=-g");
	d = pass_decide(&s);
	near(told(d, 0, 0, 1).goodput, DP_A, 1e-6, "the best plan on kind a is told as measured");
	near(told(d, 1, 0, 1).goodput, DP_A / RATIO, 1e-6,
	     "on kind b a plan is told by the ratio that the other plan tells");
	is_int(d->choices[0].kind, 0, "the job gets the faster kind");
	decision_free(d);
	snapshot_free(&s);
}

static void test_memory(void)
{
	struct memory_peak *peak = xcalloc(1, sizeof(*peak));
	struct snapshot s = two_kinds();
	struct decision *d;

	*peak = (struct memory_peak){ 1, 64, 16 * GIB };
	s.workloads.items[0].k.peaks = peak;
	s.workloads.items[0].k.n_peaks = 1;
	for (int i = 0; i < 3; i++)
		add_planned(&s, "dp=\ngc=-g");
	d = pass_decide(&s);
	near(told(d, 0, 0, 1).goodput, DP_A, 1e-6,
	     "plan dp fits on kind a, of which it takes 16 of 24 GiB");
	near(told(d, 1, 0, 1).goodput, GC_B, 1e-6,
	     "plan gc is told for kind b, which dp does not fit on");
	is_int(d->choices[0].kind + d->choices[1].kind + d->choices[2].kind, 1,
	       "one of three jobs gets the small kind");
	for (int j = 0; j < 3; j++) {
		is_str(d->sizes[j].configuration.plan, d->choices[j].kind ? "gc" : "dp",
		       "each job gets the best plan of its kind");
		near(d->sizes[j].goodput, d->choices[j].kind ? GC_B : DP_A, 1e-6,
		     "each job gets the goodput that the policy was told");
	}
	decision_free(d);
	snapshot_free(&s);
}

/* Of dp and other, dp was measured; it does not fit on b. By its name nothing is known of other. */
static void test_untried(void)
{
	struct memory_peak *peak = xcalloc(1, sizeof(*peak));
	struct snapshot s = two_kinds();
	struct decision *d;

	*peak = (struct memory_peak){ 1, 64, 16 * GIB };
	s.workloads.items[0].k.peaks = peak;
	s.workloads.items[0].k.n_peaks = 1;
	for (int i = 0; i < 3; i++)
		add_planned(&s, "dp=\nzero3=-z");
	d = pass_decide(&s);
	near(told(d, 1, 0, 1).goodput, DP_A / RATIO / 1.3, 1e-6,
	     "where no measured plan fits, another is expected by its name");
	for (int j = 0; j < 3; j++)
		is_str(d->sizes[j].configuration.plan, d->choices[j].kind ? "zero3" : "dp",
		       "a plan expected by its name is tried where no measured plan fits");
	decision_free(d);
	snapshot_free(&s);
}

/* A run on b in gc is compared with what dp is expected to make of b, not with dp on a. */
static void test_run(void)
{
	struct snapshot s = two_kinds();
	struct decision *d;
	struct job *job = add_planned(&s, "dp=\ngc=-g");

	add_run(&s, job, 2, 1, TIER_UNKNOWN);
	strcpy(s.runs.items[0].configuration.plan, "gc");
	d = pass_decide(&s);
	near(told(d, d->sched_jobs[0].kind, 0, 1).goodput, DP_A / RATIO, 1e-6,
	     "the kind of a run is the kind of its job");
	near(d->sched_jobs[0].goodput_now, GC_B, 1e-6,
	     "the goodput of a run is that of its plan on its kind");
	is_int(d->choices[0].kind, 0, "the job moves to the faster kind");
	is_str(d->sizes[0].configuration.plan, "dp",
	       "the job gets the plan that is best on the faster kind");
	decision_free(d);
	snapshot_free(&s);
}

/* --- the host's memory --- */

/* One kind. dp takes 30 GiB of the host on one device and 40 on two, gc 10 on one. */
static struct snapshot one_kind(void)
{
	static const struct memory_peak dp[] = { { 1, 64, 30 * GIB }, { 2, 32, 40 * GIB } };
	static const struct memory_peak gc[] = { { 1, 64, 10 * GIB } };
	struct snapshot s = snapshot_new(-1);

	add_plan(&s, "dp=", "k", .010, .001);
	add_plan(&s, "gc=-g", "k", .020, .001);
	for (int w = 0; w < 2; w++) {
		struct knowledge *k = &s.workloads.items[w].k;

		k->n_host_peaks = w ? 1 : 2;
		k->host_peaks = xcalloc(2, sizeof(dp[0]));
		memcpy(k->host_peaks, w ? gc : dp, (size_t)k->n_host_peaks * sizeof(dp[0]));
	}
	s.memory.total_bytes = (int64_t)(100 * GIB);
	s.host_needs = xcalloc(MOST_JOBS, sizeof(*s.host_needs));
	return s;
}

static void test_host_memory(void)
{
	struct snapshot s = one_kind();
	int n_dp = 0, n_gc = 0, n_short = 0;
	struct decision *d;

	for (int i = 0; i < 4; i++)
		add_planned(&s, "dp=\ngc=-g");
	s.jobs.items[0].declared.max_replicas = 4;
	d = pass_decide(&s);
	near(told(d, 0, 0, 1).host_bytes, 30 * GIB, 1,
	     "the best plan's host memory is told for one device");
	near(told(d, 0, 0, 2).host_bytes, 40 * GIB, 1,
	     "the best plan's host memory is told for two devices");
	near(told(d, 0, 0, 4).host_bytes, 60 * GIB, 1,
	     "beyond what was measured each device takes as much again");
	near(told(d, 0, 1, 1).host_bytes, 10 * GIB, 1,
	     "the other plan takes less of the host's memory");
	near(told(d, 0, 1, 1).goodput, 64 / 0.084, 1e-6,
	     "the other plan, which takes less memory, is slower");
	for (int j = 0; j < 4; j++) {
		n_dp += !strcmp(d->sizes[j].configuration.plan, "dp");
		n_gc += !strcmp(d->sizes[j].configuration.plan, "gc");
		n_short += strstr(said(&d->choices[j]), "dp would be 14 % faster, but the host's "
				  "memory is short") != NULL;
	}
	/* 30 + 30 + 10 + 10 of 90 GiB */
	is_int(n_dp, 2, "two of four jobs run in dp");
	is_int(n_gc, 2, "the two jobs that dp leaves no memory run in gc");
	is_int(n_short, 2, "the reasons of two jobs say that the host's memory is short");
	decision_free(d);
	snapshot_free(&s);
}

/* A run in dp has what it took, not what gc would take. */
static void test_host_memory_of_run(void)
{
	struct snapshot s = one_kind();
	struct job *job = add_planned(&s, "dp=\ngc=-g");
	struct decision *d;

	add_run(&s, job, 0, 1, TIER_UNKNOWN);
	strcpy(s.runs.items[0].configuration.plan, "gc");
	d = pass_decide(&s);
	near(d->sched_jobs[0].memory_bytes, 10 * GIB, 1, "a run has the host memory of its plan");
	near(told(d, 0, 0, 1).host_bytes, 30 * GIB, 1,
	     "the best plan takes more host memory than the run's");
	decision_free(d);
	s.runs.items[0].peak_memory_bytes = (int64_t)(12 * GIB);
	d = pass_decide(&s);
	near(d->sched_jobs[0].memory_bytes, 12 * GIB, 1,
	     "a run has its own peak of memory, if that is more");
	decision_free(d);
	snapshot_free(&s);
}

/* Devices of one kind have a kind without a name, which bars nobody. */
static void test_one_kind(void)
{
	struct snapshot s = snapshot_new(-1);
	struct decision *d;

	add_workload(&s, TIER_UNKNOWN);
	add_job(&s, 1, 2, 1e6);
	d = pass_decide(&s);
	ok(d->n_kinds == 1 && !d->kinds[0].name, "devices that are all alike are one kind");
	is_int(d->kinds[0].n, DEVICES, "the one kind has all devices");
	ok(!d->sched_jobs[0].offers[0].barred && told(d, 0, 0, 2).goodput > 0,
	   "the one kind is offered");
	is_int(d->sched_jobs[0].offers[0].n, 2,
	       "the offer goes up to the replicas that the job asks for");
	ok(lower_offers(d, 0, 0) == d->sched_jobs[0].offers[0].goodput[0] &&
	   lower_offers(d, 0, 0) != d->candidates[0].on_kind[0].table->goodput,
	   "what lowers the offer does not lower the table, which other jobs share");
	decision_free(d);
	snapshot_free(&s);
}

int main(void)
{
	test_curves();
	test_memory();
	test_untried();
	test_run();
	test_host_memory();
	test_host_memory_of_run();
	test_one_kind();
	return done();
}
