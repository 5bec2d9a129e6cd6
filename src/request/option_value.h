/* option_value.h - the values of options, and the messages about wrong values; private to the
 * parser of options. */
#ifndef POLLUX_REQUEST_OPTION_VALUE_H
#define POLLUX_REQUEST_OPTION_VALUE_H

#include "pollux/command.h"
#include "pollux/text.h"

/* Parses the value by the option's type into the member of the command's struct. Returns -1 if the
 * value is not right. */
int set_value(const struct option_spec *spec, const char *value, void *field);

/* The error for such a value: names the option, the value and what would have been right. value
 * NULL: none was given. Returns -1. */
int wrong_value(const struct command *command, const struct option_spec *spec, const char *value,
		struct err *err);

/* True if the option has a smallest or a largest value. */
bool is_bounded(const struct option_spec *spec);
/* True if the name is in the list, whose end is NULL. */
bool is_among(const char *name, const char *const *names);
/* Adds the value as messages show it: a long one is cut. */
void add_clipped(struct text *t, const char *value);

#endif
