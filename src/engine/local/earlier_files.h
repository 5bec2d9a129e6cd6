/* earlier_files.h - what another store left behind under a job's number; private to src/engine/local.
 *
 * A store that was deleted or replaced leaves logs and checkpoints. A job of the present store with
 * the same number must neither continue from such a checkpoint nor write into it. Beside the log of
 * a job, the file logs/ID.store names the store to which log and checkpoints belong. */
#ifndef POLLUX_EARLIER_FILES_H
#define POLLUX_EARLIER_FILES_H

#include <stdbool.h>

#include "pollux/paths.h"
#include "pollux/text.h"

/* Claims the log and the checkpoint directory of the job for the store. What belongs to another
 * store gets a new name: the old one, ".of-", and that store's name. is_first: the job never ran, so
 * files that no store has claimed are not this job's either; otherwise they are, from a time before
 * such claims. said gets one sentence if something was renamed, else nothing. */
int earlier_files_move(const struct paths *paths, int64_t job_id, const char *store_id,
		       bool is_first, struct text *said, struct err *err);

#endif
