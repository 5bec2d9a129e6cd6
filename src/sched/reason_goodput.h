/* reason_goodput.h - the sentences of the policy `goodput`. */
#ifndef SCHED_REASON_GOODPUT_H
#define SCHED_REASON_GOODPUT_H

#include "goodput_line.h"

/* The reason of the job at index, which has devices. */
void reason_goodput_runs(const struct goodput_decision *d, int index, char *reason);
void reason_goodput_waits(const struct goodput_decision *d, const struct wait *w, char *reason);

#endif
