/* history.c - reads the jobs of the store, and how they ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

/* --- the machine, as the last pass saw it --- */

static int read_machine(struct session *s, struct history *h, struct err *err)
{
	struct device_list list;

	if (session_settings(s, &h->config, err))
		return -1;
	h->policy = policy_find(h->config.policy);
	if (!h->policy)
		return err_set(err, EX_CONFIG, "no policy '%.60s'", h->config.policy);
	if (engine_devices(&h->config, false, &list, err))
		return -1;
	for (int i = 0; i < list.count; i++)
		if (list.items[i].usable && h->n_devices++ == 0)
			snprintf(h->device_kind, sizeof(h->device_kind), "%s", list.items[i].kind);
	devices_release(&list);
	if (h->n_devices == 0)
		return err_set(err, EX_UNAVAILABLE, "no device can be used here, so there is "
			       "nothing to compare with: see 'pollux devices'");
	return 0;
}

/* --- workloads --- */

struct knowledge *history_knowledge_of(const struct history *h, const struct job *job)
{
	char *name = job_knowledge_name(job, NULL);
	struct knowledge *found = NULL;

	for (int i = 0; i < h->n_workloads && !found; i++)
		if (strcmp(h->workloads[i].name, name) == 0)
			found = &h->workloads[i].knowledge;
	free(name);
	return found;
}

static int read_workloads(struct session *s, struct history *h, struct err *err)
{
	h->workloads = xcalloc((size_t)h->list.count, sizeof(*h->workloads));
	for (int i = 0; i < h->list.count; i++) {
		const struct job *job = &h->list.items[i];
		struct history_workload *w = &h->workloads[h->n_workloads];

		if (history_knowledge_of(h, job))
			continue;
		w->name = job_knowledge_name(job, NULL);
		if (knowledge_load(&s->store, w->name, h->device_kind, &w->knowledge, err)) {
			free(w->name);
			return -1;
		}
		w->knowledge.min_efficiency = h->config.min_efficiency;
		h->n_workloads++;
		if (knowledge_learn_missing(&s->store, w->name, h->device_kind, &w->knowledge,
					    err))
			return -1;
	}
	return 0;
}

/* --- jobs --- */

static int by_submission(const void *a, const void *b)
{
	const struct job *x = *(const struct job *const *)a, *y = *(const struct job *const *)b;

	if (x->submit_time_s < y->submit_time_s || x->submit_time_s > y->submit_time_s)
		return x->submit_time_s < y->submit_time_s ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int make_jobs(struct session *s, double since_s, struct history *h,
		     const struct job *const *order, struct err *err)
{
	size_t n = (size_t)h->list.count;

	h->jobs = xcalloc(n, sizeof(*h->jobs));
	h->source = xcalloc(n, sizeof(const struct job *));
	for (size_t i = 0; i < n; i++) {
		enum history_basis basis;

		if (order[i]->profile || order[i]->submit_time_s < since_s)
			continue;
		if (history_job(s, h, order[i], &h->jobs[h->n], &basis, err))
			return -1;
		h->count[basis]++;
		if (basis > HISTORY_TIME)
			continue;
		h->source[h->n++] = order[i];
		h->n_active += order[i]->state != JOB_DONE;
	}
	return 0;
}

static int index_of(const struct history *h, int64_t job_id)
{
	for (int i = 0; i < h->n; i++)
		if (h->source[i]->id == job_id)
			return i;
	return -1;
}

/* --- what it was --- */

static void set_was(struct history *h)
{
	h->was = xcalloc((size_t)h->n, sizeof(*h->was));
	for (int i = 0; i < h->n; i++) {
		const struct job *job = h->source[i];

		if (job->state != JOB_DONE)
			continue;
		h->was[h->n_done++] = (struct sim_job_result){
			.submit_s = job->submit_time_s, .start_s = job->start_time_s,
			.finish_s = job->end_time_s,
			.restarts = job->progress.runs > 1 ? job->progress.runs - 1 : 0,
			.gpu_hours = job->progress.attained_service_device_s / 3600,
			.fairness = (double)NAN,
		};
	}
	h->figures = sim_figures_of(h->was, h->n_done, h->n_done ? h->was[0].submit_s : 0);
}

static int read_all(struct session *s, double since_s, struct history *h, struct err *err)
{
	const struct job **order;
	int rc;

	if (store_jobs_list(&s->store, JOBS_ALL, 0, &h->list, err))
		return -1;
	if (h->list.count == 0)
		return err_set(err, EX_NOINPUT, "the store in '%s' has no jobs yet", s->paths.dir);
	if (store_dependencies_all(&s->store, &h->dependencies, err) || read_workloads(s, h, err))
		return -1;
	order = xcalloc((size_t)h->list.count, sizeof(const struct job *));
	for (int i = 0; i < h->list.count; i++)
		order[i] = &h->list.items[i];
	qsort(order, (size_t)h->list.count, sizeof(const struct job *), by_submission);
	rc = make_jobs(s, since_s, h, order, err);
	free(order);
	if (rc)
		return -1;
	/* A job that is not simulated, and after which others start, ends when it really ended. */
	for (int d = 0; d < h->dependencies.count; d++) {
		const struct dependency *dependency = &h->dependencies.items[d];
		int i = index_of(h, dependency->job_id), after = index_of(h, dependency->after_id);
		struct replay_job *job = i < 0 ? NULL : &h->jobs[i];

		if (!job)
			continue;
		if (after < 0) {
			job->release_s = fmax(job->release_s, dependency->after_end_time_s);
			continue;
		}
		job->after =
			xreallocarray(job->after, (size_t)job->n_after + 1, sizeof(*job->after));
		job->after[job->n_after++] = after;
	}
	set_was(h);
	if (h->n_done == 0)
		return err_set(err, EX_NOINPUT, "no job of the store in '%s' is done that could be "
			       "simulated on %d device%s", s->paths.dir, h->n_simulated_devices,
			       plural(h->n_simulated_devices));
	return 0;
}

int history_read(struct session *s, double last_s, int devices, double slice_s, struct history *h,
		 struct err *err)
{
	*h = (struct history){ .n = 0 };
	if (read_machine(s, h, err) == 0) {
		h->n_simulated_devices = devices > 0 ? devices : h->n_devices;
		h->simulated_slice_s = slice_s > 0 ? slice_s : h->config.slice_s;
		if (read_all(s, last_s > 0 ? clock_wall_s() - last_s : 0, h, err) == 0)
			return 0;
	}
	history_release(h);
	return -1;
}

void history_release(struct history *h)
{
	for (int i = 0; i < h->n_workloads; i++) {
		free(h->workloads[i].name);
		knowledge_release(&h->workloads[i].knowledge);
	}
	free(h->workloads);
	for (int i = 0; i < h->n; i++)
		replay_job_release(&h->jobs[i]);
	free(h->jobs);
	free(h->source);
	free(h->was);
	dependency_list_release(&h->dependencies);
	job_list_release(&h->list);
	*h = (struct history){ .n = 0 };
}

/* --- simulates the history under each policy --- */

static int simulate_one(const struct history *h, const struct sim_options *options,
			struct history_result *result, struct err *err)
{
	struct sim_job_result *results = xcalloc((size_t)h->n, sizeof(*results));
	int rc = replay(options, h->jobs, h->n, results, err);

	*result = (struct history_result){ .policy = options->policy,
					   .n_devices = options->gpus_per_node };
	if (rc == 0) {
		int n = 0;

		for (int i = 0; i < h->n; i++)
			if (h->source[i]->state == JOB_DONE)
				results[n++] = results[i];
		result->figures = sim_figures_of(results, n, n ? results[0].submit_s : 0);
		result->median_error = replay_median_error(results, h->was, h->n_done);
	}
	free(results);
	return rc;
}

int history_simulate(const struct history *h, const struct policy *const *wanted, int n_wanted,
		     double interval_s, struct history_report *report, struct err *err)
{
	struct sim_options options = {
		.policy = h->policy, .nodes = 1, .gpus_per_node = h->n_devices,
		.interval_s = interval_s, .slice_s = h->config.slice_s,
		.events = h->config.submit_pass,
	};

	*report = (struct history_report){
		.history = h, .interval_s = interval_s,
		.results = xcalloc((size_t)n_wanted, sizeof(*report->results)),
	};
	if (simulate_one(h, &options, &report->check, err))
		return -1;
	options.gpus_per_node = h->n_simulated_devices;
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
