/* sim_plans.c - the rounds of a simulation with execution plans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "plan_check.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pack_nodes.h"
#include "pollux/sim_plans.h"

#define STUCK_S (30 * 86400.)	/* without any progress */

struct run {
	const struct plan_job *job;
	int count, restarts;
	const struct plan_row *row;	/* NULL: waits */
	double left, delay_s;		/* iterations; time until its launch is over */
	double start_s, finish_s, waiting_since_s, launched_s, device_s;
	double jobs_sum, jobs_s;	/* integral of the number of jobs over its life; its life */
	double *goodput;		/* [0..n_gpus] */
};

struct cluster {
	const struct sim_options *options;
	const struct sim_plans *plans;
	const struct sim_workload *workload;
	struct run *runs;
	int *active, n_active, n_submitted, n_done;
	int n_nodes;
	int *held, *placed, *count;	/* of the active jobs, [job * n_nodes + node] */
	int *where;			/* of all jobs */
	double *decide_s, *ended_device_s;
	double now_s, progress_s;
};

static int total_gpus(const struct cluster *c)
{
	return c->plans->n_gpus;
}

/* The nodes of a job in a table of jobs and nodes. */
static int *nodes_of(const struct cluster *c, int *table, int index)
{
	return &table[(size_t)index * (size_t)c->n_nodes];
}

static void init_run(struct cluster *c, struct run *r, const struct plan_job *job)
{
	*r = (struct run){ .job = job, .restarts = -1, .left = job->iterations,
			   .start_s = (double)NAN };
	r->goodput = xcalloc((size_t)total_gpus(c) + 1, sizeof(*r->goodput));
	for (int n = 1; n <= total_gpus(c); n++) {
		const struct plan_row *row = job->application->best[n].row;
		bool may = row && (!job->guaranteed || row->iteration_s <= job->owner_s);

		r->goodput[n] = may ? 1 / row->iteration_s : (double)NAN;
	}
}

/* True if the policy has no job whose devices it could take: the jobs are then left alone. Nobody
 * admits jobs here, and to move them for those that wait made the mean up to 15 % longer. */
static bool leaves_alone(const struct cluster *c)
{
	for (int i = 0; i < c->n_active; i++)
		if (!c->runs[c->active[i]].job->guaranteed)
			return false;
	return c->options->policy != &policy_rubick;
}

static void tell_run(const struct cluster *c, int index, bool alone, struct sched_job *told)
{
	const struct run *r = &c->runs[index];
	const struct sim_workload_job *spec = &c->workload->jobs[index];

	*told = (struct sched_job){
		.id = index, .min_replicas = r->job->min_gpus, .max_replicas = total_gpus(c),
		.weight = 1, .attained_service_device_s = r->device_s, .replicas = r->count,
		.preemptible = !alone, .launched_s = r->launched_s, .demoted_s = (double)NAN,
		.submitted_s = spec->submit_s, .waiting_since_s = r->waiting_since_s,
		.restarts = r->restarts > 0 ? r->restarts : 0,
		.restart_s = c->options->restart_s, .goodput = r->goodput,
		.goodput_now = r->row ? 1 / r->row->iteration_s : (double)NAN,
		.remaining_samples = c->options->lengths_known ? r->left : (double)NAN,
		.reference_goodput = 1 / r->job->reference_s,
		.guaranteed = r->job->guaranteed && !alone,
	};
}

static void decide(struct cluster *c)
{
	struct sched_job *told = xcalloc((size_t)c->n_active, sizeof(*told));
	struct sched_choice *choices = xcalloc((size_t)c->n_active, sizeof(*choices));
	bool alone = leaves_alone(c);
	struct sched_input in = {
		.jobs = told, .n_jobs = c->n_active, .n_devices = total_gpus(c),
		.now_s = c->now_s, .slice_s = c->options->slice_s,
		.devices_per_node = c->plans->gpus_per_node,
		.ended_device_s = c->ended_device_s, .n_ended = c->n_done,
	};

	for (int i = 0; i < c->n_active; i++)
		tell_run(c, c->active[i], alone, &told[i]);
	policy_decide(c->options->policy, &in, false, choices);
	for (int i = 0; i < c->n_active; i++) {
		c->count[i] = choices[i].replicas;
		memcpy(nodes_of(c, c->held, i), nodes_of(c, c->where, c->active[i]),
		       (size_t)c->n_nodes * sizeof(*c->held));
	}
	free(choices);
	free(told);
	place_jobs(c->n_nodes, c->plans->gpus_per_node, c->n_active, c->held, c->count, c->placed);
}

/* Starts, stops or moves the job. Returns true if the job restarts. */
static bool launch_job(struct cluster *c, int i)
{
	struct run *r = &c->runs[c->active[i]];
	const int *placed = nodes_of(c, c->placed, i);
	size_t bytes = (size_t)c->n_nodes * sizeof(*placed);

	if (memcmp(placed, nodes_of(c, c->held, i), bytes) == 0)
		return false;
	memcpy(nodes_of(c, c->where, c->active[i]), placed, bytes);
	r->row = NULL;
	if (c->count[i] == 0) {
		r->waiting_since_s = c->now_s;
	} else {
		char digits[PLAN_DIGITS + 1];

		plan_digits(placed, c->n_nodes, digits);
		r->row = plan_row_find(r->job->application, NULL, digits);
		r->launched_s = c->now_s;
		r->delay_s = c->options->restart_s;
		r->restarts++;
		if (isnan(r->start_s))
			r->start_s = c->now_s;
	}
	r->count = c->count[i];
	return c->count[i] && r->restarts > 0;
}

static int check_plans(const struct cluster *c, struct err *err)
{
	struct plan_state *states = xcalloc((size_t)c->n_active, sizeof(*states));
	int rc;

	for (int i = 0; i < c->n_active; i++) {
		const struct run *r = &c->runs[c->active[i]];

		states[i] = (struct plan_state){
			.job = r->job, .name = c->workload->jobs[c->active[i]].name,
			.held = nodes_of(c, c->placed, i),
			.held_before = nodes_of(c, c->held, i),
			.plan = r->row ? r->row->plan : NULL,
			.iteration_s = r->row ? r->row->iteration_s : 0,
		};
	}
	rc = plan_check(states, c->n_active, c->n_nodes, c->plans->gpus_per_node,
			(double)PLAN_CORES_PER_GPU * c->plans->gpus_per_node, err);
	free(states);
	if (rc)
		err_prefix(err, "at %.0f s", c->now_s);
	return rc;
}

/* Runs the job for a round. Returns true if the job has ended. */
static bool advance_run(struct cluster *c, struct run *r, double round_s)
{
	double still_s = fmin(r->delay_s, round_s), work_s = round_s - still_s;

	r->jobs_sum += c->n_active * round_s;
	r->jobs_s += round_s;
	if (!r->row)
		return false;
	r->delay_s -= still_s;
	c->progress_s = c->now_s;
	if (r->left * r->row->iteration_s <= work_s) {
		r->finish_s = c->now_s + still_s + r->left * r->row->iteration_s;
		r->device_s += r->count * (r->finish_s - c->now_s);
		return true;
	}
	r->left -= work_s / r->row->iteration_s;
	r->device_s += r->count * round_s;
	return false;
}

static void run_round(struct cluster *c)
{
	int n = 0, n_done = c->n_done;

	for (int i = 0; i < c->n_active; i++) {
		int index = c->active[i];
		struct run *r = &c->runs[index];

		if (advance_run(c, r, c->options->interval_s))
			c->ended_device_s[n_done++] = r->device_s;
		else
			c->active[n++] = index;
	}
	c->n_active = n;
	c->n_done = n_done;
}

static void submit_jobs(struct cluster *c)
{
	while (c->n_submitted < c->workload->n_jobs &&
	       c->workload->jobs[c->n_submitted].submit_s <= c->now_s) {
		struct run *r = &c->runs[c->n_submitted];

		r->waiting_since_s = c->workload->jobs[c->n_submitted].submit_s;
		c->active[c->n_active++] = c->n_submitted++;
	}
}

static int step_cluster(struct cluster *c, struct sim_result *result, struct err *err)
{
	struct sim_round *round;
	double start_s = clock_boot_s();

	result->rounds = xreallocarray(result->rounds, (size_t)result->n_rounds + 1,
				       sizeof(*result->rounds));
	c->decide_s = xreallocarray(c->decide_s, (size_t)result->n_rounds + 1,
				    sizeof(*c->decide_s));
	round = &result->rounds[result->n_rounds];
	*round = (struct sim_round){ .time_s = c->now_s };
	decide(c);
	c->decide_s[result->n_rounds++] = clock_boot_s() - start_s;
	for (int i = 0; i < c->n_active; i++) {
		round->restarts += launch_job(c, i);
		round->running += c->count[i] > 0;
		round->waiting += c->count[i] == 0;
		round->gpus += c->count[i];
	}
	if (check_plans(c, err))
		return -1;
	run_round(c);
	return 0;
}

static int run_cluster(struct cluster *c, struct sim_result *result, struct err *err)
{
	while (c->n_done < c->workload->n_jobs) {
		c->now_s += c->options->interval_s;
		submit_jobs(c);
		if (c->n_active == 0)
			c->progress_s = c->now_s;
		else if (step_cluster(c, result, err))
			return -1;
		if (c->now_s - c->progress_s > STUCK_S)
			return err_set(err, EX_UNAVAILABLE, "no job progresses any more");
	}
	return 0;
}

/* The time of the job alone on its share of the GPUs (simulate.h). */
static double alone_s(const struct cluster *c, const struct run *r)
{
	const struct plan_application *a = r->job->application;
	double share = total_gpus(c) * r->jobs_s / r->jobs_sum, best_s = HUGE_VAL;

	for (int n = 1; n <= total_gpus(c) && n <= fmax(share, a->least_gpus); n++)
		if (a->best[n].row)
			best_s = fmin(best_s, a->best[n].row->iteration_s);
	return best_s * r->job->iterations / fmin(1, share / a->least_gpus);
}

static void set_jobs(const struct cluster *c, struct sim_result *result)
{
	result->jobs = xcalloc((size_t)c->workload->n_jobs, sizeof(*result->jobs));
	for (int i = 0; i < c->workload->n_jobs; i++) {
		const struct run *r = &c->runs[i];
		double submit_s = c->workload->jobs[i].submit_s;

		result->jobs[i] = (struct sim_job_result){
			.name = c->workload->jobs[i].name, .submit_s = submit_s,
			.start_s = r->start_s, .finish_s = r->finish_s, .restarts = r->restarts,
			.application = r->job->application->name, .gpu_hours = r->device_s / 3600,
			.fairness = (r->finish_s - submit_s) / alone_s(c, r),
		};
		result->figures.gpu_hours += result->jobs[i].gpu_hours;
	}
	figures_of_jobs(result);
	result->figures.decide_median_s = quantile(c->decide_s, result->n_rounds, 0.5);
	result->figures.decide_p95_s = quantile(c->decide_s, result->n_rounds, 0.95);
}

int sim_plans_run(const struct sim_options *options, const struct sim_plans *plans,
		  const struct plan_job *jobs, const struct sim_workload *workload,
		  struct sim_result *result, struct err *err)
{
	size_t n = (size_t)workload->n_jobs, cells;
	double start_s = clock_boot_s();
	struct cluster c = {
		.options = options, .plans = plans, .workload = workload,
		.n_nodes = plans->n_gpus / plans->gpus_per_node,
	};
	int rc;

	cells = n * (size_t)c.n_nodes;
	c.runs = xcalloc(n, sizeof(*c.runs));
	c.ended_device_s = xcalloc(n, sizeof(*c.ended_device_s));
	c.active = xcalloc(n * 2 + cells * 3, sizeof(*c.active));
	c.count = c.active + n;
	c.held = c.count + n;
	c.placed = c.held + cells;
	c.where = c.placed + cells;
	for (size_t i = 0; i < n; i++)
		init_run(&c, &c.runs[i], &jobs[i]);
	*result = (struct sim_result){ .workload = workload };
	rc = run_cluster(&c, result, err);
	if (rc == 0)
		set_jobs(&c, result);
	result->figures.wall_s = clock_boot_s() - start_s;
	for (size_t i = 0; i < n; i++)
		free(c.runs[i].goodput);
	free(c.runs);
	free(c.active);
	free(c.ended_device_s);
	free(c.decide_s);
	if (rc)
		sim_result_release(result);
	return rc;
}
