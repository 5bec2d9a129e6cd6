/* knowledge.c - makes the knowledge of a workload from rows of the store. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/fit.h"
#include "pollux/growth.h"
#include "pollux/knowledge.h"
#include "pollux/mem.h"
#include "pollux/policy.h"
#include "pollux/prior.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"

#define USUAL_PARAMETERS 1e7		/* where a workload told none: for exchanges by tier */

/* --- the noise scale --- */

static int load_noise(struct store *s, const char *workload, struct knowledge *k, struct err *err)
{
	scoped(gradient_list_release) struct gradient_list list = { 0 };

	if (store_gradients_of_workload(s, workload, &list, err))
		return -1;
	k->windows = xcalloc((size_t)list.count, sizeof(*k->windows));
	k->n_windows = list.count;
	for (int i = 0; i < list.count; i++) {
		const struct gradient_window *g = &list.items[i].window;
		const struct configuration *c = &g->configuration;
		double n = g->n > 0 ? (double)g->n : (double)NAN;

		k->windows[i] = (struct noise_window){
			.job_id = list.items[i].job_id, .n = g->n,
			.batch_size = configuration_batch_size(c),
			.first_samples = g->first_samples, .last_samples = g->last_samples,
			.mean_sqr = g->sum_grad_sqr / n, .m2_sqr = g->m2_grad_sqr,
			.mean_var = g->sum_grad_var / n, .m2_var = g->m2_grad_var,
			.entries = g->entries, .cross = g->cross_grad, .losses = g->losses,
		};
		if (g->n > 0 && configuration_workers(c) == 1 && c->accumulation_steps == 1)
			k->noise_is_measured = true;
	}
	return 0;
}

/* --- step times --- */

/* Reads k->seen and k->cores. Under a plan all step times become those with the cores of the base.
 * Step times of a job without a batch size tell nothing about samples. */
static int read_measured(struct store *s, const char *workload, const char *device_kind,
			 struct knowledge *k, struct err *err)
{
	scoped(observation_list_release) struct observation_list rows = { 0 };
	int n = 0;

	if (store_observations_of_workload(s, workload, device_kind, &rows, err))
		return -1;
	k->cores = (struct core_speed){ 0 };
	if (strstr(workload, PLAN_SEPARATOR))
		k->cores = core_speed_fit(rows.items, rows.count);
	for (int i = 0; i < rows.count; i++) {
		struct observation *o = &rows.items[i];
		double factor = core_speed_factor(&k->cores, o->cores);

		o->step_time_s /= factor;
		o->step_time_sd_s /= factor;
		o->step_time_min_s /= factor;
		if (o->configuration.local_batch_size > 0)
			rows.items[n++] = *o;
	}
	observation_list_release(&k->seen);
	k->seen.items = xcalloc((size_t)n, sizeof(*k->seen.items));
	k->seen.count = pool_observations(rows.items, n, k->seen.items);
	return 0;
}


const struct throughput_params *knowledge_params(const struct knowledge *k)
{
	return k->tie.pass || k->tie.sync ? &k->tie.params : &k->model.fit.params;
}

int knowledge_learn(struct store *s, const char *workload, const char *device_kind,
		    const char *observations_key, struct knowledge *k, struct err *err)
{
	struct fit_options options = FIT_OPTIONS_DEFAULT;
	scoped(device_measurement_list_release) struct device_measurement_list measured = { 0 };
	struct model_row *model = &k->model;
	struct fit_prior prior;
	double n_parameters, tier_s[CONFIGURATION_TIERS];
	autofree char *base = execution_plan_base(workload);
	int rc = store_workload_get_parameters(s, base, &n_parameters, err);

	if (rc || store_device_measurements_get(s, device_kind, &measured, err))
		return -1;
	/* what is expected before anything is measured */
	if (n_parameters > 0 && prior_make(&measured, n_parameters, &prior))
		options.prior = &prior;
	tier_prior(&measured, PRIOR_GRADIENT_BYTES *
			      (n_parameters > 0 ? n_parameters : USUAL_PARAMETERS), tier_s);
	if (read_measured(s, workload, device_kind, k, err))
		return -1;
	*model = (struct model_row){ .fit_time_s = clock_wall_s() };
	memcpy(model->observations_key, observations_key, strnlen(observations_key,
	       sizeof(model->observations_key) - 1));
	model->fit = fit_by_tier(k->seen.items, k->seen.count, &options, tier_s);
	for (int i = 0; i < k->seen.count; i++) {
		const struct configuration *c = &k->seen.items[i].configuration;

		model->n_steps += k->seen.items[i].n_steps;
		if (configuration_workers(c) > model->max_replicas)
			model->max_replicas = configuration_workers(c);
		if (c->nodes > model->max_nodes)
			model->max_nodes = c->nodes;
		if (c->local_batch_size > model->max_local_batch_size)
			model->max_local_batch_size = c->local_batch_size;
	}
	k->modelled = model->fit.n_observations > 0;
	knowledge_set_residuals(k, &model->fit.params, NULL, 0);
	return 0;
}

int knowledge_learn_missing(struct store *s, const char *workload, const char *device_kind,
			    struct knowledge *k, struct err *err)
{
	if (k->modelled)
		return 0;
	if (read_measured(s, workload, device_kind, k, err))
		return -1;
	return k->seen.count > 0 ? knowledge_learn(s, workload, device_kind, "", k, err) : 0;
}

struct knowledge knowledge_of_nothing(void)
{
	return (struct knowledge){
		.restart_s = (double)NAN, .typical_samples = (double)NAN,
		.min_efficiency = DEFAULT_MIN_EFFICIENCY,
	};
}

int knowledge_load_sizes(struct store *s, const char *workload, const char *device_kind,
			 struct knowledge *k, struct err *err)
{
	const struct {
		struct observation **sizes;
		int *n;
	} all[] = {
		{ &k->memory.ran_out, &k->memory.n_ran_out },
		{ &k->memory.fitted, &k->memory.n_fitted },
		{ &k->failed.failed, &k->failed.n_failed },
		{ &k->failed.worked, &k->failed.n_worked },
	};

	k->width = execution_plan_width(workload);
	memory_bounds_release(&k->memory);
	failed_sizes_release(&k->failed);
	if (store_memory_bounds(s, workload, device_kind, &k->memory, err) ||
	    store_failed_sizes(s, workload, device_kind, &k->failed, err))
		return -1;
	/* The store counts devices, the bounds count replicas. */
	for (size_t l = 0; l < sizeof(all) / sizeof(all[0]); l++)
		for (int i = 0; i < *all[l].n; i++)
			(*all[l].sizes)[i].configuration.replicas /= k->width;
	return 0;
}

/* --- memory --- */

static void add_peak(struct memory_peak **peaks, int *n, int workers,
		     const struct observation *size, int64_t bytes)
{
	if (bytes <= 0)
		return;
	*peaks = xgrow(*peaks, *n, sizeof(**peaks));
	(*peaks)[(*n)++] = (struct memory_peak){
		workers, size->configuration.local_batch_size, (double)bytes,
	};
}

/* Reads the peaks of sizes that fitted. Only plans are chosen by what they need. */
static int read_peaks(struct store *s, const char *workload, const char *device_kind,
		      struct knowledge *k, struct err *err)
{
	scoped(observation_list_release) struct observation_list sizes = { 0 };
	bool shared = true;

	if (!strstr(workload, PLAN_SEPARATOR))
		return 0;
	if (store_plan_sizes(s, workload, device_kind, &sizes, err))
		return -1;
	for (int i = 0; i < sizes.count; i++)
		shared &= sizes.items[i].device_bytes <= 0;
	for (int i = 0; i < sizes.count; i++) {
		const struct observation *o = &sizes.items[i];
		int workers = o->configuration.replicas / k->width;

		if (o->outcome == OBSERVATION_NO_MEMORY || o->configuration.local_batch_size <= 0)
			continue;
		add_peak(&k->host_peaks, &k->n_host_peaks, workers, o, o->host_bytes);
		add_peak(&k->peaks, &k->n_peaks, workers, o,
			 shared ? o->host_bytes : o->device_bytes);
	}
	k->needs = memory_model_fit(k->peaks, k->n_peaks, shared);
	return 0;
}

void knowledge_limit_memory(struct knowledge *k, int64_t device_bytes, int64_t host_bytes)
{
	k->needs.limit_bytes = k->needs.shared ? MEMORY_MODEL_HOST_PART * (double)host_bytes
					       : MEMORY_MODEL_DEVICE_PART * (double)device_bytes;
}

int knowledge_load(struct store *s, const char *workload, const char *device_kind,
		   struct knowledge *k, struct err *err)
{
	autofree char *base = execution_plan_base(workload);
	int n_typical, rc;

	*k = knowledge_of_nothing();
	rc = store_model_get(s, workload, device_kind, &k->model, &k->modelled, err) ||
	     load_noise(s, workload, k, err) ||
	     store_restart_cost(s, workload, &k->restart_s, err) ||
	     store_typical_samples(s, base, &k->typical_samples, &n_typical, err) ||
	     store_step_times(s, workload, device_kind, &k->step_times, err) ||
	     knowledge_load_sizes(s, workload, device_kind, k, err) ||
	     read_peaks(s, workload, device_kind, k, err);
	k->modelled = k->modelled && k->model.fit.n_observations > 0;
	/* Residuals heed all measurements, also those after the fit of the model. */
	if (rc || (k->modelled && read_measured(s, workload, device_kind, k, err))) {
		knowledge_release(k);
		return -1;
	}
	if (k->modelled)
		knowledge_set_residuals(k, &k->model.fit.params, NULL, 0);
	return 0;
}

void knowledge_release(struct knowledge *k)
{
	free(k->windows);
	observation_list_release(&k->step_times);
	residuals_release(&k->residuals);
	observation_list_release(&k->seen);
	free(k->peaks);
	free(k->host_peaks);
	memory_bounds_release(&k->memory);
	failed_sizes_release(&k->failed);
	*k = (struct knowledge){ 0 };
}

/* ---- for which places residuals are computed ---- */

#define REPLICAS_MAX 1024		/* most measured replicas that count for residuals */

static int by_replicas(const void *left, const void *right)
{
	const struct throughput_place *a = left, *b = right;
	int order = (a->replicas > b->replicas) - (a->replicas < b->replicas);

	return order ? order : (a->nodes > b->nodes) - (a->nodes < b->nodes);
}

/* Puts each number of replicas on one node, and each place of several nodes that was seen. Returns
 * the number of places. */
static int place_all(const struct knowledge *k, int most, struct throughput_place *places)
{
	int n = most, n_kept = 0;

	for (int i = 0; i < most; i++)
		places[i] = throughput_place_on(1, i + 1);
	for (int i = 0; i < k->seen.count; i++) {
		const struct configuration *c = &k->seen.items[i].configuration;
		struct throughput_place place = configuration_place(c);

		if (place.nodes > 1 && place.replicas >= 1 && place.replicas <= most)
			places[n++] = throughput_place_on(place.nodes, place.replicas);
	}
	qsort(places, (size_t)n, sizeof(*places), by_replicas);
	for (int i = 0; i < n; i++)
		if (i == 0 || by_replicas(&places[n_kept - 1], &places[i]) != 0)
			places[n_kept++] = places[i];
	return n_kept;
}

/* Sets residuals for all numbers of replicas that a job may be given, but at most for a bounded
 * number, whatever the store holds. */
void knowledge_set_residuals(struct knowledge *k, const struct throughput_params *params,
			     const struct residuals_source *others, int n_others)
{
	const struct observation *seen = k->seen.items;
	int n_seen = k->seen.count;
	struct residuals_source own = { seen, n_seen, params };
	int most = k->model.max_replicas, n_places;
	enum configuration_tier base = tier_base(seen, n_seen);
	autofree struct throughput_place *places = NULL;

	most = SCHED_REPLICA_GROWTH * (most < 0 ? 0 : most < REPLICAS_MAX ? most : REPLICAS_MAX);
	places = xcalloc(CONFIGURATION_TIERS * (size_t)most + (size_t)n_seen, sizeof(*places));
	n_places = place_all(k, most, places);
	for (int t = (int)base + 1; base != TIER_UNKNOWN && t < CONFIGURATION_TIERS; t++)
		for (int r = 2; tier_was_seen(seen, n_seen, (enum configuration_tier)t) &&
				r <= most; r++) {
			places[n_places] = throughput_place_on(1, r);
			places[n_places++].tier = (enum configuration_tier)t;
		}
	residuals_release(&k->residuals);
	k->residuals = residuals_of_plan(&own, others, n_others, places, n_places);
}
