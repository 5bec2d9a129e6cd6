/* cmd_devices.c - pollux devices: what jobs can run on, as a pass would see it now; and whose
 * processes on a GPU are to be ignored; which GPUs are tried again; whether the GPUs' memory can be
 * moved to the host's. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/config.h"
#include "pollux/engine.h"
#include "pollux/paths.h"
#include "pollux/store.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"
#include "pollux/view.h"

_Static_assert(CONFIG_MAX_SLOTS == DEVICE_MAX, "every accepted number of slots is possible");

#define SLOTS_FROM_CONFIG (-2)
#define MAX_PID 4194304		/* the kernel's own */

struct devices_options {
	int64_t slots, ignore, unignore;
	bool json, self_test, retry;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct devices_options, field)
	{ "slots", 's', OPTION_INT, "N", O(slots), 0, DEVICE_MAX,
	  "as if N CPU slots were asked for (0: one per physical core); default as configured" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "ignore", 0, OPTION_INT, "PID", O(ignore), 1, MAX_PID,
	  "give out GPUs in spite of this process, until it ends" },
	{ "unignore", 0, OPTION_INT, "PID", O(unignore), 1, MAX_PID, "no longer" },
	{ "retry", 0, OPTION_FLAG, NULL, O(retry), 0, 0,
	  "give out a GPU again, or all, on which CUDA did not start" },
	{ "self-test", 0, OPTION_FLAG, NULL, O(self_test), 0, 0,
	  "try to move each free GPU's memory to the host's and back" },
	{ .name = NULL },
#undef O
};

/* --- what there is to show --- */

/* If there is no store yet, no device is held, and no process is ignored. */
static int view_read(const struct config *config, struct devices_view *v, struct err *err)
{
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err)) {
		if (err->exit_status != EX_NOINPUT)
			return -1;
		return devices_view_read(config, NULL, v, err);
	}
	rc = devices_view_read(config, &s, v, err);
	session_close(&s);
	return rc;
}

static int read_config(const struct devices_options *o, struct config *config, struct err *err)
{
	struct paths paths;
	int rc = 0;

	if (paths_init(&paths, err))
		return -1;
	if (o->slots == SLOTS_FROM_CONFIG) {
		rc = config_load(config, paths.config, err);
	} else {
		config_load_leniently(config, paths.config);
		config->slots = (int)o->slots;
	}
	paths_release(&paths);
	return rc;
}

static int show_devices(const struct devices_options *o, struct err *err)
{
	struct devices_view v = { .containment_detail = TEXT_INIT };
	struct config config;
	int rc;

	if (read_config(o, &config, err))
		return -1;
	rc = view_read(&config, &v, err);
	if (rc == 0 && o->json)
		devices_print_json(&v);
	else if (rc == 0)
		devices_print_table(&v);
	devices_view_release(&v);
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

/* Find the process among those that a driver lists now: a mistyped number would otherwise wait for
 * its process to come. */
static int find_process(int64_t pid, struct ignored_process *process, struct err *err)
{
	struct config all = { .slots = DEVICE_SLOTS_AUTO };
	struct device_list list;
	bool found;

	if (engine_devices(&all, false, &list, err))
		return -1;
	found = computes(&list, pid);
	devices_release(&list);
	process->pid = pid;
	process->start_ticks = proc_sees_all() ? proc_start_ticks((pid_t)pid) : 0;
	if (!found)
		return err_set(err, EX_NOINPUT, "no process %lld computes on a GPU",
			       (long long)pid);
	return 0;
}

static int ignore(int64_t pid, struct err *err)
{
	struct ignored_process process;
	struct session s;
	int rc;

	if (find_process(pid, &process, err) || session_open(&s, STORE_WRITE, err))
		return -1;
	rc = store_ignored_add(&s.store, &process, err);
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

/* --- GPUs that are set aside --- */

static int find_device(const char *name, const struct device_list *list, const char **id,
		       struct err *err)
{
	*id = NULL;
	for (int i = 0; name && i < list->count; i++)
		if (!strcmp(list->items[i].name, name) || !strcmp(list->items[i].id, name))
			*id = list->items[i].id;
	if (name && !*id)
		return err_set(err, EX_NOINPUT, "no device '%.60s'; 'pollux devices' lists them",
			       name);
	return 0;
}

static int retry_in(struct store *store, const char *name, const char *id, struct err *err)
{
	struct aside_list list;
	int rc, n = 0;

	if (store_aside_list(store, &list, err))
		return -1;
	for (rc = 0; rc == 0 && n < list.count; n++)
		if (!id || !strcmp(list.items[n].device, id))
			rc = store_aside_retry(store, list.items[n].device, err);
	if (rc == 0 && (id ? isnan(aside_until_s(&list, id)) : n == 0))
		rc = err_set(err, EX_FAILED, "%s is%s set aside", id ? name : "no GPU",
			     id ? " not" : "");
	aside_list_release(&list);
	return rc;
}

/* name NULL: all. */
static int retry(const char *name, struct err *err)
{
	struct config all = { .slots = DEVICE_SLOTS_AUTO };
	struct device_list list;
	struct session s;
	const char *id;
	int rc;

	if (engine_devices(&all, false, &list, err))
		return -1;
	rc = find_device(name, &list, &id, err);
	if (rc == 0)
		rc = session_open(&s, STORE_WRITE, err);
	if (rc == 0) {
		rc = retry_in(&s.store, name, id, err);
		session_close(&s);
	}
	devices_release(&list);
	return rc;
}

/* --- the self-test --- */

static void say_testing(const struct device *device)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "pollux: testing %s ...\n", device->id);
}

/* A GPU that is in use, or too full, was not tested. */
static int judge_tests(const struct self_test *t, struct err *err)
{
	int failed = 0, left_out = 0;

	for (int i = 0; i < t->n; i++) {
		if (t->items[i].passed)
			continue;
		if (t->items[i].why.exit_status == EX_TEMPFAIL)
			left_out++;
		else
			failed++;
	}
	if (failed)
		return err_set(err, EX_FAILED, "%d of %d GPUs did not pass", failed, t->n);
	if (left_out)
		return err_set(err, EX_TEMPFAIL, "%d of %d GPUs could not be tested now", left_out,
			       t->n);
	return 0;
}

static int test_in(struct session *session, const struct devices_options *o, struct err *err)
{
	struct config config;
	struct self_test_settings settings = {
		.session = session, .config = &config, .progress = say_testing,
	};
	struct self_test t;
	int rc;

	if (read_config(o, &config, err))
		return -1;
	rc = self_test_run(&settings, &t, err);
	if (rc == 0 && o->json)
		self_test_print_json(&t, stdout);
	else if (rc == 0)
		self_test_print(&t, stdout);
	if (rc == 0)
		rc = judge_tests(&t, err);
	self_test_release(&t);
	return rc;
}

static int self_test(const struct devices_options *o, struct err *err)
{
	struct session session;
	int rc;

	if (session_open(&session, STORE_WRITE, err))
		return -1;
	rc = test_in(&session, o, err);
	session_close(&session);
	return rc;
}

static int main_devices(int argc, char **argv, struct err *err)
{
	struct devices_options o = { .slots = SLOTS_FROM_CONFIG };
	int first;

	if (options_parse(&cmd_devices, argc, argv, &o, &first, err))
		return -1;
	if (first + o.retry < argc)
		return usage_error(&cmd_devices, err, "devices takes no argument%s, not '%.60s'",
				   o.retry ? " but a GPU" : "", argv[first + o.retry]);
	if (!!o.ignore + !!o.unignore + o.self_test + o.retry > 1)
		return usage_error(&cmd_devices, err, "--ignore, --unignore, --retry and "
				   "--self-test exclude each other");
	if (o.retry)
		return retry(first < argc ? argv[first] : NULL, err);
	if (o.self_test)
		return self_test(&o, err);
	if (o.ignore)
		return ignore(o.ignore, err);
	return o.unignore ? unignore(o.unignore, err) : show_devices(&o, err);
}

const struct command cmd_devices = {
	.name = "devices", .synopsis = "[--slots N] [--json] "
		"[--ignore PID | --unignore PID | --retry [GPU] | --self-test]",
	.summary = "list the devices that jobs run on",
	.example = "pollux devices\n"
		   "pollux devices --slots 2 --json\n"
		   "pollux devices --self-test",
	.options = options, .run = main_devices,
};
