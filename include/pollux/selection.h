/* selection.h - which jobs a command line means: the operands and options by which every command
 * that takes jobs names them. pollux(1) has the forms, under JOBS. */
#ifndef POLLUX_SELECTION_H
#define POLLUX_SELECTION_H

#include <math.h>

#include "pollux/command.h"
#include "pollux/session.h"

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
#define SELECTION_OPTIONS(at) \
	SELECT_STATE(at), \
	{ "name", 0, OPTION_TEXT, "GLOB", \
	  .offset = (at) + offsetof(struct selection_options, name), 0, 0, \
	  "jobs of this name: 'lr*'" }, \
	{ "workload", 0, OPTION_TEXT, "GLOB", \
	  .offset = (at) + offsetof(struct selection_options, workload), 0, 0, \
	  "jobs of this workload" }, \
	SELECT_SINCE(at)

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

#endif
