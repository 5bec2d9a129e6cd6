/* old_environments.h - the values of variables, which may be secrets, do not outlast their use. */
#ifndef POLLUX_OLD_ENVIRONMENTS_H
#define POLLUX_OLD_ENVIRONMENTS_H

#include "pollux/store.h"

/* At most once an hour. Environments that no job has needed for a day lose their values; with keep
 * they stay as they are. *forgotten: how many lost them. */
int old_environments_forget(struct store *s, bool keep, double now_s, int *forgotten,
			    struct err *err);

#endif
