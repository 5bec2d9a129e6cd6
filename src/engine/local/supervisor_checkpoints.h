/* supervisor_checkpoints.h - what the job of a run has saved; private to src/engine/local. */
#ifndef POLLUX_SUPERVISOR_CHECKPOINTS_H
#define POLLUX_SUPERVISOR_CHECKPOINTS_H

#include "checkpoints.h"

struct supervisor;

/* A run that fails within this time, and made no step, could not resume. */
#define RESUME_S 120.0

/* Fills found, which the caller releases, and s->refused_by_run. without: a checkpoint that
 * does not count, or NULL. any_age: what was there before the job began counts, too. */
void supervisor_find_checkpoints(struct supervisor *s, const char *without, bool any_age,
				 struct checkpoints *found);

#endif
