/* store_groups.h - groups: jobs of one 'pollux submit' that differ by their parameters.
 *
 * A job of a group has job.group_id, job.group_index and job.parameters: "NAME=VALUE" strings in
 * the order of the command line. A NAME is letters, digits and '_', so it ends at the first '='; a
 * VALUE may have any bytes but NUL, '=' and newlines among them. A group goes with its last job. */
#ifndef POLLUX_STORE_GROUPS_H
#define POLLUX_STORE_GROUPS_H

#include "pollux/store_jobs.h"

struct job_group {
	int64_t id;
	/* owned; of --name, {NAME} not replaced; or as for a single job */
	char *name;
	double submit_time_s;		/* wall clock */
	int max_running;		/* of its jobs at a time; 0: as many as there are devices */
	char *halving;			/* owned; as halving_format writes it; NULL: none */
	/* owned; how its workload was split, in words (store_split.h); "": it may be; NULL: it has
	 * a name, and is not to be split */
	char *split;
	struct strings argv;		/* before parameters were put in */
	struct strings varied;		/* "NAME=HOW": what was varied, as it was asked for */
};

struct job_group_list {
	struct job_group *items;	/* by id */
	int count;
};

/* The jobs to add: make fills in number i (from 0) of n, but not what ties it to the group. Both
 * structs are empty (job_init) when make is called, and released after the job was added, also
 * where make fails. */
struct group_jobs {
	int n;
	int (*make)(void *arg, int i, struct job *job, struct job_command *command,
		    struct err *err);
	void *arg;
};

/* What was added: the numbers of the jobs follow each other. */
struct group_added {
	int64_t group_id, first_job_id, last_job_id;
};

/* Adds the group and its jobs, inside the caller's transaction. Each job has the dependencies of
 * after. */
int store_group_insert(struct store *s, const struct job_group *group,
		       const struct group_jobs *jobs, const struct dependency_list *after,
		       struct group_added *added, struct err *err);
/* EX_NOINPUT if there is no such group. */
int store_group_get(struct store *s, int64_t id, struct job_group *group, struct err *err);
/* Inside the caller's transaction. 0: as many as there are devices. */
int store_group_set_max_running(struct store *s, int64_t id, int max_running, struct err *err);
/* All groups; active: only those that have a job which has not ended. */
int store_groups_list(struct store *s, bool active, struct job_group_list *list, struct err *err);
/* The jobs of a group that are still in the store, by their index. */
int store_group_jobs(struct store *s, int64_t id, struct job_list *list, struct err *err);

/* The jobs of a group that are still in the store, and the extremes of each of their metrics. */
struct group_metric {
	char name[64];
	double lowest, highest;
	int64_t lowest_job, highest_job;
};

struct group_summary {
	int counts[N_JOB_STATES];
	int paused;			/* of the queued ones, at rungs */
	struct group_metric *metrics;	/* owned; by name */
	int n_metrics;
};

int store_group_summary(struct store *s, int64_t id, struct group_summary *summary,
			struct err *err);
void group_summary_release(struct group_summary *summary);

void job_group_release(struct job_group *group);
void job_group_list_release(struct job_group_list *list);

#endif
