/* history_run.c - simulates the history under each policy. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/simulations.h"

/* Removes from the results, in place, those of jobs that are not done. */
static void keep_done(const struct history *h, struct sim_job_result *results)
{
	int n = 0;

	for (int i = 0; i < h->n; i++)
		if (h->source[i]->state == JOB_DONE)
			results[n++] = results[i];
}

static int simulate_one(const struct history *h, const struct replay_options *options,
			struct history_result *result, struct err *err)
{
	struct sim_job_result *results = xcalloc((size_t)h->n, sizeof(*results));
	int rc = replay(options, h->jobs, h->n, results, err);

	*result = (struct history_result){ .policy = options->policy,
					   .n_devices = options->n_devices };
	if (rc == 0) {
		keep_done(h, results);
		replay_figures(results, h->n_done, &result->figures);
		result->median_error = replay_median_error(results, h->was, h->n_done);
	}
	free(results);
	return rc;
}

int history_simulate(const struct history *h, const struct policy *const *wanted, int n_wanted,
		     double interval_s, struct history_report *report, struct err *err)
{
	struct replay_options options = {
		.policy = h->policy, .n_devices = h->n_devices, .interval_s = interval_s,
		.slice_s = h->config.slice_s, .submission_passes = h->config.submit_pass,
	};

	*report = (struct history_report){
		.history = h, .interval_s = interval_s,
		.results = xcalloc((size_t)n_wanted, sizeof(*report->results)),
	};
	if (simulate_one(h, &options, &report->check, err))
		return -1;
	options.n_devices = h->n_simulated_devices;
	options.slice_s = h->simulated_slice_s;
	for (int i = 0; i < n_wanted; i++) {
		options.policy = wanted[i];
		if (simulate_one(h, &options, &report->results[i], err))
			return -1;
		report->n_results++;
	}
	return 0;
}

void history_report_release(struct history_report *report)
{
	free(report->results);
	*report = (struct history_report){ .history = NULL };
}
