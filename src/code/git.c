/* git.c - see code.h. */
#include "pollux/code.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/mem.h"

#define MOST_BYTES (64 << 20)		/* of what git prints */
#define MOST_COMPLAINT_BYTES 4096
#define REAP_TRIES 50			/* of 10 ms: a killed git that waits for a disk is left */

bool git_is_near(const char *directory)
{
	char *path = xstrdup(directory);
	bool found = false;

	for (;;) {
		char *dot_git = xasprintf("%s/.git", path);
		char *slash = strrchr(path, '/');

		found = access(dot_git, F_OK) == 0;
		free(dot_git);
		if (found || !slash)
			break;
		*slash = '\0';
	}
	free(path);
	return found;
}

/* --- what git is given --- */

static bool is_passed_on(const char *variable)
{
	return !text_starts_with(variable, "GIT_") || text_starts_with(variable, "GIT_CONFIG_") ||
	       text_starts_with(variable, "GIT_EXEC_PATH=");
}

static void make_variables(const struct git *git, struct strings *env)
{
	char *const *variable = git->variables ? git->variables : environ;

	for (; *variable; variable++)
		if (is_passed_on(*variable))
			strings_add(env, *variable);
	for (size_t i = 0; git->more && i < git->more->count; i++)
		strings_add(env, git->more->items[i]);
	strings_set_variable(env, "LC_ALL", "C");
	strings_set_variable(env, "GIT_OPTIONAL_LOCKS", "0");
	strings_set_variable(env, "GIT_TERMINAL_PROMPT", "0");
	strings_set_variable(env, "GIT_NO_LAZY_FETCH", "1");
	strings_set_variable(env, "GIT_LITERAL_PATHSPECS", "1");
}

static void make_arguments(const struct git *git, const struct strings *words, struct strings *argv)
{
	static const char *const first[] = {
		"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-C",
	};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		strings_add(argv, first[i]);
	strings_add(argv, git->directory);
	for (size_t i = 0; i < words->count; i++)
		strings_add(argv, words->items[i]);
}

/* Returns the path of git by the PATH of the variables; NULL. The caller frees. */
static char *find_git(const struct strings *env)
{
	const char *path = "/usr/local/bin:/usr/bin:/bin";
	char *list, *rest, *found = NULL;

	for (size_t i = 0; i < env->count; i++)
		if (text_starts_with(env->items[i], "PATH="))
			path = env->items[i] + strlen("PATH=");
	rest = list = xstrdup(path);
	for (const char *part; !found && (part = strsep(&rest, ":"));) {
		found = xasprintf("%s/git", *part ? part : ".");
		if (access(found, X_OK)) {
			free(found);
			found = NULL;
		}
	}
	free(list);
	return found;
}

/* --- a process with two pipes --- */

struct asked_git {
	pid_t pid;
	int fds[2];			/* its standard output and error */
	struct text *out, complaint;
};

/* git leads a process group, in which all that it starts is killed with it. The caller may be a
 * supervisor, which blocks signals. */
static pid_t spawn(const char *program, const int *pipes, char **argv, char **env)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	pid_t pid;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, pipes[0], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, pipes[1], STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	rc = posix_spawn(&pid, program, &files, &attributes, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	errno = rc;
	return rc ? -1 : pid;
}

static int start(struct asked_git *a, const char *program, char **argv, char **env,
		 struct err *err)
{
	int out[2], complaint[2];

	if (pipe2(out, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(complaint, O_CLOEXEC)) {
		close(out[0]);
		close(out[1]);
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	}
	a->pid = spawn(program, (const int[]){ out[1], complaint[1] }, argv, env);
	if (a->pid < 0)
		err_set(err, EX_UNAVAILABLE, "cannot run '%s': %s", program, strerror(errno));
	close(out[1]);
	close(complaint[1]);
	a->fds[0] = out[0];
	a->fds[1] = complaint[0];
	return a->pid < 0 ? -1 : 0;
}

/* Takes what is there; false at the end of the file. */
static bool take(int fd, struct text *out, size_t most)
{
	char bytes[16384];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n > 0 && out && out->length + (size_t)n <= most)
		text_add_bytes(out, bytes, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static int left_ms(double until_boot_s)
{
	double left_s = until_boot_s - clock_boot_s();

	return left_s <= 0 ? 0 : (int)fmin(left_s * 1000 + 1, 1e6);
}

/* Reads both pipes to their ends; false: the time is over. */
static bool read_all(struct asked_git *a, double until_boot_s)
{
	struct pollfd files[] = {
		{ .fd = a->fds[0], .events = POLLIN }, { .fd = a->fds[1], .events = POLLIN },
	};

	while (files[0].fd >= 0 || files[1].fd >= 0) {
		int ms = left_ms(until_boot_s);

		if (ms == 0)
			return false;
		if (poll(files, 2, ms) < 0 && errno != EINTR)
			return false;
		if (files[0].fd >= 0 && files[0].revents && !take(files[0].fd, a->out, MOST_BYTES))
			files[0].fd = -1;
		if (files[1].fd >= 0 && files[1].revents &&
		    !take(files[1].fd, &a->complaint, MOST_COMPLAINT_BYTES))
			files[1].fd = -1;
	}
	return true;
}

static void pause_ms(long ms)
{
	nanosleep(&(const struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Returns the status as wait(2) has it; -1: the process did not end in time, and was killed. */
static int reap(pid_t pid, bool in_time, double until_boot_s)
{
	int status = -1;
	pid_t got = 0;

	while (in_time && (got = waitpid(pid, &status, WNOHANG)) == 0 && left_ms(until_boot_s) > 0)
		pause_ms(1);
	if (got != 0)
		return got == pid ? status : -1;
	kill(-pid, SIGKILL);
	for (int i = 0; i < REAP_TRIES && waitpid(pid, &status, WNOHANG) == 0; i++)
		pause_ms(10);
	return -1;
}

/* The last line that begins as git's errors do, else the first. */
static void tell_failure(struct asked_git *a, struct err *err)
{
	static const char fatal[] = "fatal: ", error[] = "error: ";
	const char *line = strstr(a->complaint.data, fatal);

	if (!line)
		line = strstr(a->complaint.data, error);
	line = line ? line + strlen(fatal) : a->complaint.data;
	err_set(err, EX_FAILED, "git: %.*s", (int)strcspn(line, "\n"),
		*line ? line : "it failed without a word");
}

int git_run_words(const struct git *git, const struct strings *words, struct text *out,
		  struct err *err)
{
	struct asked_git a = { .out = out, .complaint = TEXT_INIT, .fds = { -1, -1 } };
	struct strings env = { 0 }, argv = { 0 };
	char *program;
	int rc;

	make_variables(git, &env);
	make_arguments(git, words, &argv);
	program = find_git(&env);
	rc = program ? start(&a, program, argv.items, env.items, err)
		     : err_set(err, EX_UNAVAILABLE, "there is no git in PATH");
	if (rc == 0) {
		bool in_time = read_all(&a, git->until_boot_s);
		int status = reap(a.pid, in_time, git->until_boot_s);

		rc = status ? -1 : 0;
		if (status == -1)
			err_set(err, EX_TEMPFAIL, "git gave no answer in time");
		else if (status != 0)
			tell_failure(&a, err);
	}
	for (int i = 0; i < 2; i++)
		if (a.fds[i] >= 0)
			close(a.fds[i]);
	free(program);
	strings_release(&argv);
	strings_release(&env);
	text_release(&a.complaint);
	return rc;
}

int git_run_list(const struct git *git, struct text *out, struct err *err,
		 const char *const *list)
{
	struct strings words = { 0 };
	int rc;

	for (; *list; list++)
		strings_add(&words, *list);
	rc = git_run_words(git, &words, out, err);
	strings_release(&words);
	return rc;
}
