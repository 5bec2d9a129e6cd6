/* preset.h - options and arguments that make a framework's program save and continue, from a file
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
 *				option without a value "yes" */
#ifndef POLLUX_PRESET_H
#define POLLUX_PRESET_H

#include "pollux/err.h"
#include "pollux/text.h"

struct preset {
	char *name, *summary, *tried, *directory, *launcher;
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

#endif
