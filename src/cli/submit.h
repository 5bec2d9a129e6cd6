/* submit.h - the parts of 'pollux submit'. */
#ifndef POLLUX_CLI_SUBMIT_H
#define POLLUX_CLI_SUBMIT_H

#include "pollux/session.h"
#include "submission.h"
#include "sweep_axes.h"

/* The options of submit. */
struct submit_asked {
	struct asked job;
	struct sweep_asked sweep;
};

/* Opens the store to write; says so if its directory is on a network. */
int submit_open(struct session *s, struct err *err);
/* After the transaction: what people should know of the job, on standard error. */
void submit_tell(const struct session *s, const struct job *job, const struct job_command *command);
/* Submits a sweep, or prints what it would submit (--dry-run). */
int submit_group(const struct submit_asked *o, char **argv, struct err *err);
/* The name of a run of a sweep where the user has given none: "train lr=0.1 seed=2". The caller
 * frees it. */
char *submit_run_name(const char *of_group, const struct strings *parameters);
/* Prints a command as it would run: variables of --env before it, quoted for sh(1). Words that
 * pollux puts in at launch stay in braces, except {lr}: it is the rate at --batch, as it was typed
 * among the job's parameters, or (NULL) as a number is written. plans: as declared, or NULL. With
 * plans there is a line for each, with its words and POLLUX_PLAN. */
void submit_print_command(const struct asked *o, char *const *argv, const char *typed_rate,
			  const char *plans);

#endif
