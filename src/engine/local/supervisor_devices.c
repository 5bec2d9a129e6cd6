/* supervisor_devices.c - ask drivers about the run's devices, before its command is started and
 * after.
 *
 * A GPU's memory becomes free some time after its process has ended; for a large one it takes
 * seconds. A job that is started before then runs out of memory. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/device_owners.h"
#include "pollux/proc.h"
#include "supervisor.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"

/* Some drivers list a dead process until they are reloaded. The next pass sees the memory it
 * holds. */
#define DRIVER_WAIT_S 10.0
/* After a pause the first question loads a driver that is not kept loaded: seconds for each GPU. */
#define DRIVER_START_S 10.0
#define DRIVER_ANSWER_S 5.0

static bool was_there(const struct supervisor *s, const struct device_process *p)
{
	for (int i = 0; i < s->n_before; i++)
		if (s->before[i].pid == p->pid && s->before[i].device == p->device)
			return true;
	return false;
}

/* True if a process of the run is still listed. The run's own processes have ended by now, so this
 * is a listed process that does not exist and was not there before the run; in a container with
 * pids of its own, any process that was not there before the run. */
static bool lingers(const struct supervisor *s, const struct device_process *list, int n)
{
	bool sees_all = proc_sees_all();

	for (int i = 0; i < n; i++)
		if (!was_there(s, &list[i]) &&
		    (!sees_all || list[i].pid == 0 ||
		     (!proc_lives((pid_t)list[i].pid) && !proc_is_hidden((pid_t)list[i].pid))))
			return true;
	return false;
}

static void take_lingering(struct supervisor *s, struct device_process *list, int n)
{
	bool clear = n < 0 || !lingers(s, list, n);

	free(list);
	if (!clear && clock_boot_s() >= s->driver_until_boot_s) {
		supervisor_log(s, "a driver lists an ended process on '%s' for more than %g s",
			       s->run.devices[0].id, DRIVER_WAIT_S);
		clear = true;
	}
	if (clear)
		supervisor_handle(s, EV_CLEAR);
}

/* The child that asked may hang after its answer. */
bool supervisor_devices_clear(struct supervisor *s)
{
	enum driver_asked asked;

	if (isinf(s->driver_until_boot_s))
		s->driver_until_boot_s = clock_boot_s() + DRIVER_WAIT_S;
	asked = supervisor_ask_driver(s, DRIVER_ANSWER_S, take_lingering);
	return asked == DRIVER_NONE ||
	       (asked == DRIVER_BUSY && s->driver.fd < 0 &&
		clock_boot_s() >= s->driver_until_boot_s);
}

static int refuse_blocked(const struct device_list *list, const struct device_user_list *users,
			  struct err *err)
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

/* If the driver does not answer, the run starts: the program's own error will say more. */
static void take_who_is_there(struct supervisor *s, struct device_process *list, int n)
{
	free(s->before);
	s->before = list;
	s->n_before = n > 0 ? n : 0;
	supervisor_handle(s, EV_DRIVER);
}

bool supervisor_ask_who_is_there(struct supervisor *s)
{
	return supervisor_ask_driver(s, DRIVER_START_S, take_who_is_there) == DRIVER_ASKED;
}

/* Checks who is there, because a pass assigns devices that another run still has to leave. */
int supervisor_check_devices(struct supervisor *s, struct err *err)
{
	struct device_list list = {
		.items = s->run.devices, .count = s->run.configuration.replicas,
		.processes = s->before, .n_processes = s->n_before,
	};
	struct device_user_list users = { 0 };
	struct run_list runs = { 0 };
	int rc = store_runs_active(&s->store, &runs, err) ||
		 device_owners_find(&s->store, &list, &runs, &users, err) ? -1 : 0;

	if (rc == 0)
		rc = refuse_blocked(&list, &users, err);
	device_user_list_release(&users);
	run_list_release(&runs);
	return rc;
}
