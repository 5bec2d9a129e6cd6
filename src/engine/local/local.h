/* local.h - the parts of the local engine's table; private to src/engine/local. */
#ifndef POLLUX_LOCAL_H
#define POLLUX_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/job.h"

/* local_processes.c */
bool local_owns_process(const struct run *run, int64_t pid);
int64_t local_command_pid(const struct run *run);

#endif
