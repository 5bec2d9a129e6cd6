/* job_told.c - the input of a policy for a job, made from the simulation. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/pack_nodes.h"
#include "simulation.h"

/* Makes room for goodput[0..n] and sets all to unknown. */
static void clear_goodput(struct sim_job *job, int n)
{
	if (n > job->n_goodput || !job->goodput) {
		job->goodput = xreallocarray(job->goodput, (size_t)n + 1, sizeof(*job->goodput));
		job->n_goodput = n;
	}
	job->goodput[0] = 0;
	for (int r = 1; r <= n; r++)
		job->goodput[r] = (double)NAN;
}

static double best_goodput(const struct application *a, const struct goodput_model *model,
			   struct throughput_place place)
{
	struct goodput_choice best;

	if (a->fixed_batch_size) {
		struct configuration sizes = sizes_spread(a, place, a->fixed_batch_size, false);

		if (!sizes_are_validated(a, &sizes))
			return (double)NAN;
		return goodput_of(model, place, (double)sizes.local_batch_size,
				  sizes.accumulation_steps);
	}
	return goodput_best_round(model, place, &best) ? best.goodput : (double)NAN;
}

/* --- policies that choose both GPUs and batch: by the model --- */

static void model_goodput(const struct simulation *s, struct sim_job *job,
			  const struct goodput_model *model, int most)
{
	int node = s->options->gpus_per_node;

	clear_goodput(job, most);
	for (int r = 1; r <= most; r++)
		if (place_is_regular(s->n_gpus, node, r))
			job->goodput[r] = best_goodput(job->spec->application, model,
				(struct throughput_place){ (r + node - 1) / node, r });
}

static double goodput_now(const struct sim_job *job, const struct goodput_model *model)
{
	struct throughput_place place = { job->placement.n, job->placement.replicas };

	return goodput_of(model, place, (double)job->configuration.local_batch_size,
			  job->configuration.accumulation_steps);
}

static void tell_by_model(struct simulation *s, struct sim_job *job, struct sched_job *told)
{
	struct goodput_model model;
	struct model_key key;

	told->min_replicas = told->max_replicas = 1;
	if (!sim_job_model(s, job, &model))
		return;
	told->max_replicas = job_max_replicas(s, job);
	key = (struct model_key){ .version = job->agent->version, .noise_scale = model.noise_scale,
				  .replicas = told->max_replicas };
	if (!model_key_equal(&key, &job->told_key))
		model_goodput(s, job, &model, told->max_replicas);
	job->told_key = key;
	told->goodput = job->goodput;
	if (job->placement.n)
		told->goodput_now = goodput_now(job, &model);
}

/* --- policies that take the owner's batch size --- */

/* Seconds of an update at the owner's batch size on packed GPUs, by the profiles or by the
 * model. NaN: the batch cannot be spread over so many GPUs. */
static int update_time(struct simulation *s, const struct sim_job *job,
		       const struct goodput_model *model, int replicas, double *update_s,
		       struct err *err)
{
	const struct application *a = job->spec->application;
	int node = s->options->gpus_per_node;
	struct throughput_place packed = { (replicas + node - 1) / node, replicas };
	struct configuration sizes = sizes_spread(a, packed, job->spec->batch_size,
						  s->manner.always_two_passes);
	struct place_class place = place_class_packed(a, replicas, node);
	struct times times;

	if (!sizes_are_validated(a, &sizes)) {
		*update_s = (double)NAN;
		return 0;
	}
	if (model) {
		*update_s = throughput_step_time(&model->params, packed,
			(double)sizes.local_batch_size, sizes.accumulation_steps);
		return 0;
	}
	if (truth_times(&s->truth, &place, sizes.local_batch_size, &times, err))
		return err_prefix(err, "job '%s'", job->spec->name);
	*update_s = times_of_update(times, sizes.accumulation_steps);
	return 0;
}

/* Updates still to come. For optimus, as published, those of this epoch are left out, and the last
 * epoch has one. */
static double remaining_updates(const struct simulation *s, const struct sim_job *job)
{
	const struct application *a = job->spec->application;
	double batch = (double)job->spec->batch_size, scale = batch / (double)a->initial_batch_size;

	if (s->manner.owners_replicas)
		return (job_end(job) - job->progress) /
		       gradients_gain(truth_gradients(a, batch, job->epoch), scale);
	if (job->epoch >= a->n_epochs - 1)
		return 1;
	return truth_iterations(a, batch, a->n_epochs - 1) - truth_iterations(a, batch, job->epoch);
}

/* Goodput is in updates a second, since all are of one batch size. */
static int tell_at_owners_batch(struct simulation *s, struct sim_job *job, struct sched_job *told,
				struct err *err)
{
	bool full = s->options->knowledge == SIM_KNOWLEDGE_FULL;
	int least = s->manner.owners_replicas ? job->spec->replicas : 1, most = least;
	struct goodput_model model;

	told->min_replicas = told->max_replicas = least;
	if (!full && !sim_job_model(s, job, &model))
		return 0;
	if (!s->manner.owners_replicas)
		most = told->max_replicas = job_max_replicas(s, job);
	if (!full || !job->goodput) {
		clear_goodput(job, most);
		for (int r = least; r <= most; r++) {
			double update_s = 0;

			if (update_time(s, job, full ? NULL : &model, r, &update_s, err))
				return -1;
			job->goodput[r] = 1 / update_s;
		}
	}
	told->goodput = job->goodput;
	if (s->options->lengths_known)
		told->remaining_samples = remaining_updates(s, job);
	return 0;
}

/* --- all --- */

int job_tell(struct simulation *s, struct sim_job *job, struct sched_job *told, struct err *err)
{
	const struct application *a = job->spec->application;

	*told = (struct sched_job){
		.id = job->index + 1, .weight = 1, .preemptible = true,
		.min_replicas = job->spec->replicas, .max_replicas = job->spec->replicas,
		.attained_service_device_s = job->attained_device_s,
		.replicas = job->placement.replicas, .launched_s = job->launched_s,
		.demoted_s = job->demoted_s, .submitted_s = job->spec->submit_s,
		.waiting_since_s = job->waiting_since_s,
		.restarts = job->restarts > 0 ? job->restarts : 0,
		.restart_s = s->options->restart_s,
		.goodput_now = (double)NAN, .remaining_samples = (double)NAN,
	};
	if (!s->options->policy->models_goodput)
		return 0;
	if (s->manner.owners_batch)
		return tell_at_owners_batch(s, job, told, err);
	tell_by_model(s, job, told);
	told->adapts = !a->fixed_batch_size && a->max_batch_size > a->initial_batch_size;
	if (s->options->lengths_known)
		told->remaining_samples =
			(job_end(job) - job->progress) * (double)a->initial_batch_size;
	return 0;
}
