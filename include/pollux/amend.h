/* amend.h - changes the declaration of a job by options, and tells what differs. */
#ifndef POLLUX_AMEND_H
#define POLLUX_AMEND_H

#include "pollux/command.h"

/* Changes in *d what the options say, and nothing else. EX_USAGE for the errors that submit
 * refuses. */
int amend(const struct command *by, const struct asked *o, struct declaration *d,
	  struct err *err);

/* Walk through the rows of declared_fields in which two declarations differ:
 *	for (int row = -1; amend_next(&was, &is, &row);) ... */
bool amend_next(const struct declaration *was, const struct declaration *is, int *row);
/* "weight 1 -> 4" */
void amend_add_change(struct text *t, int row, const struct declaration *was,
		      const struct declaration *is);

#endif
