/* local.h - the parts of the local engine's table; private to src/engine/local. */
#ifndef POLLUX_LOCAL_H
#define POLLUX_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/job.h"

/* local_processes.c */
/* True if the process is a supervisor of the run, or its guardian: the number could be another
 * process's by now. */
bool local_is_supervisor(const struct run *run, int64_t pid);
bool local_owns_process(const struct run *run, int64_t pid);
const char *local_containment(struct text *detail);
bool local_dies_of(const struct run *run, int signal);
int64_t local_command_pid(const struct run *run);

#endif
