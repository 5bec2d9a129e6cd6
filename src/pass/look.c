/* look.c - bring the store and the machine together, and read what there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass_state.h"
#include "pollux/mem.h"

/* The runs that have not ended, and how their engines find them; *answers is the caller's. */
static int poll_active(const struct pass_state *p, struct run_list *runs,
		       enum engine_answer **answers, struct err *err)
{
	*answers = NULL;
	if (store_runs_active(p->at.store, runs, err))
		return -1;
	*answers = xcalloc((size_t)runs->count + 1, sizeof(**answers));
	if (engine_poll(&p->at, runs, *answers, err) == 0)
		return 0;
	run_list_release(runs);
	free(*answers);
	return -1;
}

/* End the runs of which no process can be there. */
int pass_reconcile(struct pass_state *p, struct err *err)
{
	enum engine_answer *answers;
	struct run_list runs;
	int rc = 0;

	if (poll_active(p, &runs, &answers, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++) {
		struct run *run = &runs.items[i];

		if (answers[i] != ENGINE_GONE)
			continue;
		strings_addf(&p->result->actions, "job %lld: run %d was cut off by a reboot",
			     (long long)run->job_id, run->number);
		if (p->mode == PASS_ACT)
			rc = engine_of(run)->end(&p->at, run, err);
	}
	free(answers);
	run_list_release(&runs);
	return rc ? rc : pass_end_profiles(p, err);
}

/* A run without a keeper: it has not got one yet (this pass or an earlier one assigned it), or it
 * has lost its keeper. */
int pass_spawn_missing(struct pass_state *p, struct err *err)
{
	enum engine_answer *answers;
	struct run_list runs;
	int rc = 0;

	if (poll_active(p, &runs, &answers, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++) {
		const struct run *run = &runs.items[i];

		if (answers[i] != ENGINE_UNATTENDED)
			continue;
		if (run->state != RUN_ASSIGNED)
			strings_addf(&p->result->actions,
				     "job %lld: the supervisor of run %d is gone; stopping "
				     "what is left of it", (long long)run->job_id, run->number);
		if (p->mode == PASS_ACT)
			rc = engine_attend(&p->at, run, err);
	}
	if (p->mode == PASS_ACT)
		engine_clean(&p->at, &runs);
	free(answers);
	run_list_release(&runs);
	return rc;
}

static bool has_run(const struct pass_state *p, const struct device *device)
{
	for (int r = 0; r < p->runs.count; r++)
		for (int i = 0; i < p->runs.items[r].configuration.replicas; i++)
			if (!strcmp(p->runs.items[r].devices[i].id, device->id))
				return true;
	return false;
}

/* A lock that is held though no run has the device: the device is measured, or some process outlived its job and
 * the search for what the job left. The device is not given out until that is gone. */
static void check_lock(const struct pass_state *p, struct device *device)
{
	const char *holder;

	if (!device->usable || has_run(p, device))
		return;
	holder = engine_for_new_runs()->device_holder(&p->at, device);
	if (!holder)
		return;
	device->usable = false;
	snprintf(device->reason, sizeof(device->reason), "%s still holds it", holder);
}

static int look_at_machine(struct pass_state *p, struct err *err)
{
	struct device_settings settings = { .slots = p->config->slots };

	if (engine_for_new_runs()->list(&settings, &p->devices, err))
		return -1;
	device_users_look(&p->devices, &p->users);
	p->looked = true;
	return 0;
}

int pass_look(struct pass_state *p, struct err *err)
{
	bool any;

	if (store_has_schedulable(&p->store, &any, err))
		return -1;
	return any ? look_at_machine(p, err) : 0;
}

int pass_read(struct pass_state *p, struct err *err)
{
	if (store_jobs_list(&p->store, JOBS_SCHEDULABLE, 0, &p->jobs, err) ||
	    store_runs_active(&p->store, &p->runs, err) ||
	    store_dependencies_list(&p->store, &p->dependencies, err))
		return -1;
	if (p->jobs.count == 0)
		return 0;
	/* A job that came since the look is the rare case. */
	if ((!p->looked && look_at_machine(p, err)) || pass_withdraw_reserved(p, err) ||
	    device_users_match(&p->store, &p->devices, &p->runs, &p->users, err))
		return -1;
	if (p->mode == PASS_ACT && device_users_forget(&p->store, &p->devices, err))
		return -1;
	device_users_refuse(&p->users, &p->runs, &p->devices);
	for (int i = 0; i < p->devices.count; i++) {
		check_lock(p, &p->devices.items[i]);
		p->n_usable += p->devices.items[i].usable;
	}
	return 0;
}
