/* pool.c - merges the observations of many runs into one for each configuration. */
#include "pollux/pool.h"

#include <math.h>

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
static void gather_observations(const struct pool_entry *seen, int n, int first,
				struct pool_entry *out)
{
	*out = seen[first];
	for (int i = first + 1; i < n; i++) {
		const struct observation *older = &seen[i].observation;

		if (older->n_windows <= 0 ||
		    !is_same(&seen[i].configuration, &out->configuration))
			continue;
		if (pool_agree(&out->observation, older))
			observation_merge(&out->observation, older);
		else if (out->observation.n_windows >= POOL_WINDOWS)
			return;
		else
			out->observation = *older;
	}
}

static bool is_gathered(const struct pool_entry *pooled, int n, const struct pool_entry *entry)
{
	for (int i = 0; i < n; i++)
		if (is_same(&pooled[i].configuration, &entry->configuration))
			return true;
	return false;
}

/* True if some parameters of the model allow both the time of base and that of entry. */
static bool is_possible(const struct pool_entry *entry, const struct pool_entry *base)
{
	double ratio = (double)entry->configuration.local_batch_size /
		       (double)base->configuration.local_batch_size;
	double least_s = base->observation.step_time_s * fmin(ratio, 1) / POOL_IMPOSSIBLE;
	double most_s = base->observation.step_time_s * fmax(ratio, 1) * POOL_IMPOSSIBLE;

	return entry->observation.step_time_s >= least_s &&
	       entry->observation.step_time_s <= most_s;
}

/* True if only the local batches differ. */
static bool is_comparable(const struct pool_entry *a, const struct pool_entry *b)
{
	struct configuration c = a->configuration;

	c.local_batch_size = b->configuration.local_batch_size;
	return is_same(&c, &b->configuration);
}

static bool is_doubtful(const struct pool_entry *pooled, int n, const struct pool_entry *entry)
{
	if (entry->observation.n_windows >= POOL_WINDOWS)
		return false;
	for (int i = 0; i < n; i++)
		if (pooled[i].observation.n_windows >= POOL_WINDOWS &&
		    is_comparable(entry, &pooled[i]) && !is_possible(entry, &pooled[i]))
			return true;
	return false;
}

static int drop_doubtful(struct pool_entry *pooled, int n)
{
	int kept = 0;

	/* Entries by which others are judged are never dropped. An overwritten entry was moved or
	 * dropped before. */
	for (int i = 0; i < n; i++)
		if (!is_doubtful(pooled, n, &pooled[i]))
			pooled[kept++] = pooled[i];
	return kept;
}

int pool_observations(const struct pool_entry *seen, int n, struct pool_entry *pooled)
{
	int n_pooled = 0;

	for (int i = 0; i < n; i++)
		if (seen[i].observation.n_windows > 0 && !is_gathered(pooled, n_pooled, &seen[i]))
			gather_observations(seen, n, i, &pooled[n_pooled++]);
	return drop_doubtful(pooled, n_pooled);
}

int pool_fit_observations(const struct pool_entry *pooled, int n, struct fit_observation *fit)
{
	for (int i = 0; i < n; i++) {
		const struct observation *o = &pooled[i].observation;

		fit[i] = (struct fit_observation){
			.configuration = pooled[i].configuration,
			.step_time_s = o->step_time_s, .sync_time_s = o->sync_time_s,
			.weight = fit_weight(o->step_time_s, o->step_time_sd_s, o->n_windows),
		};
	}
	return n;
}
