/* prior.c - fits lines to products, and interpolates times of exchanges. */
#include "pollux/prior.h"

#include <math.h>
#include <string.h>

#include "fit_objective.h"

#define PRODUCTS 3.0		/* in a pass, for each layer */
#define GROWTH_REST 0.25	/* f(R) = 2 (R - 1) / R: (f(4) - f(2)) / 2 / f(2) */
#define RATIO_LEAST 1e-3	/* samples: for products without a fixed cost */

/* --- times at a size --- */

struct point {
	double bytes, time_s;
};

/* True if a measurement that is not steady has a steady one near it. */
static bool replaces(const struct device_measurement *by, const struct device_measurement *m)
{
	return !m->steady && by->steady && by->what == m->what && by->devices == m->devices &&
	       !strcmp(by->variant, m->variant) && by->time_s > 0 &&
	       (double)by->bytes <= PRIOR_NEAR * (double)m->bytes &&
	       (double)m->bytes <= PRIOR_NEAR * (double)by->bytes;
}

/* The time at a size: interpolated linearly in logarithms between the nearest measured sizes below
 * and above it. Above the largest size its rate holds, below the smallest its time. NaN: nothing
 * was measured. */
static double time_of(const struct device_measurement_list *list, enum measured what,
		      const char *variant, int devices, double bytes)
{
	struct point a = { 0, 0 }, b = { 0, 0 };

	for (int i = 0; i < list->count; i++) {
		const struct device_measurement *m = &list->items[i];
		struct point p = { (double)m->bytes, m->time_s };
		bool counts = m->what == what && m->devices == devices &&
			      !strcmp(m->variant, variant) && p.time_s > 0 && p.bytes > 0;

		for (int k = 0; counts && k < list->count; k++)
			counts = !replaces(&list->items[k], m);
		if (counts && p.bytes <= bytes && p.bytes > a.bytes)
			a = p;
		if (counts && p.bytes >= bytes && (b.bytes <= 0 || p.bytes < b.bytes))
			b = p;
	}
	if (a.bytes <= 0)
		return b.bytes > 0 ? b.time_s : (double)NAN;
	if (b.bytes <= 0)
		return a.time_s * bytes / a.bytes;
	if (b.bytes <= a.bytes)
		return a.time_s;
	return a.time_s * pow(b.time_s / a.time_s, log(bytes / a.bytes) / log(b.bytes / a.bytes));
}

/* --- passes --- */


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

/* alpha_grad / beta_grad from the products of one type and width, as a line y = a + b x with a >=
 * 0; NaN: not determined, or b is not positive. *firm: the line has at least two steady points. A
 * point that is not steady has half of the weight where its mean has an error of
 * PRIOR_LINE_ERROR. */
static double ratio_of(const struct device_measurement_list *list,
		       const struct device_measurement *of, double update_s, bool *firm)
{
	double x, y, a, b, spread, weights = (double)of->n * (double)of->n;
	struct line l = { 0 };
	int n_steady = 0;

	for (int i = 0; i < list->count; i++) {
		const struct device_measurement *m = &list->items[i];
		double error = m->time_sd_s / sqrt((double)m->repetitions) / m->time_s;

		if (!is_training(m) || !same_series(m, of))
			continue;
		n_steady += m->steady;
		error = m->steady ? 0 : isfinite(error) ? error : 1;
		line_add(&l, (double)m->m, m->time_s, 1 / (m->time_s * m->time_s *
			 (1 + error * error / (PRIOR_LINE_ERROR * PRIOR_LINE_ERROR))));
	}
	*firm = n_steady >= 2;
	x = l.x / l.w;
	y = l.y / l.w;
	spread = l.xx / l.w - x * x;
	if (!(l.w > 0) || !(spread > 1e-9 * x * x))
		return (double)NAN;
	b = (l.xy / l.w - x * y) / spread;
	a = fmax(y - b * x, 0);
	return b > 0 ? fmax(a / b + update_s * weights / (PRODUCTS * b), RATIO_LEAST) : (double)NAN;
}

/* The geometric mean of the ratios of all series, with their spread; of the firm ones where there
 * are any. */
static struct fit_expectation expect_ratio(const struct device_measurement_list *list,
					   double n_parameters)
{
	double copy_s = time_of(list, MEASURED_MEMORY, "", 1,
				PRIOR_UPDATE_BYTES / 2 * n_parameters);
	double update_s = isnan(copy_s) ? 0 : copy_s / n_parameters;
	double n = 0, sum = 0, squares = 0;
	bool any_firm = false, firm;

	for (int i = 0; i < list->count; i++) {
		if (!begins_series(list, i))
			continue;
		ratio_of(list, &list->items[i], update_s, &firm);
		any_firm |= firm;
	}
	for (int i = 0; i < list->count; i++) {
		double ratio = (double)NAN;

		firm = false;
		if (begins_series(list, i))
			ratio = ratio_of(list, &list->items[i], update_s, &firm);
		if (isnan(ratio) || (any_firm && !firm))
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

/* The time to synchronise replicas; NaN: nothing was measured. *latency_s: the time for one
 * byte. */
static double exchange_of(const struct device_measurement_list *list, int replicas, double bytes,
			  double *latency_s)
{
	double reduction = time_of(list, MEASURED_REDUCTION, "", replicas, bytes), barrier = 0;

	for (int i = list->count - 1; i >= 0; i--)
		if (list->items[i].what == MEASURED_BARRIER && list->items[i].devices == replicas)
			barrier = list->items[i].time_s;
	if (!isnan(reduction)) {
		*latency_s = barrier + time_of(list, MEASURED_REDUCTION, "", replicas, 1);
		return barrier + reduction;
	}
	*latency_s = 2 * time_of(list, MEASURED_COPY, "peer", 2, 1);
	return replicas == 2 ? 2 * time_of(list, MEASURED_COPY, "peer", 2, bytes / 2) : (double)NAN;
}

bool prior_make(const struct device_measurement_list *measured, double n_parameters,
		struct fit_prior *prior)
{
	const struct fit_expectation nothing = { (double)NAN, 1 };
	double bytes = PRIOR_GRADIENT_BYTES * n_parameters, latency, unused, two, four;

	*prior = (struct fit_prior){ nothing, nothing, nothing };
	if (!(n_parameters > 0))
		return false;
	prior->grad_ratio = expect_ratio(measured, n_parameters);
	two = exchange_of(measured, 2, bytes, &latency);
	four = exchange_of(measured, 4, bytes, &unused);
	if (!isnan(two)) {
		double growth = fmin(latency, two) + GROWTH_REST * fmax(two - latency, 0);

		if (four > two)
			growth = (four - two) / 2;
		prior->sync_time = (struct fit_expectation){ two, PRIOR_SPREAD };
		prior->sync_growth = (struct fit_expectation){ growth / two, PRIOR_SPREAD };
	}
	return !isnan(prior->grad_ratio.value) || !isnan(prior->sync_time.value);
}
