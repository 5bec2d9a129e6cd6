/* measured_told.c - what a policy is told of a job: the model, by what is known of it, and the
 * sizes that follow. */
#include <math.h>
#include <stdlib.h>

#include "measured.h"
#include "pollux/assign.h"
#include "pollux/growth.h"
#include "pollux/mem.h"

#define PUBLISHED_GROWTH 2	/* most GPUs of a job, for each that it was measured on */

/* --- the model of a job --- */

/* The noise scale of the job's last update. Before its first update: that of the last update, in
 * this epoch, of any job whose observations it shares. NaN: unknown. */
static double noise_scale(const struct sim *s, const struct sim_job *job)
{
	struct training *t = job->own;
	const struct application *a = job->spec->application;
	struct gradients g = t->agent->gradients[t->epoch];

	if (t->has_run)
		g = t->gradients;
	else if (s->options->knowledge == SIM_KNOWLEDGE_FULL)
		g = truth_gradients(a, (double)a->initial_batch_size, t->epoch);
	return isnan(g.var) ? (double)NAN : gradients_noise_scale(a, g);
}

double job_speed_on(const struct sim_job *job, int kind)
{
	const struct placement_times *one =
		application_placement(application_on(job->spec->application, kind), "1");

	return one ? one->rows[one->n - 1].local_batch_size / one->rows[one->n - 1].times.step_s
		   : 1;
}

/* The kind whose times are used to predict the job on a kind: the kind on which most numbers of
 * GPUs were seen; among equals, the kind itself. -1: none was seen. */
static int known_kind(const struct sim *s, const struct sim_job *job, int kind)
{
	struct training *t = job->own;
	int best = t->agent[kind].n ? kind : -1;

	for (int k = 0; k < s->n_kinds; k++)
		if (t->agent[k].n && (best < 0 || t->agent[k].max_replicas >
							    t->agent[best].max_replicas))
			best = k;
	if (t->agent[kind].max_replicas > 1)
		return kind;
	return best;
}

/* The model of the job on a kind of GPU, by what is known of it; false: nothing is known. *version
 * (may be NULL) differs where the parameters do. Where the job did not run on the kind, its times
 * on another kind are scaled. */
static bool model_of_job(struct sim *s, const struct sim_job *job, int kind,
			 struct goodput_model *model, int *version)
{
	struct training *t = job->own;
	const struct application *a = application_on(job->spec->application, kind);
	int from = t->agent ? known_kind(s, job, kind) : -1;
	struct agent *agent;

	if (from < 0 || !agent_fit(&t->agent[from], &measured_of(s)->fits))
		return false;
	agent = &t->agent[from];
	*model = (struct goodput_model){
		.params = agent->params,
		.residuals = agent->n_places && from == kind ? &agent->residuals : NULL,
		.noise_scale = noise_scale(s, job),
		.batch = {
			.size = a->initial_batch_size, .max = a->max_batch_size,
			.min_local = a->min_local_batch_size,
			.max_local = a->max_local_batch_size, .accumulates = true,
		},
	};
	if (measured_of(s)->manner.live)
		model->growth_bound = growth_efficient(model->noise_scale, a->initial_batch_size,
						       s->options->min_efficiency);
	if (from != kind)
		throughput_scale(&model->params, job_speed_on(job, from) / job_speed_on(job, kind));
	if (version)
		*version = agent->version * s->n_kinds + from;
	return true;
}

static bool model_key_equal(const struct model_key *a, const struct model_key *b)
{
	return a->version == b->version && a->kind == b->kind && a->nodes == b->nodes &&
	       a->replicas == b->replicas &&
	       !(a->noise_scale < b->noise_scale || a->noise_scale > b->noise_scale) &&
	       isnan(a->noise_scale) == isnan(b->noise_scale) && a->growth_bound == b->growth_bound;
}

struct configuration job_best_sizes(struct sim *s, struct sim_job *job)
{
	struct training *t = job->own;
	const struct application *a = job_application(job);
	struct throughput_place place = place_of_job(job);
	struct model_key key = {
		.kind = job->kind, .nodes = place.nodes, .replicas = place.replicas,
	};
	struct goodput_model model;
	struct goodput_choice best;
	/* Before anything is known: the initial batch, or the least for this many replicas. */
	int64_t first = a->min_local_batch_size * place.replicas;
	struct configuration unknown;

	first = first > a->initial_batch_size ? first : a->initial_batch_size;
	unknown = sizes_spread(a, place, a->fixed_batch_size ? a->fixed_batch_size : first, false);
	if (a->fixed_batch_size || !model_of_job(s, job, job->kind, &model, &key.version))
		return unknown;
	if (measured_of(s)->manner.live) {
		/* The noise scale is known here, and losses are what it promises: each batch that a
		 * job had was judged, and stays so when the job has fewer GPUs for a while. */
		struct growth g = { .verdict = GROWTH_AS_PROMISED };
		struct growth_bound b = {
			.initial_batch_size = model.batch.size,
			.batch_size = configuration_batch_size(&t->configuration),
			.noise_low = model.noise_scale, .samples = t->progress,
			.min_efficiency = s->options->min_efficiency,
			.total_samples = sim_told_left(s, job_end(job)),
		};

		if (b.batch_size > t->largest_batch)
			t->largest_batch = b.batch_size;
		g.batch_size = b.batch_size;
		g.judged = t->largest_batch > b.initial_batch_size ? t->largest_batch
								     : b.initial_batch_size;
		model.growth_bound = growth_most(&g, &b);
	}
	key.noise_scale = model.noise_scale;
	key.growth_bound = model.growth_bound;
	if (model_key_equal(&key, &t->sizes_key))
		return t->configuration;
	t->sizes_key = key;
	return goodput_best_round(&model, place, &best) ? best.configuration : unknown;
}

/* The most GPUs of a kind that the job may be given. */
static int job_max_replicas(const struct sim *s, const struct sim_job *job, int kind)
{
	struct training *t = job->own;
	const struct application *a = application_on(job->spec->application, kind);
	const struct manner *manner = &measured_of(s)->manner;
	int growth = manner->live ? SCHED_REPLICA_GROWTH : PUBLISHED_GROWTH;
	int64_t batch = manner->owners_batch ? job->spec->batch_size : a->max_batch_size;
	int64_t most = batch / a->min_local_batch_size, tried = 0;

	for (int k = 0; t->agent && k < s->n_kinds; k++)
		if (t->agent[k].max_replicas > tried)
			tried = t->agent[k].max_replicas;
	if (most > a->max_replicas)
		most = a->max_replicas;
	if (most > s->kinds[kind].n_gpus)
		most = s->kinds[kind].n_gpus;
	if (s->options->knowledge != SIM_KNOWLEDGE_FULL && most > growth * tried)
		most = growth * tried;
	return most > 1 ? (int)most : 1;
}

/* --- tables of goodput --- */

/* Makes room for goodput[0..n], all unknown. */
static void clear_goodput(struct job_table *table, int n)
{
	table->goodput = xreallocarray(table->goodput, (size_t)n + 1, sizeof(*table->goodput));
	table->goodput[0] = 0;
	for (int r = 1; r <= n; r++)
		table->goodput[r] = (double)NAN;
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

/* Fills in the table of one kind. most: the largest number of GPUs of any kind. */
static void tell_kind(struct sim *s, struct sim_job *job, int kind, int most,
		      struct sched_job *told)
{
	struct training *t = job->own;
	struct job_table *table = &t->tables[kind];
	const struct gpu_kind *gpus = &s->kinds[kind];
	const struct application *a = application_on(job->spec->application, kind);
	const struct configuration *now = &t->configuration;
	struct model_key key = { .replicas = most };
	int largest = job_max_replicas(s, job, kind);
	struct goodput_model model;

	model_of_job(s, job, kind, &model, &key.version);
	key.noise_scale = model.noise_scale;
	if (!model_key_equal(&key, &table->key)) {
		clear_goodput(table, most);
		for (int r = 1; r <= largest; r++)
			if (place_is_regular(gpus->n_gpus, gpus->gpus_per_node, r))
				table->goodput[r] = best_goodput(
					a, &model, place_packed(r, gpus->gpus_per_node));
	}
	table->key = key;
	told->offers[kind] = offers_of(most, table->goodput);
	if (kind == job->kind && job->placement.n)
		told->goodput_now = goodput_of(&model, place_of_job(job),
					       (double)now->local_batch_size,
					       now->accumulation_steps);
}

static void tell_by_model(struct sim *s, struct sim_job *job, struct sched_job *told)
{
	const struct sim_options *o = s->options;
	const struct training *t = job->own;

	told->min_replicas = told->max_replicas = 1;
	if (t->agent && known_kind(s, job, 0) >= 0) {
		for (int k = 0; k < s->n_kinds; k++) {
			int most = job_max_replicas(s, job, k);

			if (most > told->max_replicas)
				told->max_replicas = most;
		}
		for (int k = 0; k < s->n_kinds; k++)
			tell_kind(s, job, k, told->max_replicas, told);
		return;
	}
	/* How much faster one kind is than another is known; but as published, sia is not told even
	 * that, and a policy that cannot tell the kinds apart neither. */
	if (s->n_kinds == 1 || o->policy == &policy_sia || o->kinds_blind ||
	    !o->policy->knows_kinds)
		return;
	for (int k = 0; k < s->n_kinds; k++) {
		struct job_table *table = &((struct training *)job->own)->tables[k];

		clear_goodput(table, 1);
		table->key = (struct model_key){ .version = -1 };
		table->goodput[1] = job_speed_on(job, k);
		told->offers[k] = offers_of(1, table->goodput);
	}
}

/* --- policies that take the owner's batch size --- */

/* Seconds of an update at the owner's batch size on packed GPUs, by the profiles or by the
 * model. NaN: the batch cannot be spread over so many GPUs. */
static int update_time(struct sim *s, const struct sim_job *job,
		       const struct goodput_model *model, int replicas, double *update_s)
{
	const struct application *a = job_application(job);
	int node = s->kinds[job->kind].gpus_per_node;
	struct throughput_place packed = place_packed(replicas, node);
	/* Where the policy chooses the replicas, it expects two passes on one. */
	struct configuration sizes = sizes_spread(a, packed, job->spec->batch_size,
						  !measured_of(s)->manner.owners_replicas);
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
	if (truth_times(&place, sizes.local_batch_size, &times, s->err))
		return err_prefix(s->err, "job '%s'", job->spec->name);
	*update_s = times_of_update(times, sizes.accumulation_steps);
	return 0;
}

/* What remains of the job, as progress: as it is, or by the jobs of its application that have
 * ended; NaN: not known. */
static double progress_left(const struct sim *s, const struct sim_job *job)
{
	const struct training *t = job->own;

	return s->options->lengths == SIM_LENGTHS_LEARNED
		? siblings_remaining(&t->past->work, t->progress)
		: sim_told_left(s, job_end(job) - t->progress);
}

/* Updates still to come. Where it is told, those of this epoch are left out for optimus, as
 * published, and the last epoch has one. */
static double remaining_updates(const struct sim *s, const struct sim_job *job)
{
	const struct training *t = job->own;
	const struct application *a = job->spec->application;
	double batch = (double)job->spec->batch_size, scale = batch / (double)a->initial_batch_size;

	if (measured_of(s)->manner.owners_replicas || s->options->lengths != SIM_LENGTHS_KNOWN)
		return progress_left(s, job) /
		       gradients_gain(truth_gradients(a, batch, t->epoch), scale);
	if (t->epoch >= a->n_epochs - 1)
		return 1;
	return t->length * (truth_iterations(a, batch, a->n_epochs - 1) -
			    truth_iterations(a, batch, t->epoch));
}

/* Goodput is in updates a second, since all are of one batch size. */
static int tell_at_owners_batch(struct sim *s, struct sim_job *job, struct sched_job *told)
{
	struct training *t = job->own;
	bool full = s->options->knowledge == SIM_KNOWLEDGE_FULL;
	int least = measured_of(s)->manner.owners_replicas ? job->spec->replicas : 1, most = least;
	struct job_table *table = &t->tables[job->kind];
	struct goodput_model model;

	told->min_replicas = told->max_replicas = least;
	if (!full && !model_of_job(s, job, job->kind, &model, NULL))
		return 0;
	if (!measured_of(s)->manner.owners_replicas)
		most = told->max_replicas = job_max_replicas(s, job, job->kind);
	if (!full || !table->goodput || s->n_kinds > 1) {
		clear_goodput(table, most);
		for (int r = least; r <= most; r++) {
			double update_s = 0;

			if (update_time(s, job, full ? NULL : &model, r, &update_s))
				return -1;
			table->goodput[r] = 1 / update_s;
		}
	}
	told->offers[job->kind] = offers_of(most, table->goodput);
	told->remaining_samples = remaining_updates(s, job);
	return 0;
}

/* --- all --- */

/* What remains of the job by the jobs of its application that have ended. */
static void tell_learned(const struct sim_job *job, struct sched_job *told)
{
	const struct training *t = job->own;
	const struct application_past *past = t->past;

	told->remaining_spread = siblings_spread(&past->work);
	told->remaining_device_s = siblings_remaining(&past->service, job->service_device_s);
	told->typical_work = exp(past->work.mean) *
			     (double)job->spec->application->initial_batch_size;
	told->done_work = t->progress * (double)job->spec->application->initial_batch_size;
	if (!isnan(told->remaining_samples))
		return;
	told->typical_work = exp(past->service.mean);
	told->done_work = job->service_device_s;
}

int training_tell(struct sim *s, struct sim_job *job, struct sched_job *told)
{
	const struct training *t = job->own;
	const struct application *a = job->spec->application;
	bool restarting = s->options->n_kinds && job->delay_s > 0 && job->placement.n;

	/* goodput leaves jobs alone that restart; others are told not to touch them. */
	told->preemptible = !restarting || s->options->policy == &policy_goodput;
	if (!isnan(a->told_restart_s))
		told->restart_s = a->told_restart_s;
	if (!s->options->policy->models_goodput)
		return 0;
	if (measured_of(s)->manner.owners_batch)
		return tell_at_owners_batch(s, job, told);
	tell_by_model(s, job, told);
	told->workload = t->past - measured_of(s)->pasts + 1;
	told->adapts = !a->fixed_batch_size && a->max_batch_size > a->initial_batch_size;
	told->tells_its_work = s->options->lengths == SIM_LENGTHS_KNOWN;
	told->remaining_samples = progress_left(s, job) * (double)a->initial_batch_size;
	if (s->options->lengths == SIM_LENGTHS_LEARNED)
		tell_learned(job, told);
	return 0;
}
