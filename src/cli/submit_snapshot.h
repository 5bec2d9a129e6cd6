/* submit_snapshot.h - submissions with --snapshot. */
#ifndef POLLUX_CLI_SUBMIT_SNAPSHOT_H
#define POLLUX_CLI_SUBMIT_SNAPSHOT_H

#include "pollux/code.h"
#include "pollux/job.h"

/* Makes the snapshot that the job declares, if any, and puts it into the command; tells of what is
 * not in it. The caller ends with submit_snapshot_end(), whether or not this fails. */
int submit_snapshot(const struct paths *paths, const struct job *job, struct job_command *command,
		    struct code_snapshot *s, struct err *err);
/* rc: whether the store has the job (0), and so the snapshot stays. */
void submit_snapshot_end(struct code_snapshot *s, int rc);
/* For --dry-run: says of what a snapshot would be made. Fails where none could be. */
int submit_snapshot_tell(const struct job *job, const struct job_command *command,
			 struct err *err);

#endif
