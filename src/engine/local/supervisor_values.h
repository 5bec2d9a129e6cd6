/* supervisor_values.h - what a command's templates stand for. */
#ifndef POLLUX_SUPERVISOR_VALUES_H
#define POLLUX_SUPERVISOR_VALUES_H

#include "pollux/template.h"
#include "supervisor.h"

/* The arguments of the run's plan, for the caller to free; NULL: it has none. */
char *supervisor_plan_args(const struct supervisor *s);
/* Sets the nodes of a run on a cluster. */
void supervisor_name_nodes(const struct supervisor *s, struct strings *names,
			   struct template_values *values);

#endif
