/* status.h - what 'pollux status' shows of jobs: read at one moment, printed as tables, as
 * everything about one job, or as JSON. */
#ifndef POLLUX_STATUS_H
#define POLLUX_STATUS_H

#include <stdio.h>

#include "pollux/people.h"
#include "pollux/report.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"

/* What a person calls the state of a job: its own state, combined with that of its run. */
enum shown_state {
	SHOWN_QUEUED, SHOWN_STARTING, SHOWN_RUNNING, SHOWN_SUSPENDED, SHOWN_STOPPING, SHOWN_HELD,
	SHOWN_PAUSED, SHOWN_DONE, SHOWN_FAILED, SHOWN_CANCELLED, SHOWN_TIMEOUT,
};

/* A job, and what is computed from its numbers. Unknown is NaN. */
struct status_job {
	const struct job *job;
	const struct job_line *line;	/* NULL: the query does not ask for lines */
	const struct run *run;		/* at work, else about to start; NULL: neither */
	enum shown_state state;
	double run_time_s;		/* over all runs, the present one included */
	double attained_service_device_s;	/* over all runs, the present one included */
	double done_ratio;		/* of the declared work */
	double throughput_eps;		/* samples/s, by the step time of the present configuration;
					   until it is measured, since the run's first report */
	/* Seconds since the run's supervisor last showed that it lives, and its process; NaN:
	 * recently, or there is no supervisor. */
	double silent_s;
	int64_t silent_pid;
	const char *stuck;		/* as engine.h has it; NULL: nothing is known */
	char *remark;			/* owned; store_run_remark(); NULL: it has no GPU */
	double eta_s;			/* running time still to come, by the declared work */
	/* Wall clock, by status_tell_ends() alone; NaN: not known. When a job that waits starts,
	 * and when it ends; between the last two it ends in 4 of 5 cases. */
	double likely_start_s, likely_end_s, end_from_s, end_to_s;
	int place;			/* in line; 0: it is not, or nobody knows */
	bool length_is_known;		/* else the interval is a guess by other jobs' lengths */
	/* If the declared work is not known: the running time still to come if the job is as long
	 * as the jobs of its workload that are done, and the number of these jobs; else NaN and
	 * 0. */
	double expected_s;
	int expected_jobs;
};

/* A group of which the table shows one row in place of several jobs. */
struct status_group {
	int64_t id;
	char *name;		/* owned */
	int counts[N_JOB_STATES];	/* of its jobs in the store */
	int paused;		/* of the queued ones, at rungs */
	int suspended;		/* of the running ones */
	bool over;		/* no run is at work, or will be by itself: the others are paused */
	struct text best;	/* "best acc 0.91 at lr=3e-4"; empty: no metric */
};

struct status {
	double now_wall_s, now_boot_s;
	struct job_list jobs;
	struct run_list runs;		/* of all jobs; those that have not ended */
	struct status_job *items;	/* owned; jobs.count of them, in the same order or sorted */
	struct job_line *lines;		/* owned; jobs.count of them, or NULL */
	struct status_group *groups;	/* owned; by id; none unless the query asks for them */
	int n_groups;
	int n_left_out;			/* of the items, at their end: not shown in the table */
	int n_devices_in_use;
	int n_cpu_jobs;			/* runs without a device */
	/* Jobs; starting and stopping ones count as running. */
	int n_running, n_suspended, n_waiting, n_paused, n_held, n_ended;
	bool ever_scheduled;		/* a pass has run at some time */
	bool passes_come;		/* by themselves: pass.h */
	struct text outage;		/* a cluster's manager that does not answer; empty: none */
	struct text disk_full;		/* how little room there is; empty: enough */
	struct people people;		/* who share the devices */
	struct text hung_pass;		/* the pass that hangs, in words; empty: none */
};

/* Which jobs to read: those with ids[0..n_ids) if by_ids, else those that the filter lets
 * through. */
struct status_query {
	bool by_ids;
	const int64_t *ids;
	int n_ids;
	enum job_filter filter;
	double since_wall_s;
	bool lines;			/* the command lines of the jobs too */
	bool groups;			/* groups with many jobs too */
};

/* EX_NOINPUT: there is no job of one of the ids. A store that does not exist yet (s->store.db NULL)
 * has no jobs. */
int status_read(struct session *s, const struct status_query *query, struct status *status,
		struct err *err);
void status_release(struct status *status);

/* Puts the items in the order of the table: what runs, what waits, as it will start, what is held,
 * the last ten rows that ended; older ones are left out. After status_tell_ends(). */
void status_arrange(struct status *status);

/* A row of that table: a job's, or the one that stands for a group's jobs at rest. */
struct status_row {
	const struct status_job *item;		/* of a group, the first of these jobs */
	const struct status_group *group;	/* NULL: the job's own row */
};
/* The rows of an arranged status, *n of them; the caller frees. */
struct status_row *status_rows(const struct status *status, int *n);

/* Takes the time on: what follows from the clock alone is as if the store had been read now. */
void status_advance(struct status *status, double now_wall_s, double now_boot_s);

/* status_ends.c: tells the ends of the jobs that run or wait. */
int status_tell_ends(struct session *s, struct status *status, struct err *err);

/* Everything else about one job. */
struct status_details {
	struct job_command command;
	struct run_list runs;
	/* One for each run and configuration, the oldest use first. */
	struct observation_list of_runs;
	/* One for each configuration, over all runs. */
	struct observation_list observations;
	struct event_list events;
	struct job_metric_list metrics;
	struct dependency_list after;	/* the jobs that this job waits for; empty once it ran */
	char *log_path, *checkpoint_dir;	/* owned */
	char *halving;			/* owned; of its sweep, as the store has it; NULL: none */
	struct text manager;		/* what a cluster's manager says of its run; empty: none */
};

/* Says why the batch of a job does not grow; nothing where it may (growth.h). */
void status_add_veto(struct text *t, const struct job *job);

int status_details_read(struct session *s, const struct job *job, struct status_details *d,
			struct err *err);
void status_details_release(struct status_details *d);

/* status_table.c: a summary, the table, and whether anything schedules at all. */
void status_print_table(const struct status *status, const struct output *out);

/* status_table.c: runs, preemptions, samples, waiting and completion times. */
void status_print_summary(const struct status *status, const struct output *out);

/* status_job.c */
/* "running", the remark, " on cpu:0,cpu:1". */
void status_add_state(struct text *t, const struct status *status, const struct status_job *item,
		      const char *remark);
void status_print_job(const struct status *status, const struct status_job *item,
		      const struct status_details *d, const struct output *out);

/* status_json.c: the items of an array. */
struct json;
/* details: one for each job, or NULL. */
void status_print_json(const struct status *status, const struct status_details *details,
		       FILE *out);
void status_print_json_event(struct json *j, const struct event *e);

/* --- columns --- */

/* The columns of jobs that a person can choose and sort by: one table of names, for -o, --sort,
 * --csv, the manual and completion. */

/* The names, and at the end NULL. */
extern const char *const status_column_names[];

/* Sort status->items by a column, unknown values last; jobs that are equal in it stay in their
 * order. key: a name, or '-' and a name: the largest first. False: there is no such name. */
bool status_sort(struct status *status, const char *key);

/* names: of columns, with commas between, each in status_column_names. In the table names of jobs
 * are whole where there is room for them. */
void status_print_columns(const struct status *status, const char *names,
			  const struct output *out);
/* A line of names, then a line for each job: numbers unrounded, durations in seconds, times in
 * seconds since 1970-01-01 UTC, shares from 0 to 1; nothing for what is not known. */
void status_print_csv(const struct status *status, const char *names, FILE *out);

#endif
