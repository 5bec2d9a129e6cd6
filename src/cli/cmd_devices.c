/* cmd_devices.c - pollux devices: what jobs can run on, as a pass would see it now; and whose
 * processes on a GPU are to be ignored; which GPUs are tried again; whether the GPUs' memory can be
 * moved to the host's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/engine.h"
#include "pollux/store_machine.h"
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
};

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
	struct session s;
	int rc;

	if (read_config(o, &config, err))
		return -1;
	if (session_open(&s, STORE_READ, err) == 0) {
		rc = devices_view_read(&config, &s, &v, err);
		session_close(&s);
	} else if (err->exit_status == EX_NOINPUT) {
		/* no store yet: no device is held, and no process is ignored */
		rc = devices_view_read(&config, NULL, &v, err);
	} else {
		return -1;
	}
	if (rc == 0 && o->json)
		devices_print_json(&v);
	else if (rc == 0)
		devices_print_table(&v);
	devices_view_release(&v);
	return rc;
}

/* Ignores a process that a driver lists now: a mistyped number would otherwise wait for its process
 * to come. */
static int ignore(int64_t pid, struct err *err)
{
	struct ignored_process process = {
		.pid = pid, .start_ticks = proc_sees_all() ? proc_start_ticks((pid_t)pid) : 0,
	};
	struct config all = { .slots = DEVICE_SLOTS_AUTO };
	struct device_list list;
	bool computes = false;
	struct session s;
	int rc;

	if (engine_devices(&all, false, &list, err))
		return -1;
	for (int i = 0; i < list.n_processes; i++)
		computes |= list.processes[i].pid == pid;
	devices_release(&list);
	if (!computes)
		return err_set(err, EX_NOINPUT, "no process %lld computes on a GPU",
			       (long long)pid);
	if (session_open(&s, STORE_WRITE, err))
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

static int retry_in(struct store *store, const char *name, const char *id, struct err *err)
{
	struct aside_list list;
	int n = 0, rc = store_aside_list(store, &list, err);

	for (; rc == 0 && n < list.count; n++)
		if (!id || !strcmp(list.items[n].device, id))
			rc = store_aside_retry(store, list.items[n].device, err);
	if (rc == 0 && (id ? isnan(aside_until_s(&list, id)) : n == 0))
		rc = err_set(err, EX_FAILED, "%s is%s set aside", id ? name : "no GPU",
			     id ? " not" : "");
	aside_list_release(&list);
	return rc;
}

/* Gives out the GPU again; name NULL: all. */
static int retry(const char *name, struct err *err)
{
	struct config all = { .slots = DEVICE_SLOTS_AUTO };
	struct device_list list;
	struct session s;
	const char *id = NULL;
	int rc;

	if (engine_devices(&all, false, &list, err))
		return -1;
	for (int i = 0; name && i < list.count; i++)
		if (!strcmp(list.items[i].name, name) || !strcmp(list.items[i].id, name))
			id = list.items[i].id;
	rc = !name || id ? session_open(&s, STORE_WRITE, err)
		: err_set(err, EX_NOINPUT, "no device '%.60s'; 'pollux devices' lists them", name);
	if (rc == 0) {
		rc = retry_in(&s.store, name, id, err);
		session_close(&s);
	}
	devices_release(&list);
	return rc;
}

static void say_testing(const struct device *device)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "pollux: testing %s ...\n", device->id);
}

static int self_test(const struct devices_options *o, struct err *err)
{
	struct session session;
	struct config config;
	struct self_test_settings settings = {
		.session = &session, .config = &config, .progress = say_testing,
	};
	struct self_test t = { .n = 0 };
	int rc, failed = 0, left_out = 0;

	if (session_open(&session, STORE_WRITE, err))
		return -1;
	rc = read_config(o, &config, err);
	rc = rc ? rc : self_test_run(&settings, &t, err);
	if (rc == 0 && o->json)
		self_test_print_json(&t, stdout);
	else if (rc == 0)
		self_test_print(&t, stdout);
	/* A GPU that is in use, or too full, was not tested. */
	for (int i = 0; rc == 0 && i < t.n; i++) {
		bool is_busy = t.items[i].why.exit_status == EX_TEMPFAIL;

		failed += !t.items[i].passed && !is_busy;
		left_out += !t.items[i].passed && is_busy;
	}
	if (failed)
		rc = err_set(err, EX_FAILED, "%d of %d GPUs did not pass", failed, t.n);
	else if (left_out)
		rc = err_set(err, EX_TEMPFAIL, "%d of %d GPUs could not be tested now", left_out,
			     t.n);
	self_test_release(&t);
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
