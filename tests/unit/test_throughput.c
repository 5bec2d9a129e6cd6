/* The throughput model, against values worked out with Python:
 *
 *	>>> tg, ts, g = .05 + .002 * 64, .04 + .006 * 3, 3.
 *	>>> tu = (tg ** g + ts ** g) ** (1 / g)
 *	>>> tg, ts, tu, tg * 2 + tu, 5 * 64 * 3 / (tg * 2 + tu)
 *	(0.178, 0.058, 0.18002946019862806, 0.5360294601986281, 1790.9463402333665)
 */
#include <math.h>
#include <string.h>

#include "pollux/throughput.h"
#include "tap.h"

static const struct throughput_params params = { .05, .002, .01, .004, .04, .006, 3, { 0 } };

static void test_values(void)
{
	struct throughput_place alone = throughput_place_on(1, 1), pair = throughput_place_on(1, 2),
				node = throughput_place_on(1, 4), nodes = throughput_place_on(2, 5);

	near(throughput_grad_time(&params, 64), 0.178, 1e-14, "T_grad is that worked out by hand");
	near(throughput_sync_time(&params, alone), 0, 0, "one replica synchronises with nobody");
	near(throughput_sync_time(&params, pair), 0.01, 1e-14,
	     "T_sync of a pair is that worked out by hand");
	near(throughput_sync_time(&params, node), 0.018, 1e-14,
	     "T_sync on one node is that worked out by hand");
	near(throughput_sync_time(&params, nodes), 0.058, 1e-14,
	     "T_sync on two nodes is that worked out by hand");
	near(throughput_update_time(&params, nodes, 64), 0.18002946019862806, 1e-14,
	     "T_update is that worked out by hand");
	near(throughput_step_time(&params, nodes, 64, 3), 0.5360294601986281, 1e-14,
	     "T_step is that worked out by hand");
	near(throughput_update_time(&params, alone, 64), 0.178, 1e-14,
	     "an update of one replica is a pass");
}

/* All passes are counted: of one, none is without an update. The published code counts one less. */
static void test_accumulation(void)
{
	struct throughput_place node = throughput_place_on(1, 4);
	double update = throughput_update_time(&params, node, 64);

	near(throughput_step_time(&params, node, 64, 1), update, 1e-15,
	     "a step of one pass is the update");
	near(throughput_step_time(&params, node, 64, 2), update + 0.178, 1e-14,
	     "a step of two passes is a pass more than the update");
}

static void test_overlap(void)
{
	struct throughput_params p = params;
	struct throughput_place node = throughput_place_on(1, 4);

	p.gamma = 1;
	near(throughput_update_time(&p, node, 64), 0.178 + 0.018, 1e-14,
	     "gamma = 1 puts pass and synchronisation one after the other");
	p.gamma = 10;
	near(throughput_update_time(&p, node, 64), 0.178, 1e-6,
	     "gamma = 10 takes the longer one of pass and synchronisation");
	p.alpha_grad = p.beta_grad = 1e-8;
	p.alpha_sync_local = 1e9;
	ok(isfinite(throughput_update_time(&p, node, 1)), "extreme parameters do not overflow");
}

static double time_with(int param, double value, double s, struct throughput_place place)
{
	struct throughput_params p = { .gamma = 0 };
	double array[N_THROUGHPUT_PARAMS];

	memcpy(array, &params, sizeof(array));
	array[param] = value;
	memcpy(&p, array, sizeof(array));
	return throughput_step_time(&p, place, 64, s);
}

static void test_slope(void)
{
	static const struct throughput_place places[] = {
		{ 1, 1, 0 }, { 1, 2, 0 }, { 1, 4, 0 }, { 2, 2, 0 }, { 2, 5, 0 }
	};
	struct throughput_slope slope;
	double array[N_THROUGHPUT_PARAMS], worst = 0;

	memcpy(array, &params, sizeof(array));
	for (int i = 0; i < 5; i++) {
		for (int s = 1; s < 4; s++) {
			double time = throughput_step_slope(&params, places[i], 64, s, &slope);
			double h = 64e-5,
			       by_m = (throughput_step_time(&params, places[i], 64 + h, s) -
				       throughput_step_time(&params, places[i], 64 - h, s)) /
				      (2 * h);

			worst = fmax(worst, fabs(slope.by_m - by_m) / by_m);
			worst = fmax(
				worst,
				fabs(time / throughput_step_time(&params, places[i], 64, s) - 1));
			for (int k = 0; k < N_THROUGHPUT_PARAMS; k++) {
				h = array[k] * 1e-5;
				double up = time_with(k, array[k] + h, s, places[i]);
				double down = time_with(k, array[k] - h, s, places[i]);

				worst = fmax(
					worst,
					fabs((up - down) / (2 * h) - slope.by_param[k]) /
						fmax(fabs(slope.by_param[k]), time / array[k]));
			}
		}
	}
	printf("# largest relative difference %.2g\n", worst);
	ok(worst < 1e-8, "the derivatives are central differences");
}

int main(void)
{
	test_values();
	test_accumulation();
	test_overlap();
	test_slope();
	return done();
}
