/* sim_tiers.c - the events of a simulation with tiers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/sim_tiers.h"
#include "tier_check.h"

#define LOOKS_PER_LEASE 4	/* while a job waits */

enum state { COMING, WAITS, RUNS, DONE };

struct run {
	const struct tier_workload_job *job;
	enum state state;
	struct tier_job told;
	double start_s, finish_s, communication_s;
	int leases;
	/* The present lease: it computes for `part` of the time from from_s to ends_s. */
	double begun_s, from_s, lease_end_s, ends_s, part, part_most;
	bool last;		/* it ends with its work */
	bool ran, ended;	/* before this event; its lease ended at this event */
	int *held, *held_before;	/* of each machine */
};

struct cluster {
	const struct sim_options *options;
	const struct sim_tiers *tiers;
	const struct sim_workload *workload;
	struct tier_state state;
	struct run *runs;
	int *held;		/* memory of all runs */
	struct run **waiting;	/* in the order in which they are asked */
	struct tier_job **asked;	/* the same for a policy that prepares */
	struct tier_lease *leases;
	double *ended_s;
	int n_waiting, n_machines, n_submitted, n_done;
	double alarm_s;
	double *decide_s;
};

static double now(const struct cluster *c)
{
	return c->state.now_s;
}

/* --- who shares uplinks --- */

static bool crosses(const struct run *r, int first, int n)
{
	int inside = 0;

	for (int m = first; m < first + n; m++)
		inside += r->held[m];
	return inside > 0 && inside < r->job->gpus;
}

/* The largest number of jobs that cross one of the boundaries that the run crosses, among the
 * groups of n machines. */
static int most_sharers(const struct cluster *c, const struct run *r, int n)
{
	int most = 1;

	for (int first = 0; first < c->n_machines; first += n) {
		int sharers = 0;

		if (!crosses(r, first, n))
			continue;
		for (int i = 0; i < c->n_submitted; i++)
			sharers += c->runs[i].state == RUNS && crosses(&c->runs[i], first, n);
		if (sharers > most)
			most = sharers;
	}
	return most;
}

static double part_now(const struct cluster *c, const struct run *r)
{
	int sharers[TIERS] = { 1, 1, 1 };

	if (c->tiers->contention && tier_of(&c->state.cluster, r->held) != TIER_MACHINE) {
		sharers[TIER_RACK] = most_sharers(c, r, 1);
		sharers[TIER_NETWORK] = most_sharers(c, r, c->state.cluster.machines_per_rack);
	}
	return sim_tiers_part(c->tiers, r->job->application, r->held, sharers);
}

/* --- leases --- */

static void work(struct run *r, double seconds)
{
	r->told.left_s -= seconds * r->part;
	r->communication_s += seconds * (1 - r->part);
}

/* Sets the end of the lease for a job that computes for this part of the time. */
static void set_end(struct run *r, double part)
{
	double needs_s = r->told.left_s / part, room_s = r->lease_end_s - r->from_s;

	r->part = part;
	r->last = needs_s <= room_s;
	r->ends_s = r->from_s + fmin(needs_s, room_s);
}

static void begin(struct cluster *c, struct run *r, const int *held)
{
	static const int alone[TIERS] = { 1, 1, 1 };

	memcpy(r->held, held, (size_t)c->n_machines * sizeof(*held));
	for (int m = 0; m < c->n_machines; m++)
		c->state.cluster.free[m] -= held[m];
	r->state = RUNS;
	r->begun_s = now(c);
	r->from_s = now(c) + (r->leases ? SIM_TIERS_CHECKPOINT_S : 0);
	r->lease_end_s = r->from_s + c->state.lease_s;
	r->part_most = sim_tiers_part(c->tiers, r->job->application, r->held, alone);
	set_end(r, r->part_most);
	if (r->leases++ == 0)
		r->start_s = now(c);
}

static void end(struct cluster *c, struct run *r)
{
	for (int m = 0; m < c->n_machines; m++)
		c->state.cluster.free[m] += r->held[m];
	memset(r->held, 0, (size_t)c->n_machines * sizeof(*r->held));
	work(r, r->ends_s - r->from_s);
	r->told.on_s += r->ends_s - r->begun_s;
	r->told.since_s = now(c);
	r->ended = true;
	r->state = r->last ? DONE : WAITS;
	if (r->last) {
		r->finish_s = now(c);
		c->ended_s[c->n_done++] = r->told.on_s;
		c->state.n_ended = c->n_done;
	}
}

/* Sets the rates of jobs whose uplinks have got other sharers. */
static void share_uplinks(struct cluster *c)
{
	for (int i = 0; i < c->n_submitted && c->tiers->contention; i++) {
		struct run *r = &c->runs[i];
		double part;

		if (r->state != RUNS || (part = part_now(c, r)) == r->part)
			continue;
		if (now(c) > r->from_s) {
			work(r, now(c) - r->from_s);
			r->from_s = now(c);
		}
		set_end(r, part);
	}
}

/* --- an event --- */

static void mark_before(struct cluster *c)
{
	for (int i = 0; i < c->n_submitted; i++) {
		struct run *r = &c->runs[i];

		r->ran = r->state == RUNS;
		r->ended = false;
		memcpy(r->held_before, r->held, (size_t)c->n_machines * sizeof(*r->held));
	}
}

static void end_leases(struct cluster *c)
{
	for (int i = 0; i < c->n_submitted; i++)
		if (c->runs[i].state == RUNS && c->runs[i].ends_s <= now(c))
			end(c, &c->runs[i]);
}

static void submit(struct cluster *c)
{
	while (c->n_submitted < c->workload->n_jobs &&
	       c->workload->jobs[c->n_submitted].submit_s <= now(c))
		c->runs[c->n_submitted++].state = WAITS;
}

/* Inserts the job into the order in which jobs are asked. */
static void insert(struct cluster *c, struct run *r)
{
	int at = c->n_waiting++;

	while (at > 0 && tier_compare(c->tiers->policy, &r->told,
				      &c->waiting[at - 1]->told) < 0) {
		c->waiting[at] = c->waiting[at - 1];
		at--;
	}
	c->waiting[at] = r;
}

/* Tells the policy about leases, ended jobs and all jobs that wait. */
static void prepare(struct cluster *c)
{
	int n = 0;

	if (!c->tiers->policy->prepare)
		return;
	c->state.n_leases = 0;
	for (int i = 0; i < c->n_submitted; i++) {
		struct run *r = &c->runs[i];

		if (r->state == RUNS)
			c->leases[c->state.n_leases++] = (struct tier_lease){
				.held = r->held,
				.ends_s = c->options->lengths_known ? r->ends_s : r->lease_end_s,
			};
		if (r->state != WAITS)
			continue;
		r->told.remaining_s = c->options->lengths_known ? r->told.left_s : (double)NAN;
		c->asked[n++] = &r->told;
	}
	c->tiers->policy->prepare(&c->state, c->asked, n);
}

static void ask_jobs(struct cluster *c)
{
	int *held = xcalloc((size_t)c->n_machines, sizeof(*held));
	int passes = c->tiers->policy->prepare ? 2 : 1;

	c->alarm_s = HUGE_VAL;
	c->n_waiting = 0;
	prepare(c);
	for (int i = 0; i < c->n_submitted; i++)
		if (c->runs[i].state == WAITS)
			insert(c, &c->runs[i]);
	for (int k = 0; k < c->n_waiting * passes; k++) {
		struct run *r = c->waiting[k % c->n_waiting];
		double alarm_s = HUGE_VAL;

		c->state.second_pass = k >= c->n_waiting;
		if (r->state != WAITS)
			continue;
		if (c->tiers->policy->offer(&c->state, &r->told, held, &alarm_s))
			begin(c, r, held);
		else
			c->alarm_s = fmin(c->alarm_s, alarm_s);
	}
	free(held);
}

static int check(const struct cluster *c, struct err *err)
{
	struct tier_holding *jobs = xcalloc((size_t)c->n_submitted + 1, sizeof(*jobs));
	int rc;

	for (int i = 0; i < c->n_submitted; i++) {
		const struct run *r = &c->runs[i];

		jobs[i] = (struct tier_holding){
			.name = c->workload->jobs[i].name, .gpus = r->job->gpus,
			.held = r->held, .held_before = r->held_before,
			.runs = r->state == RUNS, .ran = r->ran, .ended = r->ended,
			.lease_s = r->ends_s - r->begun_s, .part = r->part,
			.part_most = r->part_most,
		};
	}
	rc = tier_check(c->tiers, c->state.cluster.free, jobs, c->n_submitted, c->state.lease_s,
			err);
	free(jobs);
	if (rc)
		err_prefix(err, "at %.0f s", now(c));
	return rc;
}

static void count(const struct cluster *c, struct sim_round *round)
{
	for (int i = 0; i < c->n_submitted; i++) {
		const struct run *r = &c->runs[i];

		round->running += r->state == RUNS;
		round->waiting += r->state == WAITS;
		round->gpus += r->state == RUNS ? r->job->gpus : 0;
		round->restarts += r->state == RUNS && r->begun_s == now(c) && r->leases > 1;
	}
}

static int event(struct cluster *c, struct sim_result *result, struct err *err)
{
	size_t n = (size_t)result->n_rounds + 1;
	double start_s;

	result->rounds = xreallocarray(result->rounds, n, sizeof(*result->rounds));
	c->decide_s = xreallocarray(c->decide_s, n, sizeof(*c->decide_s));
	result->rounds[n - 1] = (struct sim_round){ .time_s = now(c) };
	mark_before(c);
	end_leases(c);
	submit(c);
	start_s = clock_boot_s();
	ask_jobs(c);
	c->decide_s[n - 1] = clock_boot_s() - start_s;
	share_uplinks(c);
	count(c, &result->rounds[n - 1]);
	result->n_rounds++;
	return check(c, err);
}

static double next_event_s(const struct cluster *c)
{
	double next_s = HUGE_VAL, look_s = c->state.lease_s / LOOKS_PER_LEASE;
	bool waits = false;

	for (int i = 0; i < c->n_submitted; i++) {
		const struct run *r = &c->runs[i];

		if (r->state == RUNS)
			next_s = fmin(next_s, r->ends_s);
		waits = waits || r->state == WAITS;
	}
	if (c->n_submitted < c->workload->n_jobs)
		next_s = fmin(next_s, c->workload->jobs[c->n_submitted].submit_s);
	if (waits)
		next_s = fmin(next_s, fmin(c->alarm_s, look_s * (floor(now(c) / look_s) + 1)));
	return next_s;
}

/* --- the whole --- */

/* The time of the job alone on the cluster. */
static double alone_s(const struct cluster *c, const struct run *r, int *held)
{
	static const int alone[TIERS] = { 1, 1, 1 };

	for (enum tier tier = TIER_MACHINE; tier < TIERS; tier++)
		if (tier_find(&c->state.cluster, tier, r->job->gpus, held))
			break;
	return r->job->work_s / sim_tiers_part(c->tiers, r->job->application, held, alone);
}

static void set_jobs(const struct cluster *c, struct sim_result *result)
{
	result->jobs = xcalloc((size_t)c->workload->n_jobs, sizeof(*result->jobs));
	for (int i = 0; i < c->workload->n_jobs; i++) {
		const struct run *r = &c->runs[i];
		double submit_s = c->workload->jobs[i].submit_s;

		result->jobs[i] = (struct sim_job_result){
			.name = c->workload->jobs[i].name, .submit_s = submit_s,
			.start_s = r->start_s, .finish_s = r->finish_s, .restarts = r->leases - 1,
			.application = r->job->application->name,
			.gpu_hours = r->told.on_s * r->job->gpus / 3600,
			.fairness = (r->finish_s - submit_s) / alone_s(c, r, r->held),
			.communication_s = r->communication_s,
		};
		result->figures.gpu_hours += result->jobs[i].gpu_hours;
	}
	figures_of_jobs(result);
	result->figures.decide_median_s = quantile(c->decide_s, result->n_rounds, 0.5);
	result->figures.decide_p95_s = quantile(c->decide_s, result->n_rounds, 0.95);
}

/* held (result): GPUs of this tier, where there are enough machines and racks for it; all are
 * free. */
static void spread_over(const struct cluster *c, enum tier tier, int gpus, int *held)
{
	const struct tier_cluster *cluster = &c->state.cluster;
	int far = tier == TIER_RACK && cluster->machines_per_rack > 1 ? 1
		: tier == TIER_NETWORK ? cluster->machines_per_rack : c->n_machines;

	if (tier_find(cluster, tier, gpus, held) && gpus > 1 && tier_of(cluster, held) < tier &&
	    far < c->n_machines) {
		held[0]--;
		held[far]++;
	}
}

/* What the job makes of each tier. */
static void set_parts(struct cluster *c, struct run *r)
{
	static const int alone[TIERS] = { 1, 1, 1 };
	int *held = xcalloc((size_t)c->n_machines, sizeof(*held));

	for (enum tier tier = TIER_MACHINE; tier < TIERS; tier++) {
		int width = tier == TIER_MACHINE ? 1
			: tier == TIER_RACK ? c->state.cluster.machines_per_rack : c->n_machines;

		r->told.part[tier] = (double)NAN;
		if (r->job->gpus > width * c->state.cluster.gpus_per_machine)
			continue;
		spread_over(c, tier, r->job->gpus, held);
		r->told.part[tier] = sim_tiers_part(c->tiers, r->job->application, held, alone);
	}
	free(held);
}

static void init(struct cluster *c, const struct tier_workload_job *jobs)
{
	size_t n = (size_t)c->workload->n_jobs, machines = (size_t)c->n_machines;

	c->runs = xcalloc(n + 1, sizeof(*c->runs));
	c->waiting = xcalloc(n + 1, sizeof(struct run *));
	c->asked = xcalloc(n + 1, sizeof(struct tier_job *));
	c->leases = xcalloc(n + 1, sizeof(*c->leases));
	c->ended_s = xcalloc(n + 1, sizeof(*c->ended_s));
	c->state.leases = c->leases;
	c->state.ended_s = c->ended_s;
	c->held = xcalloc(n * machines * 2 + machines, sizeof(*c->held));
	c->state.cluster.free = c->held + n * machines * 2;
	for (size_t m = 0; m < machines; m++)
		c->state.cluster.free[m] = c->state.cluster.gpus_per_machine;
	for (size_t i = 0; i < n; i++) {
		const char *name = jobs[i].application->name;

		c->runs[i] = (struct run){
			.job = &jobs[i], .held = c->held + i * machines * 2,
			.held_before = c->held + i * machines * 2 + machines,
			.told = { .index = (int)i, .gpus = jobs[i].gpus,
				  .since_s = c->workload->jobs[i].submit_s,
				  .work_s = jobs[i].work_s, .left_s = jobs[i].work_s,
				  .insensitive = !strcmp(name, "ResNet50") ||
						 !strcmp(name, "ResNet18") ||
						 !strcmp(name, "BERT") },
		};
		set_parts(c, &c->runs[i]);
	}
}

int sim_tiers_run(const struct sim_options *options, const struct sim_tiers *t,
		  const struct tier_workload_job *jobs, const struct sim_workload *workload,
		  struct sim_result *result, struct err *err)
{
	double start_s = clock_boot_s();
	struct cluster c = {
		.options = options, .tiers = t, .workload = workload, .alarm_s = HUGE_VAL,
		.n_machines = t->cluster.racks * t->cluster.machines_per_rack,
		.state = { .cluster = t->cluster, .lease_s = options->slice_s,
			   .tunes = t->tunes, .timers = t->timers },
	};
	int rc = 0;

	init(&c, jobs);
	*result = (struct sim_result){ .workload = workload };
	while (c.n_done < workload->n_jobs && rc == 0) {
		c.state.now_s = next_event_s(&c);
		rc = event(&c, result, err);
	}
	if (rc == 0)
		set_jobs(&c, result);
	result->figures.wall_s = clock_boot_s() - start_s;
	tier_state_release(&c.state);
	free(c.asked);
	free(c.leases);
	free(c.ended_s);
	free(c.held);
	free(c.waiting);
	free(c.runs);
	free(c.decide_s);
	if (rc)
		sim_result_release(result);
	return rc;
}
