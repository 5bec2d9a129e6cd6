/* supervisor_energy.c - the energy that the devices of a run take while the run has them.
 *
 * Counters are read when the run gets its devices, when it leaves them, when another run comes
 * to share them or leaves, and once a minute between. A driver is asked in a child, so that its
 * answer comes later; every answer has the counters (supervisor_driver.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_share.h"
#include "supervisor.h"
#include "supervisor_driver.h"

/* Processors' counters begin again after some minutes under load. */
#define READ_S 60.0
#define ANSWER_S 5.0

/* Returns what was taken between two readings of a counter; NaN: not known. A counter without a
 * range falls only where its driver is loaded anew. */
static double taken_j(const struct device_energy *before, const struct device_energy *now)
{
	double joules = now->joules - before->joules;

	if (joules < 0)
		joules = now->range_j > 0 ? joules + now->range_j : now->joules;
	return joules * now->part;
}

void supervisor_count_energy(struct supervisor *s, const struct device_energy *list, int n)
{
	struct run_energy *e = &s->energy;
	double joules = 0;
	struct err err;

	for (int i = 0; i < n && e->n == n; i++)
		joules += taken_j(&e->last[i], &list[i]);
	if (e->n == n && n > 0 && isfinite(joules)) {
		s->run.energy_j = fmax(s->run.energy_j, 0) + joules / (double)(e->others + 1);
		s->recorder.changed = true;
	}
	e->others = e->others_now;
	e->next_boot_s = clock_boot_s() + READ_S;
	supervisor_forget_energy(s);
	if (s->run.suspension >= SUSPENSION_DONE && s->recorder.changed &&
	    recorder_write(&s->recorder, &s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	if (n == 0 || s->run.suspension >= SUSPENSION_DONE)
		return;
	e->last = xmalloc((size_t)n * sizeof(*list));
	memcpy(e->last, list, (size_t)n * sizeof(*list));
	e->n = n;
}

void supervisor_forget_energy(struct supervisor *s)
{
	free(s->energy.last);
	s->energy.last = NULL;
	s->energy.n = 0;
}

static void drop_list(struct supervisor *s, struct device_process *list, int n)
{
	(void)s;
	(void)n;
	free(list);
}

/* The driver of a profile's devices is asked often enough. */
void supervisor_read_energy(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct device_energy *list;

	s->energy.next_boot_s = clock_boot_s() + READ_S;
	if (backend && backend->energy) {
		int n = backend->energy(s->run.devices, s->run.configuration.replicas, &list);

		supervisor_count_energy(s, list, n);
		free(list);
	} else if (!s->job.profile &&
		   supervisor_ask_driver(s, ANSWER_S, drop_list) == DRIVER_NONE) {
		supervisor_forget_energy(s);
	}
}

void supervisor_read_energy_at_once(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);

	if (backend && backend->energy)
		supervisor_read_energy(s);
}

void supervisor_watch_energy(struct supervisor *s)
{
	struct run_energy *e = &s->energy;
	struct err err;

	if (s->run.configuration.share > 0 &&
	    store_share_count(&s->store, s->run.id, &e->others_now, &err))
		supervisor_log(s, "%s", err.text);
	if (e->others_now != e->others || clock_boot_s() >= e->next_boot_s)
		supervisor_read_energy(s);
}
