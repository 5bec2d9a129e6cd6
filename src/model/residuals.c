/* residuals.c - fits a Gaussian process to the errors of the model, and tabulates it. */
#include "pollux/residuals.h"

#include <math.h>
#include <stdlib.h>

#include "fit_objective.h"
#include "pollux/mem.h"
#include "pollux/time_ratio.h"

#define SIZES_PER_OCTAVE 4
#define OCTAVES_BEYOND 4	/* above the largest size measured; constant from there */
#define SIZES_MAX (64 * SIZES_PER_OCTAVE)

/* The measurements at one place and local batch size. */
struct point {
	double ln_replicas, ln_m;
	bool across;		/* several nodes */
	enum configuration_tier tier;	/* worse than the base of the model; else TIER_UNKNOWN */
	int plan;		/* 0: the one that is tabulated */
	double residual, weight;	/* mean, and sum of weights */
	/* alpha of the algorithm: the contribution where the covariance is 1 */
	double dual;
};

/* --- measured points --- */

/* Where no tier was told of what was measured, all are alike. */
static enum configuration_tier own_tier(struct throughput_place place,
					enum configuration_tier base)
{
	return place.replicas < 2 || place.tier == base || base == TIER_UNKNOWN ? TIER_UNKNOWN
										: place.tier;
}

static bool is_at(const struct point *a, const struct point *b)
{
	return a->across == b->across && a->tier == b->tier && a->plan == b->plan &&
	       !(a->ln_replicas < b->ln_replicas || a->ln_replicas > b->ln_replicas) &&
	       !(a->ln_m < b->ln_m || a->ln_m > b->ln_m);
}

/* Appends the points of a plan to n_points others. Measurements in different passes, or on
 * different numbers of several nodes, make one point. */
static int make_points(const struct residuals_source *of, int plan, struct point *points,
		       int n_points)
{
	enum configuration_tier base = tier_base(of->seen, of->n);

	for (int i = 0; i < of->n; i++) {
		struct fit_row row;
		struct point p;
		int k = 0;

		if (!fit_row_make(&row, &of->seen[i]))
			continue;
		p = (struct point){
			.ln_replicas = log(row.place.replicas), .ln_m = log(row.m),
			.across = row.place.nodes > 1, .tier = own_tier(row.place, base),
			.plan = plan, .weight = row.weight,
			.residual = log(of->seen[i].step_time_s /
					throughput_step_time(of->params, row.place, row.m, row.s)),
		};
		if (!isfinite(p.residual))
			continue;
		while (k < n_points && !is_at(&points[k], &p))
			k++;
		if (k < n_points) {
			points[k].weight += p.weight;
			points[k].residual += (p.residual - points[k].residual) * p.weight /
					      points[k].weight;
		} else if (n_points < RESIDUALS_MAX) {
			points[n_points++] = p;
		}
	}
	return n_points;
}

/* --- the process --- */

static double by_place(const struct point *p, double ln_replicas, bool across,
		       enum configuration_tier tier)
{
	bool alike = p->tier == tier || !(p->ln_replicas > 0) || !(ln_replicas > 0);

	return exp(-fabs(p->ln_replicas - ln_replicas)) *
	       (p->across == across ? 1 : RESIDUALS_ACROSS) * (alike ? 1 : RESIDUALS_TIERS);
}

static double by_size(const struct point *p, double ln_m)
{
	return exp(-fabs(p->ln_m - ln_m));
}

/* Solves (K + noise variance) dual = residual. The matrix is positive definite because the variance
 * is positive. */
static void solve_duals(struct point *points, int n_points)
{
	size_t n = (size_t)n_points;
	autofree double *a = xcalloc(n * n, sizeof(*a)), *duals = xcalloc(n, sizeof(*duals));

	for (size_t i = 0; i < n; i++) {
		const struct point *p = &points[i];

		for (size_t j = 0; j <= i; j++) {
			const struct point *q = &points[j];

			a[i * n + j] = by_place(p, q->ln_replicas, q->across, q->tier) *
				       by_size(p, q->ln_m) *
				       (p->plan == q->plan ? 1 : RESIDUALS_PLANS);
		}
		a[i * n + i] += RESIDUALS_NOISE / p->weight;
		duals[i] = p->residual;
	}
	fit_solve(a, n, duals, 0);
	for (size_t i = 0; i < n; i++)
		points[i].dual = duals[i];
}

/* --- the table --- */

static double ln_size(int i)
{
	return i * log(2) / SIZES_PER_OCTAVE;
}

struct residuals residuals_of_plan(const struct residuals_source *own,
				   const struct residuals_source *others, int n_others,
				   const struct throughput_place *places, int n_places)
{
	autofree struct point *points = xcalloc(RESIDUALS_MAX, sizeof(*points));
	int n_points = make_points(own, 0, points, 0);
	struct residuals r = {
		.places = xcalloc((size_t)n_places, sizeof(*r.places)),
		.n_places = n_places, .base = tier_base(own->seen, own->n),
	};
	autofree double *size = NULL;
	double largest = 0;
	size_t n_sizes;

	for (int i = 0; i < n_points; i++)
		largest = fmax(largest, points[i].ln_m);
	r.n_sizes = (int)fmin(ceil(largest / ln_size(1)) + OCTAVES_BEYOND * SIZES_PER_OCTAVE + 1,
			      SIZES_MAX);
	n_sizes = (size_t)r.n_sizes;
	for (int i = 0; i < n_others; i++)
		n_points = make_points(&others[i], i + 1, points, n_points);
	for (int k = 0; k < n_places; k++)
		r.places[k] = places[k];
	r.logs = xcalloc((size_t)n_places * n_sizes, sizeof(*r.logs));
	size = xcalloc(n_sizes, sizeof(*size));
	solve_duals(points, n_points);
	for (int p = 0; p < n_points; p++) {
		for (size_t i = 0; i < n_sizes; i++)
			size[i] = points[p].dual * by_size(&points[p], ln_size((int)i));
		for (int k = 0; k < n_places; k++) {
			double place = by_place(&points[p], log(places[k].replicas),
						places[k].nodes > 1, places[k].tier) *
				       (points[p].plan == 0 ? 1 : RESIDUALS_PLANS);

			for (size_t i = 0; i < n_sizes; i++)
				r.logs[(size_t)k * n_sizes + i] += place * size[i];
		}
	}
	return r;
}

struct residuals residuals_of(const struct observation *seen, int n,
			      const struct throughput_params *params,
			      const struct throughput_place *places, int n_places)
{
	struct residuals_source own = { seen, n, params };

	return residuals_of_plan(&own, NULL, 0, places, n_places);
}

void residuals_release(struct residuals *r)
{
	free(r->places);
	free(r->logs);
	*r = (struct residuals){ 0 };
}

/* By tier, then by replicas, then by nodes. */
static bool is_before(const struct throughput_place *a, const struct throughput_place *b)
{
	if (a->tier != b->tier)
		return a->tier < b->tier;
	return a->replicas != b->replicas ? a->replicas < b->replicas : a->nodes < b->nodes;
}

static const double *row_of(const struct residuals *r, struct throughput_place place)
{
	int low = 0, high = r ? r->n_places : 0;

	while (low < high) {
		int middle = (low + high) / 2;

		if (is_before(&r->places[middle], &place))
			low = middle + 1;
		else
			high = middle;
	}
	if (!r || low == r->n_places || is_before(&place, &r->places[low]))
		return NULL;
	return &r->logs[(size_t)low * (size_t)r->n_sizes];
}

double residuals_factor(const struct residuals *r, struct throughput_place place, double m)
{
	double at, share, part = 1;
	const double *row;
	int i;

	if (!r)
		return 1;
	place.tier = own_tier(place, r->base);
	row = row_of(r, place);
	if (!row && place.tier != TIER_UNKNOWN) {
		place.tier = TIER_UNKNOWN;
		row = row_of(r, place);
		part = RESIDUALS_TIERS;
	}
	if (!row)
		return 1;
	at = fmin(fmax(log(m) / ln_size(1), 0), r->n_sizes - 1);
	i = (int)fmin(at, r->n_sizes - 2);
	share = at - i;
	return exp(part * (row[i] + share * (row[i + 1] - row[i])));
}
