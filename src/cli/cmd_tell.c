/* cmd_tell.c - pollux tell JOB: runs the commands for the end of a job; started by passes, not for
 * people. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/session.h"
#include "pollux/store_events.h"
#include "pollux/store_jobs.h"

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
	int code = p->term_signal > 0 ? 128 + p->term_signal : p->exit_code;

	set_number("POLLUX_JOB", (double)job->id);
	setenv("POLLUX_NAME", job->declared.name, 1);
	setenv("POLLUX_STATE", job_state_name(job->state), 1);
	set_number("POLLUX_EXIT", code >= 0 ? (double)code : (double)NAN);
	setenv("POLLUX_RESULT", job->reason ? job->reason : "", 1);
	setenv("POLLUX_LOG", log, 1);
	setenv("POLLUX_DIRECTORY", command->directory, 1);
	set_number("POLLUX_RUN_TIME", p->run_time_s);
	set_number("POLLUX_LOSS", p->loss);
	free(log);
}

/* --- one command --- */

static pid_t start(const char *line, const char *directory)
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
	double end_s = clock_boot_s() + LIMIT_S;

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

static void run(const char *what, const char *line, const char *directory, struct text *said)
{
	pid_t child = start(line, directory);
	int status = 0;

	text_addf(said, "%s%s: ", said->length ? "; " : "", what);
	if (child < 0)
		text_addf(said, "could not be started: %s", strerror(errno));
	else if (!wait_bounded(child, &status))
		text_addf(said, "killed after %.0f s", LIMIT_S);
	else if (WIFSIGNALED(status))
		text_addf(said, "killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		text_addf(said, "failed with exit status %d", WEXITSTATUS(status));
	else
		text_add(said, "done");
}

/* --- all commands of a job --- */

static bool went_wrong(const struct job *job)
{
	return job->state == JOB_FAILED || job->state == JOB_TIMEOUT;
}

static int tell(struct session *s, const struct config *config, const struct job *job,
		struct err *err)
{
	struct job_command command = { 0 };
	struct text said = TEXT_INIT;
	int rc = store_job_command_get(&s->store, job->id, &command, err);

	if (rc == 0) {
		set_environment(s, job, &command);
		if (job->declared.on_end)
			run("--on-end", job->declared.on_end, command.directory, &said);
		if (*config->on_end)
			run("on_end", config->on_end, command.directory, &said);
		if (*config->on_failure && went_wrong(job))
			run("on_failure", config->on_failure, command.directory, &said);
	}
	if (rc == 0 && said.length)
		rc = store_event_add(&s->store, job->id, 0, "told", said.data, err);
	text_release(&said);
	job_command_release(&command);
	return rc;
}

static int main_tell(int argc, char **argv, struct err *err)
{
	struct config config;
	struct session s;
	struct job job;
	long long id;
	int rc;

	if (argc != 2)
		return usage_error(&cmd_tell, err, "tell takes the number of a job");
	if (parse_job_id(&cmd_tell, argv[1], &id, err) || session_open(&s, STORE_WRITE, err))
		return -1;
	job_init(&job);
	rc = config_load(&config, s.paths.config, err) ||
	     store_job_get(&s.store, id, &job, err) ? -1 : 0;
	if (rc == 0 && job_has_ended(job.state))
		rc = tell(&s, &config, &job, err);
	job_release(&job);
	session_close(&s);
	return rc;
}

const struct command cmd_tell = {
	.name = "tell", .synopsis = "JOB",
	.summary = "run the commands for the end of a job (started by 'pollux schedule')",
	.hidden = true,
	.run = main_tell,
};
