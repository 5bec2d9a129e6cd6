/* later_pass.c - passes that commands and supervisors start, warnings of settings that passes
 * refuse, and the signals that interrupt a command. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/crontab.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/pass_files.h"
#include "pollux/proc.h"

/* --- passes in the background --- */

int later_pass_become(const struct paths *paths, struct err *err)
{
	static const char *const names[] = { "POLLUX_SLOTS", "POLLUX_SLICE", "POLLUX_POLICY",
					     "POLLUX_SUSPEND_MEMORY" };
	struct store store;
	int rc = store_open(&store, paths, STORE_READ, err);

	if (rc == 0) {
		for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
			char *value;

			rc = store_setting_get(&store, names[i], &value, err);
			if (rc == 0 && value)
				setenv(names[i], value, 1);
			free(value);
		}
		store_close(&store);
	}
	if (rc) {
		failed_pass_note(paths, err->text);
		return -1;
	}
	setenv(LATER_PASS, "1", 1);
	signals_unblock();
	execl("/proc/self/exe", "pollux", "schedule", (char *)NULL);
	return err_set(err, EX_OSERR, "cannot run a pass");
}

/* The child of the child belongs to init: nobody has to wait for it. True in that child. It is out
 * of the terminal's session before this process goes on: where this process leads that session, as
 * under script(1) or 'ssh -t HOST pollux submit', its end sends SIGHUP to all who are in it. */
static bool is_apart(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		int null;

		setsid();
		if (fork() != 0)
			_exit(0);
		/* closes inherited descriptors, such as those of the terminal or the end of a
		 * pipe */
		null = file_open_null(O_RDWR);
		for (int fd = 0; fd <= 2 && null >= 0; fd++)
			dup2(null, fd);
		closefrom(3);
		return true;
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	return false;
}

void later_pass_start(const struct paths *paths)
{
	struct err ignored;

	if (!is_apart())
		return;
	later_pass_become(paths, &ignored);
	_exit(EX_OSERR);
}

void later_start(char *const argv[])
{
	if (!is_apart())
		return;
	execv("/proc/self/exe", argv);
	_exit(EX_OSERR);
}

/* --- a pass at a time to come --- */

#define LOOK_S 5.0		/* the process that waits looks so often for an earlier time */
#define TEXT_BYTES 24

static void write_time(const char *file, double time_s)
{
	char text[TEXT_BYTES + 1];
	long long time_ms = isfinite(time_s) ? llround(time_s * 1e3) : 0;
	int fd = file_open(file, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%*lld", TEXT_BYTES, time_ms);
	/* If that fails, the pass comes at the time that stands there, or at the next one. */
	if (pwrite(fd, text, TEXT_BYTES, 0) != TEXT_BYTES)
		(void)!ftruncate(fd, 0);
	close(fd);
}

/* Returns 0 if no pass is wanted. */
static double read_time(const char *file)
{
	char text[TEXT_BYTES + 1] = "";
	int fd = file_open(file, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, text, TEXT_BYTES, 0);
	close(fd);
	return n == TEXT_BYTES ? (double)strtoll(text, NULL, 10) / 1e3 : 0;
}

void next_pass_await(const struct paths *paths, double next_s)
{
	/* holds the time in ms; the process that waits has the lock on the file */
	char *file = xasprintf("%s/next-pass", paths->dir);
	struct err ignored;
	int lock;

	write_time(file, next_s);
	lock = isfinite(next_s) ? lock_take(file, &ignored) : -1;
	for (double time_s; lock >= 0 && (time_s = read_time(file)) > 0;) {
		double left_s = fmin(time_s - clock_wall_s(), LOOK_S);
		struct timespec pause = { .tv_sec = (time_t)left_s };

		if (left_s <= 0) {
			later_pass_become(paths, &ignored);	/* which drops the lock */
			break;
		}
		pause.tv_nsec = (long)((left_s - floor(left_s)) * 1e9);
		nanosleep(&pause, NULL);
	}
	if (lock >= 0)
		lock_drop(lock);
	free(file);
}

/* --- the pass after a submission --- */

bool is_in_a_job(void)
{
	return getenv("POLLUX_JOB_ID") != NULL;
}

/* Says how to have passes regularly, if none has come for minutes and the crontab has no line. */
static void advise(const struct paths *paths)
{
	struct text lines = TEXT_INIT, new = TEXT_INIT;
	const char *command = NULL;
	struct crontab_entry e;
	struct err ignored;

	if (!isatty(STDERR_FILENO) || regular_passes_come(paths, clock_wall_s()) ||
	    crontab_entry_init_own(&e, &ignored))
		return;
	if (crontab_read(&lines, &ignored))
		command = "'pollux schedule --watch 10' runs them in a terminal";
	else if (crontab_change(lines.data, &e, true, &new) == CRONTAB_ADDED)
		command = "'pollux cron --install' adds one each minute";
	if (command)
		fprintf(stderr, "pollux: passes come only when a job is submitted, ends or is to "
			"begin, so nobody takes turns; %s\n", command);
	text_release(&lines);
	text_release(&new);
	crontab_entry_release(&e);
}

void submit_pass_run(bool quiet)
{
	const char *limit = limits_for_all();
	struct config config;
	struct paths paths;
	struct err ignored;

	if (paths_init(&paths, &ignored))
		return;
	if (!quiet)
		advise(&paths);
	if (config_load(&config, paths.config, &ignored) == 0 && config.submit_pass &&
	    !is_in_a_job()) {
		/* The limits of this shell would hold for all jobs that a pass starts. */
		if (!limit)
			later_pass_start(&paths);
		else if (!quiet)
			fprintf(stderr, "pollux: no pass was started, as all jobs would get the "
				"limit of 'ulimit %s' here: the job waits for the next pass\n",
				limit);
	}
	paths_release(&paths);
}

volatile sig_atomic_t interrupted;

static void note_interruption(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

void interruptions_catch(void)
{
	struct sigaction action = { .sa_handler = note_interruption };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* --- settings --- */

void warn_of_slots(int slots)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (cores > 0 && slots < CONFIG_SLOTS_OF_TWO_SIZES && slots > SLOTS_PER_CORE_MAX * cores)
		output_messagef("warning: %d slots on %ld processor core%s: up to %ld jobs would "
				"share a core", slots, cores, cores == 1 ? "" : "s",
				(slots + cores - 1) / cores);
}

void warn_of_settings(const struct paths *paths)
{
	struct config config;
	struct err err;

	if (config_load(&config, paths->config, &err))
		output_messagef("warning: %s; no job is started until that is mended", err.text);
	else
		warn_of_slots(config.slots);
}
