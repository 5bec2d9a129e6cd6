/* look.c - bring the store and the machine together, and read what there is. */
#include <stdlib.h>
#include <string.h>

#include "pass_state.h"
#include "pollux/clock.h"
#include "pollux/lock.h"
#include "pollux/supervise.h"

/* Runs of another boot: no process of theirs can be there. */
int pass_reconcile(struct pass_state *p, struct err *err)
{
	struct run_list runs;
	int rc = 0;

	if (store_runs_active(&p->store, &runs, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++) {
		struct run *run = &runs.items[i];

		if (!strcmp(run->boot_id, clock_boot_id()))
			continue;
		strings_addf(&p->result->actions, "job %lld: run %d was cut off by a reboot",
			     (long long)run->job_id, run->number);
		if (p->mode == PASS_ACT)
			rc = run_end_lost(&p->store, run, err);
	}
	run_list_release(&runs);
	return rc;
}

/* A run whose lock nobody holds has no supervisor: it has not got one yet (this pass or an earlier one
 * assigned it), or it has lost it. The new one finds out which. */
int pass_spawn_missing(struct pass_state *p, struct err *err)
{
	struct run_list runs;
	int rc = 0;

	if (store_runs_active(&p->store, &runs, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++) {
		const struct run *run = &runs.items[i];
		char *lock = paths_run(p->paths, run->id, "lock");

		if (!lock_is_held(lock)) {
			if (run->state != RUN_ASSIGNED)
				strings_addf(&p->result->actions,
					     "job %lld: the supervisor of run %d is gone; stopping "
					     "what is left of it", (long long)run->job_id, run->number);
			if (p->mode == PASS_ACT)
				rc = supervisor_spawn(p->paths, run->id, err);
		}
		free(lock);
	}
	run_list_release(&runs);
	return rc;
}

int pass_read(struct pass_state *p, struct err *err)
{
	struct device_settings settings = { .slots = p->config->slots };

	if (store_jobs_list(&p->store, JOBS_SCHEDULABLE, 0, &p->jobs, err) ||
	    store_runs_active(&p->store, &p->runs, err) ||
	    store_dependencies_list(&p->store, &p->dependencies, err))
		return -1;
	if (p->jobs.count == 0)
		return 0;
	if (devices_list(&settings, &p->devices, err))
		return -1;
	for (int i = 0; i < p->devices.count; i++)
		p->n_usable += p->devices.items[i].usable;
	return 0;
}
