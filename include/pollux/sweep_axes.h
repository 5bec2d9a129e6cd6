/* sweep_axes.h - what varies in a sweep: --param, --params and --array of 'pollux submit'.
 *
 * A sweep is a grid: each --param is an axis, the rows of --params are one, --array is the last
 * one, and the last one varies fastest. */
#ifndef POLLUX_SWEEP_AXES_H
#define POLLUX_SWEEP_AXES_H

#include "pollux/command.h"
#include "pollux/text.h"

#define SWEEP_RUNS_MAX 100000

/* The options that make a sweep. Borrowed strings are of the command line. */
struct sweep_asked {
	struct text_list params;		/* --param, in their order */
	const char *params_file, *array;	/* NULL: not given */
	int64_t max_running;			/* 0: not given */
	const char *halving;			/* --halving; NULL: not given */
	bool dry_run;
};

struct axis {
	struct strings names;		/* one; more for rows of a file */
	struct strings values;		/* names.count for each of n points */
	int n;
	const char *how;		/* as it was asked for, or the file's name; borrowed */
};

struct axes {
	struct axis *items;	/* owned */
	int count;
	int runs;			/* in the whole grid */
};

/* True if any of the options is given. */
bool sweep_is_asked(const struct sweep_asked *o);
/* Reads the options, and the file. -1: EX_USAGE for a wrong value, EX_NOINPUT for a file that
 * cannot be read, EX_DATAERR for what is in it. The caller releases axes, also after an error. */
int axes_parse(const struct command *by, const struct sweep_asked *o, struct axes *axes,
	       struct err *err);
void axes_release(struct axes *axes);
/* Appends "NAME=VALUE" of each parameter of a run. */
void axes_values(const struct axes *axes, int run, struct strings *out);

/* Private to sweep_*.c. */

/* A file of rows (RFC 4180) with a header, "-" is standard input, as one axis. */
int axis_from_file(struct axis *axis, const char *path, struct err *err);
/* Letters, digits and '_', no digit first, at most 63 bytes. */
bool axis_name_is_valid(const char *name);

#endif
