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

#endif
