/* environments.h - jobs with the same environment share a row of it; private to the store. */
#ifndef POLLUX_STORE_ENVIRONMENT_ROWS_H
#define POLLUX_STORE_ENVIRONMENT_ROWS_H

#include "sql.h"

/* *id: the row with this content, which is made unless it is there. Inside a transaction. */
int environment_put(struct store *s, const struct strings *env, int64_t *id, struct err *err);
/* Fills in c->env and c->env_names_only by c->environment_id. On an error *c is released. */
int environment_read(struct store *s, struct job_command *c, struct err *err);

#endif
