/* prior.c - fits lines to products, and interpolates times of exchanges. */
#include "pollux/prior.h"

#include <math.h>
#include <string.h>

#define PRODUCTS 3.0		/* in a pass, for each layer */
#define GROWTH_REST 0.25	/* f(R) = 2 (R - 1) / R: (f(4) - f(2)) / 2 / f(2) */
#define RATIO_LEAST 1e-3	/* samples: for products without a fixed cost */

/* --- times at a size --- */

struct point {
	double bytes, time_s;
};

/* The nearest measured sizes on both sides of a size; bytes 0: none. */
struct neighbours {
	struct point below, above;
};

static bool same_sizes(const struct device_measurement *a, const struct device_measurement *b)
{
	return a->what == b->what && a->devices == b->devices && !strcmp(a->variant, b->variant);
}

/* True if m is not steady, and a steady measurement is near. */
static bool is_replaced(const struct device_measurement_list *list,
			const struct device_measurement *m)
{
	for (int i = 0; !m->steady && i < list->count; i++) {
		const struct device_measurement *other = &list->items[i];

		if (other->steady && same_sizes(other, m) && other->time_s > 0 &&
		    (double)other->bytes <= PRIOR_NEAR * (double)m->bytes &&
		    (double)m->bytes <= PRIOR_NEAR * (double)other->bytes)
			return true;
	}
	return false;
}

static struct neighbours neighbours(const struct device_measurement_list *list, enum measured what,
				    const char *variant, int devices, double bytes)
{
	struct neighbours n = { { 0, 0 }, { 0, 0 } };

	for (int i = 0; i < list->count; i++) {
		const struct device_measurement *m = &list->items[i];
		struct point p = { (double)m->bytes, m->time_s };

		if (m->what != what || m->devices != devices || strcmp(m->variant, variant) != 0 ||
		    !(p.time_s > 0 && p.bytes > 0) || is_replaced(list, m))
			continue;
		if (p.bytes <= bytes && p.bytes > n.below.bytes)
			n.below = p;
		if (p.bytes >= bytes && (n.above.bytes <= 0 || p.bytes < n.above.bytes))
			n.above = p;
	}
	return n;
}

/* The time at a size: interpolated linearly in logarithms. Above the largest size its rate holds,
 * below the smallest its time. NaN: nothing was measured. */
static double time_of(const struct device_measurement_list *list, enum measured what,
		      const char *variant, int devices, double bytes)
{
	struct neighbours n = neighbours(list, what, variant, devices, bytes);
	struct point a = n.below, b = n.above;

	if (a.bytes <= 0)
		return b.bytes > 0 ? b.time_s : (double)NAN;
	if (b.bytes <= 0)
		return a.time_s * bytes / a.bytes;
	if (b.bytes <= a.bytes)
		return a.time_s;
	return a.time_s * pow(b.time_s / a.time_s, log(bytes / a.bytes) / log(b.bytes / a.bytes));
}

/* --- passes --- */

struct line {
	double w, x, xx, y, xy;
};

/* Adds a point. Its weight is halved if its mean has an error of PRIOR_LINE_ERROR. */
static void line_add(struct line *l, double x, double y, double error)
{
	double w = 1 / (y * y * (1 + error * error / (PRIOR_LINE_ERROR * PRIOR_LINE_ERROR)));

	l->w += w;
	l->x += w * x;
	l->xx += w * x * x;
	l->y += w * y;
	l->xy += w * x * y;
}

/* Solves for y = a + b x with a >= 0. Returns false if the points do not determine b, or if b is
 * not positive. */
static bool line_solve(const struct line *l, double *a, double *b)
{
	double x = l->x / l->w, y = l->y / l->w, spread = l->xx / l->w - x * x;

	if (!(l->w > 0) || !(spread > 1e-9 * x * x))
		return false;
	*b = (l->xy / l->w - x * y) / spread;
	*a = fmax(y - *b * x, 0);
	return *b > 0;
}

/* True for a product as in training, which does not use double precision. */
static bool is_training(const struct device_measurement *m)
{
	return m->what == MEASURED_PRODUCT && strcmp(m->variant, "fp64") != 0 && m->n == m->k &&
	       m->time_s > 0;
}

static bool same_series(const struct device_measurement *a, const struct device_measurement *b)
{
	return a->n == b->n && !strcmp(a->variant, b->variant);
}

static bool begins_series(const struct device_measurement_list *list, int i)
{
	for (int j = 0; j < i; j++)
		if (is_training(&list->items[j]) && same_series(&list->items[j], &list->items[i]))
			return false;
	return is_training(&list->items[i]);
}

/* Standard error of the mean, divided by the mean. Taken to be 0 for a steady measurement. */
static double error_of(const struct device_measurement *m)
{
	double error = m->time_sd_s / sqrt((double)m->repetitions) / m->time_s;

	return m->steady ? 0 : isfinite(error) ? error : 1;
}

/* True if the line of this series has at least two steady points. */
static bool is_firm(const struct device_measurement_list *list, const struct device_measurement *of)
{
	int n = 0;

	for (int i = 0; i < list->count; i++)
		n += is_training(&list->items[i]) && same_series(&list->items[i], of) &&
		     list->items[i].steady;
	return n >= 2;
}

/* alpha_grad / beta_grad from the products of one type and width; NaN: not determined. */
static double ratio_of(const struct device_measurement_list *list,
		       const struct device_measurement *of, double update_s)
{
	double a, b, weights = (double)of->n * (double)of->n;
	struct line line = { 0 };

	for (int i = 0; i < list->count; i++)
		if (is_training(&list->items[i]) && same_series(&list->items[i], of))
			line_add(&line, (double)list->items[i].m, list->items[i].time_s,
				 error_of(&list->items[i]));
	if (!line_solve(&line, &a, &b))
		return (double)NAN;
	return fmax(a / b + update_s * weights / (PRODUCTS * b), RATIO_LEAST);
}

/* The geometric mean of the ratios of all series, with their spread. */
static struct fit_expectation expect_ratio(const struct device_measurement_list *list,
					   double n_parameters)
{
	double copy_s = time_of(list, MEASURED_MEMORY, "", 1,
				PRIOR_UPDATE_BYTES / 2 * n_parameters);
	double update_s = isnan(copy_s) ? 0 : copy_s / n_parameters;
	double n = 0, sum = 0, squares = 0;
	bool any_firm = false;

	for (int i = 0; i < list->count; i++)
		any_firm |= begins_series(list, i) && is_firm(list, &list->items[i]);
	for (int i = 0; i < list->count; i++) {
		bool counts = begins_series(list, i) &&
			      (!any_firm || is_firm(list, &list->items[i]));
		double ratio = counts ? ratio_of(list, &list->items[i], update_s) : (double)NAN;

		if (isnan(ratio))
			continue;
		n++;
		sum += log(ratio);
		squares += log(ratio) * log(ratio);
	}
	if (n < 1)
		return (struct fit_expectation){ (double)NAN, 1 };
	return (struct fit_expectation){
		exp(sum / n),
		fmax(n > 1 ? sqrt(fmax(squares - sum * sum / n, 0) / (n - 1)) : 0, PRIOR_SPREAD),
	};
}

/* --- synchronisation --- */

static double barrier_of(const struct device_measurement_list *list, int devices)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i].what == MEASURED_BARRIER && list->items[i].devices == devices)
			return list->items[i].time_s;
	return 0;
}

/* The time to synchronise replicas; NaN: nothing was measured. *latency_s: the time for one
 * byte. */
static double exchange_of(const struct device_measurement_list *list, int replicas, double bytes,
			  double *latency_s)
{
	double reduction = time_of(list, MEASURED_REDUCTION, "", replicas, bytes);
	double barrier = barrier_of(list, replicas);

	if (!isnan(reduction)) {
		*latency_s = barrier + time_of(list, MEASURED_REDUCTION, "", replicas, 1);
		return barrier + reduction;
	}
	*latency_s = 2 * time_of(list, MEASURED_COPY, "peer", 2, 1);
	return replicas == 2 ? 2 * time_of(list, MEASURED_COPY, "peer", 2, bytes / 2) : (double)NAN;
}

static void expect_sync(const struct device_measurement_list *list, double bytes,
			struct fit_prior *prior)
{
	double latency, unused, two = exchange_of(list, 2, bytes, &latency);
	double four = exchange_of(list, 4, bytes, &unused), growth;

	if (isnan(two))
		return;
	growth = fmin(latency, two) + GROWTH_REST * fmax(two - latency, 0);
	if (four > two)
		growth = (four - two) / 2;
	prior->sync_time = (struct fit_expectation){ two, PRIOR_SPREAD };
	prior->sync_growth = (struct fit_expectation){ growth / two, PRIOR_SPREAD };
}

bool prior_make(const struct device_measurement_list *measured, double n_parameters,
		struct fit_prior *prior)
{
	const struct fit_expectation nothing = { (double)NAN, 1 };

	*prior = (struct fit_prior){ nothing, nothing, nothing };
	if (!(n_parameters > 0))
		return false;
	prior->grad_ratio = expect_ratio(measured, n_parameters);
	expect_sync(measured, PRIOR_GRADIENT_BYTES * n_parameters, prior);
	return !isnan(prior->grad_ratio.value) || !isnan(prior->sync_time.value);
}
