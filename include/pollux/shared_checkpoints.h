/* shared_checkpoints.h - jobs that would resume from each other's checkpoints. */
#ifndef POLLUX_SHARED_CHECKPOINTS_H
#define POLLUX_SHARED_CHECKPOINTS_H

#include "pollux/store.h"

/* Inside a transaction in which the jobs from first to last were added, or in which the one job is
 * to be queued again: fails if one of them has a checkpoint directory in which another job that has
 * not ended saves, too, or which lies within that of another job, or around it. Links in paths are
 * followed. Two jobs may share a directory if one waits for the other, or if their
 * --checkpoint-glob differ.
 *
 * EX_USAGE: two of these jobs; EX_FAILED: one of these jobs and another, which the text names. */
int shared_checkpoints_check(struct store *s, int64_t first_id, int64_t last_id, struct err *err);

/* The path without links, "." and "..", as far as its directories are there. The caller frees. */
char *shared_checkpoints_path(const char *path);

#endif
