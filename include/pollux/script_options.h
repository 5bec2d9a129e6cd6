/* script_options.h - options in the first lines of a submitted script.
 *
 *	#!/bin/bash
 *	#POLLUX --time-limit 2h --name "night run"
 *	#POLLUX --batch 64
 *
 * The lines stand before the first line that is neither a comment nor empty. Words are split at
 * blanks and quoted as in a shell; nothing is expanded. */
#ifndef POLLUX_SCRIPT_OPTIONS_H
#define POLLUX_SCRIPT_OPTIONS_H

#include "pollux/command.h"
#include "pollux/text.h"

/* command: pollux submit, or another whose struct of options begins with a struct submit_asked
 * (sweep.h). argv[0] is the name of the command, whose operands are a program's command line. The
 * script is the program, if it is given by a path, or the first argument of an interpreter or a
 * launcher that is a file. Returns 1: *words is argv with the options of the script before all
 * others, so that those of argv win; 0: there are none; -1: one is wrong, and *err names the file
 * and the line. The caller releases *words. */
int script_options_add(const struct command *command, int argc, char **argv, struct strings *words,
		       struct err *err);

/* True if code, or the name of a module, follows this option of an interpreter: no script. */
bool is_code(const char *word);
/* True if the program, a name or a path, is this one or a version of it: "python", "python3.11". */
bool is_runner(const char *program, const char *runner);
/* The word of a command line that names the script which an interpreter or launcher is to run;
 * NULL: the first word is none of these, or no word looks like a file. */
const char *script_of_runner(char *const *argv);

/* The file of that script, or of a program that is given by a path, without links; NULL: the words
 * name no file, but code or a module, say. Also behind other programs, as in "conda run python
 * train.py". The caller frees. */
char *script_path(const char *directory, char *const *argv);

#endif
