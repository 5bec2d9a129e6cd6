/* status_details.c - reads everything about one job. */
#include <stdlib.h>
#include <string.h>

#include "pollux/engine.h"
#include "pollux/mem.h"
#include "pollux/status.h"
#include "pollux/store_groups.h"

/* Turns one row for each run and configuration into one row for each configuration. */
static void merge_runs(struct observation_list *list)
{
	int kept = 0, into;

	for (int i = 0; i < list->count; i++) {
		for (into = 0; into < kept; into++)
			if (configuration_equal(&list->items[into].configuration,
						&list->items[i].configuration))
				break;
		if (into == kept)
			list->items[kept++] = list->items[i];
		else
			observation_merge(&list->items[into], &list->items[i]);
	}
	list->count = kept;
}

static int compare_use(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;

	return (x->update_time_s > y->update_time_s) - (x->update_time_s < y->update_time_s);
}

static void copy_by_use(struct observation_list *copy, const struct observation_list *list)
{
	size_t n = (size_t)list->count;

	*copy = (struct observation_list){ .items = xcalloc(n, sizeof(*copy->items)),
					   .count = list->count };
	if (n)
		memcpy(copy->items, list->items, n * sizeof(*copy->items));
	qsort(copy->items, n, sizeof(*copy->items), compare_use);
}

/* Keeps only the jobs for which this job waits. */
static void keep_own(struct dependency_list *list, int64_t job_id)
{
	int kept = 0;

	for (int i = 0; i < list->count; i++)
		if (list->items[i].job_id == job_id)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

/* A repaired store may have lost the group. */
static int read_halving(struct session *s, const struct job *job, char **halving, struct err *err)
{
	struct job_group group;

	if (!job->group_id)
		return 0;
	if (store_group_get(&s->store, job->group_id, &group, err))
		return err->exit_status == EX_NOINPUT ? 0 : -1;
	*halving = group.halving;
	group.halving = NULL;
	job_group_release(&group);
	return 0;
}

/* Asks the manager of a cluster for the run that the job has. */
static void ask_manager(struct session *s, struct status_details *d)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };

	for (int i = 0; i < d->runs.count; i++) {
		const struct run *run = &d->runs.items[i];

		if (run->state != RUN_ENDED && engine_of(run)->describe)
			engine_of(run)->describe(&at, run, &d->manager);
	}
}

int status_details_read(struct session *s, const struct job *job, struct status_details *d,
			struct err *err)
{
	*d = (struct status_details){
		.log_path = paths_log(&s->paths, job->id), .manager = TEXT_INIT,
	};
	if (store_job_command_get(&s->store, job->id, &d->command, err) ||
	    store_runs_of_job(&s->store, job->id, &d->runs, err) ||
	    store_observations_of_job(&s->store, job->id, &d->observations, err) ||
	    store_events_of_job(&s->store, job->id, &d->events, err) ||
	    store_metrics_of_job(&s->store, job->id, &d->metrics, err) ||
	    store_dependencies_list(&s->store, &d->after, err) ||
	    read_halving(s, job, &d->halving, err)) {
		status_details_release(d);
		return -1;
	}
	copy_by_use(&d->of_runs, &d->observations);
	merge_runs(&d->observations);
	keep_own(&d->after, job->id);
	ask_manager(s, d);
	d->checkpoint_dir = d->command.checkpoint_dir ? xstrdup(d->command.checkpoint_dir)
						      : paths_checkpoints(&s->paths, job->id);
	return 0;
}

void status_details_release(struct status_details *d)
{
	job_command_release(&d->command);
	run_list_release(&d->runs);
	observation_list_release(&d->of_runs);
	observation_list_release(&d->observations);
	event_list_release(&d->events);
	job_metric_list_release(&d->metrics);
	dependency_list_release(&d->after);
	free(d->log_path);
	free(d->checkpoint_dir);
	free(d->halving);
	text_release(&d->manager);
	*d = (struct status_details){ 0 };
}
