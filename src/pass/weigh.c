/* weigh.c - what each candidate makes of each number of devices, for policies that model
 * goodput. */
#include <math.h>
#include <string.h>

#include "decision.h"
#include "job_plans.h"
#include "nodes.h"
#include "tiers.h"

/* The cost of a restart where no relaunch was ever timed, as a part of a slice: 30 s of ten
 * minutes, as in the published evaluation. */
#define RESTART_SLICES 0.05
/* The same of a run that is suspended and goes on: from the pass that gives it devices to its next
 * step, as benchmarks/suspend.sh measures it. */
#define RESUME_S 0.1

/* --- what is known --- */

static double run_time_s(const struct snapshot *s, const struct candidate *c)
{
	const struct run *run = run_of(c);
	double now_s = run && isfinite(run->launch_boot_s)
		? run_clock_s(run, s->now_boot_s) - run->launch_boot_s : 0;

	return c->job->progress.run_time_s + now_s;
}

/* A job that has run for a slice without a word of its progress will not tell. */
static bool is_silent(const struct snapshot *s, const struct candidate *c)
{
	const struct progress *progress = &c->job->progress;
	bool spoke = isfinite(progress->steps) || isfinite(progress->samples) ||
		     (run_of(c) && isfinite(run_of(c)->first_step_s));

	return !spoke && run_time_s(s, c) >= s->config->slice_s;
}

/* True if the job is to be measured on few devices before it is given more. One that has to
 * stay where it starts is not. */
static bool may_be_measured(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];

	return c->job->declared.batch.size > 0 && c->relaunchable && !is_silent(s, c);
}

/* --- for the policy --- */

/* A run that said that it takes configurations, but has not taken the last one for this long
 * (and for at least this many steps), will have another one only by a relaunch. */
#define CONFIG_PATIENCE_S 60.0
#define CONFIG_PATIENCE_STEPS 5

bool takes_configurations(const struct snapshot *s, const struct run *run)
{
	double patience_s = fmax(CONFIG_PATIENCE_S, CONFIG_PATIENCE_STEPS * run->step_time_s);

	return run->takes_configs && (run->wanted_version == run->config_version ||
				      !(s->now_boot_s - run->wanted_boot_s > patience_s));
}

static bool has_active_run(const struct snapshot *s, int64_t job_id)
{
	for (int i = 0; i < s->runs.count; i++)
		if (s->runs.items[i].job_id == job_id)
			return true;
	return false;
}

/* From the wall clock to the boot clock; at most now. */
static double boot_time(const struct snapshot *s, double wall_s)
{
	return s->now_boot_s - fmax(s->now_wall_s - wall_s, 0);
}

/* The time on the boot clock since which the job could have had devices and had none. */
static double waiting_since(const struct snapshot *s, const struct decision *d,
			    const struct candidate *c)
{
	const struct job *job = c->job;
	double since = fmax(job->submit_time_s, job->progress.last_end_time_s);

	if (c->suspended)
		return c->suspended->suspended_boot_s;
	if (has_active_run(s, job->id))
		return s->now_boot_s;
	since = fmax(since, dependencies_end(d, job->id));
	return boot_time(s, fmax(since, job->declared.begin_s));
}

static double relaunch_s(const struct snapshot *s, const struct candidate *c)
{
	return isfinite(c->model.restart_s) ? c->model.restart_s
					    : RESTART_SLICES * s->config->slice_s;
}

/* Time in which the run did what a stop would lose. */
static double unsaved_s(const struct snapshot *s, const struct run *run)
{
	double began_s = run->launch_boot_s + run->first_step_s;

	if (!run_loses(s, run) || isnan(began_s))
		return 0;
	return fmax(run_clock_s(run, s->now_boot_s) - fmax(began_s, run->checkpoint_boot_s), 0);
}

static void set_restart(const struct snapshot *s, const struct candidate *c,
			struct sched_job *out)
{
	const struct run *run = run_of(c);

	out->restart_s = relaunch_s(s, c);
	if (run && c->relaunchable)
		out->unsaved_s = unsaved_s(s, run);
	if (!run || !c->suspends)
		return;
	if (c->relaunchable)
		out->relaunch_s = out->restart_s;
	out->restart_s = RESUME_S + run_move_s(s, run);
}

/* True if only a relaunch could change the configuration, and the job cannot be relaunched. */
static bool keeps_configuration(const struct candidate *c)
{
	return c->suspends && !c->relaunchable;
}

/* The best goodput that the run can have without a relaunch, if a relaunch could bring it to
 * another plan; else NaN. */
static double goodput_of_plan(const struct snapshot *s, const struct decision *d,
			      const struct candidate *c)
{
	return c->plans && takes_configurations(s, c->run) ? plan_goodput_now(d, c) : (double)NAN;
}

static void describe_candidate(const struct snapshot *s, const struct decision *d,
			       const struct candidate *c, struct sched_job *out)
{
	const struct job *job = c->job;

	out->submitted_s = boot_time(s, job->submit_time_s);
	out->waiting_since_s = waiting_since(s, d, c);
	out->restarts = job->progress.runs > 1 ? job->progress.runs - 1 : 0;
	set_restart(s, c, out);
	/* A run that changes while it runs will be at its best: its present goodput is no matter
	 * for the policy. Nor is that of a run whose configuration cannot change. */
	out->goodput_now = c->run && (takes_configurations(s, c->run) || keeps_configuration(c))
		? goodput_of_plan(s, d, c) : goodput_now(c);
	if (s->host_needs)
		out->memory_bytes = (double)s->host_needs[c->job - s->jobs.items];
	out->remaining_samples = (double)NAN;
	if (!own_table(c))
		return;
	if (out->max_replicas > most_devices(d))
		out->max_replicas = most_devices(d);
	if (out->max_replicas < out->min_replicas)
		out->max_replicas = out->min_replicas;
	out->remaining_samples = goodput_table_remaining(own_table(c), &c->model, most_devices(d));
	offer_tables(d, c, out);
}

/* True if the run is the first of its workload: it trains, or is about to, and tells how fast. */
static bool is_measured_first(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];

	return c->run && !own_table(c) && may_be_measured(s, d, j);
}

static void tell_others_of_workload(struct decision *d, const char *workload)
{
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];

		if (!run_of(c) && !own_table(c) && !strcmp(c->job->declared.workload, workload))
			d->sched_jobs[j].measured_elsewhere = true;
	}
}

static void weigh(const struct snapshot *s, struct decision *d, int j, struct knowledge *nothing)
{
	struct candidate *c = &d->candidates[j];
	const struct run *run = run_of(c);
	struct workload *w;

	if (c->plans) {
		weigh_plans(s, d, j);
		return;
	}
	w = workloads_measured(&s->workloads, c->job->declared.workload,
			       run ? run->devices[0].kind : NULL);
	c->workload = w;
	knowledge_of_job(w ? &w->k : nothing, c->job, &c->model);
	/* Each step of growth costs a relaunch, and has to be worth it by itself. */
	if (run && c->model.known && isfinite(run->first_step_s) && !takes_configurations(s, run))
		c->model.goodput = job_model_grown(&c->model, c->job,
						   configuration_batch_size(&run->configuration));
	raise_least(d, j, &c->model);
	tiers_tell_model(d, w ? w->kind : NULL, &c->model);
}

void weigh_candidates(const struct snapshot *s, struct decision *d)
{
	struct knowledge nothing = knowledge_of_nothing();

	for (int j = 0; s->policy->models_goodput && j < d->n; j++) {
		weigh(s, d, j, &nothing);
		if (!d->candidates[j].on_kind &&
		    (d->candidates[j].model.known || !may_be_measured(s, d, j)))
			weigh_on_kinds(s, d, j);
		describe_candidate(s, d, &d->candidates[j], &d->sched_jobs[j]);
	}
	for (int j = 0; s->policy->models_goodput && j < d->n; j++)
		if (is_measured_first(s, d, j))
			tell_others_of_workload(d, d->candidates[j].job->declared.workload);
}
