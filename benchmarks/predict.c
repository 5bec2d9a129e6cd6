/* predict.c - how well a fit of few placements predicts the others.
 *
 * For each of the six published applications, and for each placement on two nodes: fitted is what
 * was published of all placements on one node and of that one, and predicted is the step time of
 * all other placements, in per cent of the published one. The mean over the ten choices of the mean
 * absolute percentage error, for pollux and for the published fit (by scipy; its parameters are in
 * tests/reference/fit_two_nodes.csv). Skipped, with exit status 0, where the profiles are not. */
#include "published.h"

struct case_errors {
	double pollux, published;	/* sums of mean absolute percentage errors */
	int n;
};

static double mape(const struct throughput_params *p, const struct published *all, const char *pair)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < all->n; i++) {
		const struct observation *o = &all->row[i];

		if (o->configuration.nodes == 1 || strcmp(all->placement[i], pair) == 0)
			continue;
		sum += fabs(throughput_step_time(p, configuration_place(&o->configuration),
						 (double)o->configuration.local_batch_size, 1) /
			    o->step_time_s - 1);
		n++;
	}
	return 100 * sum / n;
}

static struct fit_result fit_few(const struct published *all, const char *pair)
{
	static struct observation seen[PUBLISHED_MAX];
	int n = 0;

	for (int i = 0; i < all->n; i++)
		if (all->row[i].configuration.nodes == 1 || strcmp(all->placement[i], pair) == 0)
			seen[n++] = all->row[i];
	return fit_throughput(seen, n, &FIT_OPTIONS_DEFAULT);
}

static void one_case(const struct published_line *line, struct published *all,
		     struct case_errors *errors)
{
	const char *pair = line->word;
	struct throughput_params p = { .ln_tier = { 0 } };

	memcpy(&p, line->number, N_THROUGHPUT_PARAMS * sizeof(double));
	if (errors->n == 0)
		published_read(published_applications[line->application], all);

	struct fit_result fit = fit_few(all, pair);

	errors->pollux += mape(&fit.params, all, pair);
	errors->published += mape(&p, all, pair);
	errors->n++;
}

int main(void)
{
	static struct published all;
	struct case_errors errors[PUBLISHED_APPLICATIONS] = { 0 };
	struct published_line line;
	double pollux = 0, published = 0;
	FILE *f = published_reference("fit_two_nodes.csv");

	if (!f || !published_read("bert", &all)) {
		puts("# SKIP: the published profiles are not here; "
		     "POLLUX_DATA says where they are");
		if (f)
			fclose(f);
		return 0;
	}
	while (published_line_read(f, &line))
		one_case(&line, &all, &errors[line.application]);
	fclose(f);
	printf("%-12s %10s %10s\n", "APPLICATION", "POLLUX %", "PUBLISHED %");
	for (int a = 0; a < PUBLISHED_APPLICATIONS; a++) {
		pollux += errors[a].pollux / errors[a].n / PUBLISHED_APPLICATIONS;
		published += errors[a].published / errors[a].n / PUBLISHED_APPLICATIONS;
		printf("%-12s %10.2f %10.2f\n", published_applications[a],
		       errors[a].pollux / errors[a].n, errors[a].published / errors[a].n);
	}
	printf("%-12s %10.2f %10.2f\n", "mean", pollux, published);
	return 0;
}
