/* submit_pass.c - see submit_pass.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "later_pass.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/crontab.h"
#include "submit_pass.h"

#define LATE_S 180.0	/* longer than from one of cron's passes to the next */

/* The supervisors that a pass starts would belong to the job's control group, and end with it. */
static bool is_in_a_job(void)
{
	return getenv("POLLUX_JOB_ID") != NULL;
}

static bool passes_come(const struct paths *paths)
{
	struct stat st;

	return stat(paths->schedule_lock, &st) == 0 &&
	       clock_wall_s() - (double)st.st_mtim.tv_sec < LATE_S;
}

static bool crontab_has_line(void)
{
	struct text lines = TEXT_INIT, new = TEXT_INIT;
	struct crontab_entry e;
	struct err ignored;
	bool has = true;

	if (crontab_entry_init_own(&e, &ignored))
		return true;
	if (crontab_read(&lines, &ignored) == 0)
		has = crontab_with(lines.data ? lines.data : "", &e, &new) != CRONTAB_ADDED;
	text_release(&lines);
	text_release(&new);
	crontab_entry_release(&e);
	return has;
}

static void advise(const struct paths *paths)
{
	if (isatty(STDERR_FILENO) && !passes_come(paths) && !crontab_has_line())
		fputs("pollux: passes come only with submissions and ends of jobs, so nobody takes "
		      "turns; 'pollux cron --install' adds one each minute\n", stderr);
}

void submit_pass_run(void)
{
	struct config config;
	struct paths paths;
	struct err ignored;

	if (paths_init(&paths, &ignored))
		return;
	advise(&paths);
	if (config_load(&config, paths.config, &ignored) == 0 && config.submit_pass &&
	    !is_in_a_job())
		later_pass_start(&paths);
	paths_release(&paths);
}
