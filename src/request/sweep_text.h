/* sweep_text.h - {NAME} of the parameters of a run, in a text, by the rule of text.h. A parameter
 * is "NAME=VALUE". */
#ifndef POLLUX_REQUEST_SWEEP_TEXT_H
#define POLLUX_REQUEST_SWEEP_TEXT_H

#include <stdbool.h>

#include "pollux/text.h"

/* What a text may have beside parameters. A word of this kind in a value stands for itself. */
enum sweep_text {
	SWEEP_TEMPLATE,		/* templates, {lr} among them, which are put in at each launch */
	SWEEP_WITH_JOB,		/* {job}, which is put in when the job has its number */
	SWEEP_PLAIN,		/* nothing */
};

/* Appends the text with the values put in. */
void sweep_put(const char *text, enum sweep_text kind, const struct strings *parameters,
	       struct text *out);
/* True if the text has {NAME}, or POLLUX_PARAM_NAME as in a shell's script. */
bool sweep_uses(const char *text, const char *name);

#endif
