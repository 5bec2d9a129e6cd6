/* job_model.c - makes the model of a job from the knowledge of its workload. */
#include <math.h>

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

/* Sets the noise scale at the position of the job. Prefers the job's own updates to the declared
 * noise scale, and the declared one to the updates of other jobs and to a bound. All jobs that
 * never ran are at the start, and share one estimate. */
static void set_noise(struct knowledge *k, const struct job *job, struct job_model *m)
{
	int64_t batch_size = job->declared.batch.size;
	bool ran = job->progress.runs > 0;
	double declared = job->declared.noise_scale;
	struct noise_estimate e = k->fresh;

	if (ran || k->fresh_batch_size != batch_size)
		e = noise_estimate(k->windows, k->n_windows, job->id,
				   ran ? job->progress.samples : 0, batch_size);
	if (!ran) {
		k->fresh = e;
		k->fresh_batch_size = batch_size;
	}
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

/* The job's own step time; else the mean of that of other jobs on the declared number of devices,
 * NaN where there is none, or their standard deviation exceeds half of the mean. */
static double step_time_of(const struct observation_list *list, const struct job *job,
			   int *replicas)
{
	double mean = 0, mean_sqr = 0;
	int n = 0;

	for (int i = 0; i < list->count; i++)
		if (list->items[i].job_id == job->id) {
			*replicas = list->items[i].configuration.replicas;
			return list->items[i].step_time_s;
		}
	*replicas = job->declared.min_replicas;
	for (int i = 0; i < list->count && n < USUAL_STEP_TIME_JOBS; i++) {
		double seconds = list->items[i].step_time_s;

		if (list->items[i].configuration.replicas != *replicas)
			continue;
		n++;
		mean += (seconds - mean) / n;
		mean_sqr += (seconds * seconds - mean_sqr) / n;
	}
	return n > 0 && mean_sqr - mean * mean <= mean * mean / 4 ? mean : (double)NAN;
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
	int width = k->width > 1 ? k->width : 1, least = job->declared.min_replicas;
	int64_t tried = KNOWLEDGE_GROWTH * k->model.max_local_batch_size;
	struct batch_range own = job->declared.batch;

	/* Larger batches must not always be tried. */
	if (own.max > own.size && job_growth_veto(job))
		own.max = own.size;
	*m = (struct job_model){
		.known = k->modelled && own.size > 0,
		.goodput = {
			.params = *knowledge_params(k),
			.residuals = k->residuals.n_places ? &k->residuals : NULL,
			.noise_scale = (double)NAN, .batch = own,
			.noise_is_measured = k->noise_is_measured,
		},
		.own = own, .min_replicas = least, .width = k->width,
		.min_efficiency = k->min_efficiency,
		.noise = { .noise_scale = (double)NAN, .expected = (double)NAN,
			   .interval = { (double)NAN, (double)NAN } },
		.remaining_samples = remaining_samples(k, job), .remaining_s = (double)NAN,
		.restart_s = k->restart_s, .memory = k->memory, .failed = k->failed,
		.peaks = k->peaks, .n_peaks = k->n_peaks, .needs = k->needs,
	};
	/* Larger ones may not fit into memory. */
	if (own.max_local == 0 || own.max_local >= tried)
		m->goodput.batch.max_local = tried;
	if (m->known) {
		m->max_replicas = SCHED_REPLICA_GROWTH * k->model.max_replicas * width;
		if (m->max_replicas <= least)
			m->max_replicas = (least + width - 1) / width * width;
		m->max_nodes = SCHED_NODE_GROWTH;
		if (k->model.max_nodes > 1)
			m->max_nodes *= k->model.max_nodes;
	}
	if (own.size > 0) {
		set_noise(k, job, m);
		m->growth = growth_judge(k->windows, k->n_windows, job->id, own.size,
					 k->min_efficiency);
		m->goodput.growth_bound = growth_efficient(m->noise.interval.low, own.size,
							   k->min_efficiency);
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

bool job_model_lacks_memory(const struct job_model *m, int devices, struct memory_lack *lack)
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
	*lack = (struct memory_lack){ .of_bytes = m->needs.limit_bytes / part };
	if (m->needs.known)
		lack->needs_bytes = memory_model_bytes(&m->needs, workers, (double)local);
	for (int i = 0; !m->needs.known && i < m->n_peaks; i++)
		if (m->peaks[i].workers == workers && m->peaks[i].local_batch_size <= local)
			lack->needs_bytes = fmax(lack->needs_bytes, m->peaks[i].bytes);
	return true;
}

/* Looks for replicas that have one device each, and widens the configuration. */
bool job_model_best_at(const struct job_model *m, struct throughput_place place,
		       struct goodput_choice *choice)
{
	int devices = place.replicas, nodes = place.nodes;
	struct goodput_model g = job_model_on(m, devices);
	/* the job declares no fewer replicas */
	bool is_least = devices - width_of(m) < m->min_replicas, found = false;
	struct configuration c;

	*choice = (struct goodput_choice){ .goodput = 0 };
	if (devices > m->max_replicas || !job_model_divides(m, devices) ||
	    (place.nodes > 1 && place.nodes > m->max_nodes && !is_least))
		return false;
	place.replicas = devices / width_of(m);
	place.nodes = configuration_nodes_of_workers(nodes, place.replicas, m->width);
	if (g.batch.max_local >= 0)
		found = goodput_best_round(&g, place, choice);
	if (!found) {
		*choice = as_submitted(m, place);
		found = (is_least || m->goodput.batch.max == 0) &&
			job_model_fits(m, &choice->configuration);
	}
	if (!found) {
		/* A batch that is known not to work is replaced by one in the range that does. */
		int64_t limit = sizes_limit(&m->memory, &m->failed, place.replicas);
		int64_t most = predicted_most(m, place.replicas);

		if (most < INT64_MAX && limit >= 0 && (limit == 0 || limit > most))
			limit = most;
		found = is_least;
		if (limit > 0 && choice->configuration.local_batch_size > limit &&
		    configuration_within(&m->own, place.replicas, limit, &c)) {
			c.nodes = place.nodes;
			c.tier = place.tier;
			*choice = goodput_choice_of(&m->goodput, c);
			found = true;
		}
	}
	if (!found) {
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
