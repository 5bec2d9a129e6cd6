/* supervisor_code.h - with which code a run is launched; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_CODE_H
#define POLLUX_RUN_SUPERVISOR_CODE_H

#include "supervisor.h"

/* Has the command run in the job's snapshot, if it has one. Else notes the state of the code, and
 * adds to *said, and to the job's events, that it differs from that of the first run (of the first
 * run: from that of the submission). git gets CODE_LIMIT_S; what git does not tell stops no
 * launch. -1 with *err (126): the snapshot is gone. */
int supervisor_take_code(struct supervisor *s, struct text *said, struct err *err);
/* At the end of a run that nobody stopped: tells of files that runs made in the snapshot itself,
 * where their owner may not look for them. */
void supervisor_tell_own_files(struct supervisor *s);

#endif
