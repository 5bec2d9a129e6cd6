/* cmd_profile.c - pollux profile: measure the devices. */
#include <stddef.h>

#include "command.h"
#include "profile.h"

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct profile_options, field)
	{ .name = "devices", .type = OPTION_FLAG, O(devices),
	  .help = "measure the devices themselves: products, copies, exchanges" },
	{ .name = "device", .type = OPTION_TEXT, .argument = "ID", O(device),
	  .help = "this one only; default one of each kind, and exchanges between all" },
	{ .name = "quick", .type = OPTION_FLAG, O(quick),
	  .help = "fewer sizes, and less time for each" },
	{ .name = "json", .type = OPTION_FLAG, O(json), .help = "print JSON" },
	{ .name = NULL },
#undef O
};

static int run(int argc, char **argv, struct err *err)
{
	struct profile_options o = { 0 };
	int first;

	if (options_parse(&cmd_profile, argc, argv, &o, &first, err))
		return -1;
	if (!o.devices)
		return usage_error(&cmd_profile, err, "what is to be measured? give --devices");
	if (first < argc)
		return usage_error(&cmd_profile, err, "profile --devices takes no argument, not '%.60s'",
				   argv[first]);
	return profile_devices(&o, err);
}

const struct command cmd_profile = {
	.name = "profile",
	.synopsis = "--devices [--device ID] [--quick] [--json]",
	.summary = "measure what devices can do",
	.example = "pollux profile --devices\n"
		   "pollux profile --devices --quick --json",
	.options = options,
	.runs_program = true,
	.run = run,
};
