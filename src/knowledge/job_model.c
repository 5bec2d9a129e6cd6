/* job_model.c - makes the model of a job from the knowledge of its workload. */
#include <math.h>

#include "pollux/job_model.h"
#include "pollux/knowledge.h"
#include "pollux/policy.h"

#define USUAL_STEP_TIME_JOBS 20		/* the newest jobs, whose step times are averaged */

const char *noise_basis_name(enum noise_basis basis)
{
	static const char *const names[] = {
		[NOISE_UNKNOWN] = "unknown",
		[NOISE_OWN] = "measured in this job",
		[NOISE_DECLARED] = "declared",
		[NOISE_SHARED] = "measured in other jobs of the workload",
	};

	return names[basis];
}

/* --- the noise scale --- */

/* The noise scale at the position of a job. All jobs that never ran are at the start, and share one
 * estimate. */
static struct noise_estimate noise_of(struct knowledge *k, const struct job *job)
{
	int64_t batch_size = job->declared.batch.size;

	if (job->progress.runs > 0)
		return noise_estimate(k->windows, k->n_windows, job->id, job->progress.samples,
				      batch_size);
	if (k->fresh_batch_size != batch_size)
		k->fresh = noise_estimate(k->windows, k->n_windows, job->id, 0, batch_size);
	k->fresh_batch_size = batch_size;
	return k->fresh;
}

/* Prefers the job's own updates to the declared noise scale, and the declared one to the updates of
 * other jobs and to a bound. */
static void set_noise(struct knowledge *k, const struct job *job, struct job_model *m)
{
	struct noise_estimate e = noise_of(k, job);
	double declared = job->declared.noise_scale;

	m->noise_basis = isnan(e.interval.low) ? NOISE_UNKNOWN : e.own ? NOISE_OWN : NOISE_SHARED;
	if (declared > 0 && (m->noise_basis != NOISE_OWN || isnan(e.noise_scale))) {
		e.noise_scale = e.expected = e.interval.low = e.interval.high = declared;
		m->noise_basis = NOISE_DECLARED;
	}
	m->noise = e;
	m->goodput.noise_scale = e.expected;
	/* Two or more passes are needed to measure the noise. A job that cannot do them relies on
	 * the declared value. With the helper for PyTorch one pass is enough. */
	if ((m->noise_basis == NOISE_DECLARED && !job->declared.batch.accumulates) ||
	    declaration_has_torch_helper(&job->declared))
		m->goodput.noise_is_measured = true;
}

/* --- remaining work --- */

static double at_least_0(double value)
{
	return value > 0 ? value : 0;	/* an unknown number, NaN, counts as 0 */
}

static double remaining_samples(const struct knowledge *k, const struct job *job)
{
	double samples = at_least_0(job->progress.samples), steps = at_least_0(job->progress.steps);
	double batch_size = (double)job->declared.batch.size;

	if (job_total_samples(job) > 0)
		return sched_remaining(job_total_samples(job), samples);
	if (!(batch_size > 0))
		batch_size = (double)NAN;
	if (job_total_steps(job) > 0)	/* each step has as many samples as before */
		return sched_remaining(job_total_steps(job), steps) *
		       (samples > 0 && steps > 0 ? samples / steps : batch_size);
	return sched_remaining(k->typical_samples, samples);
}

/* The mean step time of other jobs on this number of devices. NaN: there is none, or the step times
 * spread more than store_typical_samples() allows for lengths. */
static double usual_step_time(const struct observation_list *list, int replicas)
{
	double mean = 0, mean_sqr = 0;
	int n = 0;

	for (int i = 0; i < list->count && n < USUAL_STEP_TIME_JOBS; i++) {
		double seconds = list->items[i].step_time_s;

		if (list->items[i].configuration.replicas != replicas)
			continue;
		n++;
		mean += (seconds - mean) / n;
		mean_sqr += (seconds * seconds - mean_sqr) / n;
	}
	return n > 0 && mean_sqr - mean * mean <= mean * mean / 4 ? mean : (double)NAN;
}

static double step_time_of(const struct observation_list *list, const struct job *job,
			   int *replicas)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i].job_id == job->id) {
			*replicas = list->items[i].configuration.replicas;
			return list->items[i].step_time_s;
		}
	*replicas = job->declared.min_replicas;
	return usual_step_time(list, job->declared.min_replicas);
}

static double remaining_steps(const struct knowledge *k, const struct job *job)
{
	const struct progress *progress = &job->progress;

	if (!(job_total_samples(job) > 0) && job_total_steps(job) > 0)
		return sched_remaining(job_total_steps(job), at_least_0(progress->steps));
	if (progress->samples > 0 && progress->steps > 0)
		return remaining_samples(k, job) * progress->steps / progress->samples;
	return (double)NAN;
}

/* --- the whole --- */

/* The declared sizes, without larger batches where these must not be tried. */
static struct batch_range own_range(const struct job *job)
{
	struct batch_range own = job->declared.batch;

	if (own.max > own.size && job_growth_veto(job))
		own.max = own.size;
	return own;
}

static struct goodput_model goodput_model_of(const struct knowledge *k,
					     const struct batch_range *own)
{
	struct goodput_model g = {
		.params = *knowledge_params(k),
		.residuals = k->residuals.n_places ? &k->residuals : NULL,
		.noise_scale = (double)NAN, .batch = *own,
		.noise_is_measured = k->noise_is_measured,
	};
	int64_t tried = KNOWLEDGE_GROWTH * k->model.max_local_batch_size;

	/* Larger ones may not fit into memory. */
	if (own->max_local == 0 || own->max_local >= tried)
		g.batch.max_local = tried;
	return g;
}

static int max_replicas(const struct knowledge *k, const struct job *job)
{
	int width = k->width > 1 ? k->width : 1, least = job->declared.min_replicas;
	int most = SCHED_REPLICA_GROWTH * k->model.max_replicas * width;

	return most > least ? most : (least + width - 1) / width * width;
}

/* What the larger batches of the job may cost, by its noise scale and its losses. */
static void set_growth(const struct knowledge *k, const struct job *job, struct job_model *m)
{
	int64_t initial = job->declared.batch.size;

	m->growth = growth_judge(k->windows, k->n_windows, job->id, initial, k->min_efficiency);
	m->goodput.growth_bound = growth_efficient(m->noise.interval.low, initial,
						   k->min_efficiency);
}

struct goodput_model job_model_grown(const struct job_model *m, const struct job *job,
				     int64_t present)
{
	struct goodput_model g = m->goodput;
	struct growth_bound bound = {
		.initial_batch_size = g.batch.size, .batch_size = present,
		.noise_low = m->noise.interval.low, .min_efficiency = m->min_efficiency,
		.samples = at_least_0(job->progress.samples),
		.total_samples = job_total_samples(job),
	};

	g.growth_bound = growth_most(&m->growth, &bound);
	return g;
}

void knowledge_of_job(struct knowledge *k, const struct job *job, struct job_model *m)
{
	struct batch_range own = own_range(job);

	*m = (struct job_model){
		.known = k->modelled && own.size > 0,
		.goodput = goodput_model_of(k, &own), .own = own,
		.min_replicas = job->declared.min_replicas, .width = k->width,
		.min_efficiency = k->min_efficiency,
		.noise = { .noise_scale = (double)NAN, .expected = (double)NAN,
			   .interval = { (double)NAN, (double)NAN } },
		.remaining_samples = remaining_samples(k, job), .remaining_s = (double)NAN,
		.restart_s = k->restart_s, .memory = k->memory, .failed = k->failed,
		.peaks = k->peaks, .n_peaks = k->n_peaks, .needs = k->needs,
	};
	if (m->known) {
		m->max_replicas = max_replicas(k, job);
		m->max_nodes = SCHED_NODE_GROWTH;
		if (k->model.max_nodes > 1)
			m->max_nodes *= k->model.max_nodes;
	}
	if (own.size > 0) {
		set_noise(k, job, m);
		set_growth(k, job, m);
	} else {
		m->remaining_s = remaining_steps(k, job) *
				 step_time_of(&k->step_times, job, &m->timed_replicas);
	}
}

/* --- the best configuration --- */

static int width_of(const struct job_model *m)
{
	return m->width > 1 ? m->width : 1;
}

bool job_model_divides(const struct job_model *m, int devices)
{
	return devices % width_of(m) == 0;
}

int job_model_workers(const struct job_model *m, int devices)
{
	int workers = devices / width_of(m);

	return workers > 1 ? workers : 1;
}

/* True if a size that fitted on another kind of device takes more than this one has. */
static bool exceeds(const struct job_model *m, const struct memory_peak *peak)
{
	return m->peaks_elsewhere && m->needs.limit_bytes > 0 && peak->bytes > m->needs.limit_bytes;
}

/* The largest local batch that fitted or is predicted to fit; INT64_MAX: nothing is predicted. */
static int64_t predicted_most(const struct job_model *m, int workers)
{
	int64_t most = memory_model_most(&m->needs, workers);

	for (int i = 0; i < m->n_peaks; i++)
		if (m->peaks[i].workers == workers && !exceeds(m, &m->peaks[i]) &&
		    m->peaks[i].local_batch_size > most)
			most = m->peaks[i].local_batch_size;
	for (int i = 0; i < m->n_peaks; i++)
		if (m->peaks[i].workers == workers && exceeds(m, &m->peaks[i]) &&
		    m->peaks[i].local_batch_size <= most)
			most = m->peaks[i].local_batch_size - 1;
	return most;
}

struct goodput_model job_model_on(const struct job_model *m, int devices)
{
	struct goodput_model g = m->goodput;
	int workers = job_model_workers(m, devices);
	int64_t too_large = sizes_too_large(&m->memory, &m->failed, workers);
	int64_t most = predicted_most(m, workers);

	if (most < INT64_MAX && (g.batch.max_local == 0 || g.batch.max_local > most))
		g.batch.max_local = most > 0 ? most : -1;

	if (too_large > 0 && (g.batch.max_local == 0 || g.batch.max_local >= too_large))
		g.batch.max_local = sizes_limit(&m->memory, &m->failed, workers);
	return g;
}

/* The configuration that a job without any knowledge gets. */
static struct goodput_choice as_submitted(const struct job_model *m, struct throughput_place place)
{
	struct configuration c = configuration_spread(&m->own, place.replicas);

	c.nodes = place.nodes;
	c.tier = place.tier;
	return goodput_choice_of(&m->goodput, c);
}

bool job_model_fits(const struct job_model *m, const struct configuration *c)
{
	int64_t too_large = sizes_too_large(&m->memory, &m->failed, configuration_workers(c));

	return (too_large == 0 || c->local_batch_size < too_large) &&
	       c->local_batch_size <= predicted_most(m, configuration_workers(c));
}

#define GIB (1024.0 * 1024 * 1024)

/* What this local batch takes, at least. */
static double bytes_of(const struct job_model *m, int workers, int64_t local_batch_size)
{
	double least = 0;

	if (m->needs.known)
		return memory_model_bytes(&m->needs, workers, (double)local_batch_size);
	for (int i = 0; i < m->n_peaks; i++)
		if (m->peaks[i].workers == workers &&
		    m->peaks[i].local_batch_size <= local_batch_size && m->peaks[i].bytes > least)
			least = m->peaks[i].bytes;
	return least;
}

bool job_model_lacks_memory(const struct job_model *m, int devices, struct text *t)
{
	int workers = job_model_workers(m, devices);
	double part = m->needs.shared ? MEMORY_MODEL_HOST_PART : MEMORY_MODEL_DEVICE_PART;
	int64_t local;

	if (!m->known)
		return false;
	local = as_submitted(m, throughput_place_on(1, workers))
			.configuration.local_batch_size;
	if (local <= predicted_most(m, workers))
		return false;
	if (t)
		text_addf(t, "needs %.3g of %.3g GiB",
			  bytes_of(m, workers, local) / GIB,
			  m->needs.limit_bytes / part / GIB);
	return true;
}

/* Replaces the batch in *choice, if it is known not to work, by one in the declared range that
 * does. Returns false if the batch needs no replacement or has none. */
static bool as_fits(const struct job_model *m, struct throughput_place place,
		    struct goodput_choice *choice)
{
	int64_t limit = sizes_limit(&m->memory, &m->failed, place.replicas);
	int64_t most = predicted_most(m, place.replicas);
	struct configuration c;

	if (most < INT64_MAX && limit >= 0 && (limit == 0 || limit > most))
		limit = most;
	if (limit <= 0 || choice->configuration.local_batch_size <= limit ||
	    !configuration_within(&m->own, place.replicas, limit, &c))
		return false;
	c.nodes = place.nodes;
	c.tier = place.tier;
	*choice = goodput_choice_of(&m->goodput, c);
	return true;
}

/* As job_model_best_at(), by the number of replicas. *choice is a configuration of replicas that
 * have one device each. least: the job declares no fewer replicas. */
static bool best_of_workers(const struct job_model *m, const struct goodput_model *g,
			    struct throughput_place place, bool least,
			    struct goodput_choice *choice)
{
	if (g->batch.max_local >= 0 && goodput_best_round(g, place, choice))
		return true;
	*choice = as_submitted(m, place);
	if ((least || m->goodput.batch.max == 0) &&
	    job_model_fits(m, &choice->configuration))
		return true;
	return as_fits(m, place, choice) || least;
}

bool job_model_best_at(const struct job_model *m, struct throughput_place place,
		       struct goodput_choice *choice)
{
	int devices = place.replicas, nodes = place.nodes;
	struct goodput_model g = job_model_on(m, devices);
	bool is_least = devices - width_of(m) < m->min_replicas;

	*choice = (struct goodput_choice){ .goodput = 0 };
	if (devices > m->max_replicas || !job_model_divides(m, devices) ||
	    (place.nodes > 1 && place.nodes > m->max_nodes && !is_least))
		return false;
	place.replicas = devices / width_of(m);
	place.nodes = configuration_nodes_of_workers(nodes, place.replicas, m->width);
	if (!best_of_workers(m, &g, place, is_least, choice)) {
		*choice = (struct goodput_choice){ .goodput = 0 };
		return false;
	}
	configuration_widen(&choice->configuration, m->width);
	choice->configuration.nodes = nodes;
	return true;
}

bool job_model_best(const struct job_model *m, int devices, struct goodput_choice *choice)
{
	struct throughput_place place = throughput_place_on(1, devices);

	if (m->best_tier && devices < m->n_best_tier)
		place.tier = m->best_tier[devices];
	return job_model_best_at(m, place, choice);
}
