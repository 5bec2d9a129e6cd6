/* sim_job_model.c - the model of a job, by what is known of it, and the sizes that follow. */
#include <math.h>

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

bool sim_job_model(struct simulation *s, const struct sim_job *job, struct goodput_model *model)
{
	const struct application *a = job->spec->application;

	if (!job->agent || !agent_fit(job->agent, &s->memo))
		return false;
	*model = (struct goodput_model){
		.params = job->agent->params,
		.residuals = job->agent->n_places ? &job->agent->residuals : NULL,
		.noise_scale = noise_scale(s, job), .initial_batch_size = a->initial_batch_size,
		.max_batch_size = a->max_batch_size,
		.min_local_batch_size = a->min_local_batch_size,
		.max_local_batch_size = a->max_local_batch_size, .accumulates = true,
	};
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
	return a->version == b->version && a->nodes == b->nodes && a->replicas == b->replicas &&
	       !(a->noise_scale < b->noise_scale || a->noise_scale > b->noise_scale) &&
	       isnan(a->noise_scale) == isnan(b->noise_scale);
}

struct configuration job_best_sizes(struct simulation *s, struct sim_job *job)
{
	const struct application *a = job->spec->application;
	struct throughput_place place = { job->placement.n, job->placement.replicas };
	struct model_key key = { .nodes = place.nodes, .replicas = place.replicas };
	struct goodput_model model;
	struct goodput_choice best;

	if (a->fixed_batch_size)
		return sizes_spread(a, place, a->fixed_batch_size, false);
	if (!sim_job_model(s, job, &model))
		return sizes_spread(a, place, first_batch(a, place.replicas), false);
	key.version = job->agent->version;
	key.noise_scale = model.noise_scale;
	if (model_key_equal(&key, &job->sizes_key))
		return job->configuration;
	job->sizes_key = key;
	if (!goodput_best_round(&model, place, &best))
		return sizes_spread(a, place, first_batch(a, place.replicas), false);
	return best.configuration;
}

int job_max_replicas(const struct simulation *s, const struct sim_job *job)
{
	const struct application *a = job->spec->application;
	int64_t batch = s->manner.owners_batch ? job->spec->batch_size : a->max_batch_size;
	int64_t most = batch / a->min_local_batch_size,
		tried = job->agent ? job->agent->max_replicas : 0;

	if (most > a->max_replicas)
		most = a->max_replicas;
	if (most > s->n_gpus)
		most = s->n_gpus;
	if (s->options->knowledge != SIM_KNOWLEDGE_FULL && most > s->manner.growth * tried)
		most = s->manner.growth * tried;
	return most > 1 ? (int)most : 1;
}
