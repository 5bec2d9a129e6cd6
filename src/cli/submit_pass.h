/* submit_pass.h - the pass after a submission, so that a job starts at once where there is room;
 * private to src/cli. */
#ifndef POLLUX_CLI_SUBMIT_PASS_H
#define POLLUX_CLI_SUBMIT_PASS_H

#include <stdbool.h>

/* Starts a pass in the background, unless submit_pass = no. On a terminal, unless quiet, says how
 * to have passes regularly, if none has come for minutes and the crontab has no line. */
void submit_pass_run(bool quiet);

/* True in a process of a job. What such a process starts would belong to the job's control group,
 * and end with the job. */
bool is_in_a_job(void);

#endif
