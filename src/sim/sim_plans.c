/* sim_plans.c - the world of execution plans: a job runs by the fastest plan of its placement, as
 * the rows of the files say, and each round is checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "legal.h"
#include "pollux/mem.h"
#include "world.h"

struct run {
	const struct plan_job *job;
	const struct plan_row *row;	/* NULL: waits */
	double left;			/* iterations */
	double *goodput;		/* owned; [0..n_gpus] */
	int had;			/* GPUs, before the last decision */
};

static int run_plan(struct sim *s, struct sim_job *job, double start_s, double seconds,
		    struct err *err)
{
	struct run *r = job->own;
	double still_s = fmin(job->delay_s, seconds), work_s = seconds - still_s;

	(void)err;
	if (!r->row)
		return 0;
	job->delay_s -= still_s;
	s->progress_s = s->now_s;
	if (r->left * r->row->iteration_s <= work_s) {
		job->finish_s = start_s + still_s + r->left * r->row->iteration_s;
		sim_serve(job, job->finish_s - start_s, 1);
		return 0;
	}
	r->left -= work_s / r->row->iteration_s;
	sim_serve(job, seconds, 1);
	return 0;
}

/* True if the policy has no job whose devices it could take: the jobs are then left alone. Nobody
 * admits jobs here, and to move them for those that wait made the mean up to 15 % longer. */
static bool leaves_alone(const struct sim *s)
{
	for (int i = 0; i < s->n_active; i++)
		if (!((const struct run *)s->active[i]->own)->job->guaranteed)
			return false;
	return s->options->policy != &policy_rubick;
}

static int tell_plan(struct sim *s, struct sim_job *job, struct sched_job *told, struct err *err)
{
	const struct run *r = job->own;
	bool alone = leaves_alone(s);

	(void)err;
	told->min_replicas = r->job->min_gpus;
	told->max_replicas = s->n_gpus;
	told->preemptible = !alone;
	told->guaranteed = r->job->guaranteed && !alone;
	told->goodput = r->goodput;
	told->goodput_now = r->row ? 1 / r->row->iteration_s : (double)NAN;
	told->remaining_samples = s->options->lengths_known ? r->left : (double)NAN;
	told->reference_goodput = 1 / r->job->reference_s;
	return 0;
}

static void launch_plan(struct sim *s, struct sim_job *job)
{
	char digits[PLAN_DIGITS + 1];
	struct run *r = job->own;

	r->row = NULL;
	job->delay_s = s->options->restart_s;
	if (job->placement.n &&
	    placement_digits(job->placement.gpus, job->placement.n, digits, sizeof(digits)))
		r->row = plan_row_find(r->job->application, NULL, digits);
}

static int check_plans(struct sim *s, struct err *err)
{
	struct plan_state *states = xcalloc((size_t)s->n_active, sizeof(*states));
	int rc;

	for (int i = 0; i < s->n_active; i++) {
		struct run *r = s->active[i]->own;

		states[i] = (struct plan_state){
			.job = r->job, .name = s->active[i]->spec->name,
			.held = &s->active[i]->placement, .had = r->had,
			.plan = r->row ? r->row->plan : NULL,
			.iteration_s = r->row ? r->row->iteration_s : 0,
		};
		r->had = s->active[i]->placement.replicas;
	}
	rc = plan_check(states, s->n_active, s->n_nodes, s->kinds[0].gpus_per_node,
			(double)PLAN_CORES_PER_GPU * s->kinds[0].gpus_per_node, err);
	free(states);
	return rc ? err_prefix(err, "at %.0f s", s->now_s) : 0;
}

static int alone_with_plan(struct sim *s, const struct sim_job *job, double gpus, double *seconds,
			   struct err *err)
{
	const struct plan_job *plan_job = ((const struct run *)job->own)->job;
	const struct plan_application *a = plan_job->application;
	double best_s = HUGE_VAL;

	(void)err;
	for (int n = 1; n <= s->n_gpus && n <= fmax(gpus, a->least_gpus); n++)
		if (a->best[n])
			best_s = fmin(best_s, a->best[n]->iteration_s);
	*seconds = best_s * plan_job->iterations / fmin(1, gpus / a->least_gpus);
	return 0;
}

static const struct world world_of_plans = {
	.run = run_plan, .tell = tell_plan, .launch = launch_plan, .decided = check_plans,
	.alone = alone_with_plan,
};

int sim_plans_run(const struct sim_options *options, const struct sim_plans *plans,
		  const struct sim_workload *workload, struct sim_result *result, struct err *err)
{
	const struct plan_job *jobs = workload->own;
	struct run *runs = xcalloc((size_t)workload->n_jobs, sizeof(*runs));
	struct sim s;
	int rc;

	sim_init(&s, &world_of_plans, options, workload);
	sim_add_kind(&s, NULL, plans->n_gpus / plans->gpus_per_node, plans->gpus_per_node);
	for (int i = 0; i < workload->n_jobs; i++) {
		struct run *r = s.jobs[i].own = &runs[i];

		*r = (struct run){ .job = &jobs[i], .left = jobs[i].iterations };
		r->goodput = xcalloc((size_t)s.n_gpus + 1, sizeof(*r->goodput));
		for (int n = 1; n <= s.n_gpus; n++) {
			const struct plan_row *row = jobs[i].application->best[n];
			bool may = row && (!jobs[i].guaranteed ||
					   row->iteration_s <= jobs[i].owner_s);

			r->goodput[n] = may ? 1 / row->iteration_s : (double)NAN;
		}
	}
	rc = sim_run(&s, NULL, result, err);
	sim_release(&s);
	for (int i = 0; i < workload->n_jobs; i++)
		free(runs[i].goodput);
	free(runs);
	return rc;
}
