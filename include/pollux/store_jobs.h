/* store_jobs.h - jobs in the store: what was asked for, their states, which of them, what waits
 * for what, and what is forgotten. */
#ifndef POLLUX_STORE_JOBS_H
#define POLLUX_STORE_JOBS_H

#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/text.h"

/* --- the jobs that a person means, found by what is known of them --- */

/* What a command does to jobs, and so which jobs it can act on. */
enum job_use {
	USE_ANY, USE_CANCEL, USE_HOLD, USE_RELEASE, USE_REQUEUE, USE_EDIT, USE_FIRST, USE_CLEAR,
};
#define N_JOB_USES (USE_CLEAR + 1)

/* The conditions that a job must meet, all of them. An initialiser of zeros, with since_wall_s NaN,
 * means all jobs. Names and workloads are compared as a whole, or as a glob of SQLite: *, ?, [a-z],
 * [^a]. */
struct job_query {
	int64_t first_id, last_id;	/* 0: no bound */
	int64_t group_id;		/* 0: any */
	bool newest;			/* the job that was submitted last, of all */
	const char *called;		/* its name; NULL: any */
	const char *states;		/* names with a comma before and after each; NULL: any */
	const char *name, *workload;	/* NULL: any */
	double since_wall_s;		/* submitted or ended since then; NaN: at any time */
	enum job_use use;
};

struct id_list {
	int64_t *items;			/* owned */
	int count;
};

/* Ids in ascending order; the caller releases the list, also after an error. A store that does not
 * exist yet (s->db NULL) has no jobs. */
int store_jobs_select(struct store *s, const struct job_query *query, struct id_list *ids,
		      struct err *err);
void id_list_add(struct id_list *ids, int64_t id);
void id_list_release(struct id_list *ids);
/* *id: the job among these whose command was started last; 0: none of them ever ran. or_starts: a
 * job that was just submitted, or is about to start, counts as started. */
int store_job_ran_last(struct store *s, const struct id_list *ids, bool or_starts, int64_t *id,
		       struct err *err);

/* --- which jobs wait for which, and for what --- */

/* The event in another job that a job waits for. */
enum after_rule {
	AFTER_END,		/* it has ended, in whatever way */
	AFTER_OK,		/* it is done */
	AFTER_NOT_OK,		/* it has ended and is not done */
	AFTER_ANY,		/* one of all the jobs that have this rule has ended */
};
#define N_AFTER_RULES (AFTER_ANY + 1)

extern const char *const after_rule_names[N_AFTER_RULES];	/* "end", "ok", "notok", "any" */

struct dependency {
	/* after_id is 0 where a dependency that is to be added names a group; the store then has
	 * one dependency for each job that the group has at that time. */
	int64_t job_id, after_id, after_group_id;
	enum after_rule rule;
	enum job_state after_state;	/* filled when read, as are the next */
	bool after_set_aside;		/* as job_state_clause() has it */
	double after_end_time_s;	/* wall clock; NaN: has not ended */
};

struct dependency_list {
	struct dependency *items;	/* owned */
	int count;
};

/* The dependencies of waiting jobs in the order of the jobs, each with the state of the job that is
 * waited for. */
int store_dependencies_list(struct store *s, struct dependency_list *list, struct err *err);
/* The dependencies of all jobs, including those that ended. */
int store_dependencies_all(struct store *s, struct dependency_list *list, struct err *err);
void dependency_list_release(struct dependency_list *list);

/* The jobs that passes cancelled because of the way in which this job ended, and those that they
 * cancelled because of these, in ascending order. The caller releases the list, also after an
 * error. */
int store_dependents_cancelled(struct store *s, int64_t id, struct id_list *ids, struct err *err);
/* EX_FAILED if one of these jobs, which were queued again, waits for itself through others. */
int store_dependencies_check(struct store *s, const struct id_list *ids, struct err *err);

/* Replaces, inside a transaction, the list of jobs that this job waits for. EX_FAILED if the job
 * would wait for itself, directly or through others. */
int store_job_set_dependencies(struct store *s, int64_t id, const struct dependency_list *after,
			       struct err *err);

/* --- jobs in the store: what was asked for, and their states --- */

struct job_list {
	struct job *items;	/* owned */
	int count;
};

/* Adds the job, its command and its dependencies inside the caller's transaction; job->id is set.
 * A dependency on a job that does not exist is EX_NOINPUT. */
int store_job_insert(struct store *s, struct job *job, const struct job_command *command,
		     const struct dependency_list *after, struct err *err);
int store_job_get(struct store *s, int64_t id, struct job *job, struct err *err); /* EX_NOINPUT */

/* The newest job with this key that waits, runs or is done. */
struct keyed_job {
	int64_t id;			/* 0: there is none */
	int64_t group_id;
	enum job_state state;
	bool set_aside;			/* as job_state_clause() has it */
};
/* A key of NULL has no job. */
int store_job_by_key(struct store *s, const char *key, struct keyed_job *job, struct err *err);
/* *is: as job_state_clause() has it. */
int store_job_is_set_aside(struct store *s, int64_t id, bool *is, struct err *err);
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
	JOBS_SHOWN,		/* of these, those that nobody cleared */
	/* queued or running, and no profile; without what is COLUMN_ASIDE (store_columns.h) */
	JOBS_SCHEDULABLE,
};

int store_jobs_list(struct store *s, enum job_filter filter, double since_wall_s,
		    struct job_list *list, struct err *err);
/* The jobs with these ids, in this order. EX_NOINPUT: one of them is not there. */
int store_jobs_get(struct store *s, const int64_t *ids, int n, struct job_list *list,
		   struct err *err);
void job_list_release(struct job_list *list);

/* A job that is done. */
struct ended_job {
	int64_t workload;	/* text_number() of its name */
	int64_t family;		/* job_family() */
	double device_s;	/* service */
	double samples;		/* that it trained on; NaN: not known */
};
/* The newest jobs that are done, profiles not counted: at most `most` of them. Returns their
 * number, or -1. */
int store_ended_jobs(struct store *s, struct ended_job *list, int most, struct err *err);
/* *family: job_family() of the job. */
int store_job_family(struct store *s, int64_t id, int64_t *family, struct err *err);
/* The device-seconds of the jobs that ended after a time and had at most slice_s of service on the
 * devices that they asked for, or a time limit of at most that; among the `most` newest that have
 * ended. */
int store_brief_service(struct store *s, double since_wall_s, double slice_s, int most,
			double *device_s, struct err *err);
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
#define HELD_REASON "%s; 'pollux release %lld' lets it go"
int store_job_hold(struct store *s, int64_t id, const char *how, struct err *err);
/* Keeps for which other job a pass cancelled the job: cancelled_for of struct job. */
int store_job_set_cancelled_for(struct store *s, int64_t id, int64_t other, struct err *err);
/* Queues the job again with no failures counted. Its progress and its checkpoints stay. */
int store_job_requeue(struct store *s, int64_t id, struct err *err);
/* Puts an ended job out of sight, until it is queued again. */
int store_job_clear(struct store *s, int64_t id, struct err *err);
/* For a person who asks for another try: runs that have ended so far no longer count as setbacks,
 * nor as runs that saved nothing. */
int store_job_forgive(struct store *s, int64_t id, struct err *err);
/* Writes only if the store has something else. next_start_s: wall clock or NaN. */
int store_job_set_reason(struct store *s, int64_t id, const char *reason, double next_start_s,
			 struct err *err);

/* --- the directories for checkpoints that jobs have declared --- */

struct job_directory {
	int64_t job_id;
	char *path, *glob;		/* owned; glob: of --checkpoint-glob, NULL: none */
	enum job_state state;
	bool set_aside;			/* as job_state_clause() has it */
};

struct job_directory_list {
	struct job_directory *items;	/* by job_id */
	int count;
};

/* Those of jobs that are queued, and those of all jobs that have not ended. */
int store_checkpoint_dirs(struct store *s, struct job_directory_list *list, struct err *err);
int store_checkpoint_dirs_in_use(struct store *s, struct job_directory_list *list,
				 struct err *err);
void job_directory_list_release(struct job_directory_list *list);

/* The jobs that never run while this one runs, because one of the two waits for the other, directly
 * or through others. Ascending; the caller releases the list. */
int store_jobs_in_turn_with(struct store *s, int64_t id, struct id_list *ids, struct err *err);

/* --- jobs that have ended, and whose end nobody was told of yet --- */

/* *left: whether the end of a job is left to be told. all: of any job, else only of jobs that have
 * a command of their own (on_end). All other ends, and those of profiles, count as told from here
 * on; the store is written only if there are any. */
int store_ends_left(struct store *s, bool all, bool *left, struct err *err);

/* Takes the end of the job with the least number: it counts as told from here on, whatever becomes
 * of the caller. *id is 0 where no end is left. */
int store_ends_take(struct store *s, bool all, int64_t *id, struct err *err);

/* --- taking back what is known --- */

struct forget {
	const char *workload;
	int64_t job_id;			/* only what this job measured; 0: all of the workload */
	bool gradients, times, memory;
};

/* The number of rows that were taken back. */
struct forgotten {
	int64_t windows;		/* of gradient statistics */
	int64_t observations, models;	/* of step times */
	int64_t out_of_memory;		/* runs that ran out of memory */
};

/* Call inside a transaction. The history of jobs and runs stays. */
int store_forget(struct store *s, const struct forget *f, struct forgotten *n, struct err *err);
int store_workload_has_jobs(struct store *s, const char *workload, bool *has, struct err *err);

/* --- ended jobs that can be removed --- */

/* Ended jobs of these states that nothing needs any more, the newest first, without the keep_last
 * newest of them. The caller releases the list. */
struct prunable {
	int64_t id;
	enum job_state state;
	char *name;			/* owned */
	double end_time_s;		/* wall clock */
	bool model_rests;		/* a model, or a known length, rests on its record */
	bool has_snapshot;		/* of its code */
};
struct prunable_list {
	struct prunable *items;	/* owned */
	int count;
};
int store_prunable_jobs(struct store *s, const bool states[N_JOB_STATES], double before_time_s,
			int64_t keep_last, struct prunable_list *list, struct err *err);
void prunable_list_release(struct prunable_list *list);
/* *prunable: whether the job can still be removed; for the transaction that removes it. */
int store_job_is_prunable(struct store *s, int64_t id, bool *prunable, struct err *err);
/* Deletes the job, its command, its runs and all that was observed of them. */
int store_job_delete(struct store *s, int64_t id, struct err *err);

/* --- the environments of jobs, each stored once --- */

/* Gives the job another environment. keeps_templates: the variables of --env stay those whose
 * values are expanded. */
int store_environment_replace(struct store *s, int64_t job_id, const struct strings *env,
			      bool keeps_templates, struct err *err);
/* Reduces environments to the names of their variables if all jobs that have them ended longer than
 * this before now (wall clock). *forgotten: how many. Commits by itself, some at a time. */
int store_environments_forget(struct store *s, double now_s, double after_s, int *forgotten,
			      struct err *err);
/* Likewise reduces variables that look like credentials, once all jobs that have the environment
 * have ended. */
int store_secrets_forget(struct store *s, int *forgotten, struct err *err);

#endif
