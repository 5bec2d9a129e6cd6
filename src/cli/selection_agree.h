/* selection_agree.h - the jobs of a selection, shown to a person; private to src/cli. */
#ifndef POLLUX_CLI_SELECTION_AGREE_H
#define POLLUX_CLI_SELECTION_AGREE_H

#include "pollux/selection.h"

/* For a command that takes one job, chooses one of the jobs meant: the newest; or the job that ran
 * last, if any ran; or that job, where a job that is just starting counts, too. A line on standard
 * error names the job, unless it was named alone. */
enum which_job { JOB_NEWEST, JOB_RAN_LAST, JOB_RAN_OR_STARTS };
int selection_read_one(const struct selecting *what, struct store *s, enum which_job which,
		       int64_t *id, struct err *err);

/* Asks before several jobs are changed, if not all operands were numbers and ranges. Lists the
 * jobs; then asks the person on a terminal, and elsewhere fails with EX_FAILED, which names
 * --yes. */
int selection_agree(const struct selecting *what, struct store *s, const struct id_list *ids,
		    struct err *err);

/* For completion in shells: the jobs that a command of this use can act on, the newest first, a
 * line for each with number and name. No store yet is no jobs. */
int selection_print_candidates(enum job_use use, struct err *err);

#endif
