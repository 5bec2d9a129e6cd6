/* recorder_gradient.c - sums the gradient statistics of reports over windows. */
#include <math.h>

#include "recorder.h"

#define GRADIENT_WINDOW_S 30.0
/* and this part of the position: also enough for a window */
#define GRADIENT_WINDOW_UPDATES 50
#define GRADIENT_WINDOW_SHARE 0.1
/* So many losses, and the position doubled: also enough */
#define LOSS_WINDOW_LOSSES 30
#define GRADIENT_REPORT_MAX 1000000	/* updates in a report; more are a mistake */
#define GRADIENT_MAX 1e140		/* the squares of larger values would overflow */

/* The newest of n updates, or the mean of the newest k of them, beside the mean of all before. */
struct newest {
	double before, after;	/* the deviations from the mean without it and with it */
};

/* Adds k updates with the mean value to the sum of n. The sum of squared deviations grows by k *
 * before * after: B. P. Welford, Technometrics 4 (1962), 419-420. */
static struct newest sum_add(double *sum, int64_t n, int64_t k, double value)
{
	struct newest d = { .before = n > k ? value - *sum / (double)(n - k) : 0 };

	*sum += (double)k * value;
	d.after = value - *sum / (double)n;
	return d;
}

/* A report with a loss or with gradients opens a window. */
static void open_window(struct recorder *r, const struct run *run, const struct report_message *m,
			double now)
{
	struct gradient_window *g = &r->gradient;

	if (isnan(r->gradient_start_boot_s)) {
		r->gradient_start_boot_s = now;
		g->configuration = run->configuration;
		g->first_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
	}
	g->last_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
}

void recorder_add_loss(struct recorder *r, const struct run *run, const struct report_message *m,
		       double now)
{
	if (!m->loss.given || !isfinite(m->loss.value) || m->samples <= 0)
		return;
	open_window(r, run, m, now);
	loss_sums_add(&r->gradient.losses, (double)m->samples, m->loss.value);
}

void recorder_add_gradient(struct recorder *r, const struct run *run,
			   const struct report_message *m, double now)
{
	struct gradient_window *g = &r->gradient;
	struct newest sqr, var;
	int64_t k;

	if (!(fabs(m->grad_sqr) <= GRADIENT_MAX) || !(fabs(m->grad_var) <= GRADIENT_MAX))
		return;
	open_window(r, run, m, now);
	k = m->grad_samples > 0 && m->grad_samples < GRADIENT_REPORT_MAX ? m->grad_samples : 1;
	g->n += k;
	g->entries++;
	sqr = sum_add(&g->sum_grad_sqr, g->n, k, m->grad_sqr);
	var = sum_add(&g->sum_grad_var, g->n, k, m->grad_var);
	g->m2_grad_sqr += fmax((double)k * sqr.before * sqr.after, 0);
	g->m2_grad_var += fmax((double)k * var.before * var.after, 0);
	g->cross_grad += (double)k * sqr.before * var.after;
}

bool recorder_has_window(const struct recorder *r)
{
	return r->gradient.n > 0 || r->gradient.losses.n > 0;
}

void recorder_open_gradient_window(struct recorder *r)
{
	r->gradient = (struct gradient_window){ .window = r->gradient.window + 1 };
	r->gradient_start_boot_s = NAN;
}

void recorder_turn_gradient_window(struct recorder *r, double now)
{
	const struct gradient_window *g = &r->gradient;
	double covered = g->last_samples - g->first_samples;

	if (now - r->gradient_start_boot_s >= GRADIENT_WINDOW_S ||
	    (g->n >= GRADIENT_WINDOW_UPDATES && covered > 0 &&
	     covered >= GRADIENT_WINDOW_SHARE * g->last_samples) ||
	    (g->losses.n >= LOSS_WINDOW_LOSSES && g->last_samples >= 2 * g->first_samples))
		recorder_open_gradient_window(r);
}
