/* sizes.c - the configuration in which a job is to run on the devices that it was assigned. */
#include <math.h>
#include <string.h>

#include "job_plans.h"
#include "kinds.h"
#include "nodes.h"

double goodput_now(const struct candidate *c)
{
	const struct run *run = c->run;

	if (!run || !c->model.known || run->configuration.local_batch_size <= 0)
		return (double)NAN;
	return goodput_choice_of(&c->model.goodput, run->configuration).goodput;
}

static double learning_rate_scale(const struct job *job, double noise_scale, int64_t batch_size)
{
	int64_t own = job->declared.batch.size;

	if (batch_size == own)
		return 1;
	return goodput_lr_factor(job_lr_rule(job), noise_scale, (double)own, (double)batch_size);
}

/* The workload under which measurements of the job in this plan are kept; plan -1: it has none. */
static const char *workload_of(const struct candidate *c, int plan)
{
	return plan >= 0 ? c->plans->views[plan].workload : c->job->declared.workload;
}

static struct throughput_place place_of(const struct devices_wanted *on)
{
	struct throughput_place place = throughput_place_on(on->nodes, on->replicas);

	place.tier = on->tier;
	return place;
}

static bool is_elsewhere(const struct configuration *c, const struct devices_wanted *on)
{
	return c->nodes != on->nodes || (on->tier != TIER_UNKNOWN && c->tier != on->tier);
}

/* The best choice by the model of the kind of device that the job gets. The table is of the
 * kind that the job was weighed with, which for a job that waits may be another one. */
static struct goodput_choice best_on(const struct snapshot *s, const struct decision *d,
				     const struct candidate *c, int plan,
				     const struct devices_wanted *on, struct job_model *model)
{
	const char *kind = on->kind;
	int replicas = on->replicas;
	struct workload *w = workloads_find(&s->workloads, workload_of(c, plan), kind);
	const struct kind_view *view = view_of_kind(d, c, kind);
	struct goodput_choice best = { .goodput = 0 }, there;

	const struct goodput_table *of_plan = NULL;

	*model = view ? view->model : c->model;
	if (plan >= 0) {
		of_plan = plan_table_there(d, c, plan);
		*model = *plan_model_there(d, c, plan);
		if (of_plan && replicas <= d->n_usable)
			best = of_plan->best[replicas];
	} else if (view && view->table && !view->table->assumed && model->known) {
		best = view->table->best[replicas];
	} else if (w && w->measured && w != c->workload) {
		knowledge_of_job(&w->k, c->job, model);
		if (model->known)
			job_model_best_at(model, place_of(on), &best);
	} else if (own_table(c) && c->model.known && replicas <= d->n_usable) {
		best = own_table(c)->best[replicas];
	}
	/* The tables are for the fewest nodes and the best tier that so many devices can have. */
	if (best.goodput > 0 && is_elsewhere(&best.configuration, on) &&
	    job_model_best_at(model, place_of(on), &there))
		best = there;
	return best;
}

/* Replaces a size that is known not to work on this kind of device, while the job may have another
 * that works. Such a size may come from a policy without models, or from the model of another
 * kind. */
static bool keep_to_what_works(const struct declaration *declared, const struct workload *w,
			       struct configuration *c)
{
	int workers = configuration_workers(c), width = c->width;
	int64_t limit = w ? sizes_limit(&w->k.memory, &w->k.failed, workers) : 0;
	struct configuration works;

	if (limit <= 0 ||
	    c->local_batch_size < sizes_too_large(&w->k.memory, &w->k.failed, workers) ||
	    !configuration_within(&declared->batch, workers, limit, &works))
		return false;
	*c = works;
	configuration_widen(c, width);
	return true;
}

static void name_plan(const struct candidate *c, int plan, struct configuration *configuration)
{
	if (plan >= 0)
		memcpy(configuration->plan, c->plans->declared.items[plan].name,
		       sizeof(configuration->plan));
}

/* The submitted batch, spread over so many devices. */
static struct configuration as_submitted(const struct declaration *declared, int devices, int width)
{
	struct configuration spread =
		configuration_spread(&declared->batch, devices / width);

	configuration_widen(&spread, width);
	return spread;
}

/* The batch that the job has, on whatever devices; 0: it has none. */
static int64_t present_batch(const struct candidate *c)
{
	const struct run *run = run_of(c);

	return run && run->configuration.local_batch_size > 0
		? configuration_batch_size(&run->configuration) : 0;
}

/* Replaces a choice whose batch is larger than the steps of growth allow. */
static void grow_by_steps(const struct candidate *c, const struct devices_wanted *on,
			  const struct job_model *model, struct goodput_choice *best)
{
	struct job_model bounded = *model;
	struct goodput_choice smaller;

	if (!model->known || !(best->goodput > 0))
		return;
	bounded.goodput = job_model_grown(model, c->job, present_batch(c));
	if (configuration_batch_size(&best->configuration) > bounded.goodput.growth_bound &&
	    job_model_best_at(&bounded, place_of(on), &smaller) && smaller.goodput > 0)
		*best = smaller;
}

bool must_shrink(const struct candidate *c, const struct sizes *sizes)
{
	const struct job_model *m = &c->model;
	int64_t present = c->run ? configuration_batch_size(&c->run->configuration) : 0;
	int64_t most = growth_efficient(m->noise.interval.high, m->goodput.batch.size,
					m->min_efficiency);

	if (!m->known || configuration_batch_size(&sizes->configuration) >= present)
		return false;
	if (present > m->goodput.batch.max && present > m->goodput.batch.size)
		return true;	/* it was edited, or was found to count updates */
	return (m->growth.verdict == GROWTH_FELL_BEHIND && present > m->growth.judged) ||
	       (!isnan(m->noise.interval.low) && present > most);
}

struct sizes choose_sizes(const struct snapshot *s, const struct decision *d,
			  const struct candidate *c, const struct devices_wanted *on)
{
	int replicas = on->replicas;
	const char *kind = on->kind;
	const struct declaration *declared = &c->job->declared;
	struct sizes sizes = {
		.configuration = configuration_make(replicas, 0, 1),
		.learning_rate_scale = 1, .goodput = (double)NAN, .goodput_now = goodput_now(c),
		.noise = { .noise_scale = (double)NAN, .expected = (double)NAN,
			   .interval = { (double)NAN, (double)NAN } },
	};
	double noise_scale = declared->noise_scale > 0 ? declared->noise_scale : (double)NAN;
	struct goodput_choice best;
	struct job_model model;
	int plan = choose_plan(d, c, replicas, on->tier), width = plan_width(c, plan, replicas);
	bool changed;

	sizes.configuration.width = width > 1 ? width : 0;
	name_plan(c, plan, &sizes.configuration);
	sizes.configuration.nodes = on->nodes;
	sizes.configuration.tier = on->tier;
	if (declared->batch.size == 0)
		return sizes;
	best = best_on(s, d, c, plan, on, &model);
	grow_by_steps(c, on, &model, &best);
	sizes.configuration = best.goodput > 0 ? best.configuration
		: as_submitted(declared, replicas, width);
	sizes.configuration.tier = on->tier;
	changed = keep_to_what_works(declared, workloads_find(&s->workloads, workload_of(c, plan),
							      kind), &sizes.configuration);
	sizes.configuration.nodes = on->nodes;
	name_plan(c, plan, &sizes.configuration);
	sizes.configuration.tier = on->tier;
	if (s->policy->models_goodput)
		noise_scale = model.goodput.noise_scale;
	if (s->policy->models_goodput || changed)
		sizes.learning_rate_scale =
			learning_rate_scale(c->job, noise_scale,
					    configuration_batch_size(&sizes.configuration));
	if (!model.known)
		return sizes;
	sizes.noise = model.noise;
	sizes.goodput = best.goodput > 0 && !changed
		? best.goodput : goodput_choice_of(&model.goodput, sizes.configuration).goodput;
	return sizes;
}
