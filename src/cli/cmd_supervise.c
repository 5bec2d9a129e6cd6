/* cmd_supervise.c - the commands that pollux itself starts: pollux supervise, keep-log and tell. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/log_keeping.h"
#include "pollux/mem.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/supervise.h"
#include "pollux/text.h"
#include "submit.h"

/* --- pollux supervise RUN --- */

/* Started by passes, one for each run; not for people. 'pollux run' starts the one of its run, with
 * the process group of the terminal. */

/* Runs the supervisor of 'pollux run'. The pass after its end is started in the background, so that
 * the terminal need not wait for it. */
static int in_foreground(const struct paths *paths, int64_t run_id, const char *group,
			 struct err *err)
{
	long long number;
	int rc;

	if (parse_job_id(&cmd_supervise, group, &number, err))
		return -1;
	rc = supervise(paths, run_id, (pid_t)number, err);
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
			       : supervise(&paths, id, 0, err);
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

/* --- pollux keep-log RUN: started by supervisors, for each run; not for people --- */

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

/* --- one process tells all ends, in turn: 200 ends at once are not 200 processes --- */

/* True if a command is to be told of the end of every job. */
static bool on_end_tells_all(const struct config *config)
{
	return *config->on_end || *config->on_failure;
}

int on_end_start(struct store *s, const struct config *config, struct err *err)
{
	char pollux[] = "pollux", tell[] = "tell";
	char *const argv[] = { pollux, tell, NULL };
	bool left;

	if (store_ends_left(s, on_end_tells_all(config), &left, err))
		return -1;
	if (left)
		later_start(argv);
	return 0;
}

void on_end_look(void)
{
	struct config config;
	struct session s;
	struct err ignored;

	if (is_in_a_job() || session_open(&s, STORE_WRITE, &ignored))
		return;
	if (config_load(&config, s.paths.config, &ignored) == 0)
		on_end_start(&s.store, &config, &ignored);
	session_close(&s);
}

/* --- pollux tell --- */

/* Runs the commands for the ends of jobs, one after the other; started by passes, not for people.
 * An end counts as told before its first command runs: where this process is killed, the end of one
 * job is lost, and those of others are left to the next process. */

#define LIMIT_S 60.0	/* for one command */
#define LOOK_NS 50000000

/* --- what the command is told --- */

static void set_number(const char *name, double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", x);
	setenv(name, isfinite(x) ? text : "", 1);
}

static void set_environment(const struct session *s, const struct job *job,
			    const struct job_command *command)
{
	char *log = paths_log(&s->paths, job->id);
	const struct progress *p = &job->progress;
	double loss;
	int code = p->term_signal > 0 ? 128 + p->term_signal : p->exit_code;

	set_number("POLLUX_JOB", (double)job->id);
	setenv("POLLUX_NAME", job->declared.name, 1);
	setenv("POLLUX_STATE", job_state_name(job->state), 1);
	set_number("POLLUX_EXIT", code >= 0 ? (double)code : (double)NAN);
	setenv("POLLUX_RESULT", job->reason ? job->reason : "", 1);
	setenv("POLLUX_LOG", log, 1);
	setenv("POLLUX_DIRECTORY", command->directory, 1);
	/* to the millisecond */
	set_number("POLLUX_RUN_TIME", round(p->run_time_s * 1e3) / 1e3);
	setenv("POLLUX_LOSS", progress_loss(p, &loss) ? value_format(loss, 15).s : "", 1);
	free(log);
}

/* --- one command --- */

/* Returns the limit of time, which a test may shorten. */
static double limit_s(void)
{
	const char *text = getenv("POLLUX_TELL_LIMIT");
	double s;

	return text && number_parse(text, &s) == 0 && s > 0 ? s : LIMIT_S;
}

static pid_t start_line(const char *line, const char *directory)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	setpgid(0, 0);
	if (chdir(directory) && chdir("/"))
		_exit(EX_OSERR);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(EX_OSERR);
}

/* False: the time was over, and the command with all its processes was killed. */
static bool wait_bounded(pid_t child, int *status)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	double end_s = clock_boot_s() + limit_s();

	while (waitpid(child, status, WNOHANG) == 0) {
		if (clock_boot_s() >= end_s) {
			kill(-child, SIGKILL);
			waitpid(child, status, 0);
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

static void run_line(const char *what, const char *line, const char *directory, struct text *said)
{
	pid_t child = start_line(line, directory);
	int status = 0;

	text_addf(said, "%s%s: ", said->length ? "; " : "", what);
	if (child < 0)
		text_addf(said, "could not be started: %s", strerror(errno));
	else if (!wait_bounded(child, &status))
		text_addf(said, "killed after %g s", limit_s());
	else if (WIFSIGNALED(status))
		text_addf(said, "killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		text_addf(said, "failed with exit status %d", WEXITSTATUS(status));
	else
		text_add(said, "done");
}

/* --- all commands of a job --- */

/* True for a failure that somebody has to be told of. A shell of 'pollux run' ends with the status
 * of its last command, and whoever typed it saw how it ended. */
static bool went_wrong(const struct job *job)
{
	return !job->interactive && (job->state == JOB_FAILED || job->state == JOB_TIMEOUT);
}

static int tell_job_end(struct session *s, const struct config *config, const struct job *job,
			struct err *err)
{
	struct job_command command = { 0 };
	struct text said = TEXT_INIT;
	int rc = store_job_command_get(&s->store, job->id, &command, err);

	if (rc == 0) {
		set_environment(s, job, &command);
		if (job->declared.on_end)
			run_line("--on-end", job->declared.on_end, command.directory, &said);
		if (*config->on_end)
			run_line("on_end", config->on_end, command.directory, &said);
		if (*config->on_failure && went_wrong(job))
			run_line("on_failure", config->on_failure, command.directory, &said);
	}
	if (rc == 0 && said.length)
		rc = store_event_add(&s->store, job->id, 0, "told", said.data, err);
	text_release(&said);
	job_command_release(&command);
	return rc;
}

/* --- all jobs --- */

/* Tells the next end. *more: there was one. An error with one job does not keep the ends of others
 * from being told. */
static int tell_next(struct session *s, bool *more, struct err *err)
{
	struct config config;
	struct err ignored;
	struct job job;
	int64_t id;

	if (config_load(&config, s->paths.config, err) ||
	    store_ends_take(&s->store, on_end_tells_all(&config), &id, err))
		return -1;
	*more = id != 0;
	job_init(&job);
	/* It may have been queued again meanwhile. */
	if (id && store_job_get(&s->store, id, &job, &ignored) == 0 && job_has_ended(job.state))
		tell_job_end(s, &config, &job, &ignored);
	job_release(&job);
	return 0;
}

/* Tells all ends, in one process at a time. A process that finds the lock held leaves, so the
 * holder looks again after it has dropped the lock. */
static int tell_all(struct session *s, const char *lock_path, struct err *err)
{
	struct config config;
	bool more = true;
	int rc = 0;

	while (rc == 0 && more) {
		int lock = lock_take(lock_path, err);

		if (lock < 0)
			return lock == LOCK_HELD ? 0 : -1;
		while (rc == 0 && more)
			rc = tell_next(s, &more, err);
		lock_drop(lock);
		if (rc == 0)
			rc = config_load(&config, s->paths.config, err) ||
			     store_ends_left(&s->store, on_end_tells_all(&config), &more, err)
				     ? -1 : 0;
	}
	return rc;
}

static int main_tell(int argc, char **argv, struct err *err)
{
	struct session s;
	char *lock;
	int rc;

	(void)argv;
	if (argc != 1)
		return usage_error(&cmd_tell, err, "tell takes no operands");
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	lock = xasprintf("%s/run/tell.lock", s.paths.dir);
	rc = tell_all(&s, lock, err);
	free(lock);
	session_close(&s);
	return rc;
}

const struct command cmd_tell = {
	.name = "tell", .synopsis = "",
	.summary = "run the commands for the ends of jobs (started by 'pollux schedule')",
	.hidden = true,
	.run = main_tell,
};
