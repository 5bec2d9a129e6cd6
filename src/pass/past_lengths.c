/* past_lengths.c - what the jobs of each workload that are done tell of the lengths of others. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "snapshot.h"

static int by_workload(const void *a, const void *b)
{
	const struct ended_job *x = a, *y = b;

	return (x->workload > y->workload) - (x->workload < y->workload);
}

int read_past_lengths(struct store *store, struct snapshot *s, struct err *err)
{
	struct ended_job *jobs = xcalloc(SNAPSHOT_ENDED, sizeof(*jobs));
	int n = store_ended_jobs(store, jobs, SNAPSHOT_ENDED, err);

	s->n_pasts = 0;
	if (n > 0)
		qsort(jobs, (size_t)n, sizeof(*jobs), by_workload);
	for (int i = 0; i < n; i++) {
		struct workload_past *past = &s->pasts[s->n_pasts];

		if (i > 0 && jobs[i].workload == jobs[i - 1].workload)
			past--;
		else
			s->pasts[s->n_pasts++] = (struct workload_past){
				.workload = jobs[i].workload,
			};
		siblings_add(&past->samples, jobs[i].samples);
		siblings_add(&past->service, jobs[i].device_s);
	}
	/* A sweep of a hundred alike jobs tells once how long jobs of other workloads may be. */
	for (int i = 0; i < s->n_pasts; i++) {
		struct workload_past *past = &s->pasts[i];

		s->ended_device_s[i] = exp(past->service.mean);
		past->fresh_samples = siblings_remaining(&past->samples, 0);
		past->fresh_device_s = siblings_remaining(&past->service, 0);
	}
	free(jobs);
	if (n < 0)
		return -1;
	return store_brief_service(store, s->now_wall_s - SCHED_BRIEF_SLICES * s->config->slice_s,
				   s->config->slice_s, SNAPSHOT_ENDED, &s->brief_device_s, err);
}

static int past_order(const void *key, const void *item)
{
	int64_t workload = *(const int64_t *)key;
	const struct workload_past *past = item;

	return (workload > past->workload) - (workload < past->workload);
}

const struct workload_past *past_of_workload(const struct snapshot *s, int64_t workload)
{
	static const struct workload_past nothing = {
		.fresh_samples = (double)NAN, .fresh_device_s = (double)NAN,
	};
	const struct workload_past *past = bsearch(&workload, s->pasts, (size_t)s->n_pasts,
						   sizeof(*s->pasts), past_order);

	return past ? past : &nothing;
}
