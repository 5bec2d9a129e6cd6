/* prior.c - what the prior is worth, on the store of prior.sh: KIND WORKLOAD.
 *
 * The store has step times of one workload at several numbers of replicas R and local batches m,
 * what 'pollux profile --devices' measured, and the number of parameters. Fitted is each choice of
 * a few of those points; predicted are the step times of all others, in per cent of the measured
 * one. A row is the mean over all choices of its sort of the mean absolute percentage error,
 * without the prior (as published) and with it, for points at R = 1 and at R >= 2. Then, point by
 * point, the fits of one point in the middle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/knowledge.h"
#include "pollux/prior.h"
#include "pollux/store_measurements.h"

#define MAX_POINTS 64

static struct observation *points;
static int n_points;
static struct fit_prior prior;

struct errors {
	double one, several;		/* sums of absolute relative errors, R = 1 and R >= 2 */
	int n_one, n_several;
};

static struct fit_result fit(const int *chosen, int n, bool with_prior)
{
	struct fit_options options = FIT_OPTIONS_DEFAULT;
	struct observation seen[MAX_POINTS];

	options.prior = with_prior ? &prior : NULL;
	for (int i = 0; i < n; i++)
		seen[i] = points[chosen[i]];
	return fit_throughput(seen, n, &options);
}

static double relative_error(const struct fit_result *f, const struct observation *p)
{
	const struct configuration *c = &p->configuration;

	return throughput_step_time(&f->params, configuration_place(c), (double)c->local_batch_size,
				    c->accumulation_steps) / p->step_time_s - 1;
}

static bool is_chosen(const int *chosen, int n, int i)
{
	for (int c = 0; c < n; c++)
		if (chosen[c] == i)
			return true;
	return false;
}

static void predict(const int *chosen, int n, bool with_prior, struct errors *e)
{
	struct fit_result f = fit(chosen, n, with_prior);

	for (int i = 0; i < n_points; i++) {
		double error = fabs(relative_error(&f, &points[i]));

		if (is_chosen(chosen, n, i))
			continue;
		if (points[i].configuration.replicas == 1) {
			e->one += error;
			e->n_one++;
		} else {
			e->several += error;
			e->n_several++;
		}
	}
}

/* All choices of so many points at R = 1, and so many at R >= 2. */
struct choice {
	const char *name;
	int one, several;
};

static void choose(const struct choice *c, int *chosen, int n, int from, struct errors errors[2])
{
	int one = 0;

	for (int i = 0; i < n; i++)
		one += points[chosen[i]].configuration.replicas == 1;
	if (one > c->one || n - one > c->several)
		return;
	if (n == c->one + c->several) {
		predict(chosen, n, false, &errors[0]);
		predict(chosen, n, true, &errors[1]);
		return;
	}
	for (int i = from; i < n_points; i++) {
		chosen[n] = i;
		choose(c, chosen, n + 1, i + 1, errors);
	}
}

static void print_mean(double sum, int n)
{
	if (n > 0)
		printf(" %9.1f", 100 * sum / n);
	else
		printf(" %9s", "-");
}

static void print_choices(void)
{
	static const struct choice choices[] = {
		{ "one point, R = 1", 1, 0 }, { "two points, R = 1", 2, 0 },
		{ "three points, R = 1", 3, 0 }, { "one at R = 1, one at R = 2", 1, 1 },
		{ "two at R = 1, one at R = 2", 2, 1 },
	};

	printf("\nmean absolute error of step times not fitted, %%\n"
	       "%-28s %19s %19s\n%-28s %9s %9s %9s %9s\n",
	       "", "at R = 1", "at R >= 2", "fitted", "without", "with", "without", "with");
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		struct errors errors[2] = { { .one = 0 }, { .one = 0 } };
		int chosen[MAX_POINTS];

		choose(&choices[i], chosen, 0, 0, errors);
		printf("%-28s", choices[i].name);
		print_mean(errors[0].one, errors[0].n_one);
		print_mean(errors[1].one, errors[1].n_one);
		print_mean(errors[0].several, errors[0].n_several);
		print_mean(errors[1].several, errors[1].n_several);
		putchar('\n');
	}
}

static int in_the_middle(void)
{
	int one[MAX_POINTS] = { 0 }, n = 0;

	for (int i = 0; i < n_points; i++)
		if (points[i].configuration.replicas == 1)
			one[n++] = i;
	return one[n / 2];
}

static void print_points(void)
{
	int middle = in_the_middle();
	struct fit_result without = fit(&middle, 1, false), with = fit(&middle, 1, true);

	printf("\n%2s %6s %12s %10s %12s %12s\n", "R", "m", "measured ms", "sync us", "without %",
	       "with %");
	for (int i = 0; i < n_points; i++)
		printf("%2d %6lld %12.4f %10.1f %+12.1f %+12.1f%s\n",
		       points[i].configuration.replicas,
		       (long long)points[i].configuration.local_batch_size,
		       1e3 * points[i].step_time_s,
		       1e6 * points[i].sync_time_s,
		       100 * relative_error(&without, &points[i]),
		       100 * relative_error(&with, &points[i]), i == middle ? "  fitted" : "");
}

static int compare(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;

	if (x->configuration.replicas != y->configuration.replicas)
		return x->configuration.replicas - y->configuration.replicas;
	return x->configuration.local_batch_size < y->configuration.local_batch_size ? -1 : 1;
}

static int read_all(const char *kind, const char *workload, struct err *err)
{
	struct device_measurement_list measured;
	struct knowledge known = knowledge_of_nothing();
	double n_parameters;
	struct paths paths;
	struct store store;

	if (paths_init(&paths, err) || store_open(&store, &paths, STORE_READ, err) ||
	    store_device_measurements_get(&store, kind, &measured, err) ||
	    store_workload_get_parameters(&store, workload, &n_parameters, err) ||
	    knowledge_learn_missing(&store, workload, kind, &known, err))
		return -1;
	points = known.seen.items;
	n_points = known.seen.count;
	if (!prior_make(&measured, n_parameters, &prior))
		return err_set(err, EX_NOINPUT, "no measurements of '%s', or no parameters of '%s'",
			       kind, workload);
	printf("%s, %.0f parameters\nexpected: alpha_grad / beta_grad %.1f samples (spread %.1f), "
	       "alpha_sync_local %.1f us, beta_sync_local %.2f of it\n", kind, n_parameters,
	       prior.grad_ratio.value, prior.grad_ratio.spread, 1e6 * prior.sync_time.value,
	       prior.sync_growth.value);
	device_measurement_list_release(&measured);
	store_close(&store);
	paths_release(&paths);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };

	if (argc != 3) {
		fputs("usage: prior KIND WORKLOAD, with POLLUX_DIR; see prior.sh\n", stderr);
		return EX_USAGE;
	}
	if (read_all(argv[1], argv[2], &err)) {
		fprintf(stderr, "prior: %s\n", err.text);
		return err.exit_status;
	}
	if (n_points < 2 || n_points > MAX_POINTS) {
		fprintf(stderr, "prior: %d points measured\n", n_points);
		return 1;
	}
	qsort(points, (size_t)n_points, sizeof(*points), compare);
	print_points();
	print_choices();
	free(points);
	return 0;
}
