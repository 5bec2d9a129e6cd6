/* device_users.c - match the processes on the GPUs with our runs, and judge the others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

/* --- whose it is --- */

static bool has_device(const struct run *run, const struct device *device)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		if (!strcmp(run->devices[i].id, device->id))
			return true;
	return false;
}

/* One that is only to have the device when another has left it has no process there. */
static bool is_there(const struct run *run)
{
	return run->state == RUN_RUNNING || run->state == RUN_STOPPING;
}

static void find_owner(struct device_user *u, const struct device *device, const struct run_list *runs,
		       bool sees_all)
{
	for (int i = 0; i < runs->count && !u->job_id; i++) {
		const struct run *run = &runs->items[i];

		if (!is_there(run) || !(sees_all ? engine_of(run)->owns_process(run, u->process.pid)
						 : has_device(run, device)))
			continue;
		u->job_id = run->job_id;
		u->in_place = has_device(run, device);
	}
}

/* --- whether it blocks --- */

static bool is_ignored(const struct device_user *u, const struct ignored_list *ignored)
{
	for (int i = 0; i < ignored->count; i++)
		if (ignored->items[i].pid == u->process.pid &&
		    ignored->items[i].start_ticks == u->info.start_ticks)
			return true;
	return false;
}

/* What is not known may be much. Where the driver does not tell who takes how much of the time, it may be
 * anybody on the device. */
static bool is_above_threshold(const struct device_process *p, const struct device *device)
{
	double share = isnan(p->utilization) ? device->now.utilization : p->utilization;

	return p->memory_bytes < 0 || p->memory_bytes > DEVICE_USER_MEMORY_BYTES ||
	       share > DEVICE_USER_SHARE;
}

/* Since it was looked at, as those of a run that has ended since: what it held is free or soon will be. */
static bool has_gone(const struct device_user *u)
{
	return u->info.lives && !proc_lives((pid_t)u->process.pid);
}

void device_users_look(const struct device_list *devices, struct device_user_list *list)
{
	bool sees_all = proc_sees_all();

	*list = (struct device_user_list){ 0 };
	if (devices->n_processes == 0)
		return;
	list->items = xcalloc((size_t)devices->n_processes, sizeof(*list->items));
	for (int i = 0; i < devices->n_processes; i++) {
		struct device_user *u = &list->items[list->count++];

		u->process = devices->processes[i];
		if (sees_all && u->process.pid > 0)
			proc_look((pid_t)u->process.pid, &u->info);
	}
}

int device_users_match(struct store *store, const struct device_list *devices, const struct run_list *runs,
		       struct device_user_list *list, struct err *err)
{
	struct ignored_list ignored = { 0 };
	bool sees_all = proc_sees_all();

	if (list->count == 0)
		return 0;
	if (store && store_ignored_list(store, clock_boot_id(), &ignored, err))
		return -1;
	for (int i = 0; i < list->count; i++) {
		struct device_user *u = &list->items[i];
		const struct device *device = &devices->items[u->process.device];

		find_owner(u, device, runs, sees_all && u->process.pid > 0);
		u->ignored = is_ignored(u, &ignored);
		u->blocks = !u->in_place && !u->ignored && !has_gone(u) &&
			    is_above_threshold(&u->process, device);
	}
	ignored_list_release(&ignored);
	return 0;
}

static bool is_on_any(const struct device_list *devices, int64_t pid)
{
	for (int i = 0; i < devices->n_processes; i++)
		if (devices->processes[i].pid == pid)
			return true;
	return false;
}

int device_users_gone(struct store *store, const struct device_list *devices,
		      struct ignored_list *gone, struct err *err)
{
	int n = 0;

	*gone = (struct ignored_list){ 0 };
	if (!devices_tell_processes(devices))
		return 0;
	if (store_ignored_list(store, clock_boot_id(), gone, err))
		return -1;
	for (int i = 0; i < gone->count; i++)
		if (gone->items[i].start_ticks == 0 && !is_on_any(devices, gone->items[i].pid))
			gone->items[n++] = gone->items[i];
	gone->count = n;
	return 0;
}

int device_users_find(struct store *store, const struct device_list *devices, const struct run_list *runs,
		      struct device_user_list *list, struct err *err)
{
	device_users_look(devices, list);
	return device_users_match(store, devices, runs, list, err);
}

void device_user_list_release(struct device_user_list *list)
{
	free(list->items);
	*list = (struct device_user_list){ 0 };
}

const struct device_user *device_user_worst(const struct device_user_list *list, int device)
{
	const struct device_user *worst = NULL;

	for (const struct device_user *u = list->items; u < list->items + list->count; u++)
		if (u->blocks && u->process.device == device &&
		    (!worst || u->process.memory_bytes > worst->process.memory_bytes))
			worst = u;
	return worst;
}

/* --- in words --- */

/* "47 h", "3 d", "20 min": steps so coarse that a pass each minute seldom sees another. */
static void add_age(struct text *t, double age_s)
{
	if (age_s < 600)
		text_add(t, " for less than 10 min");
	else if (age_s < 3600)
		text_addf(t, " for %d min", (int)(age_s / 600) * 10);
	else if (age_s < 72 * 3600.0)
		text_addf(t, " for %d h", (int)(age_s / 3600));
	else
		text_addf(t, " for %d d", (int)(age_s / 86400));
}

static void add_share(struct text *t, double share)
{
	if (share <= DEVICE_USER_SHARE)
		text_add(t, ", 0 %");
	else if (!isnan(share))
		text_addf(t, ", %d %%", (int)ceil(share * 10) * 10);
}

const char *device_user_describe(const struct device_user *u, const struct device_list *devices,
				 char text[DEVICE_USER_SIZE])
{
	const struct device_process *p = &u->process;
	struct text t = TEXT_INIT;

	if (p->pid == 0)
		text_add(&t, "an unknown process");
	else
		text_addf(&t, "pid %lld", (long long)p->pid);
	if (u->job_id)
		text_addf(&t, " (of job %lld, not given it)", (long long)u->job_id);
	else if (u->info.lives)
		text_addf(&t, " (%.20s)", u->info.owner);
	else if (p->pid > 0)
		text_addf(&t, " (%s)", proc_sees_all() ? "ended" : "outside this container");
	if (p->memory_bytes >= 0)
		text_addf(&t, " %lld MiB", (long long)(p->memory_bytes >> 20));
	else
		text_add(&t, " unknown memory");
	add_share(&t, isnan(p->utilization) ? devices->items[p->device].now.utilization : p->utilization);
	if (u->info.lives)
		add_age(&t, u->info.age_s);
	snprintf(text, DEVICE_USER_SIZE, "%.95s", t.data);
	text_release(&t);
	return text;
}

int device_users_refuse(const struct device_user_list *list, const struct run_list *runs,
			struct device_list *devices)
{
	int refused = 0;

	for (int d = 0; d < devices->count; d++) {
		const struct device_user *u = device_user_worst(list, d);
		struct device *device = &devices->items[d];
		char text[DEVICE_USER_SIZE];
		bool held = false;

		for (int r = 0; r < runs->count; r++)
			held |= has_device(&runs->items[r], device);
		if (!u || held || !device->usable)
			continue;
		device->usable = false;
		device_user_describe(u, devices, text);
		if (u->process.pid > 0)
			snprintf(device->reason, sizeof(device->reason), "%s; override: pollux devices --ignore "
				 "%lld", text, (long long)u->process.pid);
		else
			snprintf(device->reason, sizeof(device->reason), "%s", text);
		refused++;
	}
	return refused;
}

int device_users_check(struct store *store, const struct run_list *runs, struct device_list *devices,
		       struct err *err)
{
	struct device_user_list users;

	int rc = device_users_find(store, devices, runs, &users, err);

	if (rc == 0)
		device_users_refuse(&users, runs, devices);
	device_user_list_release(&users);
	return rc;
}
