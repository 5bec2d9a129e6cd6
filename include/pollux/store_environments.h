/* store_environments.h - the environments of jobs, each stored once. */
#ifndef POLLUX_STORE_ENVIRONMENTS_H
#define POLLUX_STORE_ENVIRONMENTS_H

#include "pollux/store.h"
#include "pollux/text.h"

/* Gives the job another environment. */
int store_environment_replace(struct store *s, int64_t job_id, const struct strings *env,
			      struct err *err);
/* Reduces environments to the names of their variables if all jobs that have them ended longer than
 * this before now (wall clock). *forgotten: how many. Commits by itself, some at a time. */
int store_environments_forget(struct store *s, double now_s, double after_s, int *forgotten,
			      struct err *err);

#endif
