/* sweep_text.h - {NAME} of the parameters of a run, in a text. A parameter is "NAME=VALUE". */
#ifndef POLLUX_REQUEST_SWEEP_TEXT_H
#define POLLUX_REQUEST_SWEEP_TEXT_H

#include <stdbool.h>

#include "pollux/text.h"

enum sweep_text {
	/* Templates are put in later, at each launch: a '{' of a value is written as "{{", and {lr}
	 * stays. */
	SWEEP_TEMPLATE,
	/* All is put in now. In a text with a parameter "{{" stands for '{'; a text without one
	 * stays as it is. */
	SWEEP_PLAIN,
};

/* Appends the text with the values put in. Braces around anything else stay. */
void sweep_put(const char *text, enum sweep_text kind, const struct strings *parameters,
	       struct text *out);
/* True if the text has {NAME}, or POLLUX_PARAM_NAME as in a shell's script. */
bool sweep_uses(const char *text, const char *name);
/* The first {WORD} of a plain text with a parameter that is no parameter: the caller frees WORD.
 * NULL: none. */
char *sweep_unknown(const char *text, const struct strings *parameters);

#endif
