/* local.h - the parts of the local engine's table; private to src/engine/local. */
#ifndef POLLUX_LOCAL_H
#define POLLUX_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/engine.h"
#include "pollux/job.h"
#include "pollux/proc.h"
#include "local_handle.h"

/* local_processes.c */
/* True if the process is a supervisor of the run, or its guardian: the number could be another
 * process's by now. */
bool local_is_supervisor(const struct run *run, int64_t pid);
void local_leave_out(struct pid_list *list, pid_t pid);		/* takes it off the list */
bool local_owns_process(const struct run *run, int64_t pid);
/* The processes of the run's control group; without a group, those that descend from its
 * supervisor. -1: /proc cannot be read. */
int local_list_processes(const struct local_handle *h, struct pid_list *list);
enum engine_containment local_containment(struct text *detail);
bool local_dies_of(const struct run *run, int signal);
int64_t local_command_pid(const struct run *run);

/* local_containers.c */
enum engine_container local_container(const struct run *run, const char *id, int64_t start_ticks);
/* The containers whose ids the processes wrote to the files of --cidfile: "docker ID" for each,
 * added where it is not there yet. */
void local_add_containers(const struct pid_list *processes, struct strings *containers);
/* Kills those that live, by "docker kill ID", and says so, or that one lives on. */
void local_kill_containers(const struct strings *containers, const struct strings *env,
			   struct text *said);

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
