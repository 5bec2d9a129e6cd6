/* supervisor_loop.h - events in, until the run is finished; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_LOOP_H
#define POLLUX_RUN_SUPERVISOR_LOOP_H

#include "supervisor.h"

void supervisor_loop(struct supervisor *s);
/* Take in what has been reported, up to a limit; true where a message asks to look into the store. */
bool supervisor_read_reports(struct supervisor *s, double now_boot_s);
/* Likewise of what was printed, of a program that reports no steps. last: it has ended. */
void supervisor_read_log(struct supervisor *s, double now_boot_s, bool last);
void supervisor_handle(struct supervisor *s, enum supervisor_event event);	/* supervisor.c */

#endif
