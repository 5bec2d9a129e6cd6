/* store_jobs.h - jobs in the store: what was asked for, and their states. */
#ifndef POLLUX_STORE_JOBS_H
#define POLLUX_STORE_JOBS_H

#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/store_dependencies.h"

struct job_list {
	struct job *items;	/* owned */
	int count;
};

/* Adds the job, its command and its dependencies as one transaction; job->id is set. A dependency
 * on a job that does not exist is EX_NOINPUT. */
int store_job_add(struct store *s, struct job *job, const struct job_command *command,
		  const struct dependency_list *after, struct err *err);
/* store_job_add inside the caller's transaction. */
int store_job_insert(struct store *s, struct job *job, const struct job_command *command,
		     const struct dependency_list *after, struct err *err);
int store_job_get(struct store *s, int64_t id, struct job *job, struct err *err); /* EX_NOINPUT */
int store_job_command_get(struct store *s, int64_t id, struct job_command *c, struct err *err);

/* The command line of a job, without its environment. */
struct job_line {
	struct strings argv;
	char *directory;		/* owned */
};
int store_job_line_get(struct store *s, int64_t id, struct job_line *line, struct err *err);
void job_line_release(struct job_line *line);

enum job_filter {
	JOBS_ALL,
	JOBS_ACTIVE,		/* not ended */
	JOBS_RECENT,		/* not ended, or ended since since_wall_s */
	/* queued or running, and no profile; without what is COLUMN_ASIDE (store_columns.h) */
	JOBS_SCHEDULABLE,
};

int store_jobs_list(struct store *s, enum job_filter filter, double since_wall_s,
		    struct job_list *list, struct err *err);
void job_list_release(struct job_list *list);
/* The device-seconds of service that the newest jobs which are done had, profiles not counted: at
 * most `most` of them. Returns their number, or -1. */
int store_ended_services(struct store *s, double *device_s, int most, struct err *err);
/* The time, on the boot clock, at which the queue has had the devices for as long as the last
 * interactive runs had them; -HUGE_VAL: there were no such runs in this boot. */
int store_interactive_rest(struct store *s, double *boot_s, struct err *err);
/* True if a job is queued or running, or a run has not ended: else a pass has nothing to do. */
int store_has_work(struct store *s, bool *has, struct err *err);
/* True if there are jobs that JOBS_SCHEDULABLE lists. */
int store_has_schedulable(struct store *s, bool *has, struct err *err);

/* Inside a transaction: writes what is declared of the job. */
int store_job_set_declared(struct store *s, const struct job *job, struct err *err);
/* Puts the job before all other waiting jobs, inside a transaction. A caller that puts n jobs first
 * passes the same rank for each, with *rank 0 for the first job: each job then comes right behind
 * the one before. The mark is removed when a run of the job starts. */
int store_job_put_first(struct store *s, int64_t id, int n, int *rank, struct err *err);
int store_job_set_state(struct store *s, int64_t id, enum job_state state, const char *reason,
			struct err *err);
/* The same for JOB_HELD, with the reason "HOW; 'pollux release ID' lets it go". */
int store_job_hold(struct store *s, int64_t id, const char *how, struct err *err);
/* Keeps for which other job a pass cancelled the job: cancelled_for of struct job. */
int store_job_set_cancelled_for(struct store *s, int64_t id, int64_t other, struct err *err);
/* Queues the job again with no failures counted. Its progress and its checkpoints stay. */
int store_job_requeue(struct store *s, int64_t id, struct err *err);
/* For a person who asks for another try: runs that have ended so far no longer count as setbacks,
 * nor as runs that saved nothing. */
int store_job_forgive(struct store *s, int64_t id, struct err *err);
/* Writes only if the store has something else. next_start_s: wall clock or NaN. */
int store_job_set_reason(struct store *s, int64_t id, const char *reason, double next_start_s,
			 struct err *err);

#endif
