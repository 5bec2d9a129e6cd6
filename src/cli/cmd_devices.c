/* cmd_devices.c - pollux devices: what jobs can run on, as a pass would see it now. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/json.h"
#include "pollux/paths.h"
#include "pollux/table.h"
#include "session.h"

_Static_assert(CONFIG_MAX_SLOTS == DEVICE_MAX, "every number of slots that is accepted is possible");
_Static_assert(CONFIG_SLOTS_AUTO == DEVICE_SLOTS_AUTO, "and so is none");

#define SLOTS_FROM_CONFIG (-2)

struct devices_options {
	int64_t slots;
	bool json;
};

static const struct option_spec options[] = {
	{ .name = "slots", .letter = 's', .type = OPTION_INT, .argument = "N",
	  .offset = offsetof(struct devices_options, slots), .min = 0, .max = DEVICE_MAX,
	  .help = "as if the processor were divided into N slots (0: one per physical core); "
		  "default as configured" },
	{ .name = "json", .type = OPTION_FLAG, .offset = offsetof(struct devices_options, json),
	  .help = "print JSON" },
	{ .name = NULL },
};

/* The run that has the device, or waits for it; NULL: nobody. One at work goes before one assigned. */
static const struct run *holder_of(const struct run_list *runs, const char *id)
{
	const struct run *holder = NULL;

	for (int r = 0; r < runs->count; r++)
		for (int i = 0; i < runs->items[r].replicas; i++)
			if (!strcmp(runs->items[r].devices[i].id, id) &&
			    (!holder || holder->state == RUN_ASSIGNED))
				holder = &runs->items[r];
	return holder;
}

/* 0 is none, or not known. */
static void print_known(struct json *j, const char *key, int64_t value)
{
	if (value)
		json_integer(j, key, value);
	else
		json_number(j, key, (double)NAN);
}

static void print_json(const struct device_list *list, const struct run_list *runs)
{
	struct json j;

	json_init(&j, stdout);
	json_object(&j, NULL);
	json_array(&j, "devices");
	for (const struct device *d = list->items; d < list->items + list->count; d++) {
		json_object(&j, NULL);
		json_string(&j, "id", d->id);
		json_string(&j, "kind", d->kind);
		json_integer(&j, "cores", d->cores);
		json_string(&j, "binding", d->binding);
		print_known(&j, "memory_bytes", d->memory_bytes);
		const struct run *holder = holder_of(runs, d->id);

		print_known(&j, "job_id", holder ? holder->job_id : 0);
		json_bool(&j, "usable", d->usable);
		json_string(&j, "reason", d->usable ? NULL : d->reason);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void print_table(const struct device_list *list, const struct run_list *runs)
{
	static const struct table_column columns[] = {
		{ .heading = "ID" },
		{ .heading = "CORES", .right = true },
		{ .heading = "HELD BY" },
		{ .heading = "BOUND TO", .flexible = true },
		{ .heading = "KIND", .flexible = true, .min_width = 7 },
	};
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (const struct device *d = list->items; d < list->items + list->count; d++) {
		table_cell(&t, "%s", d->id);
		table_cell(&t, "%d", d->cores);
		const struct run *holder = holder_of(runs, d->id);

		if (holder)
			table_cell(&t, "job %lld", (long long)holder->job_id);
		else
			table_cell(&t, "-");
		table_cell(&t, "%s", d->binding);
		table_cell(&t, "%s%s", d->usable ? "" : "not usable: ",
			   d->usable ? d->kind : d->reason);
		if (!d->usable)
			table_style(&t, STYLE_RED);
	}
	table_print(&t, stdout, terminal_width(stdout), terminal_color(stdout, "auto"));
	table_release(&t);
}

/* The runs that have not ended; none where there is no store yet. */
static int read_runs(struct run_list *runs, struct err *err)
{
	struct session s;
	int rc;

	*runs = (struct run_list){ 0 };
	if (session_open(&s, STORE_READ, err))
		return err->exit_status == EX_NOINPUT ? 0 : -1;
	rc = store_runs_active(&s.store, runs, err);
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
	struct device_settings settings = { .slots = (int)o->slots };
	struct device_list list;
	struct run_list runs;

	if (o->slots == SLOTS_FROM_CONFIG && configured_slots(&settings.slots, err))
		return -1;
	if (read_runs(&runs, err))
		return -1;
	if (devices_list(&settings, &list, err)) {
		run_list_release(&runs);
		return -1;
	}
	if (o->json)
		print_json(&list, &runs);
	else
		print_table(&list, &runs);
	devices_release(&list);
	run_list_release(&runs);
	return 0;
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
	return show(&o, err);
}

const struct command cmd_devices = {
	.name = "devices",
	.synopsis = "[--slots N] [--json]",
	.summary = "list the devices that jobs run on",
	.example = "pollux devices\n"
		   "pollux devices --slots 2 --json",
	.options = options,
	.run = run,
};
