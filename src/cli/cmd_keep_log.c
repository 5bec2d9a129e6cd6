/* cmd_keep_log.c - pollux keep-log RUN: started by supervisors, for each run; not for people. */
#include "commands.h"
#include "pollux/log_keeping.h"

static int main_keep_log(int argc, char **argv, struct err *err)
{
	int rc;

	(void)argv;
	if (argc != 2)
		return usage_error(&cmd_keep_log, err, "keep-log takes the number of a run");
	rc = log_keeping();
	return rc ? err_set(err, rc, "cannot read what the program prints") : 0;
}

const struct command cmd_keep_log = {
	.name = LOG_KEEPER_COMMAND, .synopsis = "RUN",
	.summary = "write what a run prints into its log (started by supervisors)",
	.hidden = true,
	.run = main_keep_log,
};
