/* earlier_files.h - what another job left behind under a job's number; private to src/engine/local.
 *
 * A store that was deleted or replaced leaves logs and checkpoints. So do the jobs that were
 * submitted after a backup, when the backup takes the place of the store. A job of the present
 * store with the same number must neither continue from such a checkpoint nor write into it. Beside
 * the log of a job, the file logs/ID.store names the store to which log and checkpoints belong, and
 * the time at which the job was submitted. */
#ifndef POLLUX_EARLIER_FILES_H
#define POLLUX_EARLIER_FILES_H

#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/text.h"

/* Claims the log and the checkpoint directory for the job, whose first or next run begins. What
 * belongs to another job gets a new name: the old one, ".of-", and the name of that job's store.
 * Files that nobody has claimed belong to a job that has run before, from a time before such
 * claims. said gets one sentence if something was renamed, else nothing. */
int earlier_files_move(const struct paths *paths, const struct job *job, const char *store_id,
		       struct text *said, struct err *err);

#endif
