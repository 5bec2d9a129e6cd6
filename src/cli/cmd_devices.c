/* cmd_devices.c - pollux devices: what jobs can run on, as a pass would see it now; and whose processes on a
 * GPU are to be ignored. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "devices.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/cuda.h"
#include "pollux/device_lock.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "session.h"

_Static_assert(CONFIG_MAX_SLOTS == DEVICE_MAX, "every number of slots that is accepted is possible");

#define SLOTS_FROM_CONFIG (-2)
#define MAX_PID 4194304		/* the kernel's own */

struct devices_options {
	int64_t slots, ignore, unignore;
	bool json;
};

static const struct option_spec options[] = {
	{ .name = "slots", .letter = 's', .type = OPTION_INT, .argument = "N",
	  .offset = offsetof(struct devices_options, slots), .min = 0, .max = DEVICE_MAX,
	  .help = "as if N CPU slots were asked for (0: one per physical core); default as "
		  "configured" },
	{ .name = "json", .letter = 'j', .type = OPTION_FLAG, .offset = offsetof(struct devices_options, json),
	  .help = "print JSON" },
	{ .name = "ignore", .type = OPTION_INT, .argument = "PID",
	  .offset = offsetof(struct devices_options, ignore), .min = 1, .max = MAX_PID,
	  .help = "give out GPUs in spite of this process, until it ends" },
	{ .name = "unignore", .type = OPTION_INT, .argument = "PID",
	  .offset = offsetof(struct devices_options, unignore), .min = 1, .max = MAX_PID,
	  .help = "no longer" },
	{ .name = NULL },
};

/* --- what there is to show --- */

static int64_t reserved_for(const struct devices_view *v, const char *id)
{
	for (int i = 0; i < v->reserved.count; i++)
		if (!strcmp(v->reserved.items[i].device.id, id))
			return v->reserved.items[i].job_id;
	return 0;
}

int64_t devices_holder(const struct devices_view *v, const char *id)
{
	const struct run *holder = NULL;

	for (int r = 0; r < v->runs.count; r++)
		for (int i = 0; i < v->runs.items[r].replicas; i++)
			if (!strcmp(v->runs.items[r].devices[i].id, id) &&
			    (!holder || holder->state == RUN_ASSIGNED))
				holder = &v->runs.items[r];
	return holder ? holder->job_id : reserved_for(v, id);
}

const char *devices_link_name(enum device_link link)
{
	static const char *const names[] = {
		[DEVICE_LINK_FAST] = "nvlink", [DEVICE_LINK_SWITCH] = "switch",
		[DEVICE_LINK_NUMA] = "node", [DEVICE_LINK_MACHINE] = "machine",
	};

	return names[link];
}

enum device_link devices_link(const struct devices_view *v, int a, int b)
{
	return (enum device_link)v->list.links[(size_t)a * (size_t)v->list.count + (size_t)b];
}

/* Without touching a GPU: the runtime and the versions. */
static void describe_cuda(char *text, size_t size)
{
	struct cuda cuda;
	struct err why;
	int n;

	if (cuda_open_runtime(&cuda, &why)) {
		snprintf(text, size, "%.300s", why.text);
		return;
	}
	n = snprintf(text, size, "%d.%d", cuda.runtime_version / 1000, cuda.runtime_version % 1000 / 10);
	if (cuda.driver_version)
		snprintf(text + n, size - (size_t)n, "; the driver is for %d.%d", cuda.driver_version / 1000,
			 cuda.driver_version % 1000 / 10);
	else
		snprintf(text + n, size - (size_t)n, ", but there is no driver");
}

static void view_release(struct devices_view *v)
{
	devices_release(&v->list);
	run_list_release(&v->runs);
	reserved_list_release(&v->reserved);
	free(v->lock_holders);
	device_user_list_release(&v->users);
}

/* A run's own supervisor holds the lock of its device, and is no news. */
static void find_lock_holders(const struct session *s, struct devices_view *v)
{
	v->lock_holders = xcalloc((size_t)v->list.count + 1, sizeof(*v->lock_holders));
	for (int d = 0; s && d < v->list.count; d++)
		if (!devices_holder(v, v->list.items[d].id))
			v->lock_holders[d] = device_lock_holder(&s->paths, v->list.items[d].id);
}

/* s NULL: there is no store. */
static int read_view(const struct device_settings *settings, struct session *s, struct devices_view *v,
		     struct err *err)
{
	struct store *store = s ? &s->store : NULL;

	if ((store && (store_runs_active(store, &v->runs, err) || store_reserved_list(store, &v->reserved, err))) ||
	    devices_list(settings, &v->list, err) ||
	    device_users_find(store, &v->list, &v->runs, &v->users, err))
		return -1;
	device_users_refuse(&v->users, &v->runs, &v->list);
	find_lock_holders(s, v);
	describe_cuda(v->cuda, sizeof(v->cuda));
	return 0;
}

/* Where there is no store yet nothing is held and nobody ignored. */
static int view_read(const struct device_settings *settings, struct devices_view *v, struct err *err)
{
	struct session s;
	int rc;

	*v = (struct devices_view){ .cuda = "" };
	if (session_open(&s, STORE_READ, err)) {
		if (err->exit_status != EX_NOINPUT)
			return -1;
		return read_view(settings, NULL, v, err);
	}
	rc = read_view(settings, &s, v, err);
	session_close(&s);
	return rc;
}

static int configured_slots(int *slots, struct err *err)
{
	struct config config;
	struct paths paths;
	int rc;

	if (paths_init(&paths, err))
		return -1;
	rc = config_load(&config, paths.config, err);
	if (rc == 0)
		*slots = config.slots;
	paths_release(&paths);
	return rc;
}

static int show(const struct devices_options *o, struct err *err)
{
	struct device_settings settings = { .slots = (int)o->slots, .in_full = true };
	struct devices_view v;
	int rc;

	if (o->slots == SLOTS_FROM_CONFIG && configured_slots(&settings.slots, err))
		return -1;
	rc = view_read(&settings, &v, err);
	if (rc == 0 && o->json)
		devices_print_json(&v);
	else if (rc == 0)
		devices_print_table(&v);
	view_release(&v);
	return rc;
}

/* --- ignoring a process --- */

static bool computes(const struct device_list *list, int64_t pid)
{
	for (int i = 0; i < list->n_processes; i++)
		if (list->processes[i].pid == pid)
			return true;
	return false;
}

/* Only one that a driver lists now: a number typed wrong would else wait for its process to come. */
static int find_process(int64_t pid, struct ignored_process *process, struct err *err)
{
	struct device_settings settings = { .slots = DEVICE_SLOTS_AUTO };
	struct device_list list;
	bool found;

	if (devices_list(&settings, &list, err))
		return -1;
	found = computes(&list, pid);
	devices_release(&list);
	*process = (struct ignored_process){ pid, proc_sees_all() ? proc_start_ticks((pid_t)pid) : 0 };
	return found ? 0 : err_set(err, EX_NOINPUT, "no process %lld computes on a GPU", (long long)pid);
}

static int ignore(int64_t pid, struct err *err)
{
	struct ignored_process process;
	struct session s;
	int rc;

	if (find_process(pid, &process, err) || session_open(&s, STORE_WRITE, err))
		return -1;
	rc = store_ignored_add(&s.store, clock_boot_id(), &process, err);
	session_close(&s);
	if (rc == 0 && isatty(STDOUT_FILENO))
		printf("Process %lld is ignored until it ends.\n", (long long)pid);
	return rc;
}

static int unignore(int64_t pid, struct err *err)
{
	struct session s;
	bool was_there;
	int rc;

	if (session_open(&s, STORE_WRITE, err))
		return -1;
	rc = store_ignored_remove(&s.store, pid, &was_there, err);
	session_close(&s);
	if (rc == 0 && !was_there)
		return err_set(err, EX_FAILED, "process %lld is not ignored", (long long)pid);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct devices_options o = { .slots = SLOTS_FROM_CONFIG };
	int first;

	if (options_parse(&cmd_devices, argc, argv, &o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_devices, err, "devices takes no argument, not '%.60s'",
				   argv[first]);
	if (o.ignore && o.unignore)
		return usage_error(&cmd_devices, err, "--ignore and --unignore exclude each other");
	if (o.ignore)
		return ignore(o.ignore, err);
	return o.unignore ? unignore(o.unignore, err) : show(&o, err);
}

const struct command cmd_devices = {
	.name = "devices",
	.synopsis = "[--slots N] [--json] [--ignore PID | --unignore PID]",
	.summary = "list the devices that jobs run on",
	.example = "pollux devices\n"
		   "pollux devices --slots 2 --json",
	.options = options,
	.run = run,
};
