/* secret.h - variables that look like credentials: their values are never shown, and leave the
 * store when their jobs have ended. */
#ifndef POLLUX_SECRET_H
#define POLLUX_SECRET_H

#include <stdbool.h>

#include "pollux/text.h"

/* True if the name of the variable, NAME=VALUE or NAME alone, has a word for a credential:
 * HF_TOKEN, AWS_SECRET_ACCESS_KEY, PGPASSWORD, apiKey; not KEYBOARD, MAX_TOKENS or MONKEY. */
bool variable_is_secret(const char *variable);

/* Adds "NAME=VALUE", or "NAME=***" for a credential. */
void text_add_variable(struct text *t, const char *variable);

/* Adds "A, B": the names of the credentials that have a value (with_values), or whose values were
 * forgotten, so that the list has their names alone. Returns how many. */
int secrets_add_names(struct text *t, const struct strings *env, bool with_values);

/* Gives the variables of env whose values were forgotten those of the others, and adds their names
 * to taken. A variable that the others lack goes, and its name is added to lacking. */
void secrets_refill(struct strings *env, const struct strings *others, struct text *taken,
		    struct text *lacking);

#endif
