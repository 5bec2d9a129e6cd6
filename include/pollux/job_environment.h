/* job_environment.h - the variables of jobs whose values are gone. */
#ifndef POLLUX_JOB_ENVIRONMENT_H
#define POLLUX_JOB_ENVIRONMENT_H

#include "pollux/text.h"

/* Adds "A, B and 7 more": the names in env that others lack. Returns how many. */
int add_lacking_variables(struct text *t, const struct strings *env, const struct strings *others);

#endif
