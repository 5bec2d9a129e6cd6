/* simulate.c - the loop over intervals, or over events. */
#include <math.h>
#include <stdlib.h>

#include "figures.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pack_nodes.h"
#include "simulation.h"

#define PUBLISHED_GROWTH 2
#define STUCK_S (28 * 86400.0)		/* this long without progress of any job is an error */

const struct sim_options SIM_OPTIONS_DEFAULT = {
	.nodes = 16, .gpus_per_node = 4, .interval_s = 60, .restart_s = 30, .slice_s = 600,
};

void sim_options_set_knowledge(struct sim_options *o, const struct policy *policy)
{
	bool all = policy == &policy_optimus || policy == &policy_srtf;

	o->knowledge = all ? SIM_KNOWLEDGE_FULL : SIM_KNOWLEDGE_NONE;
	o->lengths_known = all;
}

static struct manner manner_of(const struct policy *policy)
{
	bool optimus = policy == &policy_optimus, tiresias = policy == &policy_tiresias;
	bool owners = tiresias || policy == &policy_srtf || !policy->models_goodput;

	return (struct manner){
		.owners_replicas = owners, .owners_batch = owners || optimus,
		.published_nodes = tiresias || optimus, .always_two_passes = optimus,
		.residuals = policy == &policy_goodput, .bounded_growth = policy == &policy_goodput,
		.growth = policy == &policy_goodput ? SCHED_REPLICA_GROWTH : PUBLISHED_GROWTH,
	};
}

/* --- before --- */

static void add_kind(struct simulation *s, const char *name, int nodes, int gpus_per_node)
{
	struct gpu_kind *k = &s->kinds[s->n_kinds++];
	int node = gpus_per_node;

	*k = (struct gpu_kind){
		.name = name, .first_node = s->n_nodes, .nodes = nodes,
		.gpus_per_node = gpus_per_node, .n_gpus = nodes * gpus_per_node,
	};
	s->n_nodes += k->nodes;
	s->n_gpus += k->n_gpus;
	k->places = xcalloc((size_t)k->n_gpus, sizeof(*k->places));
	for (int r = 1; r <= k->n_gpus; r++)
		if (place_is_regular(k->n_gpus, node, r))
			k->places[k->n_places++] =
				throughput_place_on((r + node - 1) / node, r);
}

static void add_kinds(struct simulation *s)
{
	const struct sim_options *o = s->options;

	if (!o->n_kinds)
		add_kind(s, NULL, o->nodes, o->gpus_per_node);
	for (int k = 0; k < o->n_kinds; k++)
		add_kind(s, o->kinds[k].name, o->kinds[k].nodes, o->kinds[k].gpus_per_node);
}

static void init_agent(const struct simulation *s, struct agent *agent,
		       const struct application *a, int kind)
{
	agent_init(agent, application_on(a, kind));
	if (!s->manner.residuals)
		return;
	agent->places = s->kinds[kind].places;
	agent->n_places = s->kinds[kind].n_places;
}

static void add_agents(struct simulation *s, const struct sim_profiles *profiles)
{
	const struct sim_options *o = s->options;
	bool own = o->knowledge == SIM_KNOWLEDGE_NONE;

	if (!o->policy->models_goodput ||
	    (s->manner.owners_batch && o->knowledge == SIM_KNOWLEDGE_FULL))
		return;
	s->n_agents = (own ? s->workload->n_jobs : profiles->count) * s->n_kinds;
	s->agents = xcalloc((size_t)s->n_agents, sizeof(*s->agents));
	for (int i = 0; i < s->n_agents; i++)
		init_agent(s, &s->agents[i],
			   own ? s->jobs[i / s->n_kinds].spec->application
			       : sim_profiles_at(profiles, i / s->n_kinds), i % s->n_kinds);
	for (int i = 0; i < s->workload->n_jobs; i++) {
		struct sim_job *job = &s->jobs[i];
		int index = own ? i : sim_profiles_index(profiles, job->spec->application);

		job->agent = &s->agents[(size_t)index * (size_t)s->n_kinds];
		for (int k = 0; o->knowledge == SIM_KNOWLEDGE_FULL && k < s->n_kinds; k++)
			if (!job->agent[k].version)
				agent_learn_all(&job->agent[k]);
	}
}

/* Fails before the simulation begins if the profiles lack GPUs of one node that a policy may give
 * the job. */
static int check_node(const struct simulation *s, const struct sim_workload_job *job, int kind,
		      struct err *err)
{
	const struct application *a = application_on(job->application, kind);
	int node = s->kinds[kind].gpus_per_node, n_gpus = s->kinds[kind].n_gpus;
	int most = s->manner.owners_replicas ? job->replicas : a->max_replicas;
	int wanted = most < node ? most : node, covered;

	if (wanted > n_gpus)
		wanted = n_gpus;
	covered = application_most_on_node(a, wanted);
	if (covered >= wanted)
		return 0;
	return err_set(err, EX_DATAERR,
		       "nodes of %d GPUs: of one node, '%s/placements%s.csv' covers %d", node,
		       a->directory, a->kind, covered);
}

static int check_sim_workload(const struct simulation *s, struct err *err)
{
	int most = 0;

	for (int k = 0; k < s->n_kinds; k++)
		most = s->kinds[k].n_gpus > most ? s->kinds[k].n_gpus : most;
	for (int i = 0; s->manner.owners_replicas && i < s->workload->n_jobs; i++) {
		const struct sim_workload_job *job = &s->workload->jobs[i];

		if (job->replicas > most)
			return err_set(err, EX_UNAVAILABLE,
				       "job '%s' of '%s' asks for %d GPUs; there are %d%s",
				       job->name, s->workload->name, job->replicas, most,
				       s->n_kinds > 1 ? " of one kind" : "");
	}
	for (int i = 0; i < s->workload->n_jobs * s->n_kinds; i++)
		if (check_node(s, &s->workload->jobs[i / s->n_kinds], i % s->n_kinds, err))
			return -1;
	return 0;
}

static void simulation_init(struct simulation *s, const struct sim_options *options,
			    const struct sim_profiles *profiles,
			    const struct sim_workload *workload)
{
	size_t n = (size_t)workload->n_jobs;

	*s = (struct simulation){
		.options = options, .workload = workload, .manner = manner_of(options->policy),
		.jobs = xcalloc(n, sizeof(*s->jobs)),
		.active = xcalloc(n, sizeof(struct sim_job *)),
		.ended_device_s = xcalloc(n, sizeof(*s->ended_device_s)),
	};
	for (size_t i = 0; i < n; i++)
		s->jobs[i] = (struct sim_job){
			.spec = &workload->jobs[i], .index = (int)i, .restarts = -1,
			.finish_s = (double)NAN, .start_s = (double)NAN, .demoted_s = (double)NAN,
			.waiting_since_s = workload->jobs[i].submit_s,
		};
	add_kinds(s);
	add_agents(s, profiles);
}

static void simulation_release(struct simulation *s)
{
	for (int i = 0; i < s->n_agents; i++)
		agent_release(&s->agents[i]);
	for (int i = 0; i < s->workload->n_jobs; i++) {
		placement_release(&s->jobs[i].placement);
		for (int k = 0; k < s->n_kinds; k++)
			free(s->jobs[i].tables[k].goodput);
		free(s->jobs[i].ends);
	}
	free(s->agents);
	for (int k = 0; k < s->n_kinds; k++)
		free(s->kinds[k].places);
	free(s->jobs);
	free(s->active);
	free(s->ended_device_s);
	truth_release(&s->truth);
	fit_memo_release(&s->memo);
}

/* --- the loop --- */

/* Lets all jobs run for step_s; jobs that end leave. */
static int run_step(struct simulation *s, double step_s, struct err *err)
{
	double start_s = s->now_s;
	int left = 0;

	s->now_s = start_s + step_s;
	for (int i = 0; i < s->n_active; i++) {
		struct sim_job *job = s->active[i];

		job->active_sum += s->n_active * step_s;
		job->active_s += step_s;
		if (job_run(s, job, start_s, step_s, err))
			return -1;
		if (isnan(job->finish_s))
			s->active[left++] = job;
		else
			s->ended_device_s[s->n_done++] = job->service_device_s;
	}
	s->n_active = left;
	return 0;
}

/* While no job is present, time passes without decisions. */
static void skip_idle(struct simulation *s)
{
	double interval_s = s->options->interval_s;
	double next_s = s->n_submitted < s->workload->n_jobs
		? s->workload->jobs[s->n_submitted].submit_s : 0;
	int64_t round = (int64_t)(next_s / interval_s) - 1;

	if (s->n_active || round <= s->round)
		return;
	s->round = round;
	s->now_s = s->progress_s = (double)round * interval_s;
}

/* Admits the jobs that have been submitted by now. Returns true if there were any. */
static bool admit_jobs(struct simulation *s)
{
	int before = s->n_submitted;

	while (s->n_submitted < s->workload->n_jobs &&
	       s->workload->jobs[s->n_submitted].submit_s <= s->now_s) {
		if (!s->n_active)
			s->progress_s = s->now_s;
		s->active[s->n_active++] = &s->jobs[s->n_submitted++];
	}
	return s->n_submitted > before;
}

static int n_measured(const struct simulation *s)
{
	int n = s->n_done;

	for (int i = 0; i < s->n_active; i++)
		n += s->active[i]->has_run;
	return n;
}

/* The time to the next event, at most rest_s: a job comes, or is at the end of an epoch, or its
 * first update is measured. */
static int event_step_s(struct simulation *s, double rest_s, double *step_s, struct err *err)
{
	*step_s = rest_s;
	if (s->n_submitted < s->workload->n_jobs)
		*step_s = fmin(*step_s, s->workload->jobs[s->n_submitted].submit_s - s->now_s);
	for (int i = 0; i < s->n_active; i++) {
		double event_s;

		if (job_event_s(s, s->active[i], &event_s, err))
			return -1;
		*step_s = fmin(*step_s, event_s);
	}
	return 0;
}

/* Goes to the next round, or to an event before it. *decides: true unless nothing happened there
 * that calls for a decision. */
static int step_simulation(struct simulation *s, bool *decides, struct err *err)
{
	double next_s = (double)(s->round + 1) * s->options->interval_s;
	double step_s = s->options->interval_s;
	int done = s->n_done, measured = n_measured(s);

	if (s->options->events && event_step_s(s, next_s - s->now_s, &step_s, err))
		return -1;
	if (run_step(s, step_s, err))
		return -1;
	*decides = !s->options->events || s->now_s >= next_s;
	if (*decides) {
		s->now_s = next_s;
		s->round++;
	}
	*decides |= admit_jobs(s);
	*decides |= s->n_done > done || n_measured(s) > measured;
	return 0;
}

struct log {
	struct sim_result *result;
	double *decide_s, *gap;	/* one for each round */
};

static int next_decision(struct simulation *s, struct log *log, struct err *err)
{
	struct sim_result *result = log->result;

	result->rounds = xgrow(result->rounds, result->n_rounds, sizeof(*result->rounds));
	log->decide_s = xgrow(log->decide_s, result->n_rounds, sizeof(*log->decide_s));
	log->gap = xgrow(log->gap, result->n_rounds, sizeof(*log->gap));
	if (decide_round(s, &result->rounds[result->n_rounds], &log->decide_s[result->n_rounds],
			 &log->gap[result->n_rounds], err))
		return -1;
	result->n_rounds++;
	return s->options->ends ? tell_ends(s, err) : 0;
}

static int run_rounds(struct simulation *s, struct log *log, const struct sim_progress *progress,
		      struct err *err)
{
	while (s->n_done < s->workload->n_jobs) {
		int done = s->n_done;
		bool decides;

		skip_idle(s);
		if (step_simulation(s, &decides, err))
			return -1;
		if (s->n_active && s->now_s - s->progress_s > STUCK_S)
			return err_set(err, EX_UNAVAILABLE,
				       "'%s' under '%s': no job got any further in 28 days",
				       s->workload->name, s->options->policy->name);
		if (decides && s->n_active && next_decision(s, log, err))
			return -1;
		if (progress && s->n_done != done)
			progress->tell(progress->data, s->n_done);
	}
	return 0;
}

/* --- after --- */

static int set_jobs(struct simulation *s, struct sim_result *result, struct err *err)
{
	result->jobs = xcalloc((size_t)s->workload->n_jobs, sizeof(*result->jobs));
	for (int i = 0; i < s->workload->n_jobs; i++) {
		struct sim_job *job = &s->jobs[i];
		double share = s->n_gpus * job->active_s / job->active_sum, alone_s;

		if (fairness_alone(s, job, share, &alone_s, err))
			return -1;
		result->jobs[i] = (struct sim_job_result){
			.name = job->spec->name, .submit_s = job->spec->submit_s,
			.start_s = job->start_s, .finish_s = job->finish_s,
			.restarts = job->restarts, .application = job->spec->application->name,
			.gpu_hours = job->attained_device_s / 3600,
			.fairness = (job->finish_s - job->spec->submit_s) / alone_s,
			.ends = job->ends,
		};
		job->ends = NULL;
		result->figures.gpu_hours += result->jobs[i].gpu_hours;
	}
	figures_of_jobs(result);
	return 0;
}

int simulate(const struct sim_options *options, const struct sim_profiles *profiles,
	     const struct sim_workload *workload, const struct sim_progress *progress,
	     struct sim_result *result, struct err *err)
{
	double start_s = clock_boot_s();
	struct log log = { .result = result };
	struct simulation s;
	int rc;

	*result = (struct sim_result){ .workload = workload };
	simulation_init(&s, options, profiles, workload);
	rc = check_sim_workload(&s, err) || run_rounds(&s, &log, progress, err) ||
	     set_jobs(&s, result, err) ? -1 : 0;
	result->figures.decide_median_s = quantile(log.decide_s, result->n_rounds, 0.5);
	result->figures.decide_p95_s = quantile(log.decide_s, result->n_rounds, 0.95);
	result->figures.gap_median = quantile(log.gap, result->n_rounds, 0.5);
	result->figures.wall_s = clock_boot_s() - start_s;
	free(log.decide_s);
	free(log.gap);
	simulation_release(&s);
	if (rc)
		sim_result_release(result);
	return rc;
}

void sim_result_release(struct sim_result *result)
{
	for (int i = 0; result->jobs && i < result->workload->n_jobs; i++)
		free(result->jobs[i].ends);
	free(result->jobs);
	free(result->rounds);
	*result = (struct sim_result){ 0 };
}
