/* sim_job_model.c - the model of a job, by what is known of it, and the sizes that follow. */
#include <math.h>

#include "pollux/batch_growth.h"
#include "simulation.h"

/* The noise scale of the job's last update. Before its first update: that of the last update, in
 * this epoch, of any job whose observations it shares. NaN: unknown. */
static double noise_scale(const struct simulation *s, const struct sim_job *job)
{
	const struct application *a = job->spec->application;
	struct gradients g = job->agent->gradients[job->epoch];

	if (job->has_run)
		g = job->gradients;
	else if (s->options->knowledge == SIM_KNOWLEDGE_FULL)
		g = truth_gradients(a, (double)a->initial_batch_size, job->epoch);
	return isnan(g.var) ? (double)NAN : gradients_noise_scale(a, g);
}

double job_speed_on(const struct sim_job *job, int kind)
{
	const struct placement_times *one =
		application_placement(application_on(job->spec->application, kind), "1");

	return one ? one->local_batch_size[one->n - 1] / one->times[one->n - 1].step_s : 1;
}

/* The kind whose times are used to predict the job on a kind: the kind on which most numbers of
 * GPUs were seen; among equals, the kind itself. -1: none was seen. */
static int known_kind(const struct simulation *s, const struct sim_job *job, int kind)
{
	int best = job->agent[kind].n ? kind : -1;

	for (int k = 0; k < s->n_kinds; k++)
		if (job->agent[k].n && (best < 0 || job->agent[k].max_replicas >
							    job->agent[best].max_replicas))
			best = k;
	if (job->agent[kind].max_replicas > 1)
		return kind;
	return best;
}

static void scale_times(struct throughput_params *p, double factor)
{
	double *times[] = { &p->alpha_grad, &p->beta_grad, &p->alpha_sync_local,
			    &p->beta_sync_local, &p->alpha_sync_node, &p->beta_sync_node };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] *= factor;
}

bool sim_job_model(struct simulation *s, const struct sim_job *job, int kind,
		   struct goodput_model *model, int *version)
{
	const struct application *a = application_on(job->spec->application, kind);
	int from = job->agent ? known_kind(s, job, kind) : -1;
	struct agent *agent;

	if (from < 0 || !agent_fit(&job->agent[from], &s->memo))
		return false;
	agent = &job->agent[from];
	*model = (struct goodput_model){
		.params = agent->params,
		.residuals = agent->n_places && from == kind ? &agent->residuals : NULL,
		.noise_scale = noise_scale(s, job), .initial_batch_size = a->initial_batch_size,
		.max_batch_size = a->max_batch_size,
		.min_local_batch_size = a->min_local_batch_size,
		.max_local_batch_size = a->max_local_batch_size, .accumulates = true,
	};
	if (s->manner.bounded_growth)
		model->growth_bound = growth_efficient(model->noise_scale, a->initial_batch_size,
						       s->options->min_efficiency);
	if (from != kind)
		scale_times(&model->params, job_speed_on(job, from) / job_speed_on(job, kind));
	if (version)
		*version = agent->version * s->n_kinds + from;
	return true;
}

/* The batch size before anything is known: the initial one, or the least for this many replicas. */
static int64_t first_batch(const struct application *a, int replicas)
{
	int64_t least = a->min_local_batch_size * replicas;

	return least > a->initial_batch_size ? least : a->initial_batch_size;
}

bool model_key_equal(const struct model_key *a, const struct model_key *b)
{
	return a->version == b->version && a->kind == b->kind && a->nodes == b->nodes &&
	       a->replicas == b->replicas &&
	       !(a->noise_scale < b->noise_scale || a->noise_scale > b->noise_scale) &&
	       isnan(a->noise_scale) == isnan(b->noise_scale) && a->growth_bound == b->growth_bound;
}

/* The noise scale is known here, and losses are what it promises: each batch that a job had was
 * judged, and stays so when the job has fewer GPUs for a while. */
static int64_t steps_bound(const struct simulation *s, struct sim_job *job,
			   const struct goodput_model *model)
{
	struct growth g = { .verdict = GROWTH_AS_PROMISED };
	struct growth_bound b = {
		.initial_batch_size = model->initial_batch_size,
		.batch_size = configuration_batch_size(&job->configuration),
		.noise_low = model->noise_scale, .min_efficiency = s->options->min_efficiency,
		.samples = job->progress,
		.total_samples = s->options->lengths_known ? job_end(job) : (double)NAN,
	};

	if (b.batch_size > job->largest_batch)
		job->largest_batch = b.batch_size;
	g.batch_size = b.batch_size;
	g.judged = job->largest_batch > b.initial_batch_size ? job->largest_batch
							     : b.initial_batch_size;
	return growth_most(&g, &b);
}

struct configuration job_best_sizes(struct simulation *s, struct sim_job *job)
{
	const struct application *a = job_application(job);
	struct throughput_place place =
		throughput_place_on(job->placement.n, job->placement.replicas);
	struct model_key key = {
		.kind = job->kind, .nodes = place.nodes, .replicas = place.replicas,
	};
	struct goodput_model model;
	struct goodput_choice best;

	if (a->fixed_batch_size)
		return sizes_spread(a, place, a->fixed_batch_size, false);
	if (!sim_job_model(s, job, job->kind, &model, &key.version))
		return sizes_spread(a, place, first_batch(a, place.replicas), false);
	if (s->manner.bounded_growth)
		model.growth_bound = steps_bound(s, job, &model);
	key.noise_scale = model.noise_scale;
	key.growth_bound = model.growth_bound;
	if (model_key_equal(&key, &job->sizes_key))
		return job->configuration;
	job->sizes_key = key;
	if (!goodput_best_round(&model, place, &best))
		return sizes_spread(a, place, first_batch(a, place.replicas), false);
	return best.configuration;
}

int job_max_replicas(const struct simulation *s, const struct sim_job *job, int kind)
{
	const struct application *a = application_on(job->spec->application, kind);
	int64_t batch = s->manner.owners_batch ? job->spec->batch_size : a->max_batch_size;
	int64_t most = batch / a->min_local_batch_size, tried = 0;

	for (int k = 0; job->agent && k < s->n_kinds; k++)
		if (job->agent[k].max_replicas > tried)
			tried = job->agent[k].max_replicas;
	if (most > a->max_replicas)
		most = a->max_replicas;
	if (most > s->kinds[kind].n_gpus)
		most = s->kinds[kind].n_gpus;
	if (s->options->knowledge != SIM_KNOWLEDGE_FULL && most > s->manner.growth * tried)
		most = s->manner.growth * tried;
	return most > 1 ? (int)most : 1;
}
