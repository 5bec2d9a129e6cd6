/* command.h - a subcommand is one constant in a file of its own, src/cli/cmd_NAME.c; the constant
 * has the table by which the options are parsed. */
#ifndef POLLUX_COMMAND_H
#define POLLUX_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pollux/declaration.h"
#include "pollux/err.h"
#include "pollux/field.h"
#include "pollux/report.h"
#include "pollux/store_jobs.h"

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

/* An error for wrong operands: "TEXT; see 'pollux NAME --help'" with EX_USAGE. Returns -1.
 * command NULL: "see 'pollux --help'". */
int usage_error(const struct command *command, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A positive job number; "-1" or "x" is a usage error. */
int parse_job_id(const struct command *command, const char *text, long long *id, struct err *err);

#endif
