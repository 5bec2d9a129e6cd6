/* cmd_profile.c - pollux profile: measure a command at several sizes, or the devices. */
#include <stddef.h>
#include <string.h>

#include "commands.h"
#include "pollux/config.h"
#include "pollux/profile.h"
#include "pollux/report.h"
#include "profile.h"

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
	if (!o->asked.declared.batch_size)
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
