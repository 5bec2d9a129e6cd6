/* supervisor_devices.c - what drivers say of the run's devices before its command is started, and after.
 *
 * A GPU's memory comes free some time after the process that held it has gone, seconds for a large one; a job
 * started before that runs out of memory. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/device_users.h"
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

static int refuse_blocked(const struct device_list *list, const struct device_user_list *users, struct err *err)
{
	for (int d = 0; d < list->count; d++) {
		const struct device_user *worst = device_user_worst(users, d);

		if (worst) {
			char text[DEVICE_USER_SIZE];

			return err_set(err, EX_TEMPFAIL, "%s: %s", list->items[d].id,
				       device_user_describe(worst, list, text));
		}
	}
	return 0;
}

/* A pass gives out what another run has still to leave, and looks at who else is there only when it has. */
int supervisor_check_devices(struct supervisor *s, struct err *err)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct device_list list = { .items = s->run.devices, .count = s->run.replicas };
	struct device_user_list users = { 0 };
	struct run_list runs = { 0 };
	struct err ignored;
	int rc;

	/* Where the driver does not answer, the program will say so better. */
	if (!backend || !backend->processes ||
	    backend->processes(list.items, list.count, &list.processes, &list.n_processes, &ignored)) {
		free(list.processes);
		return 0;
	}
	rc = store_runs_active(&s->store, &runs, err) ||
	     device_users_find(&s->store, &list, &runs, &users, err) ? -1 : 0;
	if (rc == 0)
		rc = refuse_blocked(&list, &users, err);
	device_user_list_release(&users);
	run_list_release(&runs);
	free(list.processes);
	return rc;
}
