/* job_change.h - what commands do to jobs that are there; private to src/cli. */
#ifndef POLLUX_CLI_JOB_CHANGE_H
#define POLLUX_CLI_JOB_CHANGE_H

#include "pollux/command.h"
#include "pollux/selection.h"
#include "pollux/session.h"
#include "pollux/store_runs.h"

/* The options of the commands that stop jobs, and of those that stop none. */
extern const struct option_spec stop_options[], change_options[], requeue_options[];

struct asked_change {
	bool force, dry_run, yes;
	bool take_env, dependents;	/* of requeue alone */
	/* Receives the jobs that were changed along with the one in question: --dependents. */
	struct id_list *also;
	int n_jobs;		/* that are meant */
	struct selection_options which;
};

/* The rule of a command by which a running job would lose work (job_loss.h). */
enum loss_rule {
	LOSS_IMPOSSIBLE,	/* the command stops no run */
	/* on a terminal the command asks, elsewhere it refuses; --force goes on */
	LOSS_REFUSED,
	/* on a terminal the command asks if the loss is more than LOSS_ASKED_S; elsewhere it goes
	 * on, as --force does */
	LOSS_ASKED,
};
#define LOSS_ASKED_S 600

struct job_change {
	/* Changes one job, in a part of a transaction. *runs receives the runs that were asked to
	 * stop; stop_runs_of_job fills it in. */
	int (*act)(struct session *s, const struct job *job, const struct asked_change *o,
		   struct run_list *runs, struct err *err);
	/* For a terminal, after "Job 3 ": the change is done, or will be when the runs of the job
	 * have ended. --dry-run prints it after "job 3 would be ". */
	const char *done, *stopping;
	enum loss_rule loss;
	/* Runs of the job are stopped for this reason even if the store cannot be written;
	 * STOP_NONE: nothing is done then. */
	enum stop_reason unrecorded;
	/* A pass follows, as after a submission: a job may start now. */
	bool then_pass;
	/* In place of a stop: why a job with a run is left alone then. NULL: nothing to say. */
	const char *unrecordable;
};

/* Run a command that changes each job meant in argv (selection.h): act, wake the supervisors of the
 * runs that were asked to stop, and say so on a terminal. With --dry-run the transaction is
 * rolled back, and a line says what would be done. A failure is said for each job. Returns the exit
 * status of the first failure, or -1 with *err as main.c wants it. Operands or options must say
 * which jobs (EX_USAGE). */
int change_jobs(const struct command *command, const struct job_change *change, int argc,
		char **argv, struct err *err);

/* Ask every run of the job that has not ended to stop; *runs, the caller's to release, also after
 * an error, is those runs. Inside a transaction. */
int stop_runs_of_job(struct session *s, int64_t job_id, enum stop_reason reason,
		     struct run_list *runs, struct err *err);

/* cmd_cancel.c: cancels the job, inside a transaction; *runs as above. */
int cancel_job(struct session *s, const struct job *job, struct run_list *runs, struct err *err);

/* Fails for a job that is paused at a rung. */
int refuse_paused(const struct job *job, struct err *err);

/* Why the job's runs are being stopped, the weightiest reason; STOP_NONE if they are not. */
int pending_stop(struct session *s, int64_t job_id, enum stop_reason *reason, struct err *err);

#endif
