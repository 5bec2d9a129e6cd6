/* device_users.c - who the processes on the devices are, and how a person reads of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/device_users.h"
#include "pollux/mem.h"

/* The part of a GPU's memory that they take; contexts come on top, and CUDA counts a little less
 * memory than NVML. */
static const struct {
	enum device_taker taker;
	double least, most;
	const char *library, *variable;
} takers[] = {
	{ TAKER_JAX, 0.7, 0.85, "/jaxlib/", "XLA_CLIENT_MEM_" },
	{ TAKER_JAX, 0.7, 0.85, "/jaxlib/", "XLA_PYTHON_CLIENT_" },
	{ TAKER_TENSORFLOW, 0.85, 1.0, "/tensorflow/", "TF_FORCE_GPU_ALLOW_GROWTH=" },
};

static bool sets(pid_t pid, const char *variable)
{
	struct text t = TEXT_INIT;
	bool found = false;

	proc_environment(pid, &t);
	for (size_t i = 0; i < t.length; i += strlen(t.data + i) + 1)
		found |= !strncmp(t.data + i, variable, strlen(variable));
	text_release(&t);
	return found;
}

static enum device_taker taker_of(const struct device_process *p, const struct device *device)
{
	double part = device->memory_bytes > 0
		? (double)p->memory_bytes / (double)device->memory_bytes : 0;
	enum device_taker taker = TAKER_NONE;

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (part < takers[i].least || part > takers[i].most ||
		    !proc_has_loaded((pid_t)p->pid, takers[i].library))
			continue;
		if (sets((pid_t)p->pid, takers[i].variable))
			return TAKER_NONE;
		taker = takers[i].taker;
	}
	return taker;
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
		if (!sees_all || u->process.pid <= 0)
			continue;
		proc_look((pid_t)u->process.pid, &u->info);
		proc_container((pid_t)u->process.pid, u->container);
		u->taker = taker_of(&u->process, &devices->items[u->process.device]);
	}
}

void device_user_list_release(struct device_user_list *list)
{
	free(list->items);
	free(list->aside_until_s);
	*list = (struct device_user_list){ 0 };
}

/* Returns the share of a process. A driver that does not tell the shares of processes tells only
 * their sum, and each process may be the one that takes all of it. */
static double share_of(const struct device_process *p, const struct device_list *devices)
{
	return isnan(p->utilization) ? devices->items[p->device].now.utilization : p->utilization;
}

/* Unknown memory counts as above the limits. */
bool device_user_is_above_limits(const struct device_user *u, const struct device_list *devices)
{
	return u->process.memory_bytes < 0 || u->process.memory_bytes > DEVICE_USER_MEMORY_BYTES ||
	       share_of(&u->process, devices) > DEVICE_USER_SHARE;
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

/* "20 min", "47 h", "3 d": coarse steps, because a reason that changes is written to the store. */
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
	if (u->job_id && u->container[0])
		text_addf(&t, " (container %.12s of job %lld)", u->container,
			  (long long)u->job_id);
	else if (u->job_id)
		text_addf(&t, " (of job %lld, not given it)", (long long)u->job_id);
	else if (u->info.lives && u->container[0])
		text_addf(&t, " (%.16s, container %.12s)", u->info.owner, u->container);
	else if (u->info.lives)
		text_addf(&t, " (%.20s)", u->info.owner);
	else if (u->info.hidden)
		text_add(&t, " (another user's, not visible here)");
	else if (p->pid > 0)
		text_addf(&t, " (%s)", proc_sees_all() ? "ended" : "outside this container");
	if (p->memory_bytes >= 0)
		text_addf(&t, " %lld MiB", (long long)(p->memory_bytes >> 20));
	else
		text_add(&t, " unknown memory");
	add_share(&t, share_of(p, devices));
	if (u->info.lives)
		add_age(&t, u->info.age_s);
	snprintf(text, DEVICE_USER_SIZE, "%.95s", t.data);
	text_release(&t);
	return text;
}
