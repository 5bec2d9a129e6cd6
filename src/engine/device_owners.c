/* device_owners.c - match the processes on the GPUs with runs and ignored processes, and judge the
 * others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pollux/device_owners.h"
#include "pollux/engine.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"

/* True if the run has the device, or if it is suspended and its processes keep memory there. */
static bool has_device(const struct run *run, const struct device *device)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		if (!strcmp(run->devices[i].id, device->id))
			return true;
	return false;
}

/* Finds the run that the process belongs to. A run that still waits for the device has no process
 * there. */
static void find_owner(struct device_user *u, const struct device *device,
		       const struct run_list *runs, bool sees_all)
{
	for (int i = 0; i < runs->count && !u->job_id; i++) {
		const struct run *run = &runs->items[i];

		if ((run->state != RUN_RUNNING && run->state != RUN_STOPPING) ||
		    !(sees_all ? engine_of(run)->owns_process &&
				 engine_of(run)->owns_process(run, u->process.pid)
			       : has_device(run, device)))
			continue;
		u->job_id = run->job_id;
		u->in_place = has_device(run, device);
	}
}

/* Finds the run whose container the process is in. Where no file of --cidfile tells, it is that of
 * the only run that may have started it, or of the only such run that has the device. */
static void find_owner_of_container(struct device_user *u, const struct device *device,
				    const struct run_list *runs)
{
	const struct run *owner = NULL, *on_device = NULL;
	int possible = 0, possible_on_device = 0;
	bool known = false;

	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		const struct engine *engine = engine_of(run);
		enum engine_container is = run->state == RUN_ASSIGNED || !engine->container
			? CONTAINER_OF_OTHERS
			: engine->container(run, u->container, u->info.start_ticks);

		if (is == CONTAINER_OF_OTHERS)
			continue;
		owner = run;
		possible++;
		if (is == CONTAINER_OF_RUN) {
			possible = 1;
			known = true;
			break;
		}
		if (has_device(run, device)) {
			on_device = run;
			possible_on_device++;
		}
	}
	if (possible > 1)
		owner = possible_on_device == 1 ? on_device : NULL;
	if (!owner)
		return;
	u->job_id = owner->job_id;
	/* a suspension stops docker(1), not what computes in the container */
	u->in_place = run_held(owner) > 0 && has_device(owner, device);
	u->supposed = !known;
}

static int find_set_aside(struct store *store, const struct device_list *devices,
			  struct device_user_list *list, struct err *err)
{
	scoped(aside_list_release) struct aside_list aside = { 0 };

	free(list->aside_until_s);
	list->aside_until_s = NULL;
	if (!store || devices->count == 0 ||
	    device_backend_of(devices->items[0].id) != &device_nvidia)
		return 0;
	if (store_aside_list(store, &aside, err))
		return -1;
	if (aside.count > 0)
		list->aside_until_s = xcalloc((size_t)devices->count + 1, sizeof(double));
	for (int d = 0; aside.count > 0 && d < devices->count; d++)
		list->aside_until_s[d] = aside_until_s(&aside, devices->items[d].id);
	return 0;
}

int device_owners_match(struct store *store, const struct device_list *devices,
			const struct run_list *runs, struct device_user_list *list,
			struct err *err)
{
	scoped(ignored_list_release) struct ignored_list ignored = { 0 };
	bool sees_all = proc_sees_all();

	if (find_set_aside(store, devices, list, err))
		return -1;
	if (list->count == 0)
		return 0;
	if (store && store_ignored_list(store, &ignored, err))
		return -1;
	for (int i = 0; i < list->count; i++) {
		struct device_user *u = &list->items[i];
		const struct device *device = &devices->items[u->process.device];
		bool has_gone = u->info.lives && !proc_lives((pid_t)u->process.pid);

		find_owner(u, device, runs, sees_all && u->process.pid > 0);
		if (!u->job_id && u->container[0])
			find_owner_of_container(u, device, runs);
		u->ignored = false;
		for (int k = 0; k < ignored.count; k++)
			u->ignored |= ignored.items[k].pid == u->process.pid &&
				      ignored.items[k].start_ticks == u->info.start_ticks;
		/* A process that has ended since device_users_look() does not block: its memory is
		 * free, or soon will be. */
		u->blocks = !u->in_place && !u->ignored && !has_gone &&
			    device_user_is_above_limits(u, devices);
	}
	return 0;
}

int device_owners_find(struct store *store, const struct device_list *devices,
		       const struct run_list *runs, struct device_user_list *list,
		       struct err *err)
{
	device_users_look(devices, list);
	return device_owners_match(store, devices, runs, list, err);
}

/* "set aside until 15:04: ..." */
static bool is_set_aside(const struct device_user_list *list, int d, struct device *device)
{
	double until_s = list->aside_until_s ? list->aside_until_s[d] : (double)NAN;
	time_t until;
	struct tm local;
	char text[16];

	if (isnan(until_s))
		return false;
	until = (time_t)until_s;
	if (!localtime_r(&until, &local))
		return false;
	strftime(text, sizeof(text), "%H:%M", &local);
	snprintf(device->reason, sizeof(device->reason),
		 "set aside until %s: " CUDA_DOES_NOT_START " there; override: pollux devices "
		 "--retry %s", text, device->name);
	return true;
}

int device_owners_refuse(const struct device_user_list *list, const struct run_list *runs,
			 struct device_list *devices)
{
	int refused = 0;

	for (int d = 0; d < devices->count; d++) {
		const struct device_user *u = device_user_worst(list, d);
		struct device *device = &devices->items[d];
		char text[DEVICE_USER_SIZE];
		bool held = false;

		for (int r = 0; r < runs->count; r++)
			held |= run_held(&runs->items[r]) > 0 &&
				has_device(&runs->items[r], device);
		if (held || !device->usable)
			continue;
		device->usable = !u && !is_set_aside(list, d, device);
		refused += !device->usable;
		if (!u)
			continue;
		device_user_describe(u, devices, text);
		if (u->process.pid > 0)
			snprintf(device->reason, sizeof(device->reason),
				 "%s; override: pollux devices --ignore %lld", text,
				 (long long)u->process.pid);
		else
			snprintf(device->reason, sizeof(device->reason), "%s", text);
	}
	return refused;
}

int device_owners_check(struct store *store, const struct run_list *runs,
			struct device_list *devices, struct err *err)
{
	scoped(device_user_list_release) struct device_user_list users = { 0 };
	int rc = device_owners_find(store, devices, runs, &users, err);

	if (rc == 0)
		device_owners_refuse(&users, runs, devices);
	return rc;
}

int device_owners_gone(struct store *store, const struct device_list *devices,
		       struct ignored_list *gone, struct err *err)
{
	int n = 0;

	*gone = (struct ignored_list){ 0 };
	if (!devices_tell_processes(devices))
		return 0;
	if (store_ignored_list(store, gone, err))
		return -1;
	for (int i = 0; i < gone->count; i++) {
		bool is_there = gone->items[i].start_ticks != 0;

		for (int k = 0; k < devices->n_processes; k++)
			is_there |= devices->processes[k].pid == gone->items[i].pid;
		if (!is_there)
			gone->items[n++] = gone->items[i];
	}
	gone->count = n;
	return 0;
}
