/* time_ratio.c - compares step times between kinds of device, plans and numbers of cores. */
#include "pollux/time_ratio.h"

#include <math.h>
#include <string.h>

#include "pollux/tier_fit.h"

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

/* Counts the mean of another plan's differences, if there is a common size. */
static void count_other_plan(struct log_mean *mean, const struct kind_times *other)
{
	struct log_mean own = { 0 };

	if (count_common(&own, other->to, other->from) > 0)
		count_log(mean, own.sum / own.weight, KIND_RATIO_PLAN_SPREAD);
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
	for (int i = 0; i < n_others; i++)
		count_other_plan(&mean, &others[i]);
	return (struct fit_expectation){ exp(mean.sum / mean.weight), 1 / sqrt(mean.weight) };
}

struct fit_expectation kind_ratio(const struct observation_list *to,
				  const struct observation_list *from, double prior)
{
	return kind_ratio_of_plan(&(struct kind_times){ to, from }, NULL, 0, prior);
}

/* --- synchronisation --- */

/* True if observations gave the value, alone or together with a penalty. */
static bool is_observed(enum fit_basis basis)
{
	return basis == FIT_FROM_DATA || basis == FIT_FROM_PENALTY;
}

void kind_ratio_fill_sync(struct throughput_params *params, const struct fit_result *to,
			  const struct fit_result *from, double ratio)
{
	static const enum throughput_param sync[] = { ALPHA_SYNC_LOCAL, BETA_SYNC_LOCAL,
						      ALPHA_SYNC_NODE, BETA_SYNC_NODE };
	double *values[] = { &params->alpha_sync_local, &params->beta_sync_local,
			     &params->alpha_sync_node, &params->beta_sync_node };
	const double measured[] = { from->params.alpha_sync_local, from->params.beta_sync_local,
				    from->params.alpha_sync_node, from->params.beta_sync_node };

	double by_tier = tier_borrowed_sync(to, from);
	bool any_local = false;

	for (int i = 0; i < 4; i++) {
		bool local = i < 2;

		if (to->basis[sync[i]] != FIT_TIED || !is_observed(from->basis[sync[i]]))
			continue;
		*values[i] = fmax(measured[i] * ratio * (local ? by_tier : 1),
				  THROUGHPUT_TIME_MIN_S);
		params->gamma = from->params.gamma;
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

/* ---- between numbers of cores ---- */

#define PARTS 100		/* part is found to 1 % */
#define MOST_STEPS 1e4		/* more steps of one configuration are no surer */

static bool time_counts(const struct observation *t)
{
	return t->cores > 0 && t->step_time_s > 0 && isfinite(t->step_time_s) && t->n_steps > 0;
}

static int find_base(const struct observation *times, int n)
{
	double most = 0;
	int base = 0;

	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int k = 0; k < n; k++)
			if (time_counts(&times[k]) && times[k].cores == times[i].cores)
				sum += (double)times[k].n_steps;
		if (time_counts(&times[i]) &&
		    (sum > most || (sum >= most && times[i].cores < base))) {
			most = sum;
			base = times[i].cores;
		}
	}
	return base;
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

static double weight_of(const struct observation *t)
{
	return fmin((double)t->n_steps, MOST_STEPS);
}

/* The squared errors of one configuration, that of times[first], which the mean error leaves. */
static double error_of(const struct observation *times, int n, int first,
		       const struct core_speed *speed)
{
	double sum = 0, squares = 0, weight = 0;

	for (int i = first; i < n; i++) {
		double y;

		if (!are_alike(&times[first], &times[i]))
			continue;
		y = log(times[i].step_time_s / core_speed_factor(speed, times[i].cores));
		sum += weight_of(&times[i]) * y;
		squares += weight_of(&times[i]) * y * y;
		weight += weight_of(&times[i]);
	}
	return weight > 0 ? squares - sum * sum / weight : 0;
}

static bool is_first(const struct observation *times, int i)
{
	for (int k = 0; k < i; k++)
		if (are_alike(&times[k], &times[i]))
			return false;
	return time_counts(&times[i]);
}

struct core_speed core_speed_fit(const struct observation *times, int n)
{
	struct core_speed best = { .base = find_base(times, n) };
	double least = HUGE_VAL;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			best.known |= are_alike(&times[i], &times[k]) &&
				      times[i].cores != times[k].cores;
	for (int p = 0; best.known && p <= PARTS; p++) {
		struct core_speed speed = { true, (double)p / PARTS, best.base };
		double error = 0;

		for (int i = 0; i < n; i++)
			if (is_first(times, i))
				error += error_of(times, n, i, &speed);
		if (error < least) {
			least = error;
			best.part = speed.part;
		}
	}
	return best;
}
