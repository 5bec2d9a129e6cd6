/* share_read.c - reads what is known of jobs that may share a device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decision.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"

#define WORKLOADS_MAX 64	/* of jobs that may share, in one pass; further ones take turns */

int share_workload(const struct snapshot *s, const char *workload)
{
	for (size_t w = 0; w < s->share.workloads.count; w++)
		if (!strcmp(s->share.workloads.items[w], workload))
			return (int)w;
	return -1;
}

/* Running jobs come first: each other job is to be paired with a running one. */
static void name_workloads(struct snapshot *s)
{
	for (int running = 1; running >= 0; running--)
		for (int i = 0; i < s->jobs.count; i++) {
			const struct job *job = &s->jobs.items[i];

			if (job->declared.share && (job->state == JOB_RUNNING) == running &&
			    s->share.workloads.count < WORKLOADS_MAX &&
			    share_workload(s, job->declared.workload) < 0)
				strings_add(&s->share.workloads, job->declared.workload);
		}
}

static const char *workload_of(const struct snapshot *s, const struct run *run)
{
	for (int i = 0; i < s->jobs.count; i++)
		if (s->jobs.items[i].id == run->job_id)
			return s->jobs.items[i].declared.workload;
	return NULL;
}

static int read_run(struct store *store, struct snapshot *s, int r, struct err *err)
{
	const struct run *run = &s->runs.items[r];
	const char *workload = workload_of(s, run);
	size_t n = s->share.workloads.count;

	if (run->configuration.share == 0 || run_held(run) == 0 || !workload)
		return 0;
	for (size_t w = 0; w < n; w++) {
		const char *other = s->share.workloads.items[w], *kind = run->devices[0].kind;
		size_t at = (size_t)r * n + w;

		if (store_share_factor(store, workload, other, kind, &s->share.of_runs[at], err) ||
		    store_share_factor(store, other, workload, kind, &s->share.of_others[at], err))
			return -1;
	}
	return store_share_windows_alone(store, workload, run->devices[0].kind, &s->share.alone[r],
					 err);
}

static int read_needs(struct store *store, struct snapshot *s, struct err *err)
{
	bool own = s->devices.count > 0 && s->devices.items[0].memory_bytes > 0;

	for (size_t w = 0; w < s->share.workloads.count; w++) {
		const char *workload = s->share.workloads.items[w];
		int64_t bytes;

		if (own ? store_device_memory(store, workload, &bytes, err)
			: store_share_memory(store, workload, &bytes, err))
			return -1;
		s->share.need_bytes[w] = bytes > 0 ? (double)bytes : (double)NAN;
	}
	return 0;
}

int read_share(struct store *store, struct snapshot *s, struct err *err)
{
	size_t n, n_runs = (size_t)s->runs.count;

	name_workloads(s);
	n = s->share.workloads.count;
	if (n == 0)
		return 0;
	s->share.need_bytes = xcalloc(n, sizeof(*s->share.need_bytes));
	s->share.of_runs = xcalloc(n * n_runs + 1, sizeof(*s->share.of_runs));
	s->share.of_others = xcalloc(n * n_runs + 1, sizeof(*s->share.of_others));
	s->share.alone = xcalloc(n_runs + 1, sizeof(*s->share.alone));
	for (int r = 0; r < s->runs.count; r++)
		if (read_run(store, s, r, err))
			return -1;
	return read_needs(store, s, err);
}

void forget_share(struct snapshot *s)
{
	strings_release(&s->share.workloads);
	free(s->share.need_bytes);
	free(s->share.of_runs);
	free(s->share.of_others);
	free(s->share.alone);
	s->share = (struct share_facts){ 0 };
}
