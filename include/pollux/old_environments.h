/* old_environments.h - the values of variables, which may be secrets, do not outlast their use. */
#ifndef POLLUX_OLD_ENVIRONMENTS_H
#define POLLUX_OLD_ENVIRONMENTS_H

#include "pollux/store.h"

/* Removes the values of environments that no job has needed for a day; the names stay. Does so at
 * most once an hour, and not at all with keep. *forgotten: the number of environments that lost
 * their values. */
int old_environments_forget(struct store *s, bool keep, double now_s, int *forgotten,
			    struct err *err);

#endif
