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

static void copy_times(struct observation *o, const struct observation *other)
{
	o->n_windows = other->n_windows;
	o->step_time_s = other->step_time_s;
	o->step_time_sd_s = other->step_time_sd_s;
	o->step_time_min_s = other->step_time_min_s;
	o->sync_time_s = other->sync_time_s;
}

void observation_merge(struct observation *o, const struct observation *other)
{
	if (o->n_windows == 0)
		copy_times(o, other);
	else if (other->n_windows > 0)
		merge_times(o, other);
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

/* Merges the observations of the configuration of seen[first], back to where they disagree. */
static void gather_observations(const struct observation *seen, int n, int first,
				struct observation *out)
{
	*out = seen[first];
	for (int i = first + 1; i < n; i++) {
		const struct observation *older = &seen[i];

		if (older->n_windows <= 0 || !is_same(&older->configuration, &out->configuration))
			continue;
		if (pool_agree(out, older))
			observation_merge(out, older);
		else if (out->n_windows >= POOL_WINDOWS)
			return;
		else
			*out = *older;
	}
}

static bool is_gathered(const struct observation *pooled, int n, const struct observation *entry)
{
	for (int i = 0; i < n; i++)
		if (is_same(&pooled[i].configuration, &entry->configuration))
			return true;
	return false;
}

/* True if some parameters of the model allow both the time of base and that of entry. */
static bool is_possible(const struct observation *entry, const struct observation *base)
{
	double ratio = (double)entry->configuration.local_batch_size /
		       (double)base->configuration.local_batch_size;
	double least_s = base->step_time_s * fmin(ratio, 1) / POOL_IMPOSSIBLE;
	double most_s = base->step_time_s * fmax(ratio, 1) * POOL_IMPOSSIBLE;

	return entry->step_time_s >= least_s && entry->step_time_s <= most_s;
}

/* True if only the local batches differ. */
static bool is_comparable(const struct observation *a, const struct observation *b)
{
	struct configuration c = a->configuration;

	c.local_batch_size = b->configuration.local_batch_size;
	return is_same(&c, &b->configuration);
}

static bool is_doubtful(const struct observation *pooled, int n, const struct observation *entry)
{
	if (entry->n_windows >= POOL_WINDOWS)
		return false;
	for (int i = 0; i < n; i++)
		if (pooled[i].n_windows >= POOL_WINDOWS && is_comparable(entry, &pooled[i]) &&
		    !is_possible(entry, &pooled[i]))
			return true;
	return false;
}

static int drop_doubtful(struct observation *pooled, int n)
{
	int kept = 0;

	/* Entries by which others are judged are never dropped. An overwritten entry was moved or
	 * dropped before. */
	for (int i = 0; i < n; i++)
		if (!is_doubtful(pooled, n, &pooled[i]))
			pooled[kept++] = pooled[i];
	return kept;
}

int pool_observations(const struct observation *seen, int n, struct observation *pooled)
{
	int n_pooled = 0;

	for (int i = 0; i < n; i++)
		if (seen[i].n_windows > 0 && !is_gathered(pooled, n_pooled, &seen[i]))
			gather_observations(seen, n, i, &pooled[n_pooled++]);
	n_pooled = drop_doubtful(pooled, n_pooled);
	for (int i = 0; i < n_pooled; i++)
		pooled[i].weight = fit_weight(pooled[i].step_time_s, pooled[i].step_time_sd_s,
					      pooled[i].n_windows);
	return n_pooled;
}
