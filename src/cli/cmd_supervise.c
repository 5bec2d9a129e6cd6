/* cmd_supervise.c - pollux supervise RUN: started by passes, one for each run; not for people.
 * 'pollux run' starts the one of its run, with the process group of the terminal. */
#include "commands.h"
#include "later_pass.h"
#include "pollux/slurm_node.h"
#include "pollux/supervise.h"

/* Runs the supervisor of 'pollux run'. The pass after its end is started in the background, so that
 * the terminal need not wait for it. */
static int in_foreground(const struct paths *paths, int64_t run_id, const char *group,
			 struct err *err)
{
	long long number;
	int rc;

	if (parse_job_id(&cmd_supervise, group, &number, err))
		return -1;
	rc = supervise_in_foreground(paths, run_id, (pid_t)number, err);
	if (rc > 0)
		later_pass_start(paths);
	return rc > 0 ? 0 : rc;
}

static int main_supervise(int argc, char **argv, struct err *err)
{
	struct paths paths;
	long long id;
	int rc;

	/* in a job of Slurm: the directory of the run, for the wrapper its program, too */
	if (argc >= 2 && argv[1][0] == '/')
		return argc == 2 ? slurm_supervise(argv[1], err)
				 : slurm_wrap(argv[1], argv + 2, err);
	if (argc != 2 && argc != 3)
		return usage_error(&cmd_supervise, err, "supervise takes the number of a run");
	if (parse_job_id(&cmd_supervise, argv[1], &id, err) || paths_init(&paths, err))
		return -1;
	rc = paths_check_owner(&paths, err);
	if (rc == 0)
		rc = argc == 3 ? in_foreground(&paths, id, argv[2], err)
			       : supervise(&paths, id, err);
	/* A pass now gives out the devices that have just become free. */
	if (rc > 0)
		rc = later_pass_become(&paths, err);
	paths_release(&paths);
	return rc;
}

const struct command cmd_supervise = {
	.name = "supervise", .synopsis = "RUN [GROUP]",
	.summary = "look after a run (started by 'pollux schedule')",
	.hidden = true,
	.run = main_supervise,
};
