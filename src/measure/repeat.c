/* repeat.c - repeats an operation until its mean time is known. */
#include "backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/step_stats.h"

const struct repeat_limits REPEAT_FULL = {
	.least = 10, .most = 200, .half_width = 0.02, .span_s = 2e-3, .time_s = 0.4,
};
const struct repeat_limits REPEAT_QUICK = {
	.least = 5, .most = 50, .half_width = 0.02, .span_s = 0.5e-3, .time_s = 0.05,
};

#define WARM_UPS 10		/* at most this many, until two in a row agree */
#define AGREE 1.1		/* ratio of two times that agree */
#define COUNT_MAX (1 << 24)

/* Mean and deviation in one pass: B. P. Welford, Technometrics 4 (1962), 419-420. */
struct repeated repeat_of(const double *times_s, int n, const struct repeat_limits *limits)
{
	struct repeated s = { .half_width = HUGE_VAL };
	double sorted[REPEAT_MOST], most, m2 = 0;

	memcpy(sorted, times_s, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), number_compare);
	most = REPEAT_STALL * (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;	/* the median */
	for (int i = 0; i < n; i++) {
		double delta = times_s[i] - s.mean_s;

		if (times_s[i] > most) {
			s.n_stalls++;
			continue;
		}
		s.mean_s += delta / (double)++s.n;
		m2 += delta * (times_s[i] - s.mean_s);
	}
	if (s.n > 1) {
		s.sd_s = sqrt(m2 / (double)(s.n - 1));
		s.half_width = student_quantile((double)s.n - 1) * s.sd_s / sqrt((double)s.n) /
			       s.mean_s;
	}
	s.steady = s.n >= limits->least && s.half_width <= limits->half_width;
	return s;
}

/* The first run of all loads pages and kernels. Then the number of operations is looked for that
 * fills a span; then the operation runs until two times in a row agree, while clocks rise and
 * caches fill. */
int repeat_time(struct repeated *s, repeat_run *run, void *state,
		const struct repeat_limits *limits)
{
	double times_s[REPEAT_MOST], begun_s, last_s = run(state, 1), before_s = 0;
	int64_t count = 1;

	if (!isnan(last_s))
		last_s = run(state, count);
	while (last_s < limits->span_s && count < COUNT_MAX)
		last_s = run(state, count *= 2);
	if (!isnan(last_s))
		last_s = run(state, count);
	for (int i = 0; i < WARM_UPS && !isnan(last_s) &&
	     fmax(last_s, before_s) > AGREE * fmin(last_s, before_s); i++) {
		before_s = last_s;
		last_s = run(state, count);
	}
	if (isnan(last_s))
		return -1;
	begun_s = clock_boot_s();
	for (int n = 0; n < limits->most;) {
		double time_s = run(state, count);

		if (isnan(time_s))
			return -1;
		times_s[n++] = time_s / (double)count;
		*s = repeat_of(times_s, n, limits);
		if (s->steady || (n >= limits->least && clock_boot_s() - begun_s >= limits->time_s))
			break;
	}
	return 0;
}

/* ---- sizes: over widths, and over rows within each ---- */

static const int64_t widths[] = { 256, 1024, 4096 };
#define N_WIDTHS ((int)(sizeof(widths) / sizeof(widths[0])))

bool sizes_next(struct size_walk *w, bool quick)
{
	int64_t most = quick ? SIZES_ROWS_MAX_QUICK : SIZES_ROWS_MAX;
	int i = 0, n = quick ? N_WIDTHS - 1 : N_WIDTHS;

	if (w->rows > 0 && w->rows < most) {
		w->rows *= quick ? 4 : 2;
		return true;
	}
	while (i < n && widths[i] <= w->width)
		i++;
	w->width = i < n ? widths[i] : 0;
	w->rows = 1;
	return w->width > 0;
}

void sizes_skip_width(struct size_walk *w)
{
	w->rows = SIZES_ROWS_MAX;
}

/* ---- random numbers by xorshift64* (S. Vigna, ACM Trans. Math. Softw. 42 (2016)) ---- */

static double next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (double)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53 - 0.5;
}

void random_fill_fp32(float *x, size_t n)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++)
		x[i] = (float)next(&state);
}

void random_fill_fp64(double *x, size_t n)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++)
		x[i] = next(&state);
}
