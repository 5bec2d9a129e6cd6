/* option.h - one option of a command line: a row of a command's table, or of the declaration's. */
#ifndef POLLUX_OPTION_H
#define POLLUX_OPTION_H

#include <stddef.h>

#include "pollux/field.h"

enum option_type {
	OPTION_FLAG,		/* bool: set to true */
	OPTION_INT,		/* int64_t (or int) within min..max */
	OPTION_NUMBER,		/* double within min..max, finite */
	/* double of at least 1, with K, M or G after it for 1e3, 1e6, 1e9 */
	OPTION_AMOUNT,
	OPTION_SIZE,		/* double, bytes within min..max: "512M", "1.5G" (number.h) */
	/* double, seconds within min..max: "90", "90s", "1.5m", "2h", "1h30m" */
	OPTION_DURATION,
	OPTION_WHEN,		/* double, wall clock: a time to come (when.h); "now" is NaN */
	/* const char *: borrowed from argv; not empty. FIELD_TEXT: a copy */
	OPTION_TEXT,
	OPTION_CHOICE,		/* one of the names in choices, kept as a text */
	OPTION_CHOICES,		/* names in choices with commas between, borrowed from argv */
	OPTION_PICTURE,		/* const char *: the name of a file that ends in .svg or .png */
	/* names in choices with commas between, kept as a text; the option alone: "" */
	OPTION_WORDS,
	OPTION_SIGNAL,		/* int: a signal that a program can catch, by name or number */
	OPTION_LIST,		/* struct text_list: one entry per appearance, in order */
	OPTION_RANGE,		/* "N" or "MIN:MAX" in min..max, MIN <= MAX: two int64_t (or int) in
				   members that follow each other */
	OPTION_DECLARED,	/* no option: rows of declaration.h with these uses stand here, and
				   offset is that of a struct asked */
};

struct text_list {
	const char **items;	/* owned array of borrowed strings; options_release frees it */
	size_t count;
};

struct option_spec {
	const char *name;	/* without the dashes */
	char letter;		/* 0: long form only; never 'h' */
	enum option_type type;
	/* its name in the usage, with the unit: "SECONDS"; NULL for a flag */
	const char *argument;
	size_t offset;		/* of the target in the command's own struct */
	double min, max;	/* both 0: any; -HUGE_VAL, HUGE_VAL: no bound on that side */
	const char *help;	/* one line */
	const char *const *choices;	/* OPTION_CHOICE alone; the end is NULL */
	const char *needs;	/* another option, without which this one is refused; NULL: none */
	enum field_type target;	/* FIELD_NONE: as the type says */
	unsigned uses;		/* OPTION_DECLARED alone */
};

#endif
