/* cmd_supervise.c - pollux supervise RUN: started by passes, one for each run; not for people. */
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "pollux/supervise.h"

/* Devices that have just become free do not wait for the minute: the supervisor's last act is a pass. */
static int become_pass(struct err *err)
{
	execl("/proc/self/exe", "pollux", "schedule", (char *)NULL);
	return err_set(err, EX_OSERR, "cannot run a pass");
}

static int run(int argc, char **argv, struct err *err)
{
	struct paths paths;
	long long id;
	int rc;

	if (argc != 2)
		return usage_error(&cmd_supervise, err, "supervise takes the number of a run");
	if (parse_job_id(&cmd_supervise, argv[1], &id, err) || paths_init(&paths, err))
		return -1;
	rc = supervise(&paths, id, err);
	paths_release(&paths);
	return rc > 0 ? become_pass(err) : rc;
}

const struct command cmd_supervise = {
	.name = "supervise",
	.synopsis = "RUN",
	.summary = "look after a run (started by 'pollux schedule')",
	.hidden = true,
	.run = run,
};
