/* command.h - subcommands, and what their command lines mean: options, operands, jobs.
 *
 * A subcommand is one constant in a file of its own, src/cli/cmd_NAME.c; the constant has the table
 * by which the options are parsed. */
#ifndef POLLUX_COMMAND_H
#define POLLUX_COMMAND_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pollux/declaration.h"
#include "pollux/err.h"
#include "pollux/field.h"
#include "pollux/job.h"
#include "pollux/report.h"
#include "pollux/store.h"
#include "pollux/store_groups.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

struct job_change;	/* cli/commands.h */

struct command {
	const char *name;
	/* accepted although other commands begin so, too; NULL: none */
	const char *abbreviation;
	const char *synopsis;	/* what follows "pollux NAME "; equals the manual's */
	const char *summary;	/* one line, for the list of commands */
	const char *example;	/* lines for --help, each "pollux ..."; may be NULL */
	const struct option_spec *options;	/* ends with name NULL; NULL: only --help */
	/* The options that --help alone shows, one word each, and headings for all of them: the
	 * option that each stands before, and the heading, NULL at the end. NULL: all are shown. */
	const char *common;
	const char *const *headings;
	bool runs_program; /* operands are a program's command line: the first ends the options.
			      Elsewhere options may also follow operands: "status 17 --json" */
	bool takes_jobs;	/* operands are jobs: see below */
	enum job_use job_use;	/* the use that jobs have to be fit for */
	bool hidden;		/* not in the list: started by pollux itself */
	/* argv[0] is the command's name. Returns the exit status, or -1 with *err (an empty
	 * err->text: nothing to say, only err->exit_status). */
	int (*run)(int argc, char **argv, struct err *err);
	const struct job_change *change;	/* instead of run: what becomes of each job */
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

/* What pollux has for a command ("ps") or an option ("--gpus") of another program for queues; NULL:
 * none is known. */
const char *peer_word(const char *word);
/* A sentence: how pollux does what an option of another program's submission does, where it has no
 * such option; NULL: none is known. */
const char *peer_way(const char *option);

/* A positive job number; "-1" or "x" is a usage error. */
int parse_job_id(const struct command *command, const char *text, long long *id, struct err *err);

/* ---- jobs that are there: which ones a command line means, changes, jobs like them ---- */

/* Which jobs a command line means: the operands and options by which every command that takes jobs
 * names them. pollux(1) has the forms, under JOBS. */

/* What the options say: each narrows what the operands mean; without an operand, all jobs. */
struct selection_options {
	const char *states, *name, *workload;
	double since_s;			/* NaN: not given */
};
#define SELECTION_INIT { .since_s = NAN }

/* Rows of a command's table of options; at: the offset of its struct selection_options. */
extern const char *const state_choices[];
#define SELECT_STATE(at) \
	{ "state", 0, OPTION_CHOICES, "STATE,...", \
	  .offset = (at) + offsetof(struct selection_options, states), 0, 0, \
	  "jobs in one of these states; also active and ended", .choices = state_choices }
#define SELECT_SINCE(at) \
	{ "since", 0, OPTION_DURATION, "TIME", \
	  .offset = (at) + offsetof(struct selection_options, since_s), 0, 1e9, \
	  "jobs that were submitted or have ended within this time: 2h, 7d" }
#define SELECT_NAMES(at) \
	{ "name", 0, OPTION_TEXT, "GLOB", \
	  .offset = (at) + offsetof(struct selection_options, name), 0, 0, \
	  "jobs of this name: 'lr*'" }, \
	{ "workload", 0, OPTION_TEXT, "GLOB", \
	  .offset = (at) + offsetof(struct selection_options, workload), 0, 0, \
	  "jobs of this workload" }
#define SELECTION_OPTIONS(at) SELECT_STATE(at), SELECT_NAMES(at), SELECT_SINCE(at)

struct selecting {
	const struct command *command;	/* its job_use, and its name in errors */
	const struct selection_options *options;	/* NULL: the command has none */
	char **operands;
	int n_operands;
};

/* True if there is an operand, or an option that selects. */
bool selection_is_given(const struct selecting *what);
/* True if there are operands and each is group:N; adds their numbers N. */
bool selection_is_of_groups(const struct selecting *what, struct id_list *groups);
/* True if each operand is a job's number, or @. */
bool selection_is_of_numbers(const struct selecting *what);
/* True if there are operands and each is a number, @ or a range. */
bool selection_is_spelt_out(const struct selecting *what);
/* EX_USAGE: an operand has no form that there is. The store is not needed. */
int selection_check(const struct selecting *what, struct err *err);

/* The jobs meant, each once, in the order of the operands. A number alone is not looked up: the
 * command says what it thinks of such a job. All other operands leave out the jobs that the use
 * does not fit; EX_NOINPUT: one matches no job; EX_FAILED: none that the use fits. The caller
 * releases the list. */
int selection_read(const struct selecting *what, struct store *s, struct id_list *ids,
		   struct err *err);

/* --- changes the declaration of a job by options, and tells what differs --- */

/* Changes in *d what the options say, and nothing else. EX_USAGE for the errors that submit
 * refuses. */
int amend(const struct command *by, const struct asked *o, struct declaration *d,
	  struct err *err);

/* Walk through the rows of declared_fields in which two declarations differ:
 *	for (int row = -1; amend_next(&was, &is, &row);) ... */
bool amend_next(const struct declaration *was, const struct declaration *is, int *row);
/* "weight 1 -> 4" */
void amend_add_change(struct text *t, int row, const struct declaration *was,
		      const struct declaration *is);

/* --- the command of a job that is like another one --- */

/* Replaces text in the arguments behind the program: each change is "OLD=NEW". Where there are
 * several '=', OLD is the longest that stands in an argument. EX_USAGE: OLD is in no argument. */
int again_set(const struct command *by, const struct text_list *changes, struct strings *argv,
	      struct err *err);
/* Adds what differs: "; arguments --lr 0.1 -> --lr 0.3; directory /a -> /b". */
void again_add_differences(struct text *t, const struct job_command *was,
			   const struct job_command *is);

/* A job like a run of a sweep: another run of the sweep, with the parameters of that run or
 * others. The arguments are made anew from the command of the sweep. A job with other arguments
 * than its parameters make is no run of the sweep: it has no group and no parameters. */

struct again_group {
	struct job_group of;		/* id 0: the job is of no sweep */
	struct strings was, parameters;	/* those of the job that is there, those of the new one */
	int index;
	bool stays;			/* the new job is a run of the sweep */
	/* The changes of --set that name no parameter; their texts are borrowed. */
	struct text_list other_changes;
};

int again_group_read(struct again_group *g, struct store *s, const struct job *was,
		     struct err *err);
/* Takes the parameters from --set and --lr, and makes the arguments. EX_USAGE: the learning rate is
 * no number. */
int again_group_set(struct again_group *g, const struct command *by, const struct asked *o,
		    const struct text_list *set, struct strings *argv, struct err *err);
/* Gives the new job its group, its parameters, its learning rate, and the name made of these. */
void again_group_join(const struct again_group *g, const struct asked *o, const struct job *was,
		      struct job *is);
/* Adds "; parameter lr 0.1 -> 0.3", or that the new job is no run of the sweep. */
void again_group_add_differences(struct text *t, const struct again_group *g,
				 const struct job *was);
void again_group_release(struct again_group *g);

/* --- lost variables --- */

/* Adds "A, B and 7 more": the names in env that others lack. Returns how many. */
int add_lacking_variables(struct text *t, const struct strings *env, const struct strings *others);

#endif
