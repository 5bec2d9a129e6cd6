/* submit.h - the parts of 'pollux submit'. */
#ifndef POLLUX_CLI_SUBMIT_H
#define POLLUX_CLI_SUBMIT_H

#include "commands.h"
#include "pollux/session.h"
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

/* submit_braces.c: warns of words in braces that may have been meant for pollux; with --dry-run
 * says which templates are replaced at launch. parameters: of a sweep, or NULL. */
void submit_tell_braces(const struct asked *o, const struct job *job,
			const struct job_command *command, const struct strings *parameters,
			bool dry_run);

/* submit_launch.c: says that a command is started on the first node alone, where no option said
 * so. */
void submit_tell_launch(const struct asked *o, const struct job *job,
			const struct job_command *command);

/* cmd_submit.c: adds the job, warns of what may be wrong with it, and prints its number. */
int submit_add(const struct asked *o, struct job *job, struct job_command *command,
	       const struct dependency_list *after, struct err *err);

/* after.c */
int submit_after(const struct command *by, const struct asked *o, struct dependency_list *list,
		 struct err *err);

#endif
