/* store_code.h - the code of runs, and which jobs need which snapshot of code. */
#ifndef POLLUX_STORE_CODE_H
#define POLLUX_STORE_CODE_H

#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/store.h"

/* Writes run->code, also as that of the job's first run if none is known. */
int store_run_set_code(struct store *s, const struct run *run, struct err *err);

/* *needed: a job is to run in the snapshot, or may be asked to. */
int store_snapshot_is_needed(struct store *s, const char *dir, bool *needed, struct err *err);
/* The job's files are removed: the job needs its snapshot no more. */
int store_job_leave_snapshot(struct store *s, int64_t job_id, struct err *err);

#endif
