/* simulate.c - what a simulation costs, against jobs and against GPUs.
 *
 * Made-up workloads (simulate.h) at one load: 160 jobs in 8 hours for each 64 GPUs. First more
 * jobs, over a longer time, on 64 GPUs; then more jobs at a time, on more GPUs. Each under
 * tiresias, which does next to nothing and so shows what the simulation itself takes, and under
 * pollux and goodput. Shown are the seconds of processor time, how many times those of the smallest
 * size, and how many times those of tiresias. */
#include <stdio.h>
#include <stdlib.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "timing.h"

#define SIZES 4

static const char *const names[] = { "tiresias", "pollux", "goodput" };
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static char directory[] = "/tmp/pollux-bench.XXXXXX";

static void check(int rc, const struct err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "simulate: %s\n", err->text);
	exit(1);
}

static double simulate_once(const char *policy, int nodes, const struct sim_profiles *p,
			    const struct sim_workload *w)
{
	struct sim_options o = SIM_OPTIONS_DEFAULT;
	double start_s = cpu_s();
	struct sim_result r;
	struct err err = { 0 };

	o.policy = policy_find(policy);
	o.nodes = nodes;
	sim_options_set_knowledge(&o, o.policy);
	check(simulate(&o, p, w, NULL, &r, &err), &err);
	sim_result_release(&r);
	return cpu_s() - start_s;
}

/* Seconds of each policy at one size. */
static void measure(int n_jobs, double span_s, int nodes, double *seconds)
{
	struct sim_generation g = { .n_jobs = n_jobs, .n_workloads = 1, .seconds = span_s,
				    .seed = 1 };
	char *made = xasprintf("%s/made", directory), *profiles = xasprintf("%s/profiles", made);
	char *workload = xasprintf("%s/workloads/workload-1.csv", made);
	struct sim_profiles p;
	struct sim_workload w;
	struct err err = { 0 };

	check(sim_generate(made, &g, &err), &err);
	check(sim_profiles_read(&p, profiles, NULL, 0, &err), &err);
	check(sim_workload_read(&w, workload, &p, &err), &err);
	for (size_t i = 0; i < N_NAMES; i++)
		seconds[i] = simulate_once(names[i], nodes, &p, &w);
	sim_workload_release(&w);
	sim_profiles_release(&p);
	remove_tree(made);
	free(workload);
	free(profiles);
	free(made);
}

static void series(const char *what, const int *factors, bool wider)
{
	double first[N_NAMES] = { 0 }, seconds[N_NAMES];

	printf("%-8s %6s %6s", what, "JOBS", "GPUS");
	for (size_t i = 0; i < N_NAMES; i++)
		printf("  %8s %7s%s", names[i], "TIMES", i ? " /TIRESIAS" : "");
	printf("\n");
	for (int k = 0; k < SIZES; k++) {
		int n_jobs = 160 * factors[k], nodes = wider ? 16 * factors[k] : 16;

		measure(n_jobs, wider ? 28800 : 28800.0 * factors[k], nodes, seconds);
		printf("%-8s %6d %6d", "", n_jobs, 4 * nodes);
		for (size_t i = 0; i < N_NAMES; i++) {
			if (k == 0)
				first[i] = seconds[i];
			printf("  %7.3fs %7.1f", seconds[i], seconds[i] / first[i]);
			if (i)
				printf(" %9.1f", seconds[i] / seconds[0]);
		}
		printf("\n");
		fflush(stdout);
	}
}

int main(void)
{
	static const int longer[SIZES] = { 1, 4, 16, 64 }, wider[SIZES] = { 1, 2, 4, 16 };

	if (!mkdtemp(directory)) {
		perror("simulate: mkdtemp");
		return 1;
	}
	series("longer", longer, false);
	series("wider", wider, true);
	remove_tree(directory);
	return 0;
}
