/* look.c - bring the store and the machine together, and read what there is. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pass_state.h"
#include "pollux/clock.h"
#include "pollux/device_lock.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/supervise.h"

/* A supervisor that lives belies a boot id that differs: a container, another machine with the same home. */
static bool is_of_another_boot(const struct pass_state *p, const struct run *run)
{
	char *lock;
	bool held;

	if (!strcmp(run->boot_id, clock_boot_id()))
		return false;
	lock = paths_run(p->paths, run->id, "lock");
	held = lock_is_held(lock);
	free(lock);
	return !held;
}

/* Runs of another boot: no process of theirs can be there. */
int pass_reconcile(struct pass_state *p, struct err *err)
{
	struct run_list runs;
	int rc = 0;

	if (store_runs_active(&p->store, &runs, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++) {
		struct run *run = &runs.items[i];

		if (!is_of_another_boot(p, run))
			continue;
		strings_addf(&p->result->actions, "job %lld: run %d was cut off by a reboot",
			     (long long)run->job_id, run->number);
		if (p->mode == PASS_ACT)
			rc = run_end_lost(&p->store, run, err);
	}
	run_list_release(&runs);
	return rc ? rc : pass_end_profiles(p, err);
}

static bool is_active(const struct run_list *runs, int64_t id)
{
	for (int i = 0; i < runs->count; i++)
		if (runs->items[i].id == id)
			return true;
	return false;
}

/* RUN.lock and RUN.sock of runs that have ended, by a reboot or just before their supervisor was killed.
 * Only a pass assigns runs, and this is the one: what is not active now never will be again. */
void pass_remove_leftovers(const struct pass_state *p, const struct run_list *runs)
{
	char *name = xasprintf("%s/run", p->paths->dir);
	DIR *dir = p->mode == PASS_ACT ? opendir(name) : NULL;
	const struct dirent *entry;

	free(name);
	while (dir && (entry = readdir(dir))) {
		int64_t id = isdigit((unsigned char)entry->d_name[0])
			? strtoll(entry->d_name, NULL, 10) : 0;
		char *lock;

		if (id == 0 || is_active(runs, id))
			continue;
		lock = paths_run(p->paths, id, "lock");
		if (!lock_is_held(lock))
			unlinkat(dirfd(dir), entry->d_name, 0);
		free(lock);
	}
	if (dir)
		closedir(dir);
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
		char *lock;

		if (is_of_another_boot(p, run))	/* seen by a dry run only */
			continue;
		lock = paths_run(p->paths, run->id, "lock");
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
	pass_remove_leftovers(p, &runs);
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
	const char *holder = device->usable && !has_run(p, device) ? device_lock_holder(p->paths, device->id) : NULL;

	if (!holder)
		return;
	device->usable = false;
	snprintf(device->reason, sizeof(device->reason), "%s still holds it", holder);
}

static int look_at_machine(struct pass_state *p, struct err *err)
{
	struct device_settings settings = { .slots = p->config->slots };

	if (devices_list(&settings, &p->devices, err))
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
