/* question.c - another program that is asked something; see proc.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

#define MOST_BYTES (64 << 20)
#define MOST_COMPLAINT_BYTES 4096

/* The caller may be a supervisor, which blocks signals. The input is a file in memory, so that
 * nobody has to write while another reads. */
static _Noreturn void become(const struct question *q, int out, int complaint, pid_t parent)
{
	int in = q->input ? memfd_create("input", MFD_CLOEXEC) : file_open_null(O_RDONLY);

	signals_reset();
	setpgid(0, 0);
	if (!proc_dies_with(parent, SIGKILL) || (q->directory && chdir(q->directory)) ||
	    (q->input && (file_write_all(in, q->input->data, q->input->length) ||
			  lseek(in, 0, SEEK_SET) != 0)))
		_exit(QUESTION_NO_PROGRAM);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(complaint, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	environ = q->env;	/* has the PATH */
	execvp(q->argv[0], q->argv);
	dprintf(STDERR_FILENO, "cannot execute '%s': %s\n", q->argv[0], strerror(errno));
	_exit(QUESTION_NO_PROGRAM);
}

/* Reads what is there. False: the end. */
static bool take(int fd, struct text *t, size_t most)
{
	char bytes[16384];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n > 0 && t && t->length < most)
		text_add_bytes(t, bytes, (size_t)n);
	return n > 0;
}

/* Reads both until they have ended, or the time is over; or until the program has ended and nothing
 * is there to be read: what it has started may keep both open. */
static void read_both(struct question *q, int out, int complaint, pid_t pid)
{
	scoped(close_fd) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[4] = { { .fd = out, .events = POLLIN },
				 { .fd = complaint, .events = POLLIN },
				 { .fd = pidfd, .events = POLLIN },
				 { .fd = q->yields ? STDIN_FILENO : -1, .events = POLLIN } };

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		double left_s = q->until_boot_s - clock_boot_s();

		if (!(left_s > 0))
			break;
		if (poll(fds, 4, (int)fmin(ceil(left_s * 1e3), 1e6)) < 0 && errno != EINTR)
			break;
		if (fds[2].revents && !fds[0].revents && !fds[1].revents)
			break;
		if (fds[3].revents && !fds[2].revents) {
			q->until_boot_s = 0;
			break;
		}
		if (fds[0].fd >= 0 && fds[0].revents && !take(out, q->answer, MOST_BYTES))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents &&
		    !take(complaint, &q->complaint, MOST_COMPLAINT_BYTES))
			fds[1].fd = -1;
	}
}

/* A process that waits for a dead disk or network does not die of SIGKILL either. The caller goes
 * on without its end, and takes that at a later question. */
#define KILLED_WAIT_S 1.0
static pid_t undead[16];
static size_t n_undead;

int question_ask(struct question *q, struct err *err)
{
	int out[2], complaint[2], status = 0, rc;
	pid_t parent = getpid(), pid;
	size_t left = 0;

	for (size_t i = 0; i < n_undead; i++)
		if (waitpid(undead[i], &status, WNOHANG) == 0)
			undead[left++] = undead[i];
	n_undead = left;
	status = 0;
	if (pipe2(out, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(complaint, O_CLOEXEC)) {
		close(out[0]);
		close(out[1]);
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		become(q, out[1], complaint[1], parent);
	close(out[1]);
	close(complaint[1]);
	if (pid < 0) {
		rc = err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
	} else {
		read_both(q, out[0], complaint[0], pid);
		/* a program that has closed its output may still not end */
		rc = proc_reap(pid, q->until_boot_s - clock_boot_s(), &status) ? status
			: err_set(err, EX_TEMPFAIL, "%s gave no answer in time", q->argv[0]);
	}
	if (pid > 0 && rc < 0) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		if (!proc_reap(pid, KILLED_WAIT_S, &status) &&
		    n_undead < sizeof(undead) / sizeof(undead[0]))
			undead[n_undead++] = pid;
	}
	close(out[0]);
	close(complaint[0]);
	return rc;
}
