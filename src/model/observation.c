/* observation.c - merges observations: of one configuration, and of many runs. */
#include "pollux/observation.h"

#include <math.h>
#include <stdlib.h>

#include "pollux/fit.h"

void observation_list_release(struct observation_list *list)
{
	free(list->items);
	*list = (struct observation_list){ 0 };
}

void observation_init(struct observation *o)
{
	*o = (struct observation){
		.step_time_s = (double)NAN, .step_time_sd_s = (double)NAN,
		.step_time_min_s = (double)NAN, .sync_time_s = (double)NAN,
	};
}

/* --- two of one configuration --- */

double observation_deviation(double m2, int64_t n)
{
	return n > 1 ? sqrt(m2 / (double)(n - 1)) : (double)NAN;
}

static double squares(const struct observation *o)
{
	return o->n_windows > 1 ? o->step_time_sd_s * o->step_time_sd_s * (double)(o->n_windows - 1)
				: 0;
}

/* Merges the moments: T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise
 * algorithm for computing sample variances", 1979. */
static void merge_times(struct observation *o, const struct observation *other)
{
	double n = (double)o->n_windows, m = (double)other->n_windows;
	double delta = other->step_time_s - o->step_time_s;
	double m2 = squares(o) + squares(other) + delta * delta * n * m / (n + m);

	if (isnan(o->sync_time_s))
		o->sync_time_s = other->sync_time_s;
	else if (!isnan(other->sync_time_s))
		o->sync_time_s += (other->sync_time_s - o->sync_time_s) * m / (n + m);
	o->step_time_s += delta * m / (n + m);
	o->step_time_min_s = fmin(o->step_time_min_s, other->step_time_min_s);
	o->n_windows += other->n_windows;
	o->step_time_sd_s = observation_deviation(m2, o->n_windows);
}

void observation_merge(struct observation *o, const struct observation *other)
{
	if (o->n_windows == 0) {
		o->n_windows = other->n_windows;
		o->step_time_s = other->step_time_s;
		o->step_time_sd_s = other->step_time_sd_s;
		o->step_time_min_s = other->step_time_min_s;
		o->sync_time_s = other->sync_time_s;
	} else if (other->n_windows > 0) {
		merge_times(o, other);
	}
	o->n_steps += other->n_steps;
	o->n_dropped += other->n_dropped;
	o->n_outliers += other->n_outliers;
	o->n_invalid += other->n_invalid;
}

/* --- of several runs --- */

static double squared_error(const struct observation *o)
{
	double sd = FIT_DEVIATION * o->step_time_s;

	if (isfinite(o->step_time_sd_s))
		sd = o->step_time_sd_s;
	return sd * sd / (double)o->n_windows;
}

bool pool_agree(const struct observation *a, const struct observation *b)
{
	double difference = fabs(a->step_time_s - b->step_time_s);
	double error = sqrt(squared_error(a) + squared_error(b));

	return difference <= fmax(POOL_AGREEMENT * fmin(a->step_time_s, b->step_time_s),
				  POOL_ERRORS * error);
}

/* True if the two were measured in one configuration, on devices that are joined alike. */
static bool is_same(const struct configuration *a, const struct configuration *b)
{
	return a->tier == b->tier && configuration_equal(a, b);
}

/* True if an entry of few windows has a time that no parameters of the model allow beside that of a
 * base from which only the local batch differs. */
static bool is_doubtful(const struct observation *entry, const struct observation *base)
{
	struct configuration c = entry->configuration;
	double ratio = (double)c.local_batch_size / (double)base->configuration.local_batch_size;
	double least_s = base->step_time_s * fmin(ratio, 1) / POOL_IMPOSSIBLE;
	double most_s = base->step_time_s * fmax(ratio, 1) * POOL_IMPOSSIBLE;

	c.local_batch_size = base->configuration.local_batch_size;
	return entry->n_windows < POOL_WINDOWS && base->n_windows >= POOL_WINDOWS &&
	       is_same(&c, &base->configuration) &&
	       !(entry->step_time_s >= least_s && entry->step_time_s <= most_s);
}

/* Merges older observations of the same configuration, back to where they disagree. */
static void gather_older(const struct observation *seen, int n, struct observation *out)
{
	for (int i = 0; i < n; i++) {
		if (seen[i].n_windows <= 0 ||
		    !is_same(&seen[i].configuration, &out->configuration))
			continue;
		if (pool_agree(out, &seen[i]))
			observation_merge(out, &seen[i]);
		else if (out->n_windows >= POOL_WINDOWS)
			return;
		else
			*out = seen[i];
	}
}

int pool_observations(const struct observation *seen, int n, struct observation *pooled)
{
	int n_pooled = 0, kept = 0;

	for (int i = 0; i < n; i++) {
		struct observation *out = &pooled[n_pooled];
		bool gathered = seen[i].n_windows <= 0;

		for (int k = 0; k < n_pooled; k++)
			gathered |= is_same(&pooled[k].configuration, &seen[i].configuration);
		if (gathered)
			continue;
		*out = seen[i];
		n_pooled++;
		gather_older(seen + i + 1, n - i - 1, out);
	}
	/* Entries by which others are judged are never dropped. An overwritten entry was moved or
	 * dropped before. */
	for (int i = 0; i < n_pooled; i++) {
		bool doubtful = false;

		for (int k = 0; k < n_pooled; k++)
			doubtful |= is_doubtful(&pooled[i], &pooled[k]);
		if (!doubtful)
			pooled[kept++] = pooled[i];
	}
	for (int i = 0; i < kept; i++)
		pooled[i].weight = fit_weight(pooled[i].step_time_s, pooled[i].step_time_sd_s,
					      pooled[i].n_windows);
	return kept;
}
