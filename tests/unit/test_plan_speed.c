/* The time of an iteration by execution plan, against values worked out with Python:
 *
 *	>>> b, d = 1.8 * 60, 8 * 300 * 3 / 4 / 100
 *	>>> sync = (d ** 1.5 + b ** 1.5) ** (1 / 1.5)
 *	>>> sync, .1 * 300 + 5, 60 + sync + 35 + 10
 *	(112.8450401656454, 35.0, 217.8450401656454)
 *	>>> .1 * 300 / 4 + 5, 2 * 60 + sync + 12.5 + 10			# sharded, gc
 *	(12.5, 255.3450401656454)
 *	>>> off = 4 * 300 / 4 / 16
 *	>>> sync + 20 + off, 2 * 300 / 4 / 4 + 5 + off, 60 + sync + 20 + off + 61.25 + 10
 *	(151.5950401656454, 61.25, 282.8450401656454)
 *
 * The fit is compared with the published errors on the published measurements, in
 * $RUBICK_DATA or ../shared/data/rubick beside this repository. */
#include <math.h>
#include <string.h>

#include "pollux/plan_speed.h"
#include "tap.h"

static const struct plan_speed_params some = { 1.8, 1.5, .1, 2, 10, 20, 5 };
static const struct plan_speed_links links = { 16, 100 };

static void test_values(void)
{
	struct plan_speed_point p = {
		.gpus = 4, .parameters_mi = 300, .cpu_threads = 4, .forward_ms = 60, .forwards = 1,
	};
	struct plan_speed_times t = plan_speed(&some, links, &p);

	near(t.sync_ms, 112.8450401656454, 1e-13,
	     "the backward pass overlaps the way of the gradients");
	near(t.swap_ms, 35, 1e-13, "each GPU of a replicated plan has all of the optimizer's work");
	near(t.iteration_ms, 217.8450401656454, 1e-13,
	     "the iteration of a replicated plan has the sum of its times");
	p.optimizer = PLAN_SHARDED;
	p.forwards = 2;
	t = plan_speed(&some, links, &p);
	near(t.swap_ms, 12.5, 1e-13,
	     "each GPU of a sharded plan has a share of the optimizer's work");
	near(t.iteration_ms, 255.3450401656454, 1e-13,
	     "the iteration of a sharded plan has a second forward pass");
	p.optimizer = PLAN_OFFLOADED;
	p.forwards = 1;
	t = plan_speed(&some, links, &p);
	near(t.sync_ms, 151.5950401656454, 1e-13,
	     "the gradients of an offloaded plan go to the host");
	near(t.swap_ms, 61.25, 1e-13, "the parameters of an offloaded plan come back");
	near(t.iteration_ms, 282.8450401656454, 1e-13,
	     "the iteration of an offloaded plan has the sum of its times");
	p.gpus = 1;
	p.cpu_threads = 8;
	near(plan_speed(&some, links, &p).iteration_ms, 428, 1e-13,
	     "the iteration of one GPU is 60 + 203 + 155 + 10");
}

static struct plan_speed_row row(int gpus, enum plan_optimizer optimizer)
{
	struct plan_speed_row r = {
		.point = { .gpus = gpus, .parameters_mi = 300, .cpu_threads = 4,
			   .forward_ms = 240. / gpus, .forwards = 1, .optimizer = optimizer },
	};

	r.times = plan_speed(&some, links, &r.point);
	return r;
}

static void test_slope(void)
{
	static const struct plan_speed_params at = { 1.5, 1.7, .2, 1, 12, 30, 8 };
	struct plan_speed_row rows[] = { row(1, PLAN_OFFLOADED), row(2, PLAN_SHARDED),
					 row(4, PLAN_REPLICATED), row(8, PLAN_OFFLOADED) };
	double slope[N_PLAN_SPEED_PARAMS], k[N_PLAN_SPEED_PARAMS], worst = 0;

	plan_speed_error(&at, links, rows, 4, slope);
	for (int i = 0; i < N_PLAN_SPEED_PARAMS; i++) {
		struct plan_speed_params less, more;
		double step, difference;

		memcpy(k, &at, sizeof(k));
		step = 1e-5 * k[i];
		k[i] -= step;
		memcpy(&less, k, sizeof(less));
		k[i] += 2 * step;
		memcpy(&more, k, sizeof(more));
		difference = plan_speed_error(&more, links, rows, 4, NULL) -
			     plan_speed_error(&less, links, rows, 4, NULL);
		worst = fmax(worst, fabs(difference / (2 * step) - slope[i]) /
					    (fabs(slope[i]) + 1e-3));
	}
	ok(worst < 1e-6, "the slope of the error is that of differences");
}

static void test_recovers(void)
{
	struct plan_speed_row rows[12];
	struct plan_speed_params fitted;
	int n = 0;

	for (int gpus = 1; gpus <= 8; gpus *= 2)
		for (int o = PLAN_REPLICATED; o <= PLAN_SHARDED; o++)
			rows[n++] = row(gpus, (enum plan_optimizer)o);
	ok(plan_speed_fit(rows, n, links, &fitted) < 0.01,
	   "a fit to times of the model is close to them");
	near(fitted.k_bwd, some.k_bwd, .01,
	     "a fit to times of the model finds the heaviest parameter");
}

/* --- against the published measurements --- */

#define PLANS 4			/* dp, gc, sharded, offload, each on 1, 2, 4 and 8 GPUs */
#define SIZES 4

/* What the artifact compares its predictions with, and how the forward pass shrinks there. It
 * predicts sharded as replicated. */
struct published {
	const char *name;
	double parameters, forward_ms[SIZES], gc_alone_ms, gc_forwards;
	struct plan_speed_links links;
	double measured_ms[PLANS][SIZES];
	double mean[PLANS], worst[PLANS];	/* errors in percent */
};

static const struct published models[] = {
	{ "bert", 336297858, { 225, 225 / 1.8, 225 / 3.24, 225 / 5.832 }, 225, 1.8,
	  { 64, 119.4879085392442 },
	  { { 654.5, 365, 225.65, 157 }, { 868, 481, 279.65, 180 }, { 668, 382, 228.65, 155 },
	    { 1019.7, 580, 376, 271.64 } },
	  { 5.27, 4.90, 3.70, 6.37 }, { 8.32, 7.27, 6.90, 8.62 } },
	{ "roberta", 355412057, { 240, 240, 120, 60 }, 480, 2,
	  { 7.9107385391936935, 50.303643979067175 },
	  { { 705.5, 705, 389, 234.15 }, { 1760, 926, 503, 296 }, { 707.9, 698, 374, 234 },
	    { 1130, 921.2, 544, 365 } },
	  { 2.21, 3.36, 3.59, 7.42 }, { 4.37, 4.29, 6.71, 10.44 } },
	{ "vit", 85952456, { 40, 20, 10, 5 }, 40, 2, { 64, 34.057018390132875 },
	  { { 153.97, 88, 62, 49 }, { 195, 112, 73, 54.005 }, { 144.93, 85, 65.97, 51 },
	    { 233, 139, 99, 83.99 } },
	  { 3.63, 2.59, 4.23, 3.00 }, { 6.83, 6.19, 6.67, 8.32 } },
};

static FILE *open_data(const char *model, const char *file)
{
	const char *root = getenv("POLLUX_ROOT"), *data = getenv("RUBICK_DATA");
	char path[4096];

	if (data)
		snprintf(path, sizeof(path), "%s/fit/%s/%s.csv", data, model, file);
	else
		snprintf(path, sizeof(path), "%s/../shared/data/rubick/fit/%s/%s.csv",
			 root ? root : ".", model, file);
	return fopen(path, "r");
}

/* Numbers of a line; 0 at the end, and for the heading. */
static int read_numbers(FILE *file, double *numbers, int max)
{
	char line[256], *at = line, *end;
	int n = 0;

	if (!fgets(line, sizeof(line), file))
		return 0;
	while (n < max) {
		numbers[n] = strtod(at, &end);
		if (end == at)
			break;
		n++;
		at = end + (*end == ',');
	}
	return n;
}

static int read_rows(const char *model, struct plan_speed_row *rows, int max)
{
	FILE *points = open_data(model, "config"), *times = open_data(model, "data");
	double p[9], t[5];
	int n = 0;

	if (points && times) {
		read_numbers(points, p, 9);
		read_numbers(times, t, 5);
		for (; n < max && read_numbers(points, p, 9) == 9 && read_numbers(times, t, 5) == 5;
		     n++)
			rows[n] = (struct plan_speed_row){
				{ (int)p[1], p[2], p[5], t[0], 1, (enum plan_optimizer)(int)p[6] },
				{ t[1], t[2], t[3] },
			};
	}
	if (points)
		fclose(points);
	if (times)
		fclose(times);
	return n;
}

static void compare_plan(const struct published *m, const struct plan_speed_params *params,
			 int plan)
{
	static const char *const names[PLANS] = { "dp", "gc", "sharded", "offload" };
	double sum = 0, worst = 0;
	char what[400];

	for (int i = 0; i < SIZES; i++) {
		struct plan_speed_point p = {
			.gpus = 1 << i, .parameters_mi = m->parameters / (1 << 20),
			.cpu_threads = plan == 3 ? 4 : 1,
			.forward_ms = plan == 1 && i == 0 ? m->gc_alone_ms : m->forward_ms[i],
			.forwards = plan == 1 ? m->gc_forwards : 1,
			.optimizer = plan == 3 ? PLAN_OFFLOADED : PLAN_REPLICATED,
		};
		double measured = m->measured_ms[plan][i];
		double error = 100 * fabs(plan_speed(params, m->links, &p).iteration_ms / measured
					  - 1);

		sum += error;
		worst = fmax(worst, error);
	}
	snprintf(what, sizeof(what), "the mean error of %s, %s is %.2f %%, as published: %.2f",
		 m->name, names[plan],
		 sum / SIZES, m->mean[plan]);
	ok(fabs(sum / SIZES - m->mean[plan]) <= 0.1, what);
	snprintf(what, sizeof(what), "the worst error of %s, %s is %.2f %%, as published: %.2f",
		 m->name, names[plan],
		 worst, m->worst[plan]);
	ok(fabs(worst - m->worst[plan]) <= 0.1, what);
}

static void test_published(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct plan_speed_row rows[16];
		struct plan_speed_params params;
		int n = read_rows(models[i].name, rows, 16);

		if (n == 0) {
			printf("ok %d # SKIP no measurements of %s: set RUBICK_DATA\n", ++tap_run,
			       models[i].name);
			continue;
		}
		printf("# %s: error %.10g;", models[i].name,
		       plan_speed_fit(rows, n, models[i].links, &params));
		printf(" %.4g %.4g %.4g %.4g %.4g %.4g %.4g\n", params.k_bwd, params.k_sync,
		       params.k_opt, params.k_os, params.k_const, params.k_off, params.k_swap);
		for (int plan = 0; plan < PLANS; plan++)
			compare_plan(&models[i], &params, plan);
	}
}

int main(void)
{
	test_values();
	test_slope();
	test_recovers();
	test_published();
	return done();
}
