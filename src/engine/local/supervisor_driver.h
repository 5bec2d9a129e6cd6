/* supervisor_driver.h - what a supervisor asks a driver about the run's devices; private to
 * src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_DRIVER_H
#define POLLUX_RUN_SUPERVISOR_DRIVER_H

#include "supervisor.h"

/* supervisor_driver.c */
enum driver_asked {
	DRIVER_ASKED,		/* then() will be called within limit_s, from the loop */
	DRIVER_BUSY,		/* an earlier question, or the child that asked it, has not ended */
	/* there is no driver to ask, or an earlier question hangs for ever */
	DRIVER_NONE,
};
/* Asks for the processes on the run's devices. Devices are named by their index in the run. */
enum driver_asked supervisor_ask_driver(struct supervisor *s, double limit_s, driver_answer *then);
void supervisor_read_driver(struct supervisor *s);	/* when driver.fd can be read */
void supervisor_give_up_driver(struct supervisor *s);	/* when driver.until_boot_s is over */
void supervisor_driver_ended(struct supervisor *s);	/* the child was reaped */
void supervisor_leave_driver(struct supervisor *s);	/* drop the question */

/* supervisor_devices.c */
/* Before the command is started: asks who is on the run's devices; EV_DRIVER follows. False: there
 * is no driver to ask. */
bool supervisor_ask_who_is_there(struct supervisor *s);
/* After EV_DRIVER: checks that nobody has come to the devices since they were assigned. -1:
 * EX_TEMPFAIL, with the process that is there. */
int supervisor_check_devices(struct supervisor *s, struct err *err);
/* After the last process of the run has ended. True: there is no driver to ask. Otherwise EV_CLEAR
 * follows when the drivers list no ended process any more, or after a limited wait. */
bool supervisor_devices_clear(struct supervisor *s);

#endif
