/* cmd_supervise.c - pollux supervise RUN: started by passes, one for each run; not for people. */
#include "command.h"
#include "later_pass.h"
#include "pollux/supervise.h"

static int main_supervise(int argc, char **argv, struct err *err)
{
	struct paths paths;
	long long id;
	int rc;

	if (argc != 2)
		return usage_error(&cmd_supervise, err, "supervise takes the number of a run");
	if (parse_job_id(&cmd_supervise, argv[1], &id, err) || paths_init(&paths, err))
		return -1;
	rc = supervise(&paths, id, err);
	/* Devices that have just become free do not wait for the minute. */
	if (rc > 0)
		rc = later_pass_become(&paths, err);
	paths_release(&paths);
	return rc;
}

const struct command cmd_supervise = {
	.name = "supervise", .synopsis = "RUN",
	.summary = "look after a run (started by 'pollux schedule')",
	.hidden = true,
	.run = main_supervise,
};
