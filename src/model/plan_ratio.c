/* plan_ratio.c - see pollux/plan_ratio.h. */
#include "pollux/plan_ratio.h"

#include <math.h>
#include <string.h>

#include "pollux/kind_ratio.h"
#include "pollux/tier_fit.h"

#define LEAST_OBSERVATIONS 3

/* --- what names tell --- */

/* Published profiles on 1 to 8 GPUs of one node (Rubick, MLSys 2025); zero3 is assumed. */
static const struct usual_time {
	const char *prefix;
	double value;
} usual_times[] = {
	{ "dp", 1 }, { "ga", 1 }, { "gc", 1.33 }, { "zero2", 1.05 }, { "zero3", 1.3 },
	{ "offload", 1.6 },
};

double plan_usual_time(const char *name, bool *known)
{
	*known = true;
	for (size_t i = 0; i < sizeof(usual_times) / sizeof(usual_times[0]); i++)
		if (!strncmp(name, usual_times[i].prefix, strlen(usual_times[i].prefix)))
			return usual_times[i].value;
	*known = false;
	return 1;
}

/* --- the ratio --- */

/* True if the devices of the two are joined alike, as far as is known. */
static bool is_joined_alike(struct throughput_place a, struct throughput_place b)
{
	return a.replicas < 2 || a.tier == b.tier || a.tier == TIER_UNKNOWN ||
	       b.tier == TIER_UNKNOWN;
}

static const struct observation *find_same(const struct plan_times *p,
					       const struct configuration *c)
{
	struct throughput_place place = configuration_place(c);

	for (int i = 0; i < p->n_seen; i++) {
		const struct configuration *other = &p->seen[i].configuration;
		struct throughput_place there = configuration_place(other);

		if (place.replicas == there.replicas && place.nodes == there.nodes &&
		    is_joined_alike(place, there) &&
		    c->local_batch_size == other->local_batch_size &&
		    c->accumulation_steps == other->accumulation_steps)
			return &p->seen[i];
	}
	return NULL;
}

static double expected_time(const struct plan_times *p, const struct configuration *c)
{
	return throughput_time_of(&p->fit->params, c) *
	       residuals_factor(p->residuals, configuration_place(c), (double)c->local_batch_size);
}

struct fit_expectation plan_ratio(const struct plan_times *to, const struct plan_times *from)
{
	bool known_to, known_from;
	double usual = plan_usual_time(to->name, &known_to) /
		       plan_usual_time(from->name, &known_from);
	double spread = known_to && known_from ? PLAN_RATIO_PRIOR_SPREAD
					       : PLAN_RATIO_UNKNOWN_SPREAD;
	double weight = 1 / (spread * spread), sum = weight * log(usual);

	for (int i = 0; i < to->n_seen; i++) {
		const struct observation *o = &to->seen[i];
		const struct observation *same = find_same(from, &o->configuration);
		double other = same ? same->step_time_s : expected_time(from, &o->configuration);
		double w;

		if (!(o->step_time_s > 0) || !(other > 0) || !isfinite(other))
			continue;
		spread = same ? PLAN_RATIO_COMMON_SPREAD : PLAN_RATIO_MODEL_SPREAD;
		w = 1 / (spread * spread);
		sum += w * log(o->step_time_s / other);
		weight += w;
	}
	return (struct fit_expectation){ exp(sum / weight), 1 / sqrt(weight) };
}

/* --- what is borrowed --- */

bool plan_is_hardly_measured(const struct observation *seen, int n)
{
	bool several = false;

	for (int i = 1; i < n; i++)
		several |= seen[i].configuration.local_batch_size !=
			   seen[0].configuration.local_batch_size;
	return n < LEAST_OBSERVATIONS || !several;
}

struct throughput_params plan_borrow(const struct plan_times *to, const struct plan_times *from,
				     double ratio, bool *pass, bool *sync)
{
	struct throughput_params params = to->fit->params;
	const struct throughput_params own = params;

	*pass = plan_is_hardly_measured(to->seen, to->n_seen) &&
		from->fit->basis[ALPHA_GRAD] != FIT_TIED;
	if (*pass) {
		params.alpha_grad = fmax(from->fit->params.alpha_grad * ratio,
					 THROUGHPUT_TIME_MIN_S);
		params.beta_grad = fmax(from->fit->params.beta_grad * ratio, THROUGHPUT_TIME_MIN_S);
	}
	kind_ratio_fill_sync(&params, to->fit, from->fit, ratio);
	*sync = params.alpha_sync_local > own.alpha_sync_local ||
		params.beta_sync_local > own.beta_sync_local;
	*sync |= tier_borrow(&params, to->fit, from->fit);
	return params;
}
