/* dependencies.h - dependencies of a new job; private to the store. */
#ifndef POLLUX_STORE_DEPENDENCIES_PRIVATE_H
#define POLLUX_STORE_DEPENDENCIES_PRIVATE_H

#include "pollux/store_dependencies.h"

/* Inside a transaction. A dependency on a job that does not exist is EX_NOINPUT. */
int dependencies_add(struct store *s, int64_t id, const struct dependency_list *after,
		     struct err *err);

#endif
