/* job_change.h - what commands do to jobs that are there; private to src/cli. */
#ifndef POLLUX_CLI_JOB_CHANGE_H
#define POLLUX_CLI_JOB_CHANGE_H

#include "pollux/session.h"

/* The same call for each job named in argv[first..argc); what fails is said for each. Returns the exit status
 * of the first failure, or -1 with *err as main.c wants it. At least one must be named (EX_USAGE). */
struct command;
int for_each_job(const struct command *command, int argc, char **argv, int first,
		 int (*act)(struct session *s, int64_t job_id, struct err *err), struct err *err);

/* Ask every run of the job that has not ended to stop; *runs (the caller's to release, also after an
 * error) are those runs. Inside a transaction. */
int stop_runs_of_job(struct session *s, int64_t job_id, enum stop_reason reason,
		     struct run_list *runs, struct err *err);

/* What a command does to a job. */
struct job_change {
	/* In a transaction of its own; *runs: those it stopped, by stop_runs_of_job. */
	int (*act)(struct session *s, int64_t job_id, struct run_list *runs, struct err *err);
	const char *done, *stopping;	/* what is said on a terminal after "Job 3 ": where it is done, and
					   where it will be when the job's runs have ended */
};

/* Do it, wake the supervisors of the runs it stopped, and say so, but not in a pipe. */
int change_job(struct session *s, int64_t job_id, const struct job_change *change, struct err *err);

#endif
