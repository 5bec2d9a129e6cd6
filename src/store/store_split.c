/* store_split.c - see store_groups.h. */
#include "pollux/store_groups.h"

#include <stdlib.h>

#include "pollux/mem.h"
#include "sql.h"

/* The newest entries of a group that are compared, each with each: up to 30 ms of a pass. */
#define ENTRIES_MAX 160

struct entries {
	struct split_entry *items;	/* owned */
	int count;
};

static void release_entries(struct entries *list)
{
	for (int i = 0; i < list->count; i++)
		strings_release(&list->items[i].parameters);
	free(list->items);
	*list = (struct entries){ .count = 0 };
}

static int add_job(struct store *s, const struct job *job, struct entries *list, struct err *err)
{
	struct observation_list seen;

	if (store_observations_of_job(s, job->id, &seen, err))
		return -1;
	for (int i = 0; i < seen.count && list->count < ENTRIES_MAX; i++) {
		struct split_entry *e;

		if (seen.items[i].n_windows < SPLIT_WINDOWS)
			continue;
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		e = &list->items[list->count++];
		*e = (struct split_entry){ .measured = seen.items[i] };
		for (size_t p = 0; p < job->parameters.count; p++)
			strings_add(&e->parameters, job->parameters.items[p]);
	}
	observation_list_release(&seen);
	return 0;
}

static int write_workload(struct store *s, const struct job *job, const char *parameter,
			  struct err *err)
{
	const char *value = job_parameter(job, parameter);
	char *workload = xasprintf("%s [%s=%s]", job->declared.workload, parameter,
				   value ? value : "");
	int rc = sql_run(s, NULL, err, "UPDATE jobs SET workload = ? WHERE id = ?", "ti", workload,
			 job->id);

	free(workload);
	return rc;
}

/* A pass and the end of a run may look at the same time: the second one finds it split. */
static int write_split(struct store *s, int64_t group_id, const struct job_list *jobs,
		       const struct split *split, struct err *err)
{
	int changed = 0, rc;

	if (store_begin(s, err))
		return -1;
	rc = sql_run(s, &changed, err, "UPDATE job_groups SET split = ?"
		     " WHERE id = ? AND split = ''", "ti", split->text.data, group_id);
	for (int i = 0; rc == 0 && changed == 1 && i < jobs->count; i++)
		rc = write_workload(s, &jobs->items[i], split->parameter, err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return -1;
}

static int split_group(struct store *s, int64_t group_id, struct err *err)
{
	struct entries entries = { .count = 0 };
	struct job_list jobs;
	struct split split;
	int rc = store_group_jobs(s, group_id, &jobs, err);

	for (int i = jobs.count - 1; rc == 0 && i >= 0; i--)
		rc = add_job(s, &jobs.items[i], &entries, err);
	if (rc == 0 && split_find(entries.items, entries.count, &split)) {
		rc = write_split(s, group_id, &jobs, &split, err);
		split_release(&split);
	}
	release_entries(&entries);
	job_list_release(&jobs);
	return rc;
}

int store_split_groups(struct store *s, struct err *err)
{
	struct job_group_list groups;
	int rc = store_groups_list(s, true, &groups, err);

	for (int i = 0; rc == 0 && i < groups.count; i++)
		if (groups.items[i].split && !*groups.items[i].split)
			rc = split_group(s, groups.items[i].id, err);
	job_group_list_release(&groups);
	return rc;
}
