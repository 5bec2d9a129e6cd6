/* sizes.c - the configuration in which a job is to run on the devices that it was assigned. */
#include <math.h>
#include <string.h>

#include "stages.h"

double goodput_now(const struct candidate *c)
{
	const struct run *run = c->run;

	if (!run || !c->model.known || run->configuration.local_batch_size <= 0)
		return (double)NAN;
	return goodput_choice_of(&c->model.goodput, run->configuration).goodput;
}

struct sizes sizes_unknown(struct configuration configuration)
{
	return (struct sizes){
		.configuration = configuration, .learning_rate_scale = 1,
		.goodput = (double)NAN, .goodput_now = (double)NAN,
		.noise = { .noise_scale = (double)NAN, .expected = (double)NAN,
			   .interval = { (double)NAN, (double)NAN } },
	};
}

/* The best choice by the model of the kind of device that the job gets. The table is of the
 * kind that the job was weighed with, which for a job that waits may be another one. */
static struct goodput_choice best_on(const struct decision *d, const struct candidate *c,
				     const struct kind_view *view, struct workload *w,
				     struct throughput_place place, struct job_model *model)
{
	const struct goodput_table *t = view ? view->table : NULL;
	struct goodput_choice best = { .goodput = 0 }, there;

	*model = view ? view->model : c->model;
	if (!c->plans && (!t || t->assumed || !model->known)) {
		t = NULL;
		if (w && w->measured && w != c->workload) {
			knowledge_of_job(&w->k, c->job, model);
			if (model->known)
				job_model_best_at(model, place, &best);
		} else if (c->model.known && place.replicas <= d->n_usable) {
			t = own_table(c);
		}
	}
	if (t && (!c->plans || place.replicas <= d->n_usable))
		best = t->best[place.replicas];
	/* The tables are for the fewest nodes and the best tier that so many devices can have. */
	if (best.goodput > 0 &&
	    (best.configuration.nodes != place.nodes ||
	     (place.tier != TIER_UNKNOWN && best.configuration.tier != place.tier)) &&
	    job_model_best_at(model, place, &there))
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

/* Replaces a choice whose batch is larger than the steps of growth allow, from the batch that the
 * job has, on whatever devices. */
static void keep_to_growth(const struct candidate *c, struct throughput_place place,
			   const struct job_model *model, struct goodput_choice *best)
{
	const struct run *run = run_of(c);
	struct job_model bounded = *model;
	struct goodput_choice smaller;

	if (!model->known || !(best->goodput > 0))
		return;
	bounded.goodput = job_model_grown(model, c->job,
		run && run->configuration.local_batch_size > 0
			? configuration_batch_size(&run->configuration) : 0);
	if (configuration_batch_size(&best->configuration) > bounded.goodput.growth_bound &&
	    job_model_best_at(&bounded, place, &smaller) && smaller.goodput > 0)
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

/* What the candidate makes of the kind of the devices in this plan; NULL: nothing is known, or the
 * kind has no name. */
static const struct kind_view *view_of(const struct decision *d, const struct candidate *c,
				       int plan, const char *kind)
{
	int k = kind_named(d, kind);

	if (plan >= 0)
		return &c->plans->views[plan].on_kind[d->choices[c - d->candidates].kind];
	return c->on_kind && k >= 0 && d->kinds[k].name ? &c->on_kind[k] : NULL;
}

struct sizes choose_sizes(const struct snapshot *s, const struct decision *d,
			  const struct candidate *c, const char *kind,
			  struct throughput_place place)
{
	const struct declaration *declared = &c->job->declared;
	struct sizes sizes = sizes_unknown(configuration_make(place.replicas, 0, 1));
	struct configuration *chosen = &sizes.configuration;
	double noise_scale = declared->noise_scale > 0 ? declared->noise_scale : (double)NAN;
	int plan = choose_plan(d, c, place.replicas, place.tier);
	int width = plan_width(c, plan, place.replicas);
	int64_t batch, own = declared->batch.size;
	/* measurements of a job with plans are kept under its plan */
	struct workload *w = workloads_find(&s->workloads, plan >= 0
		? c->plans->views[plan].workload : declared->workload, kind);
	struct goodput_choice best = { .goodput = 0 };
	struct job_model model;
	bool changed = false;

	sizes.goodput_now = goodput_now(c);
	if (own == 0) {
		chosen->width = width > 1 ? width : 0;
	} else {
		best = best_on(d, c, view_of(d, c, plan, kind), w, place, &model);
		keep_to_growth(c, place, &model, &best);
		if (best.goodput > 0) {
			*chosen = best.configuration;
		} else {	/* the submitted batch, spread over so many devices */
			*chosen = configuration_spread(&declared->batch, place.replicas / width);
			configuration_widen(chosen, width);
		}
		changed = keep_to_what_works(declared, w, chosen);
	}
	chosen->nodes = place.nodes;
	chosen->tier = place.tier;
	if (plan >= 0)
		memcpy(chosen->plan, plan_at(c->plans, plan)->name, sizeof(chosen->plan));
	if (own == 0)
		return sizes;
	batch = configuration_batch_size(chosen);
	if (s->policy->models_goodput)
		noise_scale = model.goodput.noise_scale;
	if ((s->policy->models_goodput || changed) && batch != own)
		sizes.learning_rate_scale = goodput_lr_factor(job_lr_rule(c->job), noise_scale,
							      (double)own, (double)batch);
	if (!model.known)
		return sizes;
	sizes.noise = model.noise;
	sizes.goodput = best.goodput > 0 && !changed
		? best.goodput : goodput_choice_of(&model.goodput, *chosen).goodput;
	return sizes;
}
