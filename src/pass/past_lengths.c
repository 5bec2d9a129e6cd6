/* past_lengths.c - what the jobs that are done tell of the lengths of others. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/text.h"
#include "snapshot.h"

static int by_workload(const void *a, const void *b)
{
	const struct ended_job *x = a, *y = b;

	return (x->workload > y->workload) - (x->workload < y->workload);
}

static int by_family(const void *a, const void *b)
{
	const struct ended_job *x = a, *y = b;

	return (x->family > y->family) - (x->family < y->family);
}

/* Sorts the jobs in this order, and adds up those of one key. */
static void gather(struct past_list *list, struct ended_job *jobs, int n,
		   int (*order)(const void *, const void *), double apart)
{
	list->n = 0;
	if (n > 0)
		qsort(jobs, (size_t)n, sizeof(*jobs), order);
	for (int i = 0; i < n; i++) {
		struct past *past = &list->items[list->n];

		if (i > 0 && order(&jobs[i], &jobs[i - 1]) == 0)
			past--;
		else
			list->items[list->n++] = (struct past){
				.key = order == by_family ? jobs[i].family : jobs[i].workload,
				.samples.apart = apart, .service.apart = apart,
			};
		siblings_add(&past->samples, jobs[i].samples);
		siblings_add(&past->service, jobs[i].device_s);
	}
	for (int i = 0; i < list->n; i++) {
		struct past *past = &list->items[i];

		past->fresh_samples = siblings_remaining(&past->samples, 0);
		past->fresh_device_s = siblings_remaining(&past->service, 0);
	}
}

static int past_order(const void *key, const void *item)
{
	int64_t wanted = *(const int64_t *)key;
	const struct past *past = item;

	return (wanted > past->key) - (wanted < past->key);
}

static const struct past *past_of(const struct past_list *list, int64_t key)
{
	return bsearch(&key, list->items, (size_t)list->n, sizeof(*list->items), past_order);
}

static const struct past *past_of_workload(const struct snapshot *s, const struct job *job)
{
	return past_of(&s->workload_pasts, text_number(job->declared.workload));
}

/* Of the jobs whose workload tells nothing. */
static int read_families(struct store *store, struct snapshot *s, struct err *err)
{
	int rc = 0;

	s->families = xcalloc((size_t)s->jobs.count, sizeof(*s->families));
	for (int i = 0; rc == 0 && s->family_pasts.n > 0 && i < s->jobs.count; i++)
		if (!past_of_workload(s, &s->jobs.items[i]))
			rc = store_job_family(store, s->jobs.items[i].id, &s->families[i], err);
	return rc;
}

int read_past_lengths(struct store *store, struct snapshot *s, struct err *err)
{
	struct ended_job *jobs = xcalloc(SNAPSHOT_ENDED, sizeof(*jobs));
	int n = store_ended_jobs(store, jobs, SNAPSHOT_ENDED, err);

	gather(&s->family_pasts, jobs, n, by_family, SIBLINGS_APART);
	gather(&s->workload_pasts, jobs, n, by_workload, 0);
	/* A sweep of a hundred alike jobs tells once how long jobs of other workloads may be. */
	for (int i = 0; i < s->workload_pasts.n; i++)
		s->ended_device_s[i] = exp(s->workload_pasts.items[i].service.mean);
	free(jobs);
	if (n < 0 || read_families(store, s, err))
		return -1;
	return store_brief_service(store, s->now_wall_s - SCHED_BRIEF_SLICES * s->config->slice_s,
				   s->config->slice_s, SNAPSHOT_ENDED, &s->brief_device_s, err);
}

const struct past *past_of_job(const struct snapshot *s, const struct job *job)
{
	static const struct past nothing = {
		.fresh_samples = (double)NAN, .fresh_device_s = (double)NAN,
	};
	const struct past *past = past_of_workload(s, job);
	int64_t family = s->families ? s->families[job - s->jobs.items] : 0;

	if (!past && family)
		past = past_of(&s->family_pasts, family);
	return past ? past : &nothing;
}
