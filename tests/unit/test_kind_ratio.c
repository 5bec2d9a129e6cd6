/* The ratio between kinds of device, held to values of a few lines of Python:
 *
 *	from math import *
 *	def post(*terms):	# (ln ratio, deviation)
 *		w = sum(d**-2 for _, d in terms)
 *		return exp(sum(x * d**-2 for x, d in terms) / w), w**-.5 */
#include <math.h>

#include "pollux/time_ratio.h"
#include "tap.h"

static struct observation at(int64_t local_batch_size, double step_time_s)
{
	return (struct observation){
		.configuration = configuration_make(1, local_batch_size, 1),
		.step_time_s = step_time_s,
	};
}

static struct fit_expectation ratio(const struct observation_list *to,
				    const struct observation_list *from, double prior)
{
	return kind_ratio_of_plan(&(struct kind_times){ to, from }, NULL, 0, prior);
}

static void test_common(void)
{
	struct observation a[] = { at(8, 0.02), at(16, 0.03), at(64, 9) };
	struct observation b[] = { at(4, 7), at(16, 0.01), at(8, 0.01) };
	struct observation_list to = { a, 3 }, from = { b, 3 }, one = { a, 1 };
	struct fit_expectation r = ratio(&to, &from, 4);

	near(r.value, 2.4970541092125855, 1e-9,
	     "the ratio is the mean of two common sizes and a prior");
	near(r.spread, 0.06931032800836721, 1e-9,
	     "the spread is that of two common sizes and a prior");
	r = ratio(&from, &to, 0.25);
	near(r.value, 1 / 2.4970541092125855, 1e-9, "the ratio of swapped kinds is the inverse");
	r = ratio(&one, &from, 4);
	near(r.value, 2.107410990406046, 1e-9, "one common size moves the ratio less than two");
	near(r.spread, 0.09615239476408233, 1e-9,
	     "one common size narrows the spread less than two");
	r = ratio(&to, &from, (double)NAN);
	near(r.value, 2.438596384442794, 1e-9, "the prior is wide and around 1 without products");
}

static void test_far(void)
{
	struct observation a[] = { at(8, 0.02), at(32, 0.064) }, b[] = { at(16, 0.016) };
	struct observation_list to = { a, 2 }, from = { b, 1 }, none = { 0 };
	struct fit_expectation r = ratio(&to, &from, 4);

	near(r.value, sqrt(8), 1e-9,
	     "the largest sizes count as much as the prior without a common one");
	near(r.spread, 0.24748737341529162, 1e-9,
	     "the spread is that of the largest sizes and the prior");
	r = ratio(&none, &from, 4);
	near(r.value, 4, 1e-12, "a kind that was never tried has the ratio of the prior");
	near(r.spread, 0.35, 1e-12, "a kind that was never tried has the spread of the prior");
	r = ratio(&none, &none, (double)NAN);
	near(r.value, 1, 1e-12, "the ratio is 1 where nothing is known");
}

/* ln 3 with deviation 0.35 and the mean of ln 2 and ln 8 with 0.2; then ln 5 with 0.1 as well. */
static void test_other_plans(void)
{
	struct observation a[] = { at(8, 0.02), at(16, 0.16) }, b[] = { at(8, 0.01), at(16, 0.02) };
	struct observation c[] = { at(4, 0.05) }, d[] = { at(4, 0.01) };
	struct observation_list to = { a, 2 }, from = { b, 2 }, none = { 0 };
	struct observation_list own_to = { c, 1 }, own_from = { d, 1 };
	struct kind_times other[] = { { &to, &from }, { &own_to, &none } };
	struct kind_times untried = { &none, &own_from }, tried = { &own_to, &own_from };
	struct fit_expectation r = kind_ratio_of_plan(&untried, other, 2, 3);

	near(r.value, 3.7265404594888474, 1e-9,
	     "the ratio of a plan follows another plan and the products");
	near(r.spread, 0.17364862842489184, 1e-9,
	     "the spread of a plan follows another plan and the products");
	r = kind_ratio_of_plan(&tried, other, 2, 3);
	near(r.value, 4.64703824930829, 1e-9,
	     "a common size of the plan counts more than another plan");
}

/* None of these tells what the one device in one pass does that the others are compared with. */
static void test_times(void)
{
	struct observation seen[] = {
		{ .configuration = configuration_make(2, 8, 1), .step_time_s = 0.6 },
		{ .configuration = configuration_make(1, 8, 2), .step_time_s = 0.9 },
		{ .configuration = configuration_make(1, 16, 1), .step_time_s = (double)NAN },
		at(8, 0.5),
	};
	struct observation other[] = { at(16, 7), at(8, 0.25) };
	struct observation_list to = { seen, 3 }, from = { other, 2 };

	near(ratio(&to, &from, 4).value, 4, 1e-12,
	     "several devices, several passes and no time tell no ratio");
	to.count = 4;
	near(ratio(&to, &from, 2).value, 2, 1e-12,
	     "one device in one pass with a time tells the ratio");
}

static void test_sync(void)
{
	struct fit_result to = { .basis = { [ALPHA_SYNC_LOCAL] = FIT_TIED,
					    [BETA_SYNC_LOCAL] = FIT_FROM_PRIOR,
					    [ALPHA_SYNC_NODE] = FIT_TIED,
					    [BETA_SYNC_NODE] = FIT_TIED } };
	struct fit_result from = { .params = { .alpha_sync_local = 0.2, .beta_sync_local = 0.3,
					       .alpha_sync_node = 0.4, .beta_sync_node = 0.5,
					       .gamma = 9 },
				   .basis = { [ALPHA_SYNC_NODE] = FIT_TIED,
					      [BETA_SYNC_NODE] = FIT_FROM_PENALTY } };
	struct throughput_params p = { 1, 2, 3, 4, 5, 6, 7, { 0 } };

	kind_ratio_fill_sync(&p, &to, &from, 2);
	near(p.alpha_sync_local, 0.4, 1e-12,
	     "a local synchronisation measured on the other kind is scaled");
	near(p.beta_sync_local, 4, 0, "a growth that is expected by the devices stays");
	near(p.alpha_sync_node, 5, 0, "a synchronisation of nodes measured on neither kind stays");
	near(p.beta_sync_node, 1, 1e-12, "a growth on nodes measured on the other kind is scaled");
	near(p.gamma, 9, 0, "gamma comes from the other kind with the synchronisation");
	near(p.alpha_grad + p.beta_grad, 3, 0, "the times of a pass stay");
	p.gamma = 7;
	kind_ratio_fill_sync(&p, &from, &from, 2);
	near(p.gamma, 7, 0, "gamma stays if it was measured on the kind itself");
}

int main(void)
{
	test_common();
	test_far();
	test_other_plans();
	test_times();
	test_sync();
	return done();
}
