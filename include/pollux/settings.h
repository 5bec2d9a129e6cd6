/* settings.h - the settings that a file and the environment may have, for config.c.
 *
 *	for (const struct setting *s = settings; s->name; s++)
 *		if (!strcmp(s->name, "slice") && s->set(&config, "10m")) ... not what s->wanted says
 */
#ifndef POLLUX_SETTINGS_H
#define POLLUX_SETTINGS_H

#include "pollux/config.h"

struct setting {
	const char *name;
	const char *variable;		/* name in the environment */
	/* Sets the member of c; -1: the value is not what is wanted, and c is unchanged. */
	int (*set)(struct config *c, const char *value);
	const char *wanted;		/* in words, behind "is not" */
};

extern const struct setting settings[];		/* the last one has no name */
extern const struct config settings_default;

#endif
