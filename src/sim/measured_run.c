/* measured_run.c - the training of a job in the world of published measurements, and what an agent
 * learns of its speed. */
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "measured.h"
#include "pollux/mem.h"

/* --- what an agent learns --- */

void agent_init(struct agent *a, const struct application *application)
{
	*a = (struct agent){ .application = application };
	a->gradients = xcalloc((size_t)application->n_epochs, sizeof(*a->gradients));
	for (int e = 0; e < application->n_epochs; e++)
		a->gradients[e].var = (double)NAN;
}

void agent_release(struct agent *a)
{
	free(a->seen);
	free(a->gradients);
	residuals_release(&a->residuals);
	*a = (struct agent){ 0 };
}

static void add_seen(struct agent *a, struct throughput_place place, int64_t local_batch_size,
		     struct times times)
{
	a->seen = xgrow(a->seen, a->n, sizeof(*a->seen));
	a->seen[a->n++] = (struct observation){
		.configuration = configuration_at(place, local_batch_size, 1), .weight = 1,
		.step_time_s = times.step_s, .sync_time_s = times.sync_s,
	};
	if (place.replicas > a->max_replicas)
		a->max_replicas = place.replicas;
	a->stale = true;
}

static void set_params(struct agent *a, struct throughput_params params)
{
	a->params = params;
	a->stale = false;
	a->version++;
	if (!a->n_places)
		return;
	residuals_release(&a->residuals);
	a->residuals = residuals_of(a->seen, a->n, &a->params, a->places, a->n_places);
}

void agent_learn_all(struct agent *a)
{
	const struct grid *g = &a->application->grid;

	for (int i = 0; i < g->n_points; i++) {
		const double *at = g->points[i].at;

		add_seen(a, throughput_place_on((int)at[0], (int)at[1]), (int64_t)at[2],
			 g->points[i].times);
	}
	set_params(a, fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params);
}

/* --- fits --- */

/* A fit, by a hash of the observations that it was made of. Two keys are hardly ever the same by
 * chance, so that the observations are not compared. */
struct known_fit {
	uint64_t key[2];
	struct throughput_params params;
};

static int by_key(const void *a, const void *b)
{
	const struct known_fit *x = a, *y = b;

	return memcmp(x->key, y->key, sizeof(x->key));
}

static void hash_word(uint64_t key[2], uint64_t word)
{
	for (int k = 0; k < 2; k++) {
		key[k] = (key[k] ^ word) * 0x100000001b3;
		key[k] ^= key[k] >> (29 + k);
	}
}

static void hash_time(uint64_t key[2], double time_s)
{
	uint64_t word;

	memcpy(&word, &time_s, sizeof(word));
	hash_word(key, word);
}

bool agent_fit(struct agent *a, void **known)
{
	struct known_fit wanted = { .key = { 0xcbf29ce484222325, 0x9e3779b97f4a7c15 } }, *fit;
	struct known_fit *const *at;

	if (!a->stale)
		return a->version > 0;
	/* Each observation is of one pass and has weight 1. */
	for (int i = 0; i < a->n; i++) {
		const struct observation *o = &a->seen[i];

		hash_word(wanted.key, configuration_hash(&o->configuration));
		hash_word(wanted.key, (uint64_t)o->configuration.nodes);
		hash_time(wanted.key, o->step_time_s);
		hash_time(wanted.key, o->sync_time_s);
	}
	at = tfind(&wanted, known, by_key);
	fit = at ? *at : NULL;
	if (!fit) {
		fit = xmalloc(sizeof(*fit));
		*fit = wanted;
		fit->params = fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params;
		tsearch(fit, known, by_key);
	}
	set_params(a, fit->params);
	return true;
}

/* A job's progress through an interval, or up to an event, second for second as published, and the
 * time that it would take alone. */

#define MEASURED_S 10.0	/* work after which events count a job as measured */

static double batch_of(const struct sim_job *job)
{
	const struct training *t = job->own;

	return (double)configuration_batch_size(&t->configuration);
}

static int set_times(struct sim *s, struct sim_job *job)
{
	struct training *t = job->own;
	const struct application *a = application_on(job->spec->application, job->kind);

	if (truth_times(&t->place, t->configuration.local_batch_size, &t->times, s->err))
		return err_prefix(s->err, "job '%s'", job->spec->name);
	if (!sizes_are_validated(a, &t->configuration))
		return err_set(s->err, EX_DATAERR,
			       "job '%s': '%s' was not validated at a batch size of %.0f",
			       job->spec->name, a->name, batch_of(job));
	return 0;
}

static void observe(struct sim *s, struct sim_job *job, struct gradients g)
{
	struct training *t = job->own;
	struct throughput_place place = place_of_job(job);
	int64_t local = t->configuration.local_batch_size;
	struct agent *a;

	/* Where the clock stops at events, the first measurement calls for a decision. */
	s->due |= s->stops_at_events && !t->has_run;
	t->has_run = true;
	t->gradients = g;
	if (!t->agent || s->options->knowledge == SIM_KNOWLEDGE_FULL)
		return;
	a = &t->agent[job->kind];
	t->agent->gradients[t->epoch] = g;
	for (int i = a->n - 1; i >= 0; i--)
		if (a->seen[i].configuration.nodes == place.nodes &&
		    a->seen[i].configuration.replicas == place.replicas &&
		    a->seen[i].configuration.local_batch_size == local)
			return;
	add_seen(a, place, local, t->times);
}

static void update_sizes(struct sim *s, struct sim_job *job)
{
	struct training *t = job->own;

	if (!measured_of(s)->manner.owners_batch)
		t->configuration = job_best_sizes(s, job);
}

/* The progress per second, in updates at the initial batch size. */
static double progress_rate(const struct sim *s, const struct sim_job *job, struct gradients g)
{
	const struct training *t = job->own;
	double scale = batch_of(job) / (double)job->spec->application->initial_batch_size;
	double rate = gradients_gain(g, scale) /
		      times_of_update(t->times, t->configuration.accumulation_steps);

	rate /= job->spec->application->slowdown;
	return t->interfered ? rate * (1 - s->options->interference) : rate;
}

/* Advances the job to the end of the epoch or of the interval. Returns the seconds that this takes,
 * rounded up to whole ones at the end of an epoch. */
static double advance_job(struct sim *s, struct sim_job *job, double at_s, double seconds)
{
	struct training *t = job->own;
	const struct application *a = job->spec->application;
	double next = job_progress(job, t->epoch + 1);
	struct gradients g = truth_gradients(a, batch_of(job), t->epoch);
	double rate = progress_rate(s, job, g), taken_s;

	observe(s, job, g);
	if (t->progress + rate * seconds < next) {
		t->progress += rate * seconds;
		return seconds;
	}
	taken_s = rint((next - t->progress) / rate);
	t->progress = next;
	if (++t->epoch == a->n_epochs)
		job->finish_s = at_s + taken_s;
	return taken_s;
}

/* The job is at the end of an epoch, to the second, or, before its first update, has been measured;
 * at the soonest in a second. */
int training_event(struct sim *s, struct sim_job *job, struct moment *event)
{
	struct training *t = job->own;
	const struct application *a = job->spec->application;
	double seconds = job_progress(job, t->epoch + 1) - t->progress;

	if (!job->placement.replicas)
		return 0;
	if (set_times(s, job))
		return -1;
	seconds /= progress_rate(s, job, truth_gradients(a, batch_of(job), t->epoch));
	if (!t->has_run)
		seconds = fmin(seconds, MEASURED_S);
	event->in_s = fmax(ceil(job->delay_s + seconds), 1);
	event->at_s = s->now_s + event->in_s;
	return 0;
}

/* Adds the time to the service of the job on its GPUs. */
static void serve(const struct sim *s, struct sim_job *job, double seconds)
{
	double speed = job_speed_on(job, job->kind), slowest = speed;

	for (int k = 0; k < s->n_kinds; k++)
		slowest = fmin(slowest, job_speed_on(job, k));
	sim_serve(job, seconds, speed / slowest);
}

int training_run(struct sim *s, struct sim_job *job, double start_s, double interval_s)
{
	const struct training *t = job->own;
	double seconds = interval_s, delay_s = fmin(job->delay_s, seconds), before;

	if (!job->placement.replicas)
		return 0;
	before = t->progress;
	job->delay_s -= delay_s;
	serve(s, job, delay_s);
	seconds -= delay_s;
	while (seconds > 0 && isnan(job->finish_s)) {
		double taken_s;

		if (set_times(s, job))
			return -1;
		taken_s = advance_job(s, job, start_s + interval_s - seconds, seconds);
		serve(s, job, taken_s);
		seconds -= taken_s;
		if (isnan(job->finish_s))
			update_sizes(s, job);
	}
	if (t->progress > before)
		s->progress_s = s->now_s;
	return 0;
}

/* Counts the job among the ended siblings; what it alone has learnt is of no use after it. */
void training_ended(struct sim *s, struct sim_job *job)
{
	struct measured *m = s->own;
	struct training *t = job->own;
	struct application_past *past = t->past;

	for (int k = 0; k < s->n_kinds; k++) {
		free(t->tables[k].goodput);
		t->tables[k].goodput = NULL;
		if (m->n_agents == s->workload->n_jobs * s->n_kinds)
			agent_release(&m->agents[job->index * s->n_kinds + k]);
	}
	siblings_add(&past->work, job_end(job));
	siblings_add(&past->service, job->service_device_s);
	if (s->options->lengths != SIM_LENGTHS_LEARNED) {
		s->ended_device_s[s->n_ended++] = job->service_device_s;
		return;
	}
	if (!past->ended)
		past->ended = ++s->n_ended;
	s->ended_device_s[past->ended - 1] = exp(past->service.mean);
}

void training_launch(struct sim *s, struct sim_job *job)
{
	struct training *t = job->own;
	const struct application *base = job->spec->application;
	const struct application *a = application_on(base, job->kind);

	if (!job->placement.n)
		return;
	t->place = place_class_of(a, &job->placement);
	job->delay_s = isnan(base->restart_s) ? s->options->restart_s : base->restart_s;
	if (measured_of(s)->manner.owners_batch)
		t->configuration = sizes_spread(a, place_of_job(job), job->spec->batch_size, false);
	update_sizes(s, job);
}

/* --- alone --- */

/* The progress per second in one epoch, at the best validated batch size. */
static int best_rate(const struct application *a, const struct place_class *place, int epoch,
		     double *rate, struct err *err)
{
	struct throughput_place on = throughput_place_on(place->nodes, place->replicas);

	*rate = 0;
	for (int i = 0; i < a->n_validations; i++) {
		struct configuration sizes = sizes_spread(a, on,
							  a->validations[i].batch_size, false);
		double batch = (double)configuration_batch_size(&sizes);
		struct gradients g;
		struct times times;

		if (a->fixed_batch_size && a->validations[i].batch_size != a->fixed_batch_size)
			continue;
		if (sizes.local_batch_size < a->min_local_batch_size ||
		    !sizes_are_validated(a, &sizes))
			continue;
		if (truth_times(place, sizes.local_batch_size, &times, err))
			return -1;
		g = truth_gradients(a, batch, epoch);
		*rate = fmax(*rate, gradients_gain(g, batch / (double)a->initial_batch_size) /
				    times_of_update(times, sizes.accumulation_steps));
	}
	return *rate > 0 ? 0
			 : err_set(err, EX_DATAERR, "'%s' has no batch size for %d GPUs",
				   a->name, place->replicas);
}

/* The time of all epochs on packed GPUs. */
static int training_time(const struct sim *s, const struct application *base, int kind,
			 int replicas, double *seconds, struct err *err)
{
	const struct application *a = application_on(base, kind);
	struct place_class place =
		place_class_packed(a, replicas, s->kinds[kind].gpus_per_node);
	double rate;

	*seconds = 0;
	for (int e = 0; e < a->n_epochs; e++) {
		if (best_rate(a, &place, e, &rate, err))
			return -1;
		*seconds += (a->progress[e + 1] - a->progress[e]) / rate * base->slowdown;
	}
	return 0;
}

/* The time on a number of GPUs with a fraction: linear between the times on the whole GPUs and on
 * one more, as in Sia's simulator. Where the profiles do not cover this many packed GPUs, fewer are
 * taken. */
static int alone_on(const struct sim *s, const struct sim_job *job, int kind, double gpus,
		    double *seconds)
{
	const struct application *base = job->spec->application;
	const struct application *a = application_on(base, kind);
	double most = fmin(a->max_replicas, s->kinds[kind].n_gpus), share, more_s;
	struct err ignored;
	int replicas;

	/* The part of its share that the job can use, at least one GPU. */
	most = floor(fmin(most, (double)a->max_batch_size / (double)a->min_local_batch_size));
	share = fmax(fmin(gpus, most), 1);
	replicas = (int)share;
	while (training_time(s, base, kind, replicas, seconds, s->err))
		if (--replicas < 1)
			return err_prefix(s->err, "job '%s'", job->spec->name);
	if (share > replicas && share < replicas + 1 &&
	    !training_time(s, base, kind, replicas + 1, &more_s, &ignored))
		*seconds += (share - replicas) * (more_s - *seconds);
	*seconds = *seconds / fmin(gpus, 1);
	return 0;
}

/* With several kinds, the share is of mean GPUs: their rate is the mean over the kinds. */
int training_alone(struct sim *s, const struct sim_job *job, double gpus, double *seconds)
{
	double restart_s = job->spec->application->restart_s, rate = 0;

	for (int k = 0; k < s->n_kinds; k++) {
		double part = (double)s->kinds[k].n_gpus / s->n_gpus;

		if (alone_on(s, job, k, gpus, seconds))
			return -1;
		rate += part / *seconds;
	}
	if (s->n_kinds > 1)
		*seconds = 1 / rate;
	*seconds *= ((const struct training *)job->own)->length;
	*seconds += isnan(restart_s) ? s->options->restart_s : restart_s;
	return 0;
}

int training_at_owners_size(struct sim *s, const struct sim_job *job, double *seconds)
{
	const struct application *base = job->spec->application, *a = application_on(base, 0);
	int replicas = job->spec->replicas, gpus_per_node = s->kinds[0].gpus_per_node;
	struct throughput_place at = place_packed(replicas, gpus_per_node);
	struct place_class place = place_class_packed(a, replicas, gpus_per_node);
	struct configuration sizes = sizes_spread(a, at, job->spec->batch_size, false);
	double batch = (double)configuration_batch_size(&sizes), update_s;
	struct times times;

	if (truth_times(&place, sizes.local_batch_size, &times, s->err))
		return err_prefix(s->err, "job '%s'", job->spec->name);
	update_s = times_of_update(times, sizes.accumulation_steps) * base->slowdown;
	*seconds = 0;
	for (int e = 0; e < a->n_epochs; e++)
		*seconds += (a->progress[e + 1] - a->progress[e]) * update_s /
			    gradients_gain(truth_gradients(a, batch, e),
					   batch / (double)a->initial_batch_size);
	return 0;
}
