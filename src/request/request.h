/* request.h - what the files of this room use of each other. */
#ifndef POLLUX_REQUEST_REQUEST_H
#define POLLUX_REQUEST_REQUEST_H

#include <stdbool.h>

#include "pollux/command.h"
#include "pollux/job.h"
#include "pollux/submission.h"
#include "pollux/text.h"

/* --- values of options --- */

/* Parses the value by the option's type into the member of the command's struct. Returns -1 if the
 * value is not right. */
int set_value(const struct option_spec *spec, const char *value, void *field);

/* The error for such a value: names the option, the value and what would have been right. value
 * NULL: none was given. Returns -1. */
int wrong_value(const struct command *command, const struct option_spec *spec, const char *value,
		struct err *err);

void text_list_add(struct text_list *list, const char *text);
/* The value of the enum that has this name; NULL or another name: otherwise. */
int name_given(const struct field_names *names, const char *name, int otherwise);
/* True if the option has a smallest or a largest value. */
bool is_bounded(const struct option_spec *spec);
/* Adds the value as messages show it: a long one is cut. */
void add_clipped(struct text *t, const char *value);

/* --- {NAME} of the parameters of a run, in a text, by the rule of text.h --- */

/* A parameter is "NAME=VALUE". */

/* What a text may have beside parameters. A word of this kind in a value stands for itself. */
enum sweep_text {
	SWEEP_TEMPLATE,		/* templates, {lr} among them, which are put in at each launch */
	SWEEP_WITH_JOB,		/* {job}, which is put in when the job has its number */
	SWEEP_PLAIN,		/* nothing */
};

/* Appends the text with the values put in. */
void sweep_put(const char *text, enum sweep_text kind, const struct strings *parameters,
	       struct text *out);

/* A file of rows (RFC 4180) with a header, "-" is standard input, as one axis. */
int axis_from_file(struct axis *axis, const char *path, struct err *err);
/* Letters, digits and '_', no digit first, at most 63 bytes. */
bool axis_name_is_valid(const char *name);

/* Reads the options, and the file. -1: EX_USAGE for a wrong value, EX_NOINPUT for a file that
 * cannot be read, EX_DATAERR for what is in it. The caller releases axes, also after an error. */
int axes_parse(const struct command *by, const struct sweep_asked *o, struct axes *axes,
	       struct err *err);
void axes_release(struct axes *axes);
/* Appends "NAME=VALUE" of each parameter of a run. */
void axes_values(const struct axes *axes, int run, struct strings *out);
/* EX_USAGE: the value of parameter 'lr' is no learning rate. */
int sweep_check_learning_rate(const struct command *by, const char *value, struct err *err);

/* --- parts of a submission --- */

/* Parts of submission_job, for jobs that are there. */
int submission_check_name(const struct command *by, const struct asked *o, struct err *err);
int submission_check_declared(const struct command *by, const struct asked *o,
			      const struct declaration *d, struct err *err);
int submission_take_length(const struct command *by, const struct asked *o, struct declaration *d,
			   struct err *err);
enum suspend_rule submission_suspend_rule(const struct asked *o);
/* cpu_job.c: sets cores and replicas by --cpu and --replicas, once these were taken. */
int submission_take_cpu(const struct command *by, const struct asked *o, struct declaration *d,
			struct err *err);
/* Refuses a job without a device that cannot be: for another option, the machine or the engine. */
int submission_check_cpu(const struct declaration *d, struct err *err);
/* The file of that script, or of a program that is given by a path, without links; NULL: the words
 * name no file, but code or a module, say. Also behind other programs, as in "conda run python
 * train.py". The caller frees. */
char *script_path(const char *directory, char *const *argv);

/* --- the helper for PyTorch, by default --- */

/* Returns what declared.torch is where nobody asked. "auto": the command is a Python program whose
 * Python has PyTorch and which does not speak to pollux itself. The program is a Python if it is
 * named so or if its first line names one, as in torchrun and accelerate. Where no torch is at the
 * usual places, that Python is asked once, in the job's environment, and not for longer than
 * PYTHON_PATIENCE_S. A script in the command that has the text "POLLUX_" speaks to pollux.
 *
 * Of any other command the script or the Makefile is read, as of a shell's words. NULL: it hands a
 * learning rate of pollux on, or reports. Else the helper is offered, and looks into the program
 * itself (watcher.py). */
#define PYTHON_PATIENCE_S 15
const char *python_helper_by_default(const struct job_command *c);

#endif
