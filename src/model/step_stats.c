/* step_stats.c - keeps robust running statistics of step times, and tells when they are steady. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/random_numbers.h"
#include "pollux/step_stats.h"

void step_stats_init(struct step_stats *s)
{
	memset(s, 0, sizeof(*s));
	observation_init(&s->sum);
}

/* Keeps a sample by reservoir sampling, algorithm R: J. S. Vitter, "Random sampling with a
 * reservoir", ACM TOMS 11 (1985), 37-57. The n-th step is kept with probability SAMPLES / n, in
 * place of a random one. To take every k-th step instead would catch all or none of what a program
 * does every 2^k steps. */
void step_stats_add_mean(struct step_stats *s, double step_time_s, double sync_time_s,
			 int64_t n_steps)
{
	uint64_t slot;

	if (!(step_time_s > 0 && step_time_s <= STEP_TIME_MAX_S)) {
		s->sum.n_invalid++;
		return;
	}
	if (!isnan(sync_time_s) && !(sync_time_s >= 0 && sync_time_s <= step_time_s)) {
		s->sum.n_invalid++;
		sync_time_s = (double)NAN;
	}
	s->seen_s += step_time_s * (double)n_steps;
	slot = (uint64_t)s->n_seen++;
	if (slot >= STEP_WINDOW_SAMPLES)
		slot = random_bits(&s->random) % (slot + 1);
	if (slot < STEP_WINDOW_SAMPLES)
		s->samples[slot] = (struct step_sample){ step_time_s, sync_time_s };
}

void step_stats_add(struct step_stats *s, double step_time_s, double sync_time_s)
{
	step_stats_add_mean(s, step_time_s, sync_time_s, 1);
}

double median_of(double *values, int n)
{
	if (n == 0)
		return (double)NAN;
	qsort(values, (size_t)n, sizeof(*values), number_compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Adds a value to a mean of n values, including this one: B. P. Welford, "Note on a method for
 * calculating corrected sums of squares and products", Technometrics 4 (1962), 419-420. Returns the
 * growth of the sum of squared deviations. */
static double mean_add(double *mean, int64_t n, double value)
{
	double delta = n > 1 ? value - *mean : 0;

	*mean = n > 1 ? *mean + delta / (double)n : value;
	return delta * (value - *mean);
}

static void enter_window(struct step_stats *s, const struct step_window *w)
{
	s->sum.n_steps += w->n_steps;
	s->sum.n_outliers += w->n_outliers;
	s->m2 += mean_add(&s->sum.step_time_s, ++s->sum.n_windows, w->step_s);
	s->sum.step_time_min_s = fmin(s->sum.step_time_min_s, w->step_s);
	if (!isnan(w->sync_s))
		mean_add(&s->sum.sync_time_s, ++s->n_sync_windows, w->sync_s);
}

static void warm_up(struct step_stats *s, const struct step_window *w)
{
	if (s->n_warm_up > 0 && fmax(s->last.step_s, w->step_s) <=
				STEP_STEADY_RATIO * fmin(s->last.step_s, w->step_s)) {
		enter_window(s, &s->last);
		enter_window(s, w);
		s->steady = true;
		return;
	}
	s->sum.n_dropped += s->last.n_steps;
	s->last = *w;
	if (++s->n_warm_up < STEP_WARM_UP_MAX)
		return;
	s->sum.n_dropped += w->n_steps;
	s->steady = true;
}

/* Enters a window after the warm-up. A much slower window counts only if the next one is slow
 * too. */
static void enter_unless_stalled(struct step_stats *s, const struct step_window *w)
{
	bool stalled = w->step_s > STEP_OUTLIER_RATIO * s->sum.step_time_s;

	if (stalled && !s->holds) {
		s->last = *w;
		s->holds = true;
		return;
	}
	if (stalled)
		enter_window(s, &s->last);
	else if (s->holds)
		s->sum.n_outliers += s->last.n_steps;
	s->holds = false;
	enter_window(s, w);
}

void step_stats_close_window(struct step_stats *s)
{
	int n = s->n_seen < STEP_WINDOW_SAMPLES ? (int)s->n_seen : STEP_WINDOW_SAMPLES, n_sync = 0;
	struct step_window w = { .n_steps = s->n_seen };
	double times[STEP_WINDOW_SAMPLES];
	int64_t slow = 0;

	if (s->n_seen == 0 || (s->n_seen < STEP_WINDOW_STEPS && s->seen_s < STEP_WINDOW_MIN_S))
		return;
	for (int i = 0; i < n; i++)
		times[i] = s->samples[i].step_s;
	w.step_s = median_of(times, n);
	for (int i = 0; i < n; i++) {
		slow += s->samples[i].step_s > STEP_OUTLIER_RATIO * w.step_s;
		if (!isnan(s->samples[i].sync_s))
			times[n_sync++] = s->samples[i].sync_s;
	}
	w.sync_s = median_of(times, n_sync);
	w.n_outliers = llround((double)slow * (double)s->n_seen / n);
	s->n_seen = 0;
	s->seen_s = 0;
	if (s->steady)
		enter_unless_stalled(s, &w);
	else
		warm_up(s, &w);
}

bool step_stats_result(const struct step_stats *s, struct observation *o)
{
	*o = s->sum;
	o->step_time_sd_s = observation_deviation(s->m2, o->n_windows);
	return o->n_windows > 0;
}

bool step_stats_provisional(const struct step_stats *s, struct observation *o)
{
	if (s->sum.n_windows > 0 || s->n_warm_up < STEP_PROVISIONAL_WINDOWS)
		return false;
	*o = s->sum;
	o->n_steps = s->last.n_steps;
	o->n_windows = 1;
	o->step_time_s = o->step_time_min_s = s->last.step_s;
	o->sync_time_s = s->last.sync_s;
	return true;
}

/* --- when it is steady --- */

double steady_half_width(const struct observation *o)
{
	double k = (double)o->n_windows / STEADY_KINSHIP;

	if (o->n_windows < STEADY_WINDOWS || !(o->step_time_s > 0))
		return (double)NAN;
	return student_quantile(k - 1) * o->step_time_sd_s / sqrt(k) / o->step_time_s;
}

bool steady_reached(const struct observation *o)
{
	return o->n_steps >= STEADY_STEPS && steady_half_width(o) < STEADY_HALF_WIDTH;
}
