/* commands.h - the commands of pollux and what they share; private to src/cli. */
#ifndef POLLUX_CLI_COMMANDS_H
#define POLLUX_CLI_COMMANDS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pollux/code.h"
#include "pollux/command.h"
#include "pollux/config.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store.h"
#include "pollux/store_runs.h"
#include "pollux/submission.h"
#include "pollux/text.h"

/* All commands, in the order of 'pollux help'. cmd_NAME stands in cmd_NAME.c; cancel, hold,
 * release, first and requeue in cmd_change.c, those that people do not type in cmd_supervise.c. */
#define COMMANDS(X) \
	X(submit) X(run) X(schedule) X(status) X(top) X(explain) X(log) X(events) X(wait) \
	X(cancel) X(hold) X(release) X(edit) X(first) X(again) X(requeue) X(clear) X(mcp) \
	X(results) X(history) X(page) X(devices) X(profile) X(report) X(steps) X(presets) \
	X(forget) X(prune) X(cron) X(config) X(backup) X(doctor) X(simulate) X(supervise) \
	X(tell) X(keep_log)

#define DECLARE_COMMAND(name) extern const struct command cmd_##name;
COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND
extern const char *const submit_headings[];	/* of the options that other commands have, too */

/* Usage, summary, options and examples, made from the table, in 80 columns: examples fit as the
 * table has them. all: also the options that are not common. */
void command_help(const struct command *command, bool all, FILE *out);
/* The choices of an option, one a line; nothing for an option that takes something else.
 * False: the command has no such option. */
bool command_choices(const struct command *command, const char *option, FILE *out);

/* SIGINT and SIGTERM, once caught, set this and nothing else, for commands that go on and on. */
extern volatile sig_atomic_t interrupted;
void interruptions_catch(void);

/* --- the jobs of a selection, shown to a person --- */

/* options_parse for a command whose operands are jobs: what->command and options are set, its
 * operands are set here. */
int selecting_parse(struct selecting *what, int argc, char **argv, void *target, struct err *err);
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
	bool take_env, failed, dependents;	/* of requeue alone */
	/* Receives the jobs that were changed along with the one in question: --dependents. */
	struct id_list *also;
	int n_jobs;		/* that are meant */
	/* Of the job in question: its run is suspended, as a stop would lose work; the run's GPU
	 * memory goes to the host's. */
	bool suspends, freezes;
	struct selection_options which;
};

/* What a command does where a running job would lose work. */
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
	bool then_on_end;	/* what is run at the end of jobs is looked for */
	bool suspends;		/* a run that would lose work is suspended, where it can be */
	bool means_all;		/* without operands all that are fit are meant; nobody is asked */
	/* In place of a stop: why a job with a run is left alone then. NULL: nothing to say. */
	const char *unrecordable;
};

/* Run a command that changes each job meant in argv (command.h): act, wake the supervisors of the
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

/* --- job_loss.c: jobs that would lose work if they were stopped now --- */

struct job_loss {
	double work_s;		/* run time that would be lost; NaN: none is known to be lost */
	const char *why;	/* after "job 3 ": "has saved nothing"; static */
};

/* A job loses nothing if it does not run, if it is being stopped already, or if passes may stop it
 * (job_may_be_preempted): such a job saves when it is told to stop. Any other job loses what it did
 * since the last checkpoint that it reported in this run, else since its launch. */
int job_loss_read(struct session *s, const struct job *job, struct job_loss *loss, struct err *err);

/* What is known of the machine while jobs are held. */
struct pause_look;
struct hold_work {
	struct pause_look *look;	/* owned, by pause_look_free(); NULL: not looked yet */
	bool frees;			/* a run was suspended, and its devices are free */
};
/* May the run of the job be suspended? If not, *why receives a sentence. */
int hold_may_suspend(struct session *s, struct hold_work *work, int64_t job_id, bool *freezes,
		     struct text *why, struct err *err);
/* Asks for that, inside a transaction; *runs as above. */
int hold_suspend(struct session *s, const struct job *job, bool freezes, struct run_list *runs,
		 struct err *err);
/* Waits until the run, which was asked at that time, is suspended. Fails where it cannot be; the
 * job is not held then. */
int hold_await(struct session *s, int64_t job_id, int64_t run_id, double began_boot_s,
	       struct err *err);

/* cmd_change.c: cancels the job, inside a transaction; *runs as above. o is not used. */
int cancel_job(struct session *s, const struct job *job, const struct asked_change *o,
	       struct run_list *runs, struct err *err);

/* Fail for a job that has ended; that is paused at a rung; that is a profile or of 'pollux run'.
 * profile: what follows "is a profile"; interactive: what follows "is of 'pollux run', which". */
int refuse_ended(const struct job *job, struct err *err);
int refuse_paused(const struct job *job, struct err *err);
int refuse_odd(const struct job *job, const char *profile, const char *interactive,
	       struct err *err);

/* True if a job that is stopped for this reason does not run again. */
bool stop_is_for_good(enum stop_reason reason);

/* Why the job's runs are being stopped, the weightiest reason; STOP_NONE if they are not. */
int pending_stop(struct session *s, int64_t job_id, enum stop_reason *reason, struct err *err);

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

/* Called at the end of such a pass. Notes that a pass is wanted at next_s (wall clock; NaN: none
 * is), when a --begin or the pause after a failure is over. Unless another process waits for that
 * time already, this process waits, and becomes the pass; it returns if no pass is wanted any
 * more. */
void next_pass_await(const struct paths *paths, double next_s);

/* So that a job starts at once where there is room: starts a pass in the background, unless
 * submit_pass = no. On a terminal, unless quiet, says how to have passes regularly, if none has
 * come for minutes and the crontab has no line. */
void submit_pass_run(bool quiet);

/* True in a process of a job. What such a process starts would belong to the job's control group,
 * and end with the job. */
bool is_in_a_job(void);

/* Warns on standard error of a configuration that passes refuse, and of slots by far too many. */
void warn_of_settings(const struct paths *paths);

/* Warns if so many slots are more than SLOTS_PER_CORE_MAX for each processor core. */
void warn_of_slots(int slots);
#define SLOTS_PER_CORE_MAX 4

/* Starts 'pollux tell' in the background where a job has ended, was told to nobody and has a
 * command. The store may be open here: that process opens it anew. */
int on_end_start(struct store *s, const struct config *config, struct err *err);

/* As on_end_start(), for a command that has ended jobs itself. Errors are left to the next pass. */
void on_end_look(void);

/* Prints the last rows of a log, plain, with a heading; nothing where it cannot be read, or is
 * empty. */
void log_print_last(const char *path, int64_t rows, FILE *out);

/* --- output that may be longer than the terminal --- */

struct paged {
	const char *pager;
	FILE *file;		/* what was printed so far; NULL: it goes to standard output */
};

/* From here on what is printed to out is kept, if standard output is a terminal with a pager. */
void paged_begin(struct paged *p, struct output *out);
/* Shows what was kept: by $PAGER if the terminal has fewer rows. */
void paged_end(struct paged *p);

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

/* --- submissions --- */

/* Opens the store to write; says so if its directory is on a network. */
int submit_open(struct session *s, struct err *err);
/* Names the credentials that the job lacks by the setting no-secrets. */
void submit_tell_secrets(const struct session *s, const struct job_command *command);
/* After the transaction: what people should know of the job, on standard error. */
void submit_tell(struct session *s, const struct job *job, const struct job_command *command);
/* Submits a sweep, or prints what it would submit (--dry-run). */
int submit_group(const struct submit_asked *o, char **argv, struct err *err);
/* Prints a command as it would run: variables of --env before it, quoted for sh(1). Words that
 * pollux puts in at launch stay in braces, except {lr}: it is the rate at --batch, as it was typed
 * among the job's parameters, or (NULL) as a number is written. plans: as declared, or NULL. With
 * plans there is a line for each, with its words and POLLUX_PLAN. */
void submit_print_command(const struct asked *o, char *const *argv, const char *typed_rate,
			  const char *plans);

/* submit_tell.c: warns of words in braces that may have been meant for pollux; with --dry-run
 * says which templates are replaced at launch. parameters: of a sweep, or NULL. */
void submit_tell_braces(const struct asked *o, const struct job *job,
			const struct job_command *command, const struct strings *parameters,
			bool dry_run);

/* submit_tell.c: says that a command is started on the first node alone, where no option said
 * so. */
void submit_tell_launch(const struct asked *o, const struct job *job,
			const struct job_command *command);

/* cmd_submit.c: opens the store, and has `insert` add what is submitted, in a transaction and with
 * the snapshot that the job declares; then warns of what may be wrong with the job, whose id insert
 * sets. Returns 1, with nothing added, if insert does: all of it is there already. */
typedef int submit_insert(struct store *s, void *arg, struct err *err);
int submit_into_store(const struct asked *o, struct job *job, struct job_command *command,
		      submit_insert *insert, void *arg, struct err *err);

/* cmd_submit.c: adds the job, unless one with its key is there, and prints the number. */
int submit_add(const struct asked *o, struct job *job, struct job_command *command,
	       const struct dependency_list *after, struct err *err);

/* after.c */
int submit_after(const struct command *by, const struct asked *o, struct dependency_list *list,
		 struct err *err);

/* --- submissions with --snapshot --- */

/* Makes the snapshot that the job declares, if any, and puts it into the command; tells of what is
 * not in it. The caller ends with submit_snapshot_end(), whether or not this fails. */
int submit_snapshot(const struct paths *paths, const struct job *job, struct job_command *command,
		    struct code_snapshot *s, struct err *err);
/* rc: whether the store has the job (0), and so the snapshot stays. */
void submit_snapshot_end(struct code_snapshot *s, int rc);
/* For --dry-run: says of what a snapshot would be made. Fails where none could be. */
int submit_snapshot_tell(const struct job *job, const struct job_command *command,
			 struct err *err);

/* --- the parts of 'pollux run': from its job in the queue to the end of its command --- */

#define STATUS_NOT_RUN_TO_END 125	/* the exit status besides those of the command */

struct front {
	struct session s;
	int64_t job_id;
	int lock;			/* lock.h */
	bool quiet;
	char *shown;			/* owned; the line that was shown last; NULL: none */
};

/* front.c: signals are blocked but in front_nap. */
void front_catch_signals(void);
struct pollfd;
/* Waits for a descriptor or a signal. */
void front_nap(struct pollfd *fds, int n, double at_most_s);
/* Ends this process by the signal. */
void front_die(int signal_number);

/* front.c: waits for devices. Returns 0 with *run_id, the run that was assigned. *run_id 0:
 * the job has ended, or is to end because of *signal_number. */
int front_wait(struct front *t, int64_t *run_id, int *signal_number, struct err *err);
/* Shows a line in place of the last one; NULL: none. */
void front_show(struct front *t, const char *line);

/* front.c: runs the command. Returns its exit status, or -1: the job is still in the queue, or
 * there was an error, and *err has a text. */
int front_run(struct front *t, int64_t run_id, int *signal_number, struct err *err);

#endif
