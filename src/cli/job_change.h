/* job_change.h - what commands do to jobs that are there; private to src/cli. */
#ifndef POLLUX_CLI_JOB_CHANGE_H
#define POLLUX_CLI_JOB_CHANGE_H

#include "command.h"
#include "pollux/session.h"

struct job_change {
	/* Changes one job, in a transaction of its own. *runs receives the runs that were asked to
	 * stop; stop_runs_of_job fills it in. */
	int (*act)(struct session *s, const struct job *job, struct run_list *runs,
		   struct err *err);
	/* For a terminal, after "Job 3 ": the change is done, or will be when the runs of the job
	 * have ended. */
	const char *done, *stopping;
};

/* Run a command that takes no options and changes each job named in argv: act, wake the supervisors
 * of the runs that were asked to stop, and say so on a terminal. A failure is said for each job.
 * Returns the exit status of the first failure, or -1 with *err as main.c wants it. At least one
 * job must be named (EX_USAGE). */
int change_jobs(const struct command *command, const struct job_change *change, int argc,
		char **argv, struct err *err);

/* Ask every run of the job that has not ended to stop; *runs, the caller's to release, also after
 * an error, is those runs. Inside a transaction. */
int stop_runs_of_job(struct session *s, int64_t job_id, enum stop_reason reason,
		     struct run_list *runs, struct err *err);

#endif
