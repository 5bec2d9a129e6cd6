/* sim_racks.c - the events of a simulation with tiers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "rack_check.h"
#include "rack_leases.h"

#define LOOKS_PER_LEASE 4	/* while a job waits */

/* --- an event --- */

static void mark_before(struct rack_simulation *s)
{
	for (int i = 0; i < s->n_submitted; i++) {
		struct rack_run *r = &s->runs[i];

		r->ran = r->state == RUNS;
		r->ended = false;
		memcpy(r->held_before, r->held, (size_t)s->n_machines * sizeof(*r->held));
	}
}

static void end_leases(struct rack_simulation *s)
{
	for (int i = 0; i < s->n_submitted; i++)
		if (s->runs[i].state == RUNS && s->runs[i].ends_s <= rack_now_s(s))
			rack_lease_end(s, &s->runs[i]);
}

static void submit_jobs(struct rack_simulation *s)
{
	while (s->n_submitted < s->workload->n_jobs &&
	       s->workload->jobs[s->n_submitted].submit_s <= rack_now_s(s))
		s->runs[s->n_submitted++].state = WAITS;
}

/* Inserts the job into the order in which jobs are asked. */
static void insert_waiting(struct rack_simulation *s, struct rack_run *r)
{
	int at = s->n_waiting++;

	while (at > 0 && rack_compare(s->tiers->policy, &r->told,
				      &s->waiting[at - 1]->told) < 0) {
		s->waiting[at] = s->waiting[at - 1];
		at--;
	}
	s->waiting[at] = r;
}

/* Tells the policy about leases, ended jobs and all jobs that wait. */
static void prepare_policy(struct rack_simulation *s)
{
	int n = 0;

	if (!s->tiers->policy->prepare)
		return;
	s->state.n_leases = 0;
	for (int i = 0; i < s->n_submitted; i++) {
		struct rack_run *r = &s->runs[i];

		if (r->state == RUNS)
			s->leases[s->state.n_leases++] = (struct rack_lease){
				.held = r->held,
				.ends_s = s->options->lengths_known ? r->ends_s : r->lease_end_s,
			};
		if (r->state != WAITS)
			continue;
		r->told.remaining_s = s->options->lengths_known ? r->told.left_s : (double)NAN;
		s->asked[n++] = &r->told;
	}
	s->tiers->policy->prepare(&s->state, s->asked, n);
}

static void ask_jobs(struct rack_simulation *s)
{
	int *held = xcalloc((size_t)s->n_machines, sizeof(*held));
	int passes = s->tiers->policy->prepare ? 2 : 1;

	s->alarm_s = HUGE_VAL;
	s->n_waiting = 0;
	prepare_policy(s);
	for (int i = 0; i < s->n_submitted; i++)
		if (s->runs[i].state == WAITS)
			insert_waiting(s, &s->runs[i]);
	for (int k = 0; k < s->n_waiting * passes; k++) {
		struct rack_run *r = s->waiting[k % s->n_waiting];
		double alarm_s = HUGE_VAL;

		s->state.second_pass = k >= s->n_waiting;
		if (r->state != WAITS)
			continue;
		if (s->tiers->policy->offer(&s->state, &r->told, held, &alarm_s))
			rack_lease_begin(s, r, held);
		else
			s->alarm_s = fmin(s->alarm_s, alarm_s);
	}
	free(held);
}

static int check_leases(const struct rack_simulation *s, struct err *err)
{
	struct rack_holding *jobs = xcalloc((size_t)s->n_submitted + 1, sizeof(*jobs));
	int rc;

	for (int i = 0; i < s->n_submitted; i++) {
		const struct rack_run *r = &s->runs[i];

		jobs[i] = (struct rack_holding){
			.name = s->workload->jobs[i].name, .gpus = r->job->gpus,
			.held = r->held, .held_before = r->held_before,
			.runs = r->state == RUNS, .ran = r->ran, .ended = r->ended,
			.lease_s = r->ends_s - r->begun_s, .part = r->part,
			.part_most = r->part_most,
		};
	}
	rc = rack_check(s->tiers, s->state.cluster.free, jobs, s->n_submitted, s->state.lease_s,
			err);
	free(jobs);
	if (rc)
		err_prefix(err, "at %.0f s", rack_now_s(s));
	return rc;
}

static void count_runs(const struct rack_simulation *s, struct sim_round *round)
{
	for (int i = 0; i < s->n_submitted; i++) {
		const struct rack_run *r = &s->runs[i];

		round->running += r->state == RUNS;
		round->waiting += r->state == WAITS;
		round->gpus += r->state == RUNS ? r->job->gpus : 0;
		round->restarts += r->state == RUNS && r->begun_s == rack_now_s(s) && r->leases > 1;
	}
}

static int event(struct rack_simulation *s, struct sim_result *result, struct err *err)
{
	size_t n = (size_t)result->n_rounds + 1;
	double start_s;

	result->rounds = xreallocarray(result->rounds, n, sizeof(*result->rounds));
	s->decide_s = xreallocarray(s->decide_s, n, sizeof(*s->decide_s));
	result->rounds[n - 1] = (struct sim_round){ .time_s = rack_now_s(s) };
	mark_before(s);
	end_leases(s);
	submit_jobs(s);
	start_s = clock_boot_s();
	ask_jobs(s);
	s->decide_s[n - 1] = clock_boot_s() - start_s;
	rack_lease_share_uplinks(s);
	count_runs(s, &result->rounds[n - 1]);
	result->n_rounds++;
	return check_leases(s, err);
}

static double next_event_s(const struct rack_simulation *s)
{
	double next_s = HUGE_VAL, look_s = s->state.lease_s / LOOKS_PER_LEASE;
	bool waits = false;

	for (int i = 0; i < s->n_submitted; i++) {
		const struct rack_run *r = &s->runs[i];

		if (r->state == RUNS)
			next_s = fmin(next_s, r->ends_s);
		waits = waits || r->state == WAITS;
	}
	if (s->n_submitted < s->workload->n_jobs)
		next_s = fmin(next_s, s->workload->jobs[s->n_submitted].submit_s);
	if (waits)
		next_s = fmin(next_s, fmin(s->alarm_s,
					    look_s * (floor(rack_now_s(s) / look_s) + 1)));
	return next_s;
}

/* --- the whole --- */

/* The time of the job alone on the cluster. */
static double alone_s(const struct rack_simulation *s, const struct rack_run *r, int *held)
{
	for (enum distance tier = IN_MACHINE; tier < DISTANCES; tier++)
		if (racks_find(&s->state.cluster, tier, r->job->gpus, held))
			break;
	return r->job->work_s / rack_part_alone(s, r, held);
}

static void set_jobs(const struct rack_simulation *s, struct sim_result *result)
{
	result->jobs = xcalloc((size_t)s->workload->n_jobs, sizeof(*result->jobs));
	for (int i = 0; i < s->workload->n_jobs; i++) {
		const struct rack_run *r = &s->runs[i];
		double submit_s = s->workload->jobs[i].submit_s;

		result->jobs[i] = (struct sim_job_result){
			.name = s->workload->jobs[i].name, .submit_s = submit_s,
			.start_s = r->start_s, .finish_s = r->finish_s, .restarts = r->leases - 1,
			.application = r->job->application->name,
			.gpu_hours = r->told.on_s * r->job->gpus / 3600,
			.fairness = (r->finish_s - submit_s) / alone_s(s, r, r->held),
			.communication_s = r->communication_s,
		};
		result->figures.gpu_hours += result->jobs[i].gpu_hours;
	}
	figures_of_jobs(result);
	result->figures.decide_median_s = quantile(s->decide_s, result->n_rounds, 0.5);
	result->figures.decide_p95_s = quantile(s->decide_s, result->n_rounds, 0.95);
}

/* held (result): GPUs of this tier, where there are enough machines and racks for it; all are
 * free. */
static void spread_over(const struct rack_simulation *s, enum distance tier, int gpus, int *held)
{
	const struct rack_cluster *cluster = &s->state.cluster;
	int far = tier == IN_RACK && cluster->machines_per_rack > 1 ? 1
		: tier == ANYWHERE ? cluster->machines_per_rack : s->n_machines;

	if (racks_find(cluster, tier, gpus, held) && gpus > 1 &&
	    racks_distance(cluster, held) < tier && far < s->n_machines) {
		held[0]--;
		held[far]++;
	}
}

/* What the job makes of each tier. */
static void set_parts(struct rack_simulation *s, struct rack_run *r)
{
	int *held = xcalloc((size_t)s->n_machines, sizeof(*held));

	for (enum distance tier = IN_MACHINE; tier < DISTANCES; tier++) {
		int width = tier == IN_MACHINE ? 1
			: tier == IN_RACK ? s->state.cluster.machines_per_rack : s->n_machines;

		r->told.part[tier] = (double)NAN;
		if (r->job->gpus > width * s->state.cluster.gpus_per_machine)
			continue;
		spread_over(s, tier, r->job->gpus, held);
		r->told.part[tier] = rack_part_alone(s, r, held);
	}
	free(held);
}

static void init(struct rack_simulation *s, const struct rack_workload_job *jobs)
{
	size_t n = (size_t)s->workload->n_jobs, machines = (size_t)s->n_machines;

	s->runs = xcalloc(n + 1, sizeof(*s->runs));
	s->waiting = xcalloc(n + 1, sizeof(struct rack_run *));
	s->asked = xcalloc(n + 1, sizeof(struct rack_job *));
	s->leases = xcalloc(n + 1, sizeof(*s->leases));
	s->ended_s = xcalloc(n + 1, sizeof(*s->ended_s));
	s->state.leases = s->leases;
	s->state.ended_s = s->ended_s;
	s->held = xcalloc(n * machines * 2 + machines, sizeof(*s->held));
	s->state.cluster.free = s->held + n * machines * 2;
	for (size_t m = 0; m < machines; m++)
		s->state.cluster.free[m] = s->state.cluster.gpus_per_machine;
	for (size_t i = 0; i < n; i++) {
		const char *name = jobs[i].application->name;

		s->runs[i] = (struct rack_run){
			.job = &jobs[i], .held = s->held + i * machines * 2,
			.held_before = s->held + i * machines * 2 + machines,
			.told = { .index = (int)i, .gpus = jobs[i].gpus,
				  .since_s = s->workload->jobs[i].submit_s,
				  .work_s = jobs[i].work_s, .left_s = jobs[i].work_s,
				  .insensitive = !strcmp(name, "ResNet50") ||
						 !strcmp(name, "ResNet18") ||
						 !strcmp(name, "BERT") },
		};
		set_parts(s, &s->runs[i]);
	}
}

int sim_racks_run(const struct sim_options *options, const struct sim_racks *t,
		  const struct rack_workload_job *jobs, const struct sim_workload *workload,
		  struct sim_result *result, struct err *err)
{
	double start_s = clock_boot_s();
	struct rack_simulation s = {
		.options = options, .tiers = t, .workload = workload, .alarm_s = HUGE_VAL,
		.n_machines = t->cluster.racks * t->cluster.machines_per_rack,
		.state = { .cluster = t->cluster, .lease_s = options->slice_s,
			   .tunes = t->tunes, .timers = t->timers },
	};
	int rc = 0;

	init(&s, jobs);
	*result = (struct sim_result){ .workload = workload };
	while (s.n_done < workload->n_jobs && rc == 0) {
		s.state.now_s = next_event_s(&s);
		rc = event(&s, result, err);
	}
	if (rc == 0)
		set_jobs(&s, result);
	result->figures.wall_s = clock_boot_s() - start_s;
	rack_state_release(&s.state);
	free(s.asked);
	free(s.leases);
	free(s.ended_s);
	free(s.held);
	free(s.waiting);
	free(s.runs);
	free(s.decide_s);
	if (rc)
		sim_result_release(result);
	return rc;
}
