/* job_loss.h - the work that a running job would lose if it were stopped now; private to
 * src/cli. */
#ifndef POLLUX_CLI_JOB_LOSS_H
#define POLLUX_CLI_JOB_LOSS_H

#include "pollux/job.h"
#include "pollux/session.h"

struct job_loss {
	double work_s;		/* run time that would be lost; NaN: none is known to be lost */
	const char *why;	/* after "job 3 ": "has saved nothing"; static */
};

/* A job loses nothing if it does not run, if it is being stopped already, or if passes may stop it
 * (job_may_be_preempted): such a job saves when it is told to stop. Any other job loses what it
 * did since the last checkpoint that it reported in this run, else since its launch. */
int job_loss_of(struct session *s, const struct job *job, struct job_loss *loss, struct err *err);

#endif
