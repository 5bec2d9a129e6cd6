/* knowledge.c - from rows of the store to a model of a job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/knowledge.h"
#include "pollux/mem.h"
#include "pollux/policy.h"
#include "pollux/prior.h"

#define USUAL_STEP_TIME_JOBS 20		/* the newest */
#define REPLICAS_MAX 1024		/* with residuals */

/* --- the noise scale --- */

static struct noise_window window_of(const struct gradient_row *row)
{
	const struct gradient_window *g = &row->window;
	double n = (double)g->n;

	return (struct noise_window){
		.job_id = row->job_id, .n = g->n,
		.batch_size = configuration_batch_size(&g->configuration),
		.first_samples = g->first_samples, .last_samples = g->last_samples,
		.mean_sqr = g->sum_grad_sqr / n, .m2_sqr = g->m2_grad_sqr,
		.mean_var = g->sum_grad_var / n, .m2_var = g->m2_grad_var,
	};
}

static int load_noise(struct store *s, const char *workload, struct knowledge *k, struct err *err)
{
	struct gradient_list list;

	if (store_gradients_of_workload(s, workload, &list, err))
		return -1;
	k->windows = xcalloc((size_t)list.count, sizeof(*k->windows));
	for (int i = 0; i < list.count; i++) {
		const struct configuration *c = &list.items[i].window.configuration;

		k->windows[k->n_windows++] = window_of(&list.items[i]);
		if (c->replicas == 1 && c->accumulation_steps == 1)
			k->noise_is_measured = true;
	}
	gradient_list_release(&list);
	return 0;
}

/* --- step times --- */

static struct pool_entry entry_of(const struct observation_row *row)
{
	return (struct pool_entry){
		.configuration = row->configuration, .observation = row->observation,
	};
}

int knowledge_observations(struct store *s, const char *workload, const char *device_kind,
			   struct pool_entry **entries, int *n, struct err *err)
{
	struct observation_list rows;
	struct pool_entry *seen;
	int n_seen = 0;

	*n = 0;
	*entries = NULL;
	if (store_observations_of_workload(s, workload, device_kind, &rows, err))
		return -1;
	seen = xcalloc((size_t)rows.count, sizeof(*seen));
	*entries = xcalloc((size_t)rows.count, sizeof(**entries));
	/* A job that declared no batch size has none: its times say nothing of samples. */
	for (int i = 0; i < rows.count; i++)
		if (rows.items[i].configuration.local_batch_size > 0)
			seen[n_seen++] = entry_of(&rows.items[i]);
	*n = pool_observations(seen, n_seen, *entries);
	free(seen);
	observation_list_release(&rows);
	return 0;
}

/* For as many replicas as a job may be given, within reason, whatever the store says. */
static void set_residuals(struct knowledge *k, const struct fit_observation *seen, int n)
{
	int measured = k->model.max_replicas;
	int n_places = SCHED_REPLICA_GROWTH * (measured < 0 ? 0 : measured < REPLICAS_MAX ? measured : REPLICAS_MAX);
	struct throughput_place *places = xcalloc((size_t)n_places, sizeof(*places));

	for (int i = 0; i < n_places; i++)
		places[i] = (struct throughput_place){ 1, i + 1 };
	residuals_release(&k->residuals);
	k->residuals = residuals_of(seen, n, &k->model.fit.params, places, n_places);
	free(places);
}

static void fit_entries(const struct pool_entry *entries, int n, const struct fit_prior *prior,
			struct knowledge *k)
{
	struct fit_observation *fit = xcalloc((size_t)n, sizeof(*fit));
	struct fit_options options = FIT_OPTIONS_DEFAULT;
	struct model_row *model = &k->model;

	options.prior = prior;
	pool_fit_observations(entries, n, fit);
	model->fit = fit_throughput(fit, n, &options);
	for (int i = 0; i < n; i++) {
		model->n_steps += entries[i].observation.n_steps;
		if (entries[i].configuration.replicas > model->max_replicas)
			model->max_replicas = entries[i].configuration.replicas;
		if (entries[i].configuration.local_batch_size > model->max_local_batch_size)
			model->max_local_batch_size = entries[i].configuration.local_batch_size;
	}
	set_residuals(k, fit, n);
	free(fit);
}

/* What the model as it was last fitted leaves of what was measured since, too. */
static int read_residuals(struct store *s, const char *workload, const char *device_kind,
			  struct knowledge *k, struct err *err)
{
	struct fit_observation *fit;
	struct pool_entry *entries;
	int n;

	if (knowledge_observations(s, workload, device_kind, &entries, &n, err))
		return -1;
	fit = xcalloc((size_t)n, sizeof(*fit));
	set_residuals(k, fit, pool_fit_observations(entries, n, fit));
	free(fit);
	free(entries);
	return 0;
}

/* *has is false where the devices were not measured, or the number of parameters is not known. */
static int read_prior(struct store *s, const char *workload, const char *device_kind,
		      struct fit_prior *prior, bool *has, struct err *err)
{
	struct device_measurement_list measured;
	double n_parameters;

	*has = false;
	if (store_workload_get_parameters(s, workload, &n_parameters, err))
		return -1;
	if (!(n_parameters > 0))
		return 0;
	if (store_device_measurements_get(s, device_kind, &measured, err))
		return -1;
	*has = prior_make(&measured, n_parameters, prior);
	device_measurement_list_release(&measured);
	return 0;
}

int knowledge_learn(struct store *s, const char *workload, const char *device_kind,
		    const char *observations_key, struct knowledge *k, struct err *err)
{
	struct pool_entry *entries;
	struct fit_prior prior;
	bool has_prior;
	int n;

	if (read_prior(s, workload, device_kind, &prior, &has_prior, err) ||
	    knowledge_observations(s, workload, device_kind, &entries, &n, err))
		return -1;
	k->model = (struct model_row){ .fit_time_s = clock_wall_s() };
	fit_entries(entries, n, has_prior ? &prior : NULL, k);
	free(entries);
	memcpy(k->model.observations_key, observations_key, strnlen(observations_key,
	       sizeof(k->model.observations_key) - 1));
	k->modelled = k->model.fit.n_observations > 0;
	return 0;
}

struct knowledge knowledge_of_nothing(void)
{
	return (struct knowledge){ .restart_s = (double)NAN, .typical_samples = (double)NAN };
}

int knowledge_load_sizes(struct store *s, const char *workload, const char *device_kind,
			 struct knowledge *k, struct err *err)
{
	memory_bounds_release(&k->memory);
	failed_sizes_release(&k->failed);
	return store_memory_bounds(s, workload, device_kind, &k->memory, err) ||
	       store_failed_sizes(s, workload, device_kind, &k->failed, err) ? -1 : 0;
}

int knowledge_load(struct store *s, const char *workload, const char *device_kind,
		   struct knowledge *k, struct err *err)
{
	*k = knowledge_of_nothing();
	if (store_model_get(s, workload, device_kind, &k->model, &k->modelled, err) ||
	    load_noise(s, workload, k, err) ||
	    store_restart_cost(s, workload, &k->restart_s, err) ||
	    store_typical_samples(s, workload, &k->typical_samples, err) ||
	    store_step_times(s, workload, device_kind, &k->step_times, err) ||
	    knowledge_load_sizes(s, workload, device_kind, k, err)) {
		knowledge_release(k);
		return -1;
	}
	k->modelled = k->modelled && k->model.fit.n_observations > 0;
	if (!k->modelled || !read_residuals(s, workload, device_kind, k, err))
		return 0;
	knowledge_release(k);
	return -1;
}

void knowledge_release(struct knowledge *k)
{
	free(k->windows);
	step_time_list_release(&k->step_times);
	residuals_release(&k->residuals);
	memory_bounds_release(&k->memory);
	failed_sizes_release(&k->failed);
	*k = (struct knowledge){ 0 };
}

/* --- a job --- */

const char *noise_basis_name(enum noise_basis basis)
{
	static const char *const names[] = {
		[NOISE_UNKNOWN] = "unknown", [NOISE_OWN] = "measured in this job",
		[NOISE_DECLARED] = "declared", [NOISE_SHARED] = "measured in other jobs of the workload",
	};

	return names[basis];
}

/* The job's own updates before what its owner says, that before other jobs'. */
static struct noise_estimate noise_of(struct knowledge *k, const struct job *job)
{
	if (job->progress.runs > 0)
		return noise_estimate(k->windows, k->n_windows, job->id, job->progress.samples, job->declared.batch_size);
	if (k->fresh_batch_size != job->declared.batch_size)
		k->fresh = noise_estimate(k->windows, k->n_windows, job->id, 0, job->declared.batch_size);
	k->fresh_batch_size = job->declared.batch_size;
	return k->fresh;
}

static void set_noise(struct knowledge *k, const struct job *job, struct job_model *m)
{
	struct noise_estimate e = noise_of(k, job);

	m->n_noise_updates = e.n_updates;
	m->goodput.noise_scale = e.noise_scale;
	m->noise_basis = isnan(e.noise_scale) ? NOISE_UNKNOWN : e.own ? NOISE_OWN : NOISE_SHARED;
	if (m->noise_basis != NOISE_OWN && job->declared.noise_scale > 0) {
		m->goodput.noise_scale = job->declared.noise_scale;
		m->noise_basis = NOISE_DECLARED;
	}
}

/* What fits into memory is known as far as it was tried. */
static int64_t max_local_batch(const struct knowledge *k, const struct job *job)
{
	int64_t limit = job->declared.max_local_batch_size;
	int64_t tried = KNOWLEDGE_GROWTH * k->model.max_local_batch_size;

	return limit > 0 && limit < tried ? limit : tried;
}

struct goodput_model job_model_on(const struct job_model *m, int replicas)
{
	struct goodput_model g = m->goodput;
	int64_t too_large = sizes_too_large(&m->memory, &m->failed, replicas);

	if (too_large > 0 && (g.max_local_batch_size == 0 || g.max_local_batch_size >= too_large))
		g.max_local_batch_size = sizes_limit(&m->memory, &m->failed, replicas);
	return g;
}

static double remaining_samples(const struct knowledge *k, const struct job *job)
{
	double samples = job->progress.samples > 0 ? job->progress.samples : 0, steps = job->progress.steps > 0 ? job->progress.steps : 0;
	double batch_size = job->declared.batch_size > 0 ? (double)job->declared.batch_size : (double)NAN;

	if (job->declared.total_samples > 0)
		return sched_remaining(job->declared.total_samples, samples);
	if (job_total_steps(job) > 0)	/* at as many samples each as they had so far */
		return sched_remaining(job_total_steps(job), steps) *
		       (samples > 0 && steps > 0 ? samples / steps : batch_size);
	return sched_remaining(k->typical_samples, samples);
}

/* Of other jobs, on so many devices. NaN: of none, or they differ as much as store_typical_samples allows no
 * lengths to. */
static double usual_step_time(const struct step_time_list *list, int replicas)
{
	double mean = 0, mean_sqr = 0;
	int n = 0;

	for (int i = 0; i < list->count && n < USUAL_STEP_TIME_JOBS; i++) {
		double seconds = list->items[i].seconds;

		if (list->items[i].replicas != replicas)
			continue;
		n++;
		mean += (seconds - mean) / n;
		mean_sqr += (seconds * seconds - mean_sqr) / n;
	}
	return n > 0 && mean_sqr - mean * mean <= mean * mean / 4 ? mean : (double)NAN;
}

static double step_time_of(const struct step_time_list *list, const struct job *job, int *replicas)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i].job_id == job->id) {
			*replicas = list->items[i].replicas;
			return list->items[i].seconds;
		}
	*replicas = job->declared.min_replicas;
	return usual_step_time(list, job->declared.min_replicas);
}

static double remaining_steps(const struct knowledge *k, const struct job *job)
{
	if (!(job->declared.total_samples > 0) && job_total_steps(job) > 0)
		return sched_remaining(job_total_steps(job), job->progress.steps > 0 ? job->progress.steps : 0);
	if (job->progress.samples > 0 && job->progress.steps > 0)
		return remaining_samples(k, job) * job->progress.steps / job->progress.samples;
	return (double)NAN;
}

void knowledge_of_job(struct knowledge *k, const struct job *job, struct job_model *m)
{
	*m = (struct job_model){
		.known = k->modelled && job->declared.batch_size > 0, .restart_s = k->restart_s, .memory = k->memory,
		.failed = k->failed,
		.remaining_samples = remaining_samples(k, job), .remaining_s = (double)NAN,
		.goodput = {
			.params = k->model.fit.params, .residuals = k->residuals.n_places ? &k->residuals : NULL,
			.noise_scale = (double)NAN,
			.initial_batch_size = job->declared.batch_size, .max_batch_size = job->declared.max_batch_size,
			.max_local_batch_size = max_local_batch(k, job),
			.accumulates = job->declared.accumulates, .noise_is_measured = k->noise_is_measured,
		},
	};
	if (job->declared.batch_size > 0)
		set_noise(k, job, m);
	else
		m->remaining_s = remaining_steps(k, job) *
				 step_time_of(&k->step_times, job, &m->timed_replicas);
	/* s >= 2 is asked for in order to measure it; one that cannot relies on what was declared. */
	if (m->noise_basis == NOISE_DECLARED && !job->declared.accumulates)
		m->goodput.noise_is_measured = true;
	m->min_replicas = job->declared.min_replicas;
	m->min_batch_size = job->declared.min_batch_size;
	m->own_max_local_batch_size = job->declared.max_local_batch_size;
	if (!m->known)
		return;
	m->max_replicas = SCHED_REPLICA_GROWTH * k->model.max_replicas;
	if (m->max_replicas < job->declared.min_replicas)
		m->max_replicas = job->declared.min_replicas;
}

/* What it would run at if nothing were known of it. */
static struct goodput_choice as_submitted(const struct job_model *m, int replicas)
{
	const struct goodput_model *g = &m->goodput;

	return goodput_choice_of(g, configuration_spread(g->initial_batch_size, replicas,
							    m->own_max_local_batch_size,
							    m->min_batch_size, g->max_batch_size));
}

bool job_model_fits(const struct job_model *m, const struct configuration *c)
{
	int64_t too_large = sizes_too_large(&m->memory, &m->failed, c->replicas);

	return too_large == 0 || c->local_batch_size < too_large;
}

/* The batch that it was submitted with, *choice, may take more than there is; the range may have one that does not. */
static bool as_fits(const struct job_model *m, int replicas, struct goodput_choice *choice)
{
	const struct goodput_model *g = &m->goodput;
	int64_t limit = sizes_limit(&m->memory, &m->failed, replicas);
	struct batch_range range = {
		g->initial_batch_size, m->min_batch_size, g->max_batch_size, g->accumulates,
	};
	struct configuration c;

	if (limit <= 0 || choice->configuration.local_batch_size <= limit ||
	    !configuration_within(&range, replicas, limit, &c))
		return false;
	*choice = goodput_choice_of(g, c);
	return true;
}

bool job_model_best(const struct job_model *m, int replicas, struct goodput_choice *choice)
{
	struct goodput_model g = job_model_on(m, replicas);

	*choice = (struct goodput_choice){ .goodput = 0 };
	if (replicas > m->max_replicas)
		return false;
	if (g.max_local_batch_size >= 0 &&
	    goodput_best_round(&g, (struct throughput_place){ 1, replicas }, choice))
		return true;
	*choice = as_submitted(m, replicas);
	if ((replicas <= m->min_replicas || m->goodput.max_batch_size == 0) &&
	    job_model_fits(m, &choice->configuration))
		return true;
	if (as_fits(m, replicas, choice) || replicas <= m->min_replicas)
		return true;
	*choice = (struct goodput_choice){ .goodput = 0 };
	return false;
}
