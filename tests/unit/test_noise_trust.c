/* test_noise_trust.c - what one report, one window and one job can do to the noise scale of a
 * workload. M0 is 10; all windows cover 1,000 samples at the same place, so that the result is the
 * mean of tr(Sigma) over the jobs that are believed. Limits are worked out by hand. */
#include <math.h>

#include "pollux/noise_scale.h"
#include "tap.h"

#define M0 10
#define NEW_JOB 99
#define FORGER 4

/* |G|^2 is 1: the level is var. The spread of both is a tenth. */
static struct noise_window window(int64_t job, double var)
{
	return (struct noise_window){
		.job_id = job, .first_samples = 0, .last_samples = 1000, .batch_size = 10,
		.n = 100, .mean_sqr = 1, .m2_sqr = 1, .mean_var = var, .m2_var = var * var,
	};
}

/* Three jobs of levels 100, 150 and 200, and a fourth. */
static struct noise_estimate against_three(struct noise_window fourth, int64_t own_job)
{
	struct noise_window w[] = { window(1, 100), window(2, 150), window(3, 200), fourth };

	return noise_estimate(w, 4, own_job, 500, M0);
}

static void test_one_against_three(void)
{
	struct noise_window large = window(FORGER, 1e5), broken = window(FORGER, 100);
	struct noise_estimate e = against_three(window(FORGER, 1e139), NEW_JOB);

	near(e.noise_scale, 150, 1e-12, "an absurd job does not change the noise scale");
	ok(e.n_doubted == 1 && e.doubted_job == FORGER, "an absurd job is doubted by name");
	large.n = 1000000;
	large.m2_sqr = 1e4;
	large.m2_var = 1e14;
	e = against_three(large, NEW_JOB);
	near(e.noise_scale, 150, 1e-12,
	     "a forged job with a million updates does not change the scale");
	/* The lower median of 100, 150, 200 and the fourth is 150: the limit is 600. */
	e = against_three(window(FORGER, 600), NEW_JOB);
	near(e.noise_scale, 262.5, 1e-12, "a job within the limit counts");
	is_int(e.n_doubted, 0, "a job within the limit is not doubted");
	e = against_three(window(FORGER, 601), NEW_JOB);
	near(e.noise_scale, 150, 1e-12, "a job beyond the limit does not count");
	/* Now the lower median is 100: the limit is 25. */
	e = against_three(window(FORGER, 25), NEW_JOB);
	near(e.noise_scale, 118.75, 1e-12, "a job of a small noise scale within the limit counts");
	e = against_three(window(FORGER, 24), NEW_JOB);
	near(e.noise_scale, 150, 1e-12, "a job of a noise scale below the limit does not count");
	broken.mean_sqr = -1e100;
	e = against_three(broken, NEW_JOB);
	near(e.noise_scale, 150, 1e-12, "a job that knows nothing does not make others unknown");
}

static void test_camps(void)
{
	struct noise_window w[] = { window(1, 100), window(2, 100), window(3, 5000),
				    window(4, 5000) };
	struct noise_estimate e = noise_estimate(w, 4, NEW_JOB, 500, M0);

	near(e.noise_scale, 100, 1e-12, "the lower one of two camps counts");
	is_int(e.n_doubted, 2, "both jobs of the higher camp are doubted");
}

/* Without three who know, there is only the initial batch size: up to 10 * 1000^2. */
static void test_alone(void)
{
	struct noise_window w[] = { window(1, 1e139), window(2, 100) };

	ok(isnan(noise_estimate(w, 1, NEW_JOB, 500, M0).interval.low),
	   "an absurd job alone tells nothing to another job");
	ok(isnan(noise_estimate(w, 1, 1, 500, M0).interval.low),
	   "an absurd job alone tells nothing to itself");
	near(noise_estimate(w, 2, NEW_JOB, 500, M0).noise_scale, 100, 1e-12,
	     "an absurd job beside another one does not count");
	w[0] = window(1, 0.99e7);
	near(noise_estimate(w, 1, NEW_JOB, 500, M0).noise_scale, 0.99e7, 1e-12,
	     "a large noise scale within the limit is believed");
	w[0] = window(1, 1.01e7);
	ok(isnan(noise_estimate(w, 1, NEW_JOB, 500, M0).noise_scale),
	   "a noise scale above the limit is not believed");
	w[0] = window(1, 0.99e-5);
	ok(isnan(noise_estimate(w, 1, NEW_JOB, 500, M0).noise_scale),
	   "a noise scale near nothing is not believed");
	w[0] = window(1, 1e139);
	w[0].mean_sqr = -1e-3;
	ok(isnan(noise_estimate(w, 1, NEW_JOB, 500, M0).interval.low),
	   "an absurd bound without a gradient is not believed");
}

/* The lower median of the three others is 150. */
static void test_own(void)
{
	struct noise_window two[] = { window(1, 100), window(2, 100), window(FORGER, 1e6) };
	struct noise_estimate e = against_three(window(FORGER, 1.5e5), FORGER);

	ok(e.own && fabs(e.noise_scale - 1.5e5) < 1,
	   "a job's own noise scale counts within a factor of 1000");
	e = against_three(window(FORGER, 1.6e5), FORGER);
	ok(!e.own && fabs(e.noise_scale - 150) < 1e-9,
	   "a job's own noise scale beyond that gives way to the others");
	e = noise_estimate(two, 3, FORGER, 500, M0);
	ok(e.own && fabs(e.noise_scale - 1e6) < 1,
	   "two other jobs do not outvote a job's own noise scale");
}

/* Five windows of a job; the third stands out. */
static double with_third(double var, double sqr)
{
	struct noise_window w[5];

	for (int i = 0; i < 5; i++)
		w[i] = window(1, 100);
	w[2].mean_var = var;
	w[2].m2_var = var * var;
	w[2].mean_sqr = sqr;
	return noise_estimate(w, 5, 1, 500, M0).noise_scale;
}

static void test_windows(void)
{
	struct noise_window first[] = { window(1, 1e9), window(2, 7), window(1, 100),
					window(1, 100) };

	near(with_third(1e139, 1), 100, 1e-12, "one absurd window of a job does not count");
	/* The median of the neighbours is 100, that of their |g|^2 is 1 + 100 / 10. */
	near(with_third(1e5, 1), (1e5 + 400) / 5, 1e-12,
	     "a window of a thousand times the median counts");
	near(with_third(1.001e5, 1), 100, 1e-12, "a window of more than that does not count");
	near(with_third(100, -1.101e4), 100, 1e-12,
	     "a negative square that would hide others does not count");
	near(with_third((double)INFINITY, 1), 100, 1e-12,
	     "a window that is not finite does not count");
	near(noise_estimate(first, 4, 1, 500, M0).noise_scale, 100, 1e-12,
	     "a window is compared with neighbours of its own job");
}

/* Jobs that were elsewhere have no vote: the noise scale grows over a training. */
static void test_far(void)
{
	struct noise_window w[] = { window(1, 100), window(2, 100), window(3, 100),
				    window(4, 5000) };

	w[3].first_samples = 99000;
	w[3].last_samples = 101000;
	ok(noise_estimate(w, 4, NEW_JOB, 100000, M0).noise_scale > 4500,
	   "the one job that came so far decides there");
	near(noise_estimate(w, 4, NEW_JOB, 500, M0).noise_scale, 100, 1e-12,
	     "the one job that came so far does not decide near the start");
}

int main(void)
{
	test_one_against_three();
	test_camps();
	test_alone();
	test_own();
	test_windows();
	test_far();
	return done();
}
