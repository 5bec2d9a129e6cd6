/* How far and how fast batches grow: the bounds, the judgement by losses, and how often the
 * judgement errs, in simulated trainings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/growth.h"
#include "tap.h"

#define JOB 7
#define M0 INT64_C(32)
#define MANY 400

/* --- a training --- */

/* Park and Miller: the same numbers everywhere. */
static int64_t state = 1;

static double uniform(void)
{
	state = state * 16807 % 2147483647;
	return (double)state / 2147483647.0;
}

static double normal(void)
{
	double radius = sqrt(-2 * log(uniform()));

	return radius * cos(2 * 3.14159265358979323846 * uniform());
}

/* A loss that falls with the samples that count, to a floor, with the noise of a batch. */
struct training {
	double power;		/* loss = 0.15 + (2000 / samples)^power */
	double worth;		/* of a sample in the larger batch */
	double jump;		/* what the change itself adds to the loss */
	struct noise_window windows[MANY];
	int n;
	double samples, counted;
};

static double loss_of(const struct training *t, int64_t batch)
{
	double noise = 0.7 / sqrt((double)batch);

	return 0.15 + pow(2000 / t->counted, t->power) + (batch > M0 ? t->jump : 0) +
	       noise * normal();
}

/* A window of so many losses, each of which stands for so many samples. The helper reports ten
 * losses a second; a small program makes about 300 samples in that time. */
static void add_window(struct training *t, int64_t batch, int losses, double samples_each)
{
	struct noise_window *w = &t->windows[t->n++];

	*w = (struct noise_window){
		.job_id = JOB, .batch_size = batch, .n = losses, .entries = losses,
		.first_samples = t->samples, .mean_sqr = 1, .mean_var = 100,
	};
	for (int i = 0; i < losses; i++) {
		t->samples += samples_each;
		t->counted += samples_each * (batch > M0 ? t->worth : 1);
		loss_sums_add(&w->losses, t->samples, loss_of(t, batch));
	}
	w->last_samples = t->samples;
}

static void begin(struct training *t, double power, double worth, double jump)
{
	memset(t, 0, sizeof(*t));
	t->power = power;
	t->worth = worth;
	t->jump = jump;
	while (t->samples < 60000)
		add_window(t, M0, 30, 300);
}

static struct growth judged(const struct training *t)
{
	return growth_judge(t->windows, t->n, JOB, M0, 0.8);
}

/* Trains on in the larger batch until it is judged, or up to four times the position. */
static struct growth grow(struct training *t, int64_t batch)
{
	double end = 4 * t->samples;
	struct growth g = judged(t);

	while (t->samples < end && t->n < MANY && (g.batch_size != batch ||
						   g.verdict == GROWTH_OPEN)) {
		add_window(t, batch, 50, 300);
		g = judged(t);
	}
	return g;
}

/* --- single cases --- */

static struct training one;

static struct growth_bound bound_of(int64_t batch, double low)
{
	return (struct growth_bound){
		.initial_batch_size = M0, .batch_size = batch, .noise_low = low,
		.min_efficiency = 0.8, .samples = 1e5, .total_samples = 1e6,
	};
}

static int64_t most_of(const struct training *t, int64_t batch, double low)
{
	struct growth g = judged(t);
	struct growth_bound b = bound_of(batch, low);

	return growth_most(&g, &b);
}

static void efficiency(void)
{
	is_int(growth_efficient(0, M0, 0.8), 40,
	       "a noise scale of 0 allows a batch that is a quarter larger");
	is_int(growth_efficient(NAN, M0, 0.8), M0, "an unknown noise scale allows no growth");
	is_int(growth_efficient(INFINITY, M0, 0.8), INT64_MAX,
	       "an infinite noise scale allows any batch");
	is_int(growth_efficient(338, M0, 0), INT64_MAX,
	       "without a least efficiency no batch is bounded");
	is_int(growth_efficient(338, M0, 1), M0, "a least efficiency of 1 allows no growth");
}

static void steps(void)
{
	struct growth_bound end = bound_of(M0, 1e6), fresh = bound_of(0, 1e6);
	struct growth g;

	begin(&one, 0.5, 1, 0);
	is_int(most_of(&one, M0, 1e6), 2 * M0, "a batch grows at most to twice its size at once");
	is_int(most_of(&one, M0, 60), 55, "a batch grows no further than is efficient");
	end.samples = 0.81e6;
	g = judged(&one);
	is_int(growth_most(&g, &end), M0, "a batch does not grow near the end of the training");
	add_window(&one, 2 * M0, 10, 100);
	is_int(most_of(&one, 2 * M0, 1e6), 2 * M0, "a batch stays until its losses have judged it");
	g = grow(&one, 2 * M0);
	is_int(g.verdict, GROWTH_AS_PROMISED, "a batch that costs nothing is as good as promised");
	is_int(most_of(&one, 2 * M0, 1e6), 4 * M0,
	       "a batch that was as good as promised may double again");
	add_window(&one, 4 * M0, 1, 100);
	is_int(judged(&one).judged, 2 * M0,
	       "a single loss of the next batch does not judge that batch");

	fresh.samples = 0;
	g = growth_judge(NULL, 0, JOB, M0, 0.8);
	is_int(g.verdict, GROWTH_UNSEEN, "a job that reported nothing has no verdict");
	is_int(growth_most(&g, &fresh), M0,
	       "a job that reported nothing begins with its own batch");
	is_int(growth_judge(one.windows, one.n, JOB + 1, M0, 0.8).verdict, GROWTH_UNSEEN,
	       "the losses of other jobs count for nothing");
}

/* The misses of a stream of sixteen programs: which rule stops which change by itself. */
static void misses(void)
{
	struct growth_bound b = bound_of(M0, 338);
	struct growth g;

	begin(&one, 0.5, 1, 0);
	g = judged(&one);
	b.min_efficiency = 0;
	is_int(growth_most(&g, &b), 64,
	       "a batch doubles to 64, not to 96 (large-4) or 320 (small-5, -6)");
	b.total_samples = 1.2e5;
	is_int(growth_most(&g, &b), 32, "a batch does not change in the last fifth (large-4)");
	ok(growth_efficient(1119, M0, 0.8) < 320 && growth_efficient(1121, M0, 0.8) >= 320,
	   "a batch of 320 takes a noise scale of 1120 (small-5, -6)");
	/* (338 + 32) / (338 + M) = 0.8 at M = 124.5; (625 + 32) / 0.8 - 625 = 196.25 */
	is_int(growth_efficient(338, M0, 0.8), 124,
	       "a noise scale of 338 allows 124, not 320 (large-4)");
	is_int(growth_efficient(625, M0, 0.8), 196,
	       "a noise scale of 625 allows 196, not 448 (large-4)");
}

static void taken_back(void)
{
	struct growth_bound later = bound_of(M0, 1e6);
	struct growth g;

	begin(&one, 0.5, 1, 0.1);
	g = grow(&one, 2 * M0);
	is_int(g.verdict, GROWTH_FELL_BEHIND, "a batch whose loss is higher falls behind");
	ok(g.loss > g.promised + 2 * g.error,
	   "a batch that fell behind has a loss above the promised one");
	is_int(most_of(&one, 2 * M0, 1e6), M0, "a batch that fell behind is taken back");
	add_window(&one, M0, 30, 100);
	g = judged(&one);
	is_int(g.verdict, GROWTH_AS_PROMISED,
	       "the initial batch is as good as promised after it is back");
	is_int(most_of(&one, M0, 1e6), M0, "a batch that was taken back does not grow again soon");
	later.samples = g.again_samples;
	later.total_samples = NAN;
	is_int(growth_most(&g, &later), 2 * M0,
	       "a batch that was taken back may grow at the position told");
}

static void without_loss(void)
{
	begin(&one, 0.5, 1, 0);
	for (int i = 0; i < one.n; i++)
		one.windows[i].losses = (struct loss_sums){ 0 };
	one.windows[one.n] = one.windows[one.n - 1];
	one.windows[one.n].batch_size = 2 * M0;
	one.windows[one.n++].entries = 1;
	is_int(most_of(&one, 2 * M0, 1e6), 2 * M0,
	       "without losses a batch stays until its gradients are known");
	one.windows[one.n - 1].entries = 4;
	is_int(most_of(&one, 2 * M0, 1e6), 4 * M0,
	       "without losses a batch grows once its gradients are known");
}

static void odd_losses(void)
{
	struct loss_sums s = { 0 }, parts[2] = { { 0 } };

	loss_sums_add(&s, 100, NAN);
	loss_sums_add(&s, 100, 1e300);
	loss_sums_add(&s, 0, 1);
	is_int(s.n, 0, "a loss that is no number, too large or nowhere is left out");
	for (int i = 1; i <= 40; i++) {
		loss_sums_add(&s, i * 100, 5 / sqrt(i));
		loss_sums_add(&parts[i > 13], i * 100, 5 / sqrt(i));
	}
	loss_sums_merge(&parts[0], &parts[1]);
	near(parts[0].mean, s.mean, 1e-12, "merged sums of two parts have the mean of all losses");
	near(parts[0].cross, s.cross, 1e-12,
	     "merged sums of two parts have the products of all losses");
	near(s.cross / s.m2_x, 50, 1e-9, "the sums give the slope of the curve of losses");
}

/* --- how often it errs --- */

struct rates {
	double behind, promised;
};

static struct rates rates_of(double power, double worth, double jump, int trials)
{
	struct rates r = { 0 };

	for (int i = 0; i < trials; i++) {
		struct growth g;

		begin(&one, power, worth, jump);
		g = grow(&one, 2 * M0);
		r.behind += g.verdict == GROWTH_FELL_BEHIND;
		r.promised += g.verdict == GROWTH_AS_PROMISED;
	}
	r.behind /= trials;
	r.promised /= trials;
	printf("# power %.2f, worth %.2f, jump %.3f: %3.0f %% taken back, %3.0f %% go on\n", power,
	       worth, jump, 100 * r.behind, 100 * r.promised);
	return r;
}

static void error_rates(void)
{
	enum { TRIALS = 400 };
	static const double powers[] = { 0.25, 0.5, 1 };

	for (int i = 0; i < 3; i++) {
		struct rates same = rates_of(powers[i], 1, 0, TRIALS);

		ok(same.behind <= 0.05, "a batch that costs nothing is rarely taken back");
		ok(same.promised >= (powers[i] > 0.5 ? 0.4 : 0.75),
		   "a batch that costs nothing mostly goes on");
		rates_of(powers[i], 0.8, 0, TRIALS);
		rates_of(powers[i], 0.5, 0, TRIALS);
	}
	ok(rates_of(0.5, 1, 0.05, TRIALS).promised <= 0.15,
	   "a batch whose loss is a sixth higher rarely goes on");
	ok(rates_of(0.5, 0, 0.02, TRIALS).promised <= 0.2,
	   "a batch whose samples bring nothing rarely goes on");
}

int main(void)
{
	efficiency();
	steps();
	misses();
	taken_back();
	without_loss();
	odd_losses();
	error_rates();
	return done();
}
