/* command.h - a subcommand is one constant in a file of its own; main.c lists them. */
#ifndef POLLUX_CLI_COMMAND_H
#define POLLUX_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pollux/declaration.h"
#include "pollux/err.h"
#include "pollux/option.h"
#include "pollux/output.h"
#include "pollux/store_select.h"

struct command {
	const char *name;
	/* accepted although other commands begin so, too; NULL: none */
	const char *abbreviation;
	const char *synopsis;	/* what follows "pollux NAME "; equals the manual's */
	const char *summary;	/* one line, for the list of commands */
	const char *example;	/* lines for --help, each "pollux ..."; may be NULL */
	const struct option_spec *options;	/* ends with name NULL; NULL: only --help */
	bool runs_program; /* operands are a program's command line: the first ends the options.
			      Elsewhere options may also follow operands: "status 17 --json" */
	bool takes_jobs;	/* operands are jobs (selection.h) */
	enum job_use job_use;	/* the use that jobs have to be fit for */
	bool hidden;		/* not in the list: started by pollux itself */
	/* argv[0] is the command's name. Returns the exit status, or -1 with *err (an empty
	 * err->text: nothing to say, only err->exit_status). */
	int (*run)(int argc, char **argv, struct err *err);
};

/* An option of a command, from its own table or from the declaration's. */
struct command_option {
	struct option_spec spec;
	size_t asked_offset;		/* of the struct asked in the command's own struct */
	int row;			/* in declared_fields; -1: the command's own */
};

/* The option --color of commands that print tables, into a member of the command's struct. */
extern const char *const color_choices[];
#define OPTION_COLOR(member) \
	{ "color", 0, OPTION_CHOICE, "WHEN", member, 0, 0, \
	  "auto (default: on a terminal, unless NO_COLOR is set), always or never", \
	  .choices = color_choices }

/* All *n of them, in their order; the array is the caller's to free. */
struct command_option *command_options(const struct command *command, int *n);

/* Parse argv by command->options into target; "--" ends the options. On return argv[*first] is the
 * first operand, and all after it are operands (argv is reordered so). -1: *err holds EX_USAGE and
 * one line that names the option, the value and what would have been right; an unknown option names
 * the nearest known one. --help is dealt with by main.c before run is called. */
int options_parse(const struct command *command, int argc, char **argv, void *target, int *first,
		  struct err *err);
void options_release(const struct command *command, void *target);

/* True if --help or -h is among the options: it stands before "--", is not the value of another
 * option, and stands before the first operand if the command runs a program. */
bool options_ask_help(const struct command *command, int argc, char **argv);

/* The first option given that is not among these names (their end is NULL), --help aside; NULL:
 * none. For a command that does one thing or another, after options_parse. */
const char *options_given_but(const struct command *command, int argc, char **argv,
			      const char *const *names);

/* Usage, summary, options and examples, made from the table; 80 columns, but the usage line and the
 * examples are never broken. */
void command_help(const struct command *command, FILE *out);
/* The choices of an option, one a line; nothing for an option that takes something else.
 * False: the command has no such option. */
bool command_choices(const struct command *command, const char *option, FILE *out);

/* An error for wrong operands: "TEXT; see 'pollux NAME --help'" with EX_USAGE. Returns -1.
 * command NULL: "see 'pollux --help'". */
int usage_error(const struct command *command, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A positive job number; "-1" or "x" is a usage error. */
int parse_job_id(const struct command *command, const char *text, long long *id, struct err *err);

/* All commands, in the order of 'pollux help': cmd_NAME stands in cmd_NAME.c. */
#define COMMANDS(X) \
	X(submit) X(run) X(schedule) X(status) X(explain) X(log) X(wait) X(cancel) X(hold) \
	X(release) X(edit) X(first) X(again) X(requeue) X(results) X(history) X(page) \
	X(devices) X(profile) X(report) X(steps) X(presets) X(forget) X(prune) X(cron) \
	X(backup) X(doctor) X(simulate) X(supervise) X(tell)

#define DECLARE_COMMAND(name) extern const struct command cmd_##name;
COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

#endif
