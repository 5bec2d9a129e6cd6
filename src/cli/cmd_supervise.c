/* cmd_supervise.c - pollux supervise RUN: started by passes, one for each run; not for people. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "pollux/store.h"
#include "pollux/supervise.h"

/* Schedule as the last pass did that a person or cron ran: by now its options may be others than
 * those of the pass that started this supervisor. */
static int take_settings(const struct paths *paths, struct err *err)
{
	static const char *const names[] = { "POLLUX_SLOTS", "POLLUX_SLICE", "POLLUX_POLICY",
					     "POLLUX_SUSPEND_MEMORY" };
	struct store store;
	int rc;

	if (store_open(&store, paths, STORE_READ, err))
		return -1;
	rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		char *value;

		rc = store_setting_get(&store, names[i], &value, err);
		if (rc == 0 && value)
			setenv(names[i], value, 1);
		free(value);
	}
	store_close(&store);
	return rc;
}

/* Devices that have just become free do not wait for the minute: the supervisor's last act is a
 * pass. */
static int become_pass(const struct paths *paths, struct err *err)
{
	sigset_t none;

	if (take_settings(paths, err))
		return -1;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/proc/self/exe", "pollux", "schedule", (char *)NULL);
	return err_set(err, EX_OSERR, "cannot run a pass");
}

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
	if (rc > 0)
		rc = become_pass(&paths, err);
	paths_release(&paths);
	return rc;
}

const struct command cmd_supervise = {
	.name = "supervise", .synopsis = "RUN",
	.summary = "look after a run (started by 'pollux schedule')",
	.hidden = true,
	.run = main_supervise,
};
