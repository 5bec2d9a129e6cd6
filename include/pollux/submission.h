/* submission.h - from the options of 'pollux submit', or 'pollux profile', to a job. by is the
 * command that errors name. */
#ifndef POLLUX_SUBMISSION_H
#define POLLUX_SUBMISSION_H

#include "pollux/command.h"
#include "pollux/store_jobs.h"

/* Each returns 0, or -1 with one line (EX_USAGE; EX_NOINPUT for a program or directory that is not
 * there). What is filled in is the caller's to release, also after an error. */
int submission_command(const struct command *by, const struct asked *o, char **argv,
		       struct job_command *c, struct err *err);
int submission_job(const struct command *by, const struct asked *o, const struct job_command *c,
		   struct job *job, struct err *err);

/* For a job like another one: *c is a copy of the other job's command. Puts what the options say
 * into *c, and the commit of its directory. */
int submission_command_again(const struct command *by, const struct asked *o,
			     struct job_command *c, struct err *err);
struct other_job {
	const struct job *job;
	const struct job_command *command;
};

int submission_job_again(const struct command *by, const struct asked *o,
			 const struct other_job *was, const struct job_command *c, struct job *job,
			 struct err *err);

/* Parts of submission_job, for jobs that are there. */
int submission_check_name(const struct command *by, const struct asked *o, struct err *err);
/* submission_guarantee.c: --guarantee beside --replicas; then, once the plans are set, beside these
 * and the settings. */
int submission_check_guarantee(const struct command *by, const struct declaration *d,
			       struct err *err);
int submission_check_promise(const struct declaration *d, struct err *err);
int submission_check_declared(const struct command *by, const struct asked *o,
			      const struct declaration *d, struct err *err);
enum suspend_rule submission_suspend_rule(const struct asked *o);
enum configuration_tier submission_worst_tier(const struct asked *o);
/* The name (borrowed) and the workload (the caller frees) of a job whose options set none. */
const char *submission_default_name(const struct job_command *c);
char *submission_default_workload(const struct job_command *c);

/* For the jobs of a sweep, which differ only by their texts: takes over what was found of the first
 * job's command, with the program, arguments, variables and texts of another job. */
int submission_vary(const struct command *by, const struct asked *o, char **argv,
		    const struct job_command *base, struct job_command *c, struct err *err);
/* Fills in name and workload, where they are NULL, from a command in which no parameter was put
 * in. */
void submission_name_template(const char *program, char **argv, struct declaration *d);

#endif
