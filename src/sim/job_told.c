/* job_told.c - the input of a policy for a job, made from the simulation. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/pack_nodes.h"
#include "simulation.h"

/* Makes room for goodput[0..n] and sets all to unknown. */
static void clear_goodput(struct job_table *t, int n)
{
	if (n > t->n_goodput || !t->goodput) {
		t->goodput = xreallocarray(t->goodput, (size_t)n + 1, sizeof(*t->goodput));
		t->n_goodput = n;
	}
	t->goodput[0] = 0;
	for (int r = 1; r <= n; r++)
		t->goodput[r] = (double)NAN;
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

static void model_goodput(const struct simulation *s, const struct sim_job *job, int kind,
			  const struct goodput_model *model, struct job_table *t)
{
	const struct application *a = application_on(job->spec->application, kind);
	int node = s->kinds[kind].gpus_per_node, most = job_max_replicas(s, job, kind);

	for (int r = 1; r <= most; r++)
		if (place_is_regular(s->kinds[kind].n_gpus, node, r))
			t->goodput[r] = best_goodput(a, model,
				throughput_place_on((r + node - 1) / node, r));
}

static double goodput_now(const struct sim_job *job, const struct goodput_model *model)
{
	struct throughput_place place =
		throughput_place_on(job->placement.n, job->placement.replicas);

	return goodput_of(model, place, (double)job->configuration.local_batch_size,
			  job->configuration.accumulation_steps);
}

/* For a job of which nothing is known but how much faster one kind is than another; as published,
 * sia is not told even that. */
static void tell_speeds(const struct simulation *s, struct sim_job *job, struct sched_job *told)
{
	if (s->n_kinds == 1 || s->options->policy == &policy_sia)
		return;
	for (int k = 0; k < s->n_kinds; k++) {
		struct job_table *t = &job->tables[k];

		clear_goodput(t, 1);
		t->key = (struct model_key){ .version = -1 };
		t->goodput[1] = job_speed_on(job, k);
		told->kind_goodput[k] = t->goodput;
	}
}

/* Fills in the table of one kind. most: the largest number of GPUs of any kind. */
static void tell_kind(struct simulation *s, struct sim_job *job, int kind, int most,
		      struct sched_job *told)
{
	struct job_table *t = &job->tables[kind];
	struct model_key key = { .replicas = most };
	struct goodput_model model;

	sim_job_model(s, job, kind, &model, &key.version);
	key.noise_scale = model.noise_scale;
	if (!model_key_equal(&key, &t->key)) {
		clear_goodput(t, most);
		model_goodput(s, job, kind, &model, t);
	}
	t->key = key;
	told->kind_goodput[kind] = t->goodput;
	if (kind == job->kind)
		told->goodput = t->goodput;
	if (kind == job->kind && job->placement.n)
		told->goodput_now = goodput_now(job, &model);
}

static void tell_by_model(struct simulation *s, struct sim_job *job, struct sched_job *told)
{
	struct goodput_model model;

	told->min_replicas = told->max_replicas = 1;
	if (!sim_job_model(s, job, 0, &model, NULL)) {
		tell_speeds(s, job, told);
		return;
	}
	for (int k = 0; k < s->n_kinds; k++) {
		int most = job_max_replicas(s, job, k);

		if (most > told->max_replicas)
			told->max_replicas = most;
	}
	for (int k = 0; k < s->n_kinds; k++)
		tell_kind(s, job, k, told->max_replicas, told);
}

/* --- policies that take the owner's batch size --- */

/* Seconds of an update at the owner's batch size on packed GPUs, by the profiles or by the
 * model. NaN: the batch cannot be spread over so many GPUs. */
static int update_time(struct simulation *s, const struct sim_job *job,
		       const struct goodput_model *model, int replicas, double *update_s,
		       struct err *err)
{
	const struct application *a = job_application(job);
	int node = s->kinds[job->kind].gpus_per_node;
	struct throughput_place packed =
		throughput_place_on((replicas + node - 1) / node, replicas);
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
	struct job_table *t = &job->tables[job->kind];
	struct goodput_model model;

	told->min_replicas = told->max_replicas = least;
	if (!full && !sim_job_model(s, job, job->kind, &model, NULL))
		return 0;
	if (!s->manner.owners_replicas)
		most = told->max_replicas = job_max_replicas(s, job, job->kind);
	if (!full || !t->goodput || s->n_kinds > 1) {
		clear_goodput(t, most);
		for (int r = least; r <= most; r++) {
			double update_s = 0;

			if (update_time(s, job, full ? NULL : &model, r, &update_s, err))
				return -1;
			t->goodput[r] = 1 / update_s;
		}
	}
	told->goodput = t->goodput;
	if (s->options->lengths_known)
		told->remaining_samples = remaining_updates(s, job);
	return 0;
}

/* --- all --- */

int job_tell(struct simulation *s, struct sim_job *job, struct sched_job *told, struct err *err)
{
	const struct application *a = job->spec->application;
	bool restarting = s->options->n_kinds && job->delay_s > 0 && job->placement.n;

	*told = (struct sched_job){
		.id = job->index + 1, .weight = 1,
		/* goodput leaves jobs alone that restart; others are told not to touch them. */
		.preemptible = !restarting || s->options->policy == &policy_goodput,
		.min_replicas = job->spec->replicas, .max_replicas = job->spec->replicas,
		.attained_service_device_s = job->service_device_s,
		.replicas = job->placement.replicas, .kind = job->kind,
		.launched_s = job->launched_s,
		.demoted_s = job->demoted_s, .submitted_s = job->spec->submit_s,
		.waiting_since_s = job->waiting_since_s,
		.restarts = job->restarts > 0 ? job->restarts : 0,
		.restart_s = isnan(a->told_restart_s) ? s->options->restart_s : a->told_restart_s,
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
