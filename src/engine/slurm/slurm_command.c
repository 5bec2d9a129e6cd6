/* slurm_command.c - see slurm_command.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/proc.h"
#include "slurm_command.h"

#define MOST_BYTES (64 << 20)
#define MOST_COMPLAINT 4000

/* A pass may run inside of a job of Slurm: what that job asked for is not for others. */
static void drop_variables(void)
{
	for (int i = 0; environ[i];) {
		const char *v = environ[i];
		char name[64];
		size_t n = strcspn(v, "=");

		if ((text_starts_with(v, "SLURM_") || text_starts_with(v, "SBATCH_")) &&
		    !text_starts_with(v, "SLURM_CONF=") && n < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)n, v);
			unsetenv(name);
		} else {
			i++;
		}
	}
}

static _Noreturn void become(const struct strings *argv, int out, int complaint, pid_t parent)
{
	int null = file_open_null(O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (!proc_dies_with(parent, SIGKILL))
		_exit(127);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(complaint, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	drop_variables();
	execvp(argv->items[0], argv->items);
	dprintf(STDERR_FILENO, "cannot execute '%s': %s\n", argv->items[0], strerror(errno));
	_exit(127);
}

/* Reads what is there. False: the end. */
static bool take_output(int fd, struct text *t, size_t most)
{
	char bytes[16384];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n > 0 && t->length < most)
		text_add_bytes(t, bytes, (size_t)n);
	return n > 0;
}

/* Reads until both have ended, or the time is over. */
static void read_both(int out, int complaint, double until_s, struct text *t, struct text *said)
{
	struct pollfd fds[2] = { { .fd = out, .events = POLLIN },
				 { .fd = complaint, .events = POLLIN } };

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		double left_s = until_s - clock_boot_s();

		if (left_s <= 0)
			return;
		if (poll(fds, 2, (int)ceil(left_s * 1e3)) < 0 && errno != EINTR)
			return;
		if (fds[0].fd >= 0 && fds[0].revents && !take_output(out, t, MOST_BYTES))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents &&
		    !take_output(complaint, said, MOST_COMPLAINT))
			fds[1].fd = -1;
	}
}

/* The last line that says something. */
static const char *last_line(struct text *said)
{
	char *end = said->data + said->length, *line;

	while (end > said->data && (unsigned char)end[-1] <= ' ')
		*--end = '\0';
	for (char *c = said->data; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\n')
			*c = '?';
	line = strrchr(said->data, '\n');
	return line ? line + 1 : said->data;
}

static bool is_about_controller(const char *said)
{
	return strstr(said, "Unable to contact slurm controller") ||
	       strstr(said, "Connection refused") || strstr(said, "timed out");
}

static int set_failure(const char *name, int status, struct text *said, struct err *err)
{
	bool controller = is_about_controller(said->data);
	const char *line = last_line(said);

	if (controller)
		return err_set(err, EX_TEMPFAIL, SLURM_SILENT " %s: %.200s",
			       name, line);
	if (*line)
		return err_set(err, EX_UNAVAILABLE, "%s of Slurm failed: %.300s", name, line);
	if (WIFSIGNALED(status))
		return err_set(err, EX_UNAVAILABLE, "%s of Slurm was killed by signal %d", name,
			       WTERMSIG(status));
	return err_set(err, EX_UNAVAILABLE, "%s of Slurm failed with status %d", name,
		       WEXITSTATUS(status));
}

/* A command that has closed its output may still not end. */
static bool ends_in_time(pid_t pid, double until_s, int *status)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	pid_t found;

	while ((found = waitpid(pid, status, WNOHANG)) == 0 && clock_boot_s() < until_s)
		nanosleep(&pause, NULL);
	return found != 0;
}

/* A process that waits for a dead disk or network does not die of SIGKILL either. The pass goes on
 * without its end, and takes that at a later command. */
#define KILLED_WAIT_S 1.0
static pid_t undead[16];
static size_t n_undead;

static void take_undead(void)
{
	size_t left = 0;
	int status;

	for (size_t i = 0; i < n_undead; i++)
		if (waitpid(undead[i], &status, WNOHANG) == 0)
			undead[left++] = undead[i];
	n_undead = left;
}

static void kill_now(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (!ends_in_time(pid, clock_boot_s() + KILLED_WAIT_S, &status) &&
	    n_undead < sizeof(undead) / sizeof(undead[0]))
		undead[n_undead++] = pid;
}

static int finish_command(const char *name, pid_t pid, double until_s, double limit_s,
			  struct text *said, struct err *err)
{
	int status = 0;
	bool in_time = ends_in_time(pid, until_s, &status);

	if (!in_time) {
		kill_now(pid);
		return err_set(err, EX_TEMPFAIL, SLURM_SILENT ": %s took more than %g s", name,
			       limit_s);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : set_failure(name, status, said,
									       err);
}

int slurm_command(const struct strings *argv, double limit_s, struct text *out, struct err *err)
{
	struct text said = TEXT_INIT;
	double until_s = clock_boot_s() + limit_s;
	int answer[2], complaint[2], rc;
	pid_t parent = getpid(), pid;

	take_undead();
	if (pipe2(answer, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(complaint, O_CLOEXEC)) {
		close(answer[0]);
		close(answer[1]);
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		become(argv, answer[1], complaint[1], parent);
	close(answer[1]);
	close(complaint[1]);
	if (pid < 0) {
		rc = err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
	} else {
		read_both(answer[0], complaint[0], until_s, out, &said);
		rc = finish_command(argv->items[0], pid, until_s, limit_s, &said, err);
	}
	close(answer[0]);
	close(complaint[0]);
	text_release(&said);
	return rc;
}
