/* cmd_supervise.c - the commands that pollux itself starts: pollux supervise, keep-log and tell. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"
#include "pollux/supervise.h"

/* --- pollux supervise RUN --- */

/* Started by passes, one for each run; not for people. 'pollux run' starts the one of its run, with
 * the process group of the terminal. */

static int main_supervise(int argc, char **argv, struct err *err)
{
	struct paths paths;
	long long id, group = 0;
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
	if (rc == 0 && argc == 3)
		rc = parse_job_id(&cmd_supervise, argv[2], &group, err);
	if (rc == 0)
		rc = supervise(&paths, id, (pid_t)group, err);
	/* A pass now gives out the devices that have just become free. The terminal of 'pollux run'
	 * need not wait for it. */
	if (rc > 0 && group) {
		later_pass_start(&paths);
		rc = 0;
	} else if (rc > 0) {
		rc = later_pass_become(&paths, err);
	}
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

static int ends_left(struct store *s, const struct config *config, bool *left, struct err *err)
{
	bool holds;

	if (store_ends_left(s, on_end_tells_all(config), left, err) ||
	    store_holds_left(s, *config->on_failure != '\0', &holds, err))
		return -1;
	*left = *left || holds;
	return 0;
}

int on_end_start(struct store *s, const struct config *config, struct err *err)
{
	char pollux[] = "pollux", tell[] = "tell";
	char *const argv[] = { pollux, tell, NULL };
	bool left;

	if (ends_left(s, config, &left, err))
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

/* Sets a variable that the command is told: a text, or (NULL) a number. */
static void set(const char *name, const char *text, double x)
{
	char number[32];

	snprintf(number, sizeof(number), "%.15g", x);
	setenv(name, text ? text : isfinite(x) ? number : "", 1);
}

static void set_environment(const struct session *s, const struct job *job,
			    const struct job_command *command)
{
	char *log = paths_log(&s->paths, job->id);
	const struct progress *p = &job->progress;
	double loss;
	int code = p->term_signal > 0 ? 128 + p->term_signal : p->exit_code;

	set("POLLUX_JOB", NULL, (double)job->id);
	set("POLLUX_JOB_ID", NULL, (double)job->id);	/* its name in jobs */
	set("POLLUX_NAME", job->declared.name, 0);
	set("POLLUX_STATE", job_state_name(job->state), 0);
	set("POLLUX_EXIT", NULL, code >= 0 ? (double)code : (double)NAN);
	set("POLLUX_RESULT", job->reason ? job->reason : "", 0);
	set("POLLUX_GROUP", job->group_id ? NULL : "", (double)job->group_id);
	set("POLLUX_LOG", log, 0);
	set("POLLUX_DIRECTORY", command->directory, 0);
	/* to the millisecond */
	set("POLLUX_RUN_TIME", NULL, round(p->run_time_s * 1e3) / 1e3);
	set("POLLUX_LOSS", progress_loss(p, &loss) ? value_format(loss, 15).s : "", 0);
	free(log);
}

/* Runs the command, which is killed with all its processes when its time is over. */
static void run_line(const char *what, const char *line, const char *directory, struct text *said)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	const char *shorter = getenv("POLLUX_TELL_LIMIT");	/* by a test */
	double limit_s, end_s = clock_boot_s();
	pid_t child = fork();
	int status = 0;
	bool killed = false;

	if (child == 0) {
		setpgid(0, 0);
		if (chdir(directory) && chdir("/"))
			_exit(EX_OSERR);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(EX_OSERR);
	}
	if (!shorter || number_parse(shorter, &limit_s) || !(limit_s > 0))
		limit_s = LIMIT_S;
	end_s += limit_s;
	while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
		killed = clock_boot_s() >= end_s;
		if (killed) {
			kill(-child, SIGKILL);
			waitpid(child, &status, 0);
			break;
		}
		nanosleep(&pause, NULL);
	}
	text_addf(said, "%s%s: ", said->length ? "; " : "", what);
	if (child < 0)
		text_addf(said, "could not be started: %s", strerror(errno));
	else if (killed)
		text_addf(said, "killed after %g s", limit_s);
	else if (WIFSIGNALED(status))
		text_addf(said, "killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		text_addf(said, "failed with exit status %d", WEXITSTATUS(status));
	else
		text_add(said, "done");
}

static int tell_job_end(struct session *s, const struct config *config, const struct job *job,
			struct err *err)
{
	/* A shell of 'pollux run' ends with the status of its last command, and whoever typed it
	 * saw how it ended. */
	bool went_wrong = !job->interactive &&
			  (job->state == JOB_FAILED || job->state == JOB_TIMEOUT);
	struct job_command command = { 0 };
	struct text said = TEXT_INIT;
	bool by_hold = false;
	int rc = store_job_command_get(&s->store, job->id, &command, err);

	if (rc == 0 && went_wrong && job->group_id)
		rc = store_job_told_by_hold(&s->store, job->id, &by_hold, err);
	if (rc == 0) {
		set_environment(s, job, &command);
		if (job->declared.on_end)
			run_line("--on-end", job->declared.on_end, command.directory, &said);
		if (*config->on_end)
			run_line("on_end", config->on_end, command.directory, &said);
		if (*config->on_failure && went_wrong && !by_hold)
			run_line("on_failure", config->on_failure, command.directory, &said);
	}
	if (rc == 0 && said.length)
		rc = store_event_add(&s->store, job->id, 0, "told", said.data, err);
	text_release(&said);
	job_command_release(&command);
	return rc;
}

/* Tells that the group of the job is held: once, instead of the end of each job that fails with
 * it. */
static int tell_hold(struct session *s, const struct config *config, const struct job *job,
		     struct err *err)
{
	struct job_command command = { 0 };
	struct text said = TEXT_INIT;
	char *words = group_hold_words(job->group_id);
	struct job_group group;
	int rc = store_group_get(&s->store, job->group_id, &group, err) ||
		 store_job_command_get(&s->store, job->id, &command, err) ? -1 : 0;

	if (rc == 0) {
		set_environment(s, job, &command);
		set("POLLUX_NAME", group.name, 0);
		set("POLLUX_STATE", job_state_name(JOB_HELD), 0);
		set("POLLUX_RESULT", words, 0);
		run_line("on_failure", config->on_failure, command.directory, &said);
		rc = store_event_add(&s->store, job->id, 0, "told", said.data, err);
	}
	free(words);
	text_release(&said);
	job_command_release(&command);
	job_group_release(&group);
	return rc;
}

/* Tells the next hold of a group. *more: there was one. */
static int tell_next_hold(struct session *s, const struct config *config, bool *more,
			  struct err *err)
{
	int64_t group_id, job_id;
	struct err ignored;
	struct job job;

	if (store_hold_take(&s->store, &group_id, &job_id, err))
		return -1;
	*more = group_id != 0;
	job_init(&job);
	if (group_id && store_job_get(&s->store, job_id, &job, &ignored) == 0 &&
	    job.group_id == group_id)
		tell_hold(s, config, &job, &ignored);
	job_release(&job);
	return 0;
}

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
	return *more || !*config.on_failure ? 0 : tell_next_hold(s, &config, more, err);
}

/* Tells all ends, in one process at a time. A process that finds the lock held leaves, so the
 * holder looks again after it has dropped the lock. */
static int main_tell(int argc, char **argv, struct err *err)
{
	struct session s;
	struct config config;
	char *path;
	bool more = true;
	int rc = 0;

	(void)argv;
	if (argc != 1)
		return usage_error(&cmd_tell, err, "tell takes no operands");
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	path = xasprintf("%s/run/tell.lock", s.paths.dir);
	while (rc == 0 && more) {
		int lock = lock_take(path, err);

		if (lock < 0) {
			rc = lock == LOCK_HELD ? 0 : -1;
			break;
		}
		while (rc == 0 && more)
			rc = tell_next(&s, &more, err);
		lock_drop(lock);
		if (rc == 0)
			rc = config_load(&config, s.paths.config, err) ||
			     ends_left(&s.store, &config, &more, err) ? -1 : 0;
	}
	free(path);
	session_close(&s);
	return rc;
}

const struct command cmd_tell = {
	.name = "tell", .synopsis = "",
	.summary = "run the commands for the ends of jobs (started by 'pollux schedule')",
	.hidden = true,
	.run = main_tell,
};
