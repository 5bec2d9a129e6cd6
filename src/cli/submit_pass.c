/* submit_pass.c - see submit_pass.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "later_pass.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/crontab.h"
#include "pollux/proc.h"
#include "pollux/regular_pass.h"
#include "submit_pass.h"

bool is_in_a_job(void)
{
	return getenv("POLLUX_JOB_ID") != NULL;
}

/* Returns the command after which passes come regularly; NULL: cron has the line. */
static const char *remedy(void)
{
	struct text lines = TEXT_INIT, new = TEXT_INIT;
	const char *command = NULL;
	struct crontab_entry e;
	struct err ignored;

	if (crontab_entry_init_own(&e, &ignored))
		return NULL;
	if (crontab_read(&lines, &ignored))
		command = "'pollux schedule --watch 10' runs them in a terminal";
	else if (crontab_with(lines.data ? lines.data : "", &e, &new) == CRONTAB_ADDED)
		command = "'pollux cron --install' adds one each minute";
	text_release(&lines);
	text_release(&new);
	crontab_entry_release(&e);
	return command;
}

static void advise(const struct paths *paths)
{
	const char *command;

	if (!isatty(STDERR_FILENO) || regular_passes_come(paths, clock_wall_s()))
		return;
	command = remedy();
	if (command)
		fprintf(stderr, "pollux: passes come only when a job is submitted, ends or is to "
			"begin, so nobody takes turns; %s\n", command);
}

/* False if the limits of this shell would hold for all jobs that a pass starts. */
static bool may_start(const struct config *config, bool quiet)
{
	const char *limit = limits_for_all();

	if (!config->submit_pass || is_in_a_job())
		return false;
	if (limit && !quiet)
		fprintf(stderr, "pollux: no pass was started, as all jobs would get the limit of "
			"'ulimit %s' here: the job waits for the next pass\n", limit);
	return !limit;
}

void submit_pass_run(bool quiet)
{
	struct config config;
	struct paths paths;
	struct err ignored;

	if (paths_init(&paths, &ignored))
		return;
	if (!quiet)
		advise(&paths);
	if (config_load(&config, paths.config, &ignored) == 0 && may_start(&config, quiet))
		later_pass_start(&paths);
	paths_release(&paths);
}
