/* local.h - the parts of the local engine's table; private to src/engine/local. */
#ifndef POLLUX_LOCAL_H
#define POLLUX_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/engine.h"
#include "pollux/job.h"
#include "pollux/proc.h"

/* local_processes.c */
/* True if the process is a supervisor of the run, or its guardian: the number could be another
 * process's by now. */
bool local_is_supervisor(const struct run *run, int64_t pid);
void local_leave_out(struct pid_list *list, pid_t pid);		/* takes it off the list */
bool local_owns_process(const struct run *run, int64_t pid);
enum engine_containment local_containment(struct text *detail);
bool local_dies_of(const struct run *run, int signal);
int64_t local_command_pid(const struct run *run);

/* local_stop.c: a message to the supervisor, for when the store cannot be written. */
int local_stop_unrecorded(const struct engine_context *at, const struct run *run,
			  enum stop_reason reason, struct err *err);
/* The reason that such a message tells; STOP_NONE: it is another message. */
enum stop_reason local_stop_asked(const char *message, size_t n);

/* local_mend.c */
void local_mend(const struct engine_context *at, const struct run *const *runs, int n,
		struct strings *lines);
double local_silent_s(const struct engine_context *at, const struct run *run, int64_t *pid);

#endif
