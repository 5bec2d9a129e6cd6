/* goodput.c - computes efficiency, and searches for the best configuration.
 *
 * The search is exact, for these reasons. With L = M / R samples for each replica, 1 / goodput is
 * proportional to F = T_step (1 + phi / M). For fixed s, T = T_step is a convex, nondecreasing
 * function of M, as T_update is such a function of T_grad (a norm). F falls where
 *
 *	T'(M) M (M + phi) < phi T(M)
 *
 * and the difference of the sides, right less left, has the derivative -(T'' M (M + phi) + 2 M T')
 * <= 0: F falls, then rises. So the best whole m is next to the only real root, or at a limit.
 *
 * For fixed M, T grows with s, as dT/ds = alpha_grad + beta_grad L / s^2 (1 - dT_update/dT_grad)
 * and 0 <= dT_update/dT_grad <= 1. Three consequences leave few s to examine:
 *
 *   - with m held at its maximum, where T is linear in M, F again falls and then rises as s grows.
 *     Let it be least at s1. Fewer passes are worse with any m: for fixed s, F falls with M too, as
 *     T' is smaller than along that line, so the best m of fewer passes is the maximum;
 *   - let s2 be the least s whose best m is below the maximum. s2 >= s1 (at the maximum, the
 *     difference of the sides above is concave in s and not negative at s = 0, so it changes sign
 *     once). From s1 to s2 the best m is the maximum, and s1 is better;
 *   - from s2 on, the best whole L at s, with a real m = L / s, bounds the goodput of s and of all
 *     larger s. The search ends when this bound does not exceed the best found.
 *
 * Usually the search examines one to three s. If a pass has almost no fixed cost (alpha_grad at its
 * bound), larger s are hardly worse, and it may examine hundreds for the last 1e-6 of goodput. */
#include "pollux/goodput.h"

#include <math.h>
#include <string.h>

#include "pollux/configuration.h"

/* The limits within which a search chooses, for one place. */
struct goodput_limits {
	int64_t share_min, share_max;	/* samples per replica in all passes */
	int64_t local_min, local_max;	/* samples per replica in one pass */
	int64_t s_max;			/* passes */
};

#define TOLERANCE 1e-10		/* relative gain that is not worth another s */
#define ROUNDING 1e-14		/* relative gain that may be rounding: the smaller batch is kept */

double goodput_efficiency(double phi, double initial_batch_size, double batch_size)
{
	if (isinf(phi))
		return 1;
	return (phi + initial_batch_size) / (phi + batch_size);
}

double goodput_gain(double phi, double initial_batch_size, double batch_size)
{
	return batch_size / initial_batch_size *
	       goodput_efficiency(phi, initial_batch_size, batch_size);
}

/* The noise scale; 0 if it is unknown. */
static double known_noise(const struct goodput_model *model)
{
	return isnan(model->noise_scale) ? 0 : model->noise_scale;
}

double goodput_step_time(const struct goodput_model *model, struct throughput_place place, double m,
			 double s)
{
	return throughput_step_time(&model->params, place, m, s) *
	       residuals_factor(model->residuals, place, m);
}

double goodput_of(const struct goodput_model *model, struct throughput_place place, double m,
		  double s)
{
	return place.replicas * m * s / goodput_step_time(model, place, m, s) *
	       goodput_efficiency(known_noise(model), (double)model->batch.size,
				  place.replicas * m * s);
}

/* The goodput of a local batch of m samples in s passes at a place. */
static struct goodput_choice choice_at(const struct goodput_model *model,
				       struct throughput_place place, int64_t m, int64_t s)
{
	double local = (double)m, passes = (double)s;
	struct goodput_choice choice = {
		.configuration = configuration_at(place, m, (int)s),
		.throughput = place.replicas * local * passes /
			      goodput_step_time(model, place, local, passes),
		.goodput = goodput_of(model, place, local, passes),
	};

	choice.efficiency = choice.goodput / choice.throughput;
	return choice;
}

struct goodput_choice goodput_choice_of(const struct goodput_model *model, struct configuration c)
{
	return choice_at(model, configuration_place(&c), c.local_batch_size,
				 c.accumulation_steps);
}

/* The search for one place. */
struct search {
	const struct goodput_model *model;
	struct throughput_place place;
	struct goodput_limits limits;
	int64_t best_m, best_s;
	double best;
};

static void consider(struct search *f, int64_t m, int64_t s)
{
	double goodput = goodput_of(f->model, f->place, (double)m, (double)s);

	if (goodput > f->best * (1 + ROUNDING)) {
		f->best = goodput;
		f->best_m = m;
		f->best_s = s;
	}
}

/* phi T - T' M (M + phi), divided by phi if phi is infinite. Positive if a larger m is better;
 * nonincreasing in m. */
static double uphill(const struct search *f, double m, int64_t s)
{
	struct throughput_slope slope;
	double phi = known_noise(f->model), batch = f->place.replicas * m * (double)s;
	double time = throughput_step_slope(&f->model->params, f->place, m, (double)s, &slope);

	if (isinf(phi))
		return time - slope.by_m * m;
	return phi * time - slope.by_m * m * (batch + phi);
}

/* The real m of most goodput in [low, high], by the Illinois rule of false position (M. Dowell and
 * P. Jarratt, BIT 11 (1971), 168-174) on the logarithm of m; a bisection each third time bounds the
 * steps. */
static double best_local(const struct search *f, double low, double high, int64_t s)
{
	double at_low = uphill(f, low, s), at_high = uphill(f, high, s);

	if (!(at_low > 0))
		return low;
	if (!(at_high < 0))
		return high;
	for (int i = 0; high - low > 1e-9 * low && i < 200; i++) {
		double share = i % 3 == 2 ? 0.5 : at_low / (at_low - at_high);
		double m = low * pow(high / low, share), at = uphill(f, m, s);

		if (at > 0) {
			low = m;
			at_low = at;
			at_high /= 2;
		} else {
			high = m;
			at_high = at;
			at_low /= 2;
		}
	}
	return low;
}

/* Considers the best whole m for s. Returns an upper bound of the goodput with s or more passes. */
static double search_passes(struct search *f, int64_t s)
{
	int64_t share_low = most_of(f->limits.share_min, s * f->limits.local_min);
	int64_t low = most_of(f->limits.local_min, ceil_div(f->limits.share_min, s));
	int64_t high = least_of(f->limits.local_max, f->limits.share_max / s);

	if (share_low > f->limits.share_max)
		return 0;

	double passes = (double)s;
	double m = best_local(f, (double)share_low / passes, (double)f->limits.share_max / passes,
			      s);
	int64_t whole = (int64_t)m, share = (int64_t)(m * passes);

	if (low <= high) {
		consider(f, most_of(least_of(whole, high), low), s);
		consider(f, most_of(least_of(whole + 1, high), low), s);
	}
	share = most_of(share, share_low);
	m = (double)least_of(share + 1, f->limits.share_max) / passes;
	return fmax(goodput_of(f->model, f->place, (double)share / passes, passes),
		    goodput_of(f->model, f->place, m, passes));
}

/* True if one more pass is better, with m at its maximum. */
static bool more_when_full(const struct search *f, int64_t s)
{
	double m = (double)f->limits.local_max;

	return goodput_of(f->model, f->place, m, (double)(s + 1)) >
	       goodput_of(f->model, f->place, m, (double)s);
}

/* True if the goodput still grows with m at the maximum of m. */
static bool is_full(const struct search *f, int64_t s)
{
	return uphill(f, (double)f->limits.local_max, s) > 0;
}

/* The first s in [low, high] for which the condition does not hold; high if it always holds. */
static int64_t first_not(bool (*holds)(const struct search *f, int64_t s), const struct search *f,
			 int64_t low, int64_t high)
{
	while (low < high) {
		int64_t s = low + (high - low) / 2;

		if (holds(f, s))
			low = s + 1;
		else
			high = s;
	}
	return low;
}

static void search_from(struct search *f, int64_t s_min)
{
	int64_t s = most_of(s_min, ceil_div(f->limits.share_min, f->limits.local_max));
	int64_t last_full = least_of(f->limits.s_max, f->limits.share_max / f->limits.local_max);

	if (s <= last_full) {
		s = first_not(more_when_full, f, s, last_full);
		consider(f, f->limits.local_max, s);
		s = first_not(is_full, f, s, last_full + 1);
	}
	for (; s <= f->limits.s_max; s++)
		if (search_passes(f, s) <= f->best * (1 + TOLERANCE))
			break;
}

/* Computes the limits from the model. Returns false if they leave no configuration. */
static bool limits_of(const struct goodput_model *model, struct throughput_place place,
		       struct goodput_limits *l)
{
	int64_t replicas = place.replicas, batch_min = model->batch.size;
	int64_t batch_max = model->batch.max > 0 ? model->batch.max : batch_min;

	if (replicas < 1 || batch_min < 1 || batch_max < batch_min)
		return false;
	l->share_min = ceil_div(batch_min, replicas);
	l->share_max = batch_max / replicas;
	l->local_min = most_of(model->batch.min_local, 1);
	if (model->growth_bound > 0 && !isnan(model->noise_scale))
		l->share_max = least_of(l->share_max,
				     most_of(model->growth_bound / replicas,
					  most_of(l->share_min, l->local_min)));
	l->local_max = l->share_max;
	if (model->batch.max_local > 0)
		l->local_max = least_of(l->local_max, model->batch.max_local);
	if (l->local_max < l->local_min || l->share_max < l->share_min)
		return false;
	l->s_max = model->batch.accumulates ? least_of(l->share_max / l->local_min, INT32_MAX) : 1;
	return true;
}

bool goodput_best(const struct goodput_model *model, struct throughput_place place,
		  struct goodput_choice *choice)
{
	struct goodput_model by_params = *model;
	struct search f = { .model = &by_params, .place = place };
	int64_t initial = model->batch.size;

	memset(choice, 0, sizeof(*choice));
	by_params.residuals = NULL;
	if (!limits_of(model, place, &f.limits))
		return false;
	if (place.replicas == 1 && !model->noise_is_measured) {
		if (initial >= f.limits.local_min && initial <= f.limits.local_max)
			consider(&f, initial, 1);
		search_from(&f, 2);
	} else {
		search_from(&f, 1);
	}
	if (!(f.best > 0))
		return false;
	*choice = choice_at(model, place, f.best_m, f.best_s);
	return true;
}

/* ---- round sizes ---- */

/* The part of the goodput that a round number must keep. Another round number must gain as much. */
#define ROUNDED 0.99
/* The search tries every number of passes up to this one; beyond it, numbers that grow by one
 * eighth. */
#define PASSES_STEP 8

/* The distance of the numbers of three binary digits around m. */
static int64_t round_unit(int64_t m)
{
	int64_t unit = 1;

	while (m >= 8 * unit)
		unit *= 2;
	return unit;
}


/* The round number after m. */
static int64_t next_round(int64_t m)
{
	int64_t unit = round_unit(m);

	return m - m % unit + unit;
}

static void try_round_sizes(const struct goodput_model *g, struct throughput_place place,
			    struct goodput_choice *best)
{
	double phi = known_noise(g), most = best->goodput / ROUNDED;
	int64_t best_m = 0, best_s = 0;
	struct goodput_limits l;

	if (!limits_of(g, place, &l))
		return;
	if (isnan(g->noise_scale))	/* the fewest samples */
		l.share_max = l.share_min;
	for (int64_t m = next_round(l.local_min - 1); m <= l.local_max; m = next_round(m)) {
		double factor = residuals_factor(g->residuals, place, (double)m);
		double grad_s = factor * throughput_grad_time(&g->params, (double)m);
		double update_s = factor * throughput_update_time(&g->params, place, (double)m);
		int64_t s = ceil_div(l.share_min, m);

		/* One pass of more than M0 samples on one replica gives no noise estimate. */
		if (s == 1 && place.replicas == 1 && !g->noise_is_measured && m > g->batch.size)
			s = 2;
		for (; s <= l.s_max && s * m <= l.share_max;
		     s += s < PASSES_STEP ? 1 : s / PASSES_STEP) {
			double batch = (double)(place.replicas * m * s);
			double goodput = batch / ((double)(s - 1) * grad_s + update_s) *
					 goodput_efficiency(phi, (double)g->batch.size, batch);

			if (!(goodput > most))
				continue;
			most = goodput;
			best_m = m;
			best_s = s;
		}
	}
	if (best_m)
		*best = choice_at(g, place, best_m, best_s);
}

/* A round local batch takes the place of the best one if it is hardly worse. Residuals make steps
 * that the search does not see: where they are known, all round local batches are tried. */
bool goodput_best_round(const struct goodput_model *model, struct throughput_place place,
			struct goodput_choice *choice)
{
	struct goodput_choice rounded;
	struct configuration c;

	if (!goodput_best(model, place, choice))
		return false;
	c = choice->configuration;
	c.local_batch_size -= c.local_batch_size % round_unit(c.local_batch_size);
	rounded = choice_at(model, place, c.local_batch_size, c.accumulation_steps);
	if (configuration_batch_size(&choice->configuration) > model->batch.size &&
	    configuration_batch_size(&c) >= model->batch.size &&
	    c.local_batch_size >= model->batch.min_local &&
	    rounded.goodput >= ROUNDED * choice->goodput)
		*choice = rounded;
	if (model->residuals)
		try_round_sizes(model, place, choice);
	return true;
}
