/* supervisor_command.h - what a run is launched with: values for templates, the code, and
 * files that were in its way; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_COMMAND_H
#define POLLUX_RUN_SUPERVISOR_COMMAND_H

#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/template.h"
#include "pollux/text.h"
#include "supervisor.h"

/* The arguments of the run's plan, for the caller to free; NULL: it has none. */
char *supervisor_plan_args(const struct supervisor *s);
/* Sets the nodes of a run on a cluster. */
void supervisor_name_nodes(const struct supervisor *s, struct strings *names,
			   struct template_values *values);

/* Has the command run in the job's snapshot, if it has one. Else notes the state of the code, and
 * adds to *said, and to the job's events, that it differs from that of the first run (of the first
 * run: from that of the submission). git gets CODE_LIMIT_S; what git does not tell stops no
 * launch. -1 with *err (126): the snapshot is gone. */
int supervisor_take_code(struct supervisor *s, struct text *said, struct err *err);
/* At the end of a run that nobody stopped: tells of files that runs made in the snapshot itself,
 * where their owner may not look for them. */
void supervisor_tell_own_files(struct supervisor *s);

/* Claims the log and the checkpoint directory for the job, whose first or next run begins. What
 * belongs to another job gets a new name: the old one, ".of-", and the name of that job's store.
 * Files that nobody has claimed belong to a job that has run before, from a time before such
 * claims. said gets one sentence if something was renamed, else nothing. */
int earlier_files_move(const struct paths *paths, const struct job *job, const char *store_id,
		       struct text *said, struct err *err);

#endif
