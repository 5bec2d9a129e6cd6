/* plan_speed.c - the model, its derivatives, and the fit by NLopt's bounded L-BFGS. */
#include "pollux/plan_speed.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#define N N_PLAN_SPEED_PARAMS
#define ROUNDS 20		/* searches, each of which starts where the last one ended */
#define MAX_EVALUATIONS 2000	/* of a search */
#define ENOUGH 1e-10		/* a smaller relative gain ends the searches */

enum { K_BWD, K_SYNC, K_OPT, K_OS, K_CONST, K_OFF, K_SWAP };

/* The published bounds, and the published start, moved to within these bounds. */
static const double low[N] = { 1, 1, 1e-8, 1e-8, 1e-8, 0, 0 };
static const double high[N] = { 10, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL };
static const double start[N] = { 1.5, 1, .001, 1, 1, 1, 1 };

/* A time, and its derivatives by the parameters. */
struct time {
	double ms, slope[N];
};

static void add_scaled_time(struct time *to, const struct time *t, double factor)
{
	to->ms += factor * t->ms;
	for (int i = 0; i < N; i++)
		to->slope[i] += factor * t->slope[i];
}

static void add_param(struct time *t, const double *k, int i, double factor)
{
	t->ms += factor * k[i];
	t->slope[i] += factor;
}

/* The time of the backward pass and of the exchange of gradients, which overlap. Both are divided
 * by the longer of the two, so that no power overflows. */
static struct time overlapped(const double *k, double forward_ms, double dp_ms)
{
	double bwd_ms = k[K_BWD] * forward_ms, longer = fmax(bwd_ms, dp_ms), gamma = k[K_SYNC];
	double b = bwd_ms / longer, d = dp_ms / longer;
	double pb = pow(b, gamma), pd = d > 0 ? pow(d, gamma) : 0, sum = pb + pd;
	double logs = (b > 0 ? pb * log(b) : 0) + (d > 0 ? pd * log(d) : 0);
	struct time t = { .ms = longer * pow(sum, 1 / gamma) };

	t.slope[K_BWD] = t.ms * pb / sum / k[K_BWD];
	t.slope[K_SYNC] = t.ms * (logs / sum - log(sum) / gamma) / gamma;
	return t;
}

static void add_optimizer(struct time *t, const double *k, const struct plan_speed_point *p)
{
	double share = p->parameters_mi / p->gpus;

	if (p->optimizer == PLAN_OFFLOADED)
		add_param(t, k, K_OS, share / p->cpu_threads);
	else
		add_param(t, k, K_OPT,
			  p->optimizer == PLAN_SHARDED ? share : p->parameters_mi);
}

struct point_times {
	struct time sync, swap, iteration;
};

static struct point_times times_at(const double *k, struct plan_speed_links links,
				   const struct plan_speed_point *p)
{
	double gpus = p->gpus;
	double dp_ms = 8 * p->parameters_mi * (gpus - 1) / gpus / links.between_gpus;
	double off_ms = 4 * p->parameters_mi / gpus / links.pcie;
	struct point_times t = { .sync = overlapped(k, p->forward_ms, dp_ms) };

	if (p->optimizer == PLAN_OFFLOADED) {
		t.sync.ms += off_ms;
		t.swap.ms += off_ms;
		add_param(&t.sync, k, K_OFF, 1);
	}
	add_optimizer(&t.swap, k, p);
	add_param(&t.swap, k, K_SWAP, 1);
	t.iteration.ms = p->forwards * p->forward_ms;
	add_scaled_time(&t.iteration, &t.sync, 1);
	add_scaled_time(&t.iteration, &t.swap, 1);
	add_param(&t.iteration, k, K_CONST, 1);
	return t;
}

struct plan_speed_times plan_speed(const struct plan_speed_params *params,
				   struct plan_speed_links links,
				   const struct plan_speed_point *point)
{
	double k[N];
	struct point_times t;

	memcpy(k, params, sizeof(k));
	t = times_at(k, links, point);
	return (struct plan_speed_times){ t.sync.ms, t.swap.ms, t.iteration.ms };
}

/* --- the fit --- */

/* Half of the sum of squares of one of the three times, and its slope. */
static void add_square(struct time *sum, const struct time *t, double measured_ms)
{
	double difference = log(t->ms / measured_ms);

	sum->ms += difference * difference / 2;
	for (int i = 0; i < N; i++)
		sum->slope[i] += difference * t->slope[i] / t->ms;
}

/* Adds the root mean square. At 0 the root has no slope; 0 is used. */
static double add_root(const struct time *sum, int n, double *slope)
{
	double root = sqrt(2 * sum->ms / n);

	for (int i = 0; slope && root > 0 && i < N; i++)
		slope[i] += sum->slope[i] / n / root;
	return root;
}

double plan_speed_error(const struct plan_speed_params *params, struct plan_speed_links links,
			const struct plan_speed_row *rows, int n, double *slope)
{
	struct time sync = { .ms = 0 }, swap = { .ms = 0 }, iteration = { .ms = 0 };
	double k[N];

	memcpy(k, params, sizeof(k));
	for (int i = 0; i < n; i++) {
		struct point_times t = times_at(k, links, &rows[i].point);

		add_square(&sync, &t.sync, rows[i].times.sync_ms);
		add_square(&swap, &t.swap, rows[i].times.swap_ms);
		add_square(&iteration, &t.iteration, rows[i].times.iteration_ms);
	}
	for (int i = 0; slope && i < N; i++)
		slope[i] = 0;
	return add_root(&sync, n, slope) + add_root(&swap, n, slope) +
	       add_root(&iteration, n, slope);
}

struct fit {
	const struct plan_speed_row *rows;
	int n;
	struct plan_speed_links links;
	struct plan_speed_params best;
	double error;
};

/* The objective for NLopt. The best point seen is kept: rounding may end NLopt with an error. */
static double evaluate_speed(unsigned n, const double *x, double *slope, void *data)
{
	struct fit *fit = data;
	struct plan_speed_params params;
	double error;

	(void)n;
	memcpy(&params, x, sizeof(params));
	error = plan_speed_error(&params, fit->links, fit->rows, fit->n, slope);
	if (error < fit->error) {
		fit->error = error;
		fit->best = params;
	}
	return error;
}

static void search_speed(struct fit *fit)
{
	nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, N);
	double x[N], error;

	memcpy(x, &fit->best, sizeof(x));
	nlopt_set_min_objective(opt, evaluate_speed, fit);
	nlopt_set_lower_bounds(opt, low);
	nlopt_set_upper_bounds(opt, high);
	nlopt_set_ftol_rel(opt, ENOUGH);
	nlopt_set_maxeval(opt, MAX_EVALUATIONS);
	nlopt_optimize(opt, x, &error);
	nlopt_destroy(opt);
}

double plan_speed_fit(const struct plan_speed_row *rows, int n, struct plan_speed_links links,
		      struct plan_speed_params *params)
{
	struct fit fit = { .rows = rows, .n = n, .links = links };

	memcpy(&fit.best, start, sizeof(fit.best));
	fit.error = plan_speed_error(&fit.best, links, rows, n, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		double before = fit.error;

		search_speed(&fit);
		if (!(fit.error < before * (1 - ENOUGH)))
			break;
	}
	*params = fit.best;
	return fit.error;
}
