/* submit.h - the parts of 'pollux submit'. */
#ifndef POLLUX_CLI_SUBMIT_H
#define POLLUX_CLI_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "commands.h"
#include "pollux/code.h"
#include "pollux/err.h"
#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/submission.h"

/* Opens the store to write; says so if its directory is on a network. */
int submit_open(struct session *s, struct err *err);
/* After the transaction: what people should know of the job, on standard error. */
void submit_tell(const struct session *s, const struct job *job, const struct job_command *command);
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

/* cmd_submit.c: adds the job, warns of what may be wrong with it, and prints its number. */
int submit_add(const struct asked *o, struct job *job, struct job_command *command,
	       const struct dependency_list *after, struct err *err);

/* after.c */
int submit_after(const struct command *by, const struct asked *o, struct dependency_list *list,
		 struct err *err);

/* --- the pass after a submission --- */

/* So that a job starts at once where there is room. */

/* Starts a pass in the background, unless submit_pass = no. On a terminal, unless quiet, says how
 * to have passes regularly, if none has come for minutes and the crontab has no line. */
void submit_pass_run(bool quiet);

/* True in a process of a job. What such a process starts would belong to the job's control group,
 * and end with the job. */
bool is_in_a_job(void);

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

/* --- the two things that 'pollux profile' measures --- */

struct profile_options {
	bool json;
	const char *plot, *color;

	/* profile_command.c */
	struct asked asked;
	double budget_s;
	int64_t points, slots;		/* 0: by the budget; as configured */
	bool all_kinds;

	/* cmd_profile.c */
	bool devices, quick;
	const char *device;		/* NULL: all that can be used */
};

/* Each returns the exit status, or -1 with *err as main.c wants it. */
int profile_command(const struct profile_options *o, char **argv, struct err *err);
/* Profiles the command on the kinds that the pattern matches; NULL: as --kind says. notes: first
 * says what the command lacks. Sets *job_id to the job of the profile; 0: none was added. */
int profile_on_kind(const struct profile_options *o, char **argv, char *kind, bool notes,
		    int64_t *job_id, struct err *err);
/* Show the results of a profile. */
int profile_show(const struct profile_options *o, int64_t job_id, struct err *err);

/* --- the parts of 'pollux run': from its job in the queue to the end of its command --- */

/* The exit status besides those of the command, as that of 'pollux wait'. */
#define STATUS_NOT_RUN_TO_END 125

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
