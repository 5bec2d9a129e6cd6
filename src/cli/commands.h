/* commands.h - the commands of pollux, and their help; private to src/cli. */
#ifndef POLLUX_CLI_COMMANDS_H
#define POLLUX_CLI_COMMANDS_H

#include "pollux/command.h"

/* All commands, in the order of 'pollux help': cmd_NAME stands in cmd_NAME.c. */
#define COMMANDS(X) \
	X(submit) X(run) X(schedule) X(status) X(explain) X(log) X(wait) X(cancel) X(hold) \
	X(release) X(edit) X(first) X(again) X(requeue) X(results) X(history) X(page) \
	X(devices) X(profile) X(report) X(steps) X(presets) X(forget) X(prune) X(cron) \
	X(backup) X(doctor) X(simulate) X(supervise) X(tell) X(keep_log)

#define DECLARE_COMMAND(name) extern const struct command cmd_##name;
COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* Usage, summary, options and examples, made from the table; 80 columns, but the usage line and the
 * examples are never broken. */
void command_help(const struct command *command, FILE *out);
/* The choices of an option, one a line; nothing for an option that takes something else.
 * False: the command has no such option. */
bool command_choices(const struct command *command, const char *option, FILE *out);

#endif
