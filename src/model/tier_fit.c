/* tier_fit.c - see pollux/time_ratio.h. */
#include "pollux/time_ratio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit_objective.h"
#include "pollux/mem.h"

#define LN_FACTOR_MAX 7.0	/* a factor of about 1,100 */
#define FACTORS_TRIED 70	/* between which the best is bracketed */
#define HALVINGS 40

/* --- which tiers --- */

static bool is_on_several(const struct configuration *c)
{
	return c->replicas > 1 && c->nodes == 1;
}

bool tier_was_seen(const struct observation *seen, int n, enum configuration_tier tier)
{
	for (int i = 0; i < n; i++)
		if (is_on_several(&seen[i].configuration) && seen[i].configuration.tier == tier)
			return true;
	return false;
}

enum configuration_tier tier_base(const struct observation *seen, int n)
{
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++)
		if (tier_was_seen(seen, n, (enum configuration_tier)t))
			return (enum configuration_tier)t;
	return TIER_UNKNOWN;
}

/* --- the prior --- */

void tier_variant(enum configuration_tier tier, bool copies, char variant[MEASURED_VARIANT_SIZE])
{
	snprintf(variant, MEASURED_VARIANT_SIZE, "%s%s", copies ? "peer " : "",
		 configuration_tier_names.names[tier]);
}

/* The measured time at the size that is nearest by its logarithm. */
static double time_near(const struct device_measurement_list *list, const char *variant,
			double bytes)
{
	double nearest = HUGE_VAL, time_s = (double)NAN;

	for (int i = 0; i < list->count; i++) {
		const struct device_measurement *m = &list->items[i];
		double distance = fabs(log((double)m->bytes / bytes));

		if (m->devices == 2 && m->bytes > 0 && m->time_s > 0 &&
		    !strcmp(m->variant, variant) && distance < nearest) {
			nearest = distance;
			time_s = m->time_s;
		}
	}
	return time_s;
}

void tier_prior(const struct device_measurement_list *measured, double bytes,
		double time_s[CONFIGURATION_TIERS])
{
	for (int t = 0; t < CONFIGURATION_TIERS; t++) {
		char variant[MEASURED_VARIANT_SIZE];

		tier_variant((enum configuration_tier)t, false, variant);
		time_s[t] = t ? time_near(measured, variant, bytes) : (double)NAN;
		tier_variant((enum configuration_tier)t, true, variant);
		if (t && isnan(time_s[t]))
			time_s[t] = time_near(measured, variant, bytes);
	}
}

static double ln_prior(const double *time_s, int tier, int base)
{
	if (time_s && time_s[tier] > 0 && time_s[base] > 0) {
		double ln = log(time_s[tier] / time_s[base]);

		return tier > base ? fmax(ln, 0) : fmin(ln, 0);
	}
	return (tier - base) * log(TIER_PRIOR);
}

/* --- the factor --- */

struct tier_rows {
	const struct fit_row *rows;
	int n;
	struct throughput_params params;
	int tier;
	double ln_prior;
};

/* Minus the logarithm of the probability, but for a constant. */
static double improbability(struct tier_rows *r, double ln_factor)
{
	double off = (ln_factor - r->ln_prior) / TIER_SPREAD, sum = off * off;

	r->params.ln_tier[r->tier] = ln_factor;
	for (int i = 0; i < r->n; i++) {
		const struct fit_row *row = &r->rows[i];
		double time_s = throughput_step_time(&r->params, row->place, row->m, row->s);
		double error = (log(time_s) - row->ln_step) / FIT_MODEL_ERROR;

		if ((int)row->place.tier == r->tier)
			sum += row->weight * error * error;
	}
	return sum;
}

static double most_probable(struct tier_rows *r)
{
	double step = LN_FACTOR_MAX / FACTORS_TRIED, best = 0, least = HUGE_VAL;

	for (int i = 0; i <= FACTORS_TRIED; i++) {
		double value = improbability(r, i * step);

		if (value < least) {
			least = value;
			best = i * step;
		}
	}
	for (int i = 0; i < HALVINGS; i++) {
		step /= 2;
		for (int side = -1; side <= 1; side += 2) {
			double at = best + side * step, value = improbability(r, fmax(at, 0));

			if (value < least) {
				least = value;
				best = fmax(at, 0);
			}
		}
	}
	return best;
}

static void set_factors(struct fit_result *fit, struct tier_rows *r, int base,
			const bool *was_seen, const double *time_s)
{
	double most = 0;

	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++) {
		r->tier = t;
		r->ln_prior = ln_prior(time_s, t, base);
		fit->tier_basis[t] = was_seen[t] ? FIT_FROM_DATA : FIT_FROM_PRIOR;
		if (t == base)
			fit->params.ln_tier[t] = 0;
		else if (was_seen[t])
			fit->params.ln_tier[t] = most_probable(r);
		else if (t > base)
			fit->params.ln_tier[t] = fmax(r->ln_prior, most);
		else
			fit->params.ln_tier[t] = r->ln_prior;
		most = fmax(most, fit->params.ln_tier[t]);
	}
}

struct fit_result fit_by_tier(const struct observation *seen, int n,
			      const struct fit_options *options, const double *time_s)
{
	enum configuration_tier base = tier_base(seen, n);
	bool was_seen[CONFIGURATION_TIERS];
	autofree struct observation *kept = NULL;
	struct tier_rows r = { .n = 0 };
	struct fit_result fit;
	autofree struct fit_row *rows = NULL;
	int n_kept = 0;

	if (base == TIER_UNKNOWN)
		return fit_throughput(seen, n, options);
	kept = xcalloc((size_t)n, sizeof(*kept));
	r.rows = rows = xcalloc((size_t)n, sizeof(*rows));
	for (int i = 0; i < n; i++) {
		const struct configuration *c = &seen[i].configuration;

		if (!is_on_several(c) || c->tier == TIER_UNKNOWN || c->tier == base)
			kept[n_kept++] = seen[i];
		if (is_on_several(c) && fit_row_make(&rows[r.n], &seen[i]))
			r.n++;
	}
	fit = fit_throughput(kept, n_kept, options);
	r.params = fit.params;
	for (int t = 0; t < CONFIGURATION_TIERS; t++)
		was_seen[t] = tier_was_seen(seen, n, (enum configuration_tier)t);
	set_factors(&fit, &r, (int)base, was_seen, time_s);
	return fit;
}

/* --- factors of another fit --- */

/* The best tier that the fit knows by observations; TIER_UNKNOWN: none. */
static enum configuration_tier base_of(const struct fit_result *fit)
{
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++)
		if (fit->tier_basis[t] == FIT_FROM_DATA)
			return (enum configuration_tier)t;
	return TIER_UNKNOWN;
}

bool tier_borrow(struct throughput_params *params, const struct fit_result *to,
		 const struct fit_result *from)
{
	enum configuration_tier base = base_of(to);
	bool any = false;

	if (base_of(from) == TIER_UNKNOWN || from->tier_basis[base] == FIT_FROM_PRIOR ||
	    (base == TIER_UNKNOWN && to->basis[ALPHA_SYNC_LOCAL] != FIT_TIED))
		return false;
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++) {
		double ln = from->params.ln_tier[t] - from->params.ln_tier[base];

		if (to->tier_basis[t] == FIT_FROM_DATA ||
		    (base != TIER_UNKNOWN && from->tier_basis[t] != FIT_FROM_DATA))
			continue;
		if (base != TIER_UNKNOWN)
			ln = t > (int)base ? fmax(ln, 0) : fmin(ln, 0);
		params->ln_tier[t] = ln;
		any = true;
	}
	return any;
}

double tier_borrowed_sync(const struct fit_result *to, const struct fit_result *from)
{
	enum configuration_tier base = base_of(to);

	return base != TIER_UNKNOWN && base_of(from) != TIER_UNKNOWN
		? exp(from->params.ln_tier[base]) : 1;
}
