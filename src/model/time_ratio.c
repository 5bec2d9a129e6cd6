/* time_ratio.c - compares step times between kinds of device, plans and numbers of cores. */
#include "pollux/time_ratio.h"

#include <math.h>
#include <string.h>

#include "pollux/fit.h"

/* --- the ratio --- */

/* True for a time of one device in one pass. */
static bool is_usable(const struct observation *o)
{
	return configuration_workers(&o->configuration) == 1 &&
	       o->configuration.accumulation_steps == 1 &&
	       o->configuration.local_batch_size > 0 && o->step_time_s > FIT_TIME_MIN_S &&
	       o->step_time_s < FIT_TIME_MAX_S;
}

/* A weighted mean of logarithms; the weight of one with deviation d is 1/d^2. */
struct log_mean {
	double sum, weight;
};

static void count_log(struct log_mean *mean, double log_ratio, double spread)
{
	mean->sum += log_ratio / (spread * spread);
	mean->weight += 1 / (spread * spread);
}

static int count_common(struct log_mean *mean, const struct observation_list *to,
			const struct observation_list *from)
{
	int n = 0;

	for (int i = 0; i < to->count; i++)
		for (int k = 0; k < from->count; k++) {
			const struct observation *a = &to->items[i], *b = &from->items[k];
			const struct configuration *c = &b->configuration;

			if (a->configuration.local_batch_size != c->local_batch_size ||
			    !is_usable(a) || !is_usable(b))
				continue;
			count_log(mean, log(a->step_time_s / b->step_time_s),
				  KIND_RATIO_SIZE_SPREAD);
			n++;
		}
	return n;
}

/* The time per sample at the largest size; NaN: there is none. */
static double sample_time(const struct observation_list *t)
{
	double time_s = (double)NAN;
	int64_t largest = 0;

	for (int i = 0; i < t->count; i++) {
		int64_t size = t->items[i].configuration.local_batch_size;

		if (!is_usable(&t->items[i]) || size <= largest)
			continue;
		largest = size;
		time_s = t->items[i].step_time_s / (double)size;
	}
	return time_s;
}

struct fit_expectation kind_ratio_of_plan(const struct kind_times *own,
					  const struct kind_times *others, int n_others,
					  double prior)
{
	bool has_prior = prior > 0 && isfinite(prior);
	double far = sample_time(own->to) / sample_time(own->from);
	struct log_mean mean = { 0 };

	count_log(&mean, has_prior ? log(prior) : 0,
		  has_prior ? KIND_RATIO_PRIOR_SPREAD : KIND_RATIO_UNKNOWN_SPREAD);
	if (count_common(&mean, own->to, own->from) == 0 && !isnan(far))
		count_log(&mean, log(far), KIND_RATIO_FAR_SPREAD);
	/* Another plan with a common size counts by the mean of its differences. */
	for (int i = 0; i < n_others; i++) {
		struct log_mean other = { 0 };

		if (count_common(&other, others[i].to, others[i].from) > 0)
			count_log(&mean, other.sum / other.weight, KIND_RATIO_PLAN_SPREAD);
	}
	return (struct fit_expectation){ exp(mean.sum / mean.weight), 1 / sqrt(mean.weight) };
}

/* --- synchronisation --- */

/* Takes what observations of the other kind gave, alone or together with a penalty. */
void kind_ratio_fill_sync(struct throughput_params *params, const struct fit_result *to,
			  const struct fit_result *from, double ratio)
{
	const struct throughput_params *p = &from->params;
	const struct {
		enum throughput_param param;
		double *value, measured;
	} syncs[] = {
		{ ALPHA_SYNC_LOCAL, &params->alpha_sync_local, p->alpha_sync_local },
		{ BETA_SYNC_LOCAL, &params->beta_sync_local, p->beta_sync_local },
		{ ALPHA_SYNC_NODE, &params->alpha_sync_node, p->alpha_sync_node },
		{ BETA_SYNC_NODE, &params->beta_sync_node, p->beta_sync_node },
	};
	double by_tier = tier_borrowed_sync(to, from);
	bool any_local = false;

	for (int i = 0; i < 4; i++) {
		enum fit_basis basis = from->basis[syncs[i].param];
		bool local = i < 2;

		if (to->basis[syncs[i].param] != FIT_TIED ||
		    (basis != FIT_FROM_DATA && basis != FIT_FROM_PENALTY))
			continue;
		*syncs[i].value = fmax(syncs[i].measured * ratio * (local ? by_tier : 1),
				       THROUGHPUT_TIME_MIN_S);
		params->gamma = p->gamma;
		any_local |= local;
	}
	if (any_local)
		tier_borrow(params, to, from);
}

/* ---- between plans ---- */

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

/* The devices of the two are joined alike, as far as is known. */
static const struct observation *find_same(const struct plan_times *p,
						   const struct configuration *c)
{
	struct throughput_place place = configuration_place(c);

	for (int i = 0; i < p->n_seen; i++) {
		const struct configuration *other = &p->seen[i].configuration;
		struct throughput_place there = configuration_place(other);

		if (place.replicas == there.replicas && place.nodes == there.nodes &&
		    (place.replicas < 2 || place.tier == there.tier ||
		     place.tier == TIER_UNKNOWN || there.tier == TIER_UNKNOWN) &&
		    c->local_batch_size == other->local_batch_size &&
		    c->accumulation_steps == other->accumulation_steps)
			return &p->seen[i];
	}
	return NULL;
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
		const struct configuration *c = &o->configuration;
		const struct observation *same = find_same(from, c);
		double other = same ? same->step_time_s
			: throughput_time_of(&from->fit->params, c) *
			  residuals_factor(from->residuals, configuration_place(c),
					   (double)c->local_batch_size);
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

/* ---- between numbers of cores ---- */

#define PARTS 100		/* part is found to 1 % */
#define MOST_STEPS 1e4		/* more steps of one configuration are no surer */

static bool time_counts(const struct observation *t)
{
	return t->cores > 0 && t->step_time_s > 0 && isfinite(t->step_time_s) && t->n_steps > 0;
}

double core_speed_factor(const struct core_speed *speed, double cores)
{
	if (!speed->known || !(cores > 0))
		return 1;
	return 1 + speed->part * (speed->base / cores - 1);
}

static bool are_alike(const struct observation *a, const struct observation *b)
{
	return time_counts(a) && time_counts(b) &&
	       configuration_equal(&a->configuration, &b->configuration);
}

/* The squared errors of one configuration, that of times[first], which the mean error leaves; 0: an
 * earlier time has this configuration. */
static double error_from(const struct observation *times, int n, int first,
			 const struct core_speed *speed)
{
	double sum = 0, squares = 0, weight = 0;

	for (int i = 0; i < n; i++) {
		double y, w = fmin((double)times[i].n_steps, MOST_STEPS);

		if (!are_alike(&times[first], &times[i]))
			continue;
		if (i < first)
			return 0;
		y = log(times[i].step_time_s / core_speed_factor(speed, times[i].cores));
		sum += w * y;
		squares += w * y * y;
		weight += w;
	}
	return weight > 0 ? squares - sum * sum / weight : 0;
}

/* The base is the number of cores of most steps. The errors that count are those which the mean
 * error of each configuration leaves. */
struct core_speed core_speed_fit(const struct observation *times, int n)
{
	struct core_speed best = { .base = 0 };
	double least = HUGE_VAL, most = 0;

	for (int i = 0; i < n; i++) {
		double steps = 0;

		for (int k = 0; k < n; k++) {
			if (time_counts(&times[k]) && times[k].cores == times[i].cores)
				steps += (double)times[k].n_steps;
			best.known |= are_alike(&times[i], &times[k]) &&
				      times[i].cores != times[k].cores;
		}
		if (time_counts(&times[i]) &&
		    (steps > most || (steps >= most && times[i].cores < best.base))) {
			most = steps;
			best.base = times[i].cores;
		}
	}
	for (int p = 0; best.known && p <= PARTS; p++) {
		struct core_speed speed = { true, (double)p / PARTS, best.base };
		double error = 0;

		for (int i = 0; i < n; i++)
			error += error_from(times, n, i, &speed);
		if (error < least) {
			least = error;
			best.part = speed.part;
		}
	}
	return best;
}
