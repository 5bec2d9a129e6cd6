/* supervisor_devices.c - whether a driver is done with the processes of a run that has ended.
 *
 * A GPU's memory comes free some time after the process that held it has gone, seconds for a large one; a job
 * started before that runs out of memory. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/proc.h"
#include "supervisor.h"

/* Some drivers list a dead process until they are reloaded. The next pass sees what it holds. */
#define DRIVER_WAIT_S 10.0

/* The run's own are gone from here by now, so they are those that are nowhere; in a container, where nobody
 * can tell, all are. */
static bool lingers(const struct device_process *list, int n)
{
	bool sees_all = proc_sees_all();

	for (int i = 0; i < n; i++)
		if (!sees_all || !proc_lives((pid_t)list[i].pid))
			return true;
	return false;
}

bool supervisor_devices_clear(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct device_process *list = NULL;
	struct err ignored;
	int n = 0;
	bool clear;

	if (!backend || !backend->processes)
		return true;
	if (isinf(s->driver_until_boot_s))
		s->driver_until_boot_s = clock_boot_s() + DRIVER_WAIT_S;
	clear = backend->processes(s->run.devices, s->run.replicas, &list, &n, &ignored) || !lingers(list, n);
	free(list);
	if (!clear && clock_boot_s() >= s->driver_until_boot_s) {
		supervisor_log(s, "a driver lists an ended process on '%s' for more than %g s",
			       s->run.devices[0].id, DRIVER_WAIT_S);
		return true;
	}
	return clear;
}
