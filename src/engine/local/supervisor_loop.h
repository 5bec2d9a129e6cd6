/* supervisor_loop.h - events in, until the run is finished; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_LOOP_H
#define POLLUX_RUN_SUPERVISOR_LOOP_H

#include "supervisor.h"

void supervisor_loop(struct supervisor *s);

/* supervisor_look.c */
/* Looks for what the state of the run calls for, and says when to look again. */
void supervisor_look(struct supervisor *s, double now_boot_s);
/* Asks the store whether the run is to be stopped. A store that cannot be read stops nothing. */
void supervisor_look_for_stop(struct supervisor *s);
/* Looks for requests of a pass or a person. */
void supervisor_look_for_orders(struct supervisor *s);

/* supervisor_reports.c */
/* Takes in the reports that came, up to a limit. True: a message asks to look into the store. */
bool supervisor_read_reports(struct supervisor *s, double now_boot_s);
/* The same without that limit: a process of the run has ended. */
bool supervisor_read_last_reports(struct supervisor *s, double now_boot_s);
/* Takes in the reports that nobody took when they were sent, each once. */
void supervisor_read_kept_reports(struct supervisor *s, double now_boot_s);
/* Reads the steps that a program printed, if it reports none. last: the program has ended. */
void supervisor_read_log(struct supervisor *s, double now_boot_s, bool last);

void supervisor_handle(struct supervisor *s, enum supervisor_event event);	/* supervisor.c */

#endif
