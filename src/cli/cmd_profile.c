/* cmd_profile.c - pollux profile: of devices, of a command, of a command on each kind of device. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/command.h"
#include "pollux/config.h"
#include "pollux/engine.h"
#include "pollux/explain.h"
#include "pollux/profile.h"
#include "pollux/report.h"
#include "pollux/store.h"
#include "pollux/view.h"
#include "submit.h"

/* --- pollux profile --devices: measure each kind of device, and show it --- */

static void say_measuring(const struct device *device, bool exchanges)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "pollux: measuring %s%s ...\n", exchanges ? "exchanges from " : "",
			device->id);
}

static void show_profile(const struct profile_options *o, const struct devices_profile *profile)
{
	struct output out = output_stdout(o->color);

	if (o->json)
		devices_profile_print_json(profile, stdout);
	else
		devices_profile_print(profile, &out);
}

static int measure_and_show(const struct profile_options *o, struct session *session,
			    struct err *err)
{
	struct profile_kinds_settings settings = {
		.session = session, .quick = o->quick, .device = o->device,
		.progress = say_measuring,
	};
	struct devices_profile profile;
	struct config config;
	int rc;

	if (session_settings(session, &config, err))
		return -1;
	if (o->slots > 0)
		config.slots = (int)o->slots;
	settings.config = &config;
	rc = profile_kinds(&settings, &profile, err);
	if (rc == 0)
		show_profile(o, &profile);
	devices_profile_release(&profile);
	return rc;
}

static int profile_devices(const struct profile_options *o, struct err *err)
{
	struct session session;
	int rc;

	if (session_open(&session, STORE_WRITE, err))
		return -1;
	rc = measure_and_show(o, &session, err);
	session_close(&session);
	return rc;
}

/* --- pollux profile --all-kinds: the command on each kind of device in turn --- */

static bool has(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

/* Finds the kinds of the usable devices that --kind and --not-kind allow. Slots whose sizes were
 * not asked for count as one kind, so that no kind is named. */
static int find_kinds(const struct profile_options *o, const struct config *config,
		      struct strings *names, struct err *err)
{
	struct device_list list;

	if (engine_devices(config, false, &list, err))
		return -1;
	for (int i = 0; i < list.count; i++) {
		const struct device *d = &list.items[i];

		if (strncmp(d->id, "cpu:", 4) == 0 && config->slots < DEVICE_SLOTS_OF_TWO_SIZES)
			continue;
		if (d->usable && declaration_wants_kind(&o->asked.declared, d->kind) &&
		    !has(names, d->kind))
			strings_add(names, d->kind);
	}
	devices_release(&list);
	return 0;
}

static int read_kinds(const struct profile_options *o, struct strings *names, struct err *err)
{
	struct config config;
	struct session s;
	int rc;

	if (session_open(&s, STORE_WRITE, err))
		return -1;
	rc = session_settings(&s, &config, err);
	if (o->slots > 0)
		config.slots = (int)o->slots;
	if (rc == 0)
		rc = find_kinds(o, &config, names, err);
	session_close(&s);
	return rc;
}

/* Makes a pattern of --kind from the name of a kind. '|' cannot be quoted there: '?' stands for
 * it. */
static void quote(const char *name, struct text *pattern)
{
	for (; *name; name++)
		text_addf(pattern, "%s%c", strchr("*?[\\", *name) ? "\\" : "",
			  *name == '|' ? '?' : *name);
}

/* --- measuring --- */

static int print_table(const struct profile_options *o, int64_t job_id, struct err *err)
{
	struct output out = output_stdout(o->color);
	struct profile_report report;
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = profile_report_read(&s, job_id, &report, err);
	session_close(&s);
	if (rc)
		return -1;
	explanation_print_kinds(&report.e, &out);
	profile_report_release(&report);
	return 0;
}

/* Profiles the command on one kind. A kind on which it fails does not keep the others from being
 * measured; the last failure stays in *failure. notes: say what the command lacks. */
static int profile_kind(const struct profile_options *o, char **argv, const char *name,
			bool notes, int64_t *job_id, struct err *failure)
{
	struct text pattern = TEXT_INIT;
	int64_t id = 0;
	int rc;

	quote(name, &pattern);
	printf("%s%s\n\n", *job_id ? "\n" : "", name);
	fflush(stdout);
	rc = profile_on_kind(o, argv, pattern.data, notes, &id, failure);
	text_release(&pattern);
	if (rc < 0)
		output_messagef("not measured on %s: %s", name, failure->text);
	else
		*job_id = id;
	return rc;
}

/* Profiles the command on each kind of device in turn, and prints a table by kind. */
static int profile_each_kind(const struct profile_options *o, char **argv, struct err *err)
{
	struct strings names;
	struct err failure = { 0 };
	int64_t job_id = 0, ignored;
	int rc;

	strings_init(&names);
	rc = read_kinds(o, &names, err);
	if (rc == 0 && names.count < 2)
		rc = profile_on_kind(o, argv, NULL, true, &ignored, err);
	/* A status above 0 is that of a signal, which ends everything. */
	for (size_t i = 0; names.count > 1 && i < names.count && rc <= 0; i++)
		rc = profile_kind(o, argv, names.items[i], i == 0, &job_id, &failure);
	if (names.count > 1 && rc <= 0) {
		*err = failure;
		rc = job_id ? print_table(o, job_id, err) : -1;
	}
	strings_release(&names);
	return rc;
}

/* --- pollux profile: measure a command at several sizes, or the devices --- */

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct profile_options, field)
	{ "budget", 't', OPTION_DURATION, "TIME", O(budget_s), 1, 1e7,
	  "for all of it, launches too; default 60s" },
	{ "points", 0, OPTION_INT, "N", O(points), 1, 1000,
	  "try at most so many sizes; default as many as the budget lasts for" },
	{ "slots", 's', OPTION_INT, "N", O(slots), 1, CONFIG_MAX_SLOTS,
	  "divide the processor into N slots; default as configured" },
	{ "all-kinds", 0, OPTION_FLAG, NULL, O(all_kinds), 0, 0,
	  "measure on each kind of device in turn, with the budget on each" },
	{ .name = "declared", .type = OPTION_DECLARED, O(asked), .uses = FOR_PROFILE },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "plot", 'p', OPTION_PICTURE, "FILE", O(plot), 0, 0,
	  "also draw goodput against devices and batch size, by gnuplot: FILE.svg or FILE.png" },
	OPTION_COLOR(O(color)),
	{ "devices", 0, OPTION_FLAG, NULL, O(devices), 0, 0,
	  "measure the devices themselves: products, copies, exchanges" },
	{ "device", 0, OPTION_TEXT, "ID", O(device), 0, 0,
	  "this one only; default one of each kind, and exchanges between all" },
	{ "quick", 0, OPTION_FLAG, NULL, O(quick), 0, 0, "fewer sizes, and less time for each" },
	/* The options of submit can be given unchanged; the manual names those without effect. */
	{ .name = "ignored", .type = OPTION_DECLARED, O(asked), .uses = IGNORED_BY_PROFILE },
	{ .name = NULL },
#undef O
};

/* The options of each of the three things that the command does. A program is measured with all
 * options but those of devices. */
static const char *const of_devices[] = {
	"devices", "device", "quick", "slots", "json", "color", NULL
};
static const char *const of_profiles[] = { "json", "plot", "color", NULL };

static int check_profile_options(int argc, char **argv, struct err *err)
{
	const char *other = options_given_but(&cmd_profile, argc, argv, of_profiles);

	if (other)
		return usage_error(&cmd_profile, err, "the number of a profile takes no --%s",
				   other);
	return 0;
}

/* Checked before anything is measured, since the picture is drawn only minutes later. */
static int check_plot(const struct profile_options *o, struct err *err)
{
	if (!o->plot)
		return 0;
	if (!o->asked.declared.batch.size)
		return usage_error(&cmd_profile, err,
				   "option '--plot' needs --batch: without it no model comes of a "
				   "profile");
	return picture_check(o->plot, err);
}

/* "profile 5 --json": the number of a profile stands where a command would, and ends no options. */
static int run_show(struct profile_options *o, int argc, char **argv, struct err *err)
{
	long long id;
	int first;

	if (options_parse(&cmd_profile, argc, argv, o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_profile, err,
				   "profile takes one job or a command, not '%.60s' too",
				   argv[first]);
	if (check_profile_options(argc, argv, err) ||
	    parse_job_id(&cmd_profile, argv[0], &id, err))
		return -1;
	return profile_show(o, id, err);
}

static int run_devices(struct profile_options *o, int argc, char **argv, int first, struct err *err)
{
	const char *other;

	if (first < argc)
		return usage_error(&cmd_profile, err,
				   "profile --devices takes no argument, not '%.60s'", argv[first]);
	other = options_given_but(&cmd_profile, first, argv, of_devices);
	if (other)
		return usage_error(&cmd_profile, err, "profile --devices takes no --%s", other);
	return profile_devices(o, err);
}

/* argv[first] is the first operand; what is before it are options. */
static int dispatch(struct profile_options *o, int argc, char **argv, int first, struct err *err)
{
	if (o->devices)
		return run_devices(o, argc, argv, first, err);
	if (first < argc && *argv[first] && !argv[first][strspn(argv[first], "0123456789")])
		return check_profile_options(first, argv, err) ? -1
			: run_show(o, argc - first, argv + first, err);
	if (o->device || o->quick)
		return usage_error(&cmd_profile, err, "option '--%s' needs --devices",
				   o->device ? "device" : "quick");
	if (first == argc)
		return usage_error(&cmd_profile, err,
				   "what is to be measured? give a command, or --devices");
	if (o->all_kinds && (o->json || o->plot))
		return usage_error(&cmd_profile, err, "--all-kinds makes several profiles: '--%s' "
				   "goes with 'pollux profile ID'", o->json ? "json" : "plot");
	if (check_plot(o, err))
		return -1;
	return o->all_kinds ? profile_each_kind(o, argv + first, err)
			    : profile_command(o, argv + first, err);
}

static int main_profile(int argc, char **argv, struct err *err)
{
	struct profile_options o = {
		.color = "auto", .budget_s = PROFILE_BUDGET_S,
	};
	int first, rc;

	asked_init(&o.asked);
	rc = options_parse(&cmd_profile, argc, argv, &o, &first, err);
	if (rc == 0)
		rc = dispatch(&o, argc, argv, first, err);
	options_release(&cmd_profile, &o);
	return rc;
}

const struct command cmd_profile = {
	.name = "profile", .synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]... | ID | --devices",
	.summary = "measure a command at several sizes, or what devices can do",
	.example = "pollux profile -b 128 --batch-range 128:4096 -- ./train --batch={batch}\n"
		   "pollux profile 5 --plot goodput.svg    # what profile 5 found out\n"
		   "pollux profile --devices --quick --json",
	.options = options, .runs_program = true, .run = main_profile,
};
