/* commands.h - the commands of pollux, and their help; private to src/cli. */
#ifndef POLLUX_CLI_COMMANDS_H
#define POLLUX_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/command.h"
#include "pollux/config.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/selection.h"
#include "pollux/store.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

/* All commands, in the order of 'pollux help'. cmd_NAME stands in cmd_NAME.c; cancel, hold,
 * release, first and requeue in cmd_change.c, those that people do not type in cmd_supervise.c. */
#define COMMANDS(X) \
	X(submit) X(run) X(schedule) X(status) X(explain) X(log) X(wait) X(cancel) X(hold) \
	X(release) X(edit) X(first) X(again) X(requeue) X(results) X(history) X(page) \
	X(devices) X(profile) X(report) X(steps) X(presets) X(forget) X(prune) X(cron) \
	X(backup) X(doctor) X(simulate) X(supervise) X(tell) X(keep_log)

#define DECLARE_COMMAND(name) extern const struct command cmd_##name;
COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* Usage, summary, options and examples, made from the table; 80 columns, but the usage line and the
 * examples are never broken. */
void command_help(const struct command *command, FILE *out);
/* The choices of an option, one a line; nothing for an option that takes something else.
 * False: the command has no such option. */
bool command_choices(const struct command *command, const char *option, FILE *out);

/* --- the jobs of a selection, shown to a person --- */

/* For a command that takes one job, chooses one of the jobs meant: the newest; or the job that ran
 * last, if any ran; or that job, where a job that is just starting counts, too. A line on standard
 * error names the job, unless it was named alone. */
enum which_job { JOB_NEWEST, JOB_RAN_LAST, JOB_RAN_OR_STARTS };
int selection_read_one(const struct selecting *what, struct store *s, enum which_job which,
		       int64_t *id, struct err *err);

/* Asks before several jobs are changed, if not all operands were numbers and ranges. Lists the
 * jobs; then asks the person on a terminal, and elsewhere fails with EX_FAILED, which names
 * --yes. */
int selection_agree(const struct selecting *what, struct store *s, const struct id_list *ids,
		    struct err *err);

/* For completion in shells: the jobs that a command of this use can act on, the newest first, a
 * line for each with number and name. No store yet is no jobs. */
int selection_print_candidates(enum job_use use, struct err *err);

/* --- what commands do to jobs that are there --- */

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

/* The rule of a command by which a running job would lose work (commands.h). */
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

/* cmd_change.c: cancels the job, inside a transaction; *runs as above. */
int cancel_job(struct session *s, const struct job *job, struct run_list *runs, struct err *err);

/* Fails for a job that is paused at a rung. */
int refuse_paused(const struct job *job, struct err *err);

/* Why the job's runs are being stopped, the weightiest reason; STOP_NONE if they are not. */
int pending_stop(struct session *s, int64_t job_id, enum stop_reason *reason, struct err *err);

/* --- the work that a running job would lose if it were stopped now --- */

struct job_loss {
	double work_s;		/* run time that would be lost; NaN: none is known to be lost */
	const char *why;	/* after "job 3 ": "has saved nothing"; static */
};

/* A job loses nothing if it does not run, if it is being stopped already, or if passes may stop it
 * (job_may_be_preempted): such a job saves when it is told to stop. Any other job loses what it
 * did since the last checkpoint that it reported in this run, else since its launch. */
int job_loss_of(struct session *s, const struct job *job, struct job_loss *loss, struct err *err);

/* --- passes that commands and supervisors start --- */

#define LATER_PASS "POLLUX_LATER_PASS"	/* in the environment of such a pass */

/* Becomes 'pollux schedule', with the settings of the last pass that a person or cron ran: by now
 * they may be others than those of the pass that started this process. Returns -1 if that fails. */
int later_pass_become(const struct paths *paths, struct err *err);

/* Starts a pass in the background, which outlives the terminal and prints nothing. Errors are not
 * told, since the next pass finds them, too. The store must not be open. */
void later_pass_start(const struct paths *paths);
/* Starts pollux with these arguments in the same way. */
void later_start(char *const argv[]);

/* --- a pass at a time to come --- */

/* The pass at which a --begin or the pause after a failure is over, also where no pass comes by
 * itself. */

/* Called at the end of a pass that a command or a supervisor started. Notes that a pass is wanted
 * at next_s (wall clock; NaN: none is). Unless another process waits for that time already, this
 * process waits, and becomes the pass; it returns if no pass is wanted any more. */
void next_pass_await(const struct paths *paths, double next_s);

/* --- settings --- */

/* Warns on standard error of a configuration that passes refuse, and of slots by far too many. */
void warn_of_settings(const struct paths *paths);

/* Warns if so many slots are more than SLOTS_PER_CORE_MAX for each processor core. */
void warn_of_slots(int slots);
#define SLOTS_PER_CORE_MAX 4

/* --- ends of jobs --- */

/* Starts 'pollux tell' in the background where a job has ended, was told to nobody and has a
 * command. The store may be open here: that process opens it anew. */
int on_end_start(struct store *s, const struct config *config, struct err *err);

/* As on_end_start(), for a command that has ended jobs itself. Errors are left to the next pass. */
void on_end_look(void);

/* --- what a program printed, as the rows that a terminal would show --- */

/* A newline ends a row. After a carriage return, after backspaces over a row, and where the cursor
 * was moved to another row, new text takes the place of the row's text, so that of a progress bar
 * only the last state stays. The rule is simpler than that of a terminal: the text that is replaced
 * goes as a whole, even where the new text is shorter. Of escape sequences only colours stay, and
 * NUL bytes go. Positions beyond the last ROWS_HELD rows cannot be reached.
 *
 * Memory: ROWS_HELD rows, each below ROW_MOST bytes; a longer row is given out in pieces. */

#define ROWS_HELD 64
#define ROW_MOST (1 << 20)	/* bytes */

struct rows;

/* Receives a row, or a piece of one. ends: the row ends here, by a newline. */
typedef void rows_sink(const char *text, size_t n, bool ends, void *arg);

/* plain: no colours and no control characters; and progress bars are left out, which are rows that
 * were written over in place. Such a row stays if it was ended by a newline at last, and what it
 * says then is no drawing ("Downloading ... done"). */
struct rows *rows_new(bool plain, rows_sink *sink, void *arg);
void rows_free(struct rows *r);			/* NULL is allowed */
void rows_feed(struct rows *r, const char *bytes, size_t n);
/* Gives out the rows that are ended so far; the cursor cannot go back to them. */
void rows_flush(struct rows *r);
/* Gives out all rows; the next text begins a new one. */
void rows_end(struct rows *r);
/* True if the cursor was moved to before the first text that was fed. */
bool rows_are_cut(const struct rows *r);

#endif
