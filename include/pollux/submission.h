/* submission.h - from the options of 'pollux submit', or 'pollux profile', to a job. by is the
 * command that errors name. */
#ifndef POLLUX_SUBMISSION_H
#define POLLUX_SUBMISSION_H

#include <stdbool.h>

#include "pollux/command.h"
#include "pollux/declaration.h"
#include "pollux/err.h"
#include "pollux/field.h"
#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

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

/* For the jobs of a sweep, which differ only by their texts: takes over what was found of the first
 * job's command, with the program, arguments, variables and texts of another job. */
int submission_vary(const struct command *by, const struct asked *o, char **argv,
		    const struct job_command *base, struct job_command *c, struct err *err);
/* Fills in name and workload, where they are NULL, from a command in which no parameter was put
 * in. */
void submission_name_template(const char *program, char **argv, struct declaration *d);

/* --- keys: a submission that is there already is not made again --- */

#define KEY_MAX_BYTES 255

/* The key of a job for --once, by what it does: its directory, its command, the variables of --env
 * and its parameters (NULL: none). The caller frees it. */
char *submission_once_key(const char *directory, char *const *argv, const struct text_list *env,
			  const struct strings *parameters);
/* Checks --key: from 1 to KEY_MAX_BYTES bytes. */
int submission_check_key(const struct command *by, const char *key, struct err *err);

/* --- what becomes of the words in braces of a submission, for the person who typed them --- */

/* The texts of a job, or of the first run of a sweep. */
struct braced {
	const struct declaration *declared;
	const struct job_command *command;
	const char *name;			/* as given by --name; NULL: not given */
	const struct text_list *env;		/* of --env */
	const struct strings *parameters;	/* "NAME=VALUE" of the sweep; NULL: none */
};

/* Adds a line for each word that stays as it is, although it may have been meant for pollux: a
 * template without the option that it needs, and a word that is near to a known one. */
void braces_add_doubts(const struct braced *b, struct strings *out);
/* "{job} {checkpoint}": the templates that are replaced at launch, each once. */
void braces_add_replaced(const struct braced *b, struct text *out);

/* True if the word is a known name with a slip of the keyboard, in another case, or with an ending
 * that means the same: "chekpoint", "GPUS", "batchsize". A name of four letters or fewer is near to
 * few words, because most short words are others. */
bool braces_word_is_near(const char *word, const char *name);

/* --- launchers --- */

/* Whether a command starts its own processes on the nodes of a Slurm job, as srun and mpirun do.
 * Such a command is started once, on the first node. */

/* Returns what a text calls: "srun", "mpirun", "mpiexec" or "accelerate launch"; NULL: none of
 * them. A constant. is_shell: the text is in the language of sh(1); in others a string counts that
 * begins with one of the names, where it may be a command. Comments count for nothing, nor does a
 * name that is an argument of another program. accelerate counts with several machines, where the
 * command does not tell the machines apart by itself. */
const char *launcher_in_text(const char *text, bool is_shell);
/* The same for a command: its words, the text after -c, or its script, and the scripts that a
 * shell's script names in plain words to read or to run them; not what other programs call. */
const char *launcher_of_command(const struct job_command *c);

/* The rule for a command for which --launch was not given. */
enum launch_rule launch_by_command(const struct job_command *c);

/* Options in the first lines of a submitted script.
 *
 *	#!/bin/bash
 *	#POLLUX --time-limit 2h --name "night run"
 *	#POLLUX --batch 64
 *
 * The lines stand before the first line that is neither a comment nor empty. Words are split at
 * blanks and quoted as in a shell; nothing is expanded. */

/* command: pollux submit, or another whose struct of options begins with a struct submit_asked
 * (below). argv[0] is the name of the command, whose operands are a program's command line. The
 * script is the program, if it is given by a path, or the first argument of an interpreter or a
 * launcher that is a file. Returns 1: *words is argv with the options of the script before all
 * others, so that those of argv win; 0: there are none; -1: one is wrong, and *err names the file
 * and the line. The caller releases *words. */
int script_options_add(const struct command *command, int argc, char **argv, struct strings *words,
		       struct err *err);

/* True if code, or the name of a module, follows this option of an interpreter: no script. */
bool is_code(const char *word);
/* The word of a command line that names the script which an interpreter or launcher is to run;
 * NULL: the first word is none of these, or no word looks like a file. */
const char *script_of_runner(char *const *argv);

/* Options and arguments that make a framework's program save and continue, from a file
 * share/pollux/presets/NAME.conf.
 *
 * A file has lines KEY = VALUE; '#' begins a comment line. Keys:
 *	summary, tried		for people: what the preset is for, with which versions it was tried
 *	directory		the program's option for the directory of its checkpoints, as in
 *				"--output_dir", or "--out_dir=" if the value is part of the word.
 *				If the command has the option, its value becomes --checkpoint-dir;
 *				otherwise the option is added with {checkpoint}.
 *	argument		an option of the program, with its value, which is added to the
 *				command unless the command has the option; may be repeated
 *	steps-argument		an option with {steps} for its value, which is added behind all
 *				others if the submission has --steps and the command no {steps}
 *	launcher		the name of a launcher, the command's first word
 *	first-argument		an option of the launcher, added behind its name; may be repeated
 *	an option of submit	taken as if it were given before all others: "grace = 2m"; for an
 *				option without a value "yes"
 */

struct preset {
	char *name, *summary, *tried, *directory;
	struct strings launchers;	/* "accelerate launch": words of the command in a row */
	struct strings arguments, first_arguments, steps_arguments;
	struct strings options;		/* "--grace=2m" */
};

/* -1 with EX_USAGE: there is no such preset; with EX_FAILED: there are no presets at all; with
 * EX_CONFIG: its file is wrong. */
int preset_load(const char *name, struct preset *p, struct err *err);
void preset_release(struct preset *p);

/* The names of all presets, sorted. */
void preset_names(struct strings *names);
/* Says that there are no presets, and where they were looked for: -1 with EX_FAILED. */
int preset_none(struct err *err);

/* Builds the words of a submission with the preset from those without: words[0] is the name of the
 * command of pollux, words[first] the first word of the program's command. */
void preset_apply(const struct preset *p, char *const *words, int n, int first,
		  struct strings *out);

/* --- what varies in a sweep: --param, --params and --array of 'pollux submit' --- */

/* A sweep is a grid: each --param is an axis, the rows of --params are one, --array is the last
 * one, and the last one varies fastest. */

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

/* One 'pollux submit' for many runs: the options of each run of a sweep.
 *
 *	struct sweep s;
 *	if (sweep_init(&s, by, &asked, &sweep_asked, argv, err)) ...
 *	struct sweep_run run;
 *	sweep_run_init(&s, i, &run);		// run.asked and run.argv as if typed for this run
 *	...
 *	sweep_run_release(&run);
 *	sweep_release(&s);
 */

/* The options of a submission, of one job or of many. */
struct submit_asked {
	struct asked job;
	struct sweep_asked sweep;
	const char *key;		/* --key; NULL: not given */
	bool once;
};

struct sweep {
	const struct command *by;	/* whom errors name */
	const struct asked *asked;	/* borrowed, as is the next: parameters are not put in */
	char **argv;
	struct axes axes;
};

struct sweep_run {
	struct asked asked;		/* its texts are of strings below, or of the sweep's */
	struct strings argv;
	struct strings parameters;	/* "NAME=VALUE", as the store keeps them */
	struct strings env;		/* owns asked.env */
	char *checkpoint_dir, *resume_args;	/* own what is in asked */
};

/* Reads the axes and checks that every parameter is used; warns of columns of a file that are
 * not. */
int sweep_init(struct sweep *s, const struct command *by, const struct asked *asked,
	       const struct sweep_asked *o, char **argv, struct err *err);
void sweep_release(struct sweep *s);
/* Run i, from 0. Name and workload are put in where they were given, else NULL. */
void sweep_run_init(const struct sweep *s, int i, struct sweep_run *run);
void sweep_run_release(struct sweep_run *run);
/* A text of the command line with the values of the run. The caller frees it. */
char *sweep_run_text(const struct sweep *s, int i, const char *text);
/* The text of parameter 'lr', borrowed; NULL: there is no such parameter. */
const char *sweep_run_learning_rate(const struct sweep_run *run);
/* What varies, for people and programs: "NAME=HOW". */
void sweep_varied(const struct sweep *s, struct strings *out);
/* The name of a run of a sweep where the user has given none: "train lr=0.1 seed=2". The caller
 * frees it. */
char *sweep_run_name(const char *of_group, const struct strings *parameters);

/* --- jobs that would resume from each other's checkpoints --- */

/* Inside a transaction in which the jobs from first to last were added, or in which the one job is
 * to be queued again: fails if one of them has a checkpoint directory in which another job that has
 * not ended saves, too, or which lies within that of another job, or around it. Links in paths are
 * followed. Two jobs may share a directory if one waits for the other, or if their
 * --checkpoint-glob differ.
 *
 * EX_USAGE: two of these jobs; EX_FAILED: one of these jobs and another, which the text names. */
int shared_checkpoints_check(struct store *s, int64_t first_id, int64_t last_id, struct err *err);

#endif
