/* field.h - the description of one member of a struct. From such descriptions the store makes
 * columns, JSON makes keys, and options are put into their place. */
#ifndef POLLUX_FIELD_H
#define POLLUX_FIELD_H

#include <stddef.h>

enum field_type {
	FIELD_NONE,		/* said elsewhere */
	FIELD_INT,		/* int */
	FIELD_INT64,		/* int64_t */
	FIELD_BOOL,		/* bool */
	FIELD_DOUBLE,		/* double */
	FIELD_TEXT,		/* char *, owned */
	FIELD_CHARS,		/* char [size]; "" is unknown */
	FIELD_NAME,		/* an enum with one name for each value */
	FIELD_SIGNAL,		/* int; in JSON its name, such as "SIGTERM" */
	FIELD_STRINGS,		/* struct strings; not in JSON */
	FIELD_BATCH_SIZE,	/* struct configuration: its batch size; see rows.c */
};

/* Which value says that nothing is known; a struct that was initialised has this value. */
enum field_unknown {
	/* none: a number begins with 0, and a text that is not there is "" */
	FIELD_KNOWN,
	FIELD_UNKNOWN_ZERO,	/* 0; NULL for a text */
	FIELD_UNKNOWN_NEGATIVE,	/* an integer: -1 */
	FIELD_UNKNOWN_NAN,	/* a double */
};

/* The names of an enum's values, from 0 on. */
struct field_names {
	const char *const *names;
	int n;
	int otherwise;		/* the value read for a name that is not in the list */
};

struct field {
	const char *name;	/* the column in the store, the key in JSON */
	enum field_type type;
	size_t offset;
	enum field_unknown unknown;
	const struct field_names *names;	/* FIELD_NAME alone */
	size_t size;				/* FIELD_CHARS alone */
};

/* --- one option of a command line: a row of a command's table, or of the declaration's --- */

enum option_type {
	OPTION_FLAG,		/* bool: set to true */
	OPTION_INT,		/* int64_t (or int) within min..max */
	OPTION_COUNT,		/* the same; the option alone: min. Takes the next word if that is
				   a number */
	OPTION_NUMBER,		/* double within min..max, finite */
	/* double of at least 1, with K, M or G after it for 1e3, 1e6, 1e9 */
	OPTION_AMOUNT,
	OPTION_SIZE,		/* double, bytes within min..max: "512M", "1.5G" (text.h) */
	/* double, seconds within min..max: "90", "90s", "1.5m", "2h", "1h30m" */
	OPTION_DURATION,
	OPTION_WHEN,		/* double, wall clock: a time to come (clock.h); "now" is NaN */
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
