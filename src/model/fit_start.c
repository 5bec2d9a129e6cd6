/* fit_start.c - turns observations into rows, makes ties, bounds and starts, and finds which
 * parameters the observations determine. */
#include "fit_objective.h"

#include <math.h>
#include <string.h>

#define WEIGHT_MAX 1e9
#define PARAM_MAX 1e10		/* s; beyond any time that is accepted */

static bool valid_time(double time_s)
{
	return time_s >= FIT_TIME_MIN_S && time_s <= FIT_TIME_MAX_S;
}

/* Only the last of s passes synchronises, and is longer by that time:
 * T_grad = (T_step - sync) / s, T_update = T_grad + sync. */
bool fit_row_make(struct fit_row *row, const struct observation *o)
{
	const struct configuration *c = &o->configuration;
	struct throughput_place place = configuration_place(c);
	double sync_s = o->sync_time_s, grad_s;
	bool split;

	if (place.nodes < 1 || place.replicas < place.nodes || c->local_batch_size < 1 ||
	    c->accumulation_steps < 1 || !valid_time(o->step_time_s) ||
	    !(o->weight > 0 && o->weight <= WEIGHT_MAX))
		return false;
	grad_s = (o->step_time_s - sync_s) / c->accumulation_steps;
	split = sync_s >= 0 && valid_time(grad_s);
	*row = (struct fit_row){
		.place = place, .m = (double)c->local_batch_size,
		.s = split ? 1 : c->accumulation_steps,
		.ln_grad = split ? log(grad_s) : (double)NAN,
		.ln_step = log(split ? grad_s + sync_s : o->step_time_s),
		.weight = o->weight,
	};
	return true;
}

/* The time of a pass without synchronisation, or its best estimate from the row. */
static double grad_time(const struct fit_row *row)
{
	return isnan(row->ln_grad) ? exp(row->ln_step) / row->s : exp(row->ln_grad);
}

static bool is_local(const struct fit_row *row)
{
	return row->place.nodes == 1 && row->place.replicas > 1;
}

static bool is_node(const struct fit_row *row)
{
	return row->place.nodes > 1;
}

static bool is_any(const struct fit_row *row)
{
	(void)row;
	return true;
}

/* True if the time of a pass is known without a guess at synchronisation. */
static bool is_grad(const struct fit_row *row)
{
	return !isnan(row->ln_grad) || row->place.replicas == 1;
}

typedef bool of_rows(const struct fit_row *row);

static int count_rows(const struct fit_row *rows, int n, of_rows *of)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += of(&rows[i]);
	return sum;
}

static bool more_than_two(const struct fit_row *row)
{
	return row->place.replicas > 2;
}

static void tie(struct fit_box *box, enum throughput_param i, double value)
{
	box->low[i] = box->high[i] = fmax(value, THROUGHPUT_TIME_MIN_S);
	box->tied[i] = true;
}

static void tie_unless(struct fit_box *box, enum throughput_param i, double value,
		       const struct fit_expectation *e)
{
	box->expected[i] = fit_expects(e);
	if (!box->expected[i])
		tie(box, i, value);
}

/* The ties are listed in pollux/fit.h. */
void fit_box_make(struct fit_box *box, const struct fit_row *rows, int n,
		  const struct fit_prior *prior)
{
	of_rows *of = count_rows(rows, n, is_grad) ? is_grad : is_any;
	bool several = count_rows(rows, n, more_than_two), one_size = true;
	double sum = 0;

	memset(box, 0, sizeof(*box));
	for (int i = 0; i < GAMMA; i++) {
		box->low[i] = THROUGHPUT_TIME_MIN_S;
		box->high[i] = PARAM_MAX;
	}
	box->low[GAMMA] = THROUGHPUT_GAMMA_MIN;
	box->high[GAMMA] = THROUGHPUT_GAMMA_MAX;
	box->in_prior[ALPHA_GRAD] = box->in_prior[BETA_GRAD] = fit_expects(&prior->grad_ratio);
	box->in_prior[ALPHA_SYNC_LOCAL] = fit_expects(&prior->sync_time);
	box->in_prior[BETA_SYNC_LOCAL] = fit_expects(&prior->sync_growth);
	for (int i = 0; i < n; i++) {
		one_size &= rows[i].m <= rows[0].m && rows[i].m >= rows[0].m;
		sum += of(&rows[i]) ? grad_time(&rows[i]) : 0;
	}
	if (n > 0 && one_size)
		tie_unless(box, ALPHA_GRAD, sum / count_rows(rows, n, of) / 2, &prior->grad_ratio);
	if (!count_rows(rows, n, is_local))
		tie_unless(box, ALPHA_SYNC_LOCAL, 0, &prior->sync_time);
	if (!count_rows(rows, n, is_node))
		tie(box, ALPHA_SYNC_NODE, 0);
	if (!count_rows(rows, n, is_local) || !several)
		tie_unless(box, BETA_SYNC_LOCAL, 0, &prior->sync_growth);
	if (!count_rows(rows, n, is_node) || !several)
		tie(box, BETA_SYNC_NODE, 0);
}

struct throughput_params fit_start_published(void)
{
	return (struct throughput_params){ 1e-1, 1e-2, 1e-1, 1e-2, 1e-1, 1e-2, 1 + 1e-3,
					   { 0 } };
}


/* Solves for y = a + b x. If the points do not determine a and b, or make one negative, each term
 * gets half of the mean. */
static void line_solve(const struct line *l, double *a, double *b)
{
	double x = l->x / l->w, y = l->y / l->w;
	double spread = l->xx / l->w - x * x, slope = 0;

	if (spread > 1e-9 * x * x)
		slope = (l->xy / l->w - x * y) / spread;
	if (!(slope > 0 && slope * x < y))
		slope = y / 2 / fmax(x, 1);
	*b = slope;
	*a = y - slope * x;
}

static void start_sync(const struct fit_row *rows, int n, of_rows *of, double *alpha, double *beta)
{
	struct line line = { 0 };

	for (int i = 0; i < n; i++) {
		double step = exp(rows[i].ln_step), sync = step - rows[i].s * grad_time(&rows[i]);

		if (of(&rows[i]))
			line_add(&line, rows[i].place.replicas - 2, fmax(sync, 1e-2 * step),
				 1 / (step * step));
	}
	if (line.w > 0)
		line_solve(&line, alpha, beta);
}

/* Fits a line over m to the passes without synchronisation. The rest of the time of an update is
 * taken to be synchronisation without overlap, and fitted by lines over R - 2. All are least
 * squares of relative errors. */
struct throughput_params fit_start_data(const struct fit_row *rows, int n)
{
	struct throughput_params p = fit_start_published();
	of_rows *of = count_rows(rows, n, is_grad) ? is_grad : is_any;
	struct line line = { 0 };

	for (int i = 0; i < n; i++) {
		double time = grad_time(&rows[i]);

		if (of(&rows[i]))
			line_add(&line, rows[i].m, time, 1 / (time * time));
	}
	line_solve(&line, &p.alpha_grad, &p.beta_grad);
	start_sync(rows, n, is_local, &p.alpha_sync_local, &p.beta_sync_local);
	start_sync(rows, n, is_node, &p.alpha_sync_node, &p.beta_sync_node);
	p.gamma = 1.5;
	return p;
}

/* Keeps the time of a pass at the batch size at which it was measured. alpha and beta m have half
 * of this time each. */
void fit_start_expected(struct throughput_params *p, const struct fit_box *box,
			const struct fit_prior *prior)
{
	if (box->expected[ALPHA_GRAD]) {
		double m = p->alpha_grad / p->beta_grad, time = 2 * p->alpha_grad;

		p->beta_grad = time / (m + prior->grad_ratio.value);
		p->alpha_grad = p->beta_grad * prior->grad_ratio.value;
	}
	if (box->expected[ALPHA_SYNC_LOCAL])
		p->alpha_sync_local = prior->sync_time.value;
	if (box->expected[BETA_SYNC_LOCAL])
		p->beta_sync_local = p->alpha_sync_local * prior->sync_growth.value;
}

struct throughput_params fit_start_prior(const struct fit_row *rows, int n,
					 const struct fit_prior *prior)
{
	struct throughput_params p = fit_start_data(rows, n);
	of_rows *of = count_rows(rows, n, is_grad) ? is_grad : is_any;
	double sum = 0;

	for (int i = 0; fit_expects(&prior->grad_ratio) && i < n; i++)
		if (of(&rows[i]))
			sum += log(grad_time(&rows[i]) / (rows[i].m + prior->grad_ratio.value));
	if (fit_expects(&prior->grad_ratio)) {
		p.beta_grad = exp(sum / count_rows(rows, n, of));
		p.alpha_grad = p.beta_grad * prior->grad_ratio.value;
	}
	if (fit_expects(&prior->sync_time))
		p.alpha_sync_local = prior->sync_time.value;
	if (fit_expects(&prior->sync_growth))
		p.beta_sync_local = p.alpha_sync_local * prior->sync_growth.value;
	p.gamma = THROUGHPUT_GAMMA_MIN;
	return p;
}

/* ---- which parameters the observations determine ---- */

#define N N_THROUGHPUT_PARAMS
#define RANK_TOLERANCE 1e-12	/* the largest 0 that rounding leaves */

static int largest_but(double a[N][N], const bool *used)
{
	int best = -1;

	for (int i = 0; i < N; i++)
		if (!used[i] && a[i][i] > RANK_TOLERANCE && (best < 0 || a[i][i] > a[best][best]))
			best = i;
	return best;
}

/* The part of parameter k's effect, of 1, that changes of the other parameters cannot cancel: the
 * Schur complement of all others, eliminated by diagonal pivoting. */
static double own_effect(const double normal[N][N], int k)
{
	double a[N][N];
	bool used[N] = { false };

	memcpy(a, normal, sizeof(a));
	used[k] = true;
	for (int p = largest_but(a, used); p >= 0; p = largest_but(a, used)) {
		used[k] = false;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N && i != p && !used[i]; j++)
				if (j != p && !used[j])
					a[i][j] -= a[i][p] * a[p][j] / a[p][p];
		used[k] = used[p] = true;
	}
	return a[k][k];
}

/* Computes J' W J, where J has the derivatives of ln T_grad and ln T_step by the parameters, with a
 * diagonal of 1. A parameter that is tied, expected or without effect gets an empty row and
 * column. */
void fit_basis_find(enum fit_basis basis[N], const struct fit_row *rows, int n,
		    const struct fit_box *box, const struct throughput_params *p)
{
	double a[N][N] = { { 0 } }, scale[N];

	for (int i = 0; i < n; i++) {
		struct throughput_slope slope;
		double by_grad[N] = { [ALPHA_GRAD] = 1, [BETA_GRAD] = rows[i].m };
		double time = throughput_step_slope(p, rows[i].place, rows[i].m, rows[i].s, &slope);

		fit_add_outer(a, slope.by_param, rows[i].weight / (time * time));
		if (isnan(rows[i].ln_grad))
			continue;
		time = throughput_grad_time(p, rows[i].m);
		fit_add_outer(a, by_grad, rows[i].weight / (time * time));
	}
	for (int i = 0; i < N; i++) {
		bool skip = box->tied[i] || box->expected[i] || !(a[i][i] > 0);

		scale[i] = skip ? 0 : 1 / sqrt(a[i][i]);
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] *= scale[i] * scale[j];
	for (int i = 0; i < N; i++) {
		if (box->tied[i])
			basis[i] = FIT_TIED;
		else if (!box->expected[i] &&
			 own_effect((const double(*)[N])a, i) > FIT_BASIS_TOLERANCE)
			basis[i] = FIT_FROM_DATA;
		else
			basis[i] = box->in_prior[i] ? FIT_FROM_PRIOR : FIT_FROM_PENALTY;
	}
}
