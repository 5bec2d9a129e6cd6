/* status.h - what 'pollux status' knows of jobs, read at one moment; and its three ways to show it. */
#ifndef POLLUX_STATUS_H
#define POLLUX_STATUS_H

#include <stdio.h>

#include "pollux/output.h"
#include "pollux/session.h"
#include "pollux/store.h"

/* The job's state, with that of its run: what a person calls its state. */
enum shown_state {
	SHOWN_QUEUED, SHOWN_STARTING, SHOWN_RUNNING, SHOWN_STOPPING, SHOWN_HELD, SHOWN_DONE,
	SHOWN_FAILED, SHOWN_CANCELLED, SHOWN_TIMEOUT,
};

const char *shown_state_name(enum shown_state state);

/* A job and what follows from its numbers. Unknown is NaN. */
struct status_job {
	const struct job *job;
	const struct run *run;		/* not ended: the one at work, else the one about to start; NULL */
	enum shown_state state;
	double run_time_s;		/* over all runs, this one too */
	double attained_service_device_s;	/* likewise */
	double done_ratio;		/* of the declared work */
	double throughput_eps;		/* samples/s, at the step time of its present configuration; until that is
					   measured, since the first report of this run */
	double eta_s;			/* running time to the end of the declared work, at this rate */
};

struct status {
	double now_wall_s, now_boot_s;
	struct job_list jobs;
	struct run_list runs;		/* all that have not ended */
	struct status_job *items;	/* owned; jobs.count of them, in the same order */
	int n_devices_in_use;
	int n_running, n_waiting, n_held, n_ended;	/* of jobs; starting and stopping ones run */
	bool ever_scheduled;		/* a pass has run, sometime */
};

/* Which jobs to read: those with ids[0..n_ids), else by filter. */
struct status_query {
	const int64_t *ids;
	int n_ids;
	enum job_filter filter;
	double since_wall_s;
};

/* EX_NOINPUT for an id that is not there. A store that is not there yet (s->store.db NULL) has no jobs. */
int status_read(struct session *s, const struct status_query *query, struct status *status,
		struct err *err);
void status_release(struct status *status);

/* All about one job. */
struct status_details {
	struct job_command command;
	struct run_list runs;
	struct observation_list of_runs;	/* one per run and configuration, oldest use first */
	struct observation_list observations;	/* one per configuration, over all runs */
	struct event_list events;
	struct dependency_list after;		/* of this job; known until it has run */
	char *log_path, *checkpoint_dir;
};

int status_details_read(struct session *s, const struct job *job, struct status_details *d,
			struct err *err);
void status_details_release(struct status_details *d);

/* status_table.c: a summary, the table, and whether anything schedules at all. */
void status_print_table(const struct status *status, const struct output *out);

/* status_summary.c: runs, preemptions, samples, waiting and completion times. */
void status_print_summary(const struct status *status, const struct output *out);

/* "cpu:0,cpu:1" */
void status_add_devices(struct text *t, const struct run *run);
/* Of the last decision, for a person; nothing where no pass has looked at the job. */
void status_add_reason(struct text *t, const struct status_job *item);

/* status_runs.c: two tables, each with a line above it; nothing where there is nothing to tell. */
void status_print_runs(const struct status *status, const struct status_job *item,
		       const struct status_details *d, const struct output *out);
void status_print_observations(const struct status_details *d, const struct output *out);

/* status_job.c */
/* "job 3: NAME", where what is "job". */
void status_print_head(const char *what, const struct job *job, const struct output *out);
/* "running", the remark, " on cpu:0,cpu:1". */
void status_add_state(struct text *t, const struct status_job *item, const char *remark);
void status_print_job(const struct status *status, const struct status_job *item,
		      const struct status_details *d, const struct output *out);

/* status_json.c. details: one for each job, or NULL. */
void status_print_json(const struct status *status, const struct status_details *details, FILE *out);

#endif
