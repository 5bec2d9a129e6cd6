/* dependencies.h - dependencies of a new job; private to the store. */
#ifndef POLLUX_STORE_DEPENDENCIES_PRIVATE_H
#define POLLUX_STORE_DEPENDENCIES_PRIVATE_H

#include "pollux/store_dependencies.h"

/* EX_NOINPUT: a job or group is not there. Asked before the new job is, which else could come after
 * itself, or after its own group. */
int dependencies_exist(struct store *s, const struct dependency_list *after, struct err *err);
/* Inside a transaction. */
int dependencies_add(struct store *s, int64_t id, const struct dependency_list *after,
		     struct err *err);

#endif
