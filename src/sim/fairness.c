/* fairness.c - the time that a job would take alone. */
#include <math.h>

#include "simulation.h"

/* The progress per second in one epoch, at the best validated batch size. */
static int best_rate(struct simulation *s, const struct application *a,
		     const struct place_class *place, int epoch, double *rate, struct err *err)
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
		if (truth_times(&s->truth, place, sizes.local_batch_size, &times, err))
			return -1;
		g = truth_gradients(a, batch, epoch);
		*rate = fmax(*rate, gradients_gain(g, batch / (double)a->initial_batch_size) /
				    times_of_update(times, sizes.accumulation_steps));
	}
	return *rate > 0 ? 0
			 : err_set(err, EX_DATAERR, "'%s' has no batch size for %d GPUs", a->name,
				   place->replicas);
}

/* The part of its share that the job can use, at least one GPU. */
static double usable_share(const struct simulation *s, const struct application *a, int kind,
			   double gpus)
{
	double most = fmin(a->max_replicas, s->kinds[kind].n_gpus);

	most = floor(fmin(most, (double)a->max_batch_size / (double)a->min_local_batch_size));
	return fmax(fmin(gpus, most), 1);
}

/* The time of all epochs on packed GPUs. */
static int training_time(struct simulation *s, const struct application *base, int kind,
			 int replicas, double *seconds, struct err *err)
{
	const struct application *a = application_on(base, kind);
	struct place_class place =
		place_class_packed(a, replicas, s->kinds[kind].gpus_per_node);
	double rate, slowdown = base->slowdown;

	*seconds = 0;
	for (int e = 0; e < a->n_epochs; e++) {
		if (best_rate(s, a, &place, e, &rate, err))
			return -1;
		*seconds += (a->progress[e + 1] - a->progress[e]) / rate * slowdown;
	}
	return 0;
}

/* The time on a number of GPUs with a fraction: linear between the times on the whole GPUs and on
 * one more, as in Sia's simulator. Where the profiles do not cover this many packed GPUs, fewer are
 * taken. */
static int alone_on(struct simulation *s, const struct sim_job *job, int kind, double gpus,
		    double *seconds, struct err *err)
{
	const struct application *base = job->spec->application;
	const struct application *a = application_on(base, kind);
	double share = usable_share(s, a, kind, gpus), more_s;
	int replicas = (int)share;
	struct err none;

	while (training_time(s, base, kind, replicas, seconds, err))
		if (--replicas < 1)
			return err_prefix(err, "job '%s'", job->spec->name);
	if (share > replicas && share < replicas + 1 &&
	    !training_time(s, base, kind, replicas + 1, &more_s, &none))
		*seconds += (share - replicas) * (more_s - *seconds);
	*seconds = *seconds / fmin(gpus, 1);
	return 0;
}

/* With several kinds, the share is of mean GPUs: their rate is the mean over the kinds. */
int fairness_alone(struct simulation *s, const struct sim_job *job, double gpus, double *seconds,
		   struct err *err)
{
	double restart_s = job->spec->application->restart_s, rate = 0;

	for (int k = 0; k < s->n_kinds; k++) {
		double part = (double)s->kinds[k].n_gpus / s->n_gpus;

		if (alone_on(s, job, k, gpus, seconds, err))
			return -1;
		rate += part / *seconds;
	}
	if (s->n_kinds > 1)
		*seconds = 1 / rate;
	*seconds += isnan(restart_s) ? s->options->restart_s : restart_s;
	return 0;
}
