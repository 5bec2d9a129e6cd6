/* child.c - fork, prepare, exec; and report what went wrong over a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "local.h"

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

static int set_descriptors(const struct child *c)
{
	int null = file_open_null(O_RDONLY);
	const int logged[] = { null, c->log_fd, c->log_fd };

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(c->group ? c->stdio[fd] : logged[fd], fd) < 0)
			return -1;
	if (null > STDERR_FILENO)
		close(null);
	if (close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC))
		return -1;
	for (int i = 0; i < c->n_keep; i++)
		if (c->keep_fds[i] >= 0 && fcntl(c->keep_fds[i], F_SETFD, 0))
			return -1;
	return 0;
}

/* True if the program itself cannot be executed. Other errors (no memory, a disk not mounted yet)
 * may pass. */
static int exec_status(const char *program, int error)
{
	bool has_directory;
	char *directory;

	switch (error) {
	case ENOENT:
		/* an interpreter that is not there is no program that is not there */
		if (access(program, F_OK) == 0)
			return EXIT_NOT_EXECUTABLE;
		directory = xstrdup(program);
		has_directory = access(dirname(directory), F_OK) == 0;
		free(directory);
		return has_directory ? EXIT_NOT_FOUND : EX_NOINPUT;
	case EACCES:
	case ENOEXEC:
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
	case E2BIG:
	case EINVAL:
	case EPERM:
		return EXIT_NOT_EXECUTABLE;
	default:
		return EX_OSERR;
	}
}

/* Runs in the child. Returns only on failure, with *err. */
static void become(const struct child *c, int go_fd, struct err *err)
{
	const struct device_backend *backend = c->n_devices ? device_backend_of(c->devices[0].id)
							    : NULL;
	struct text t = TEXT_INIT;
	ssize_t n;
	char byte;
	int error;

	signals_reset();
	/* Else the kernel would send SIGHUP and SIGCONT to a stopped command whose parent dies. */
	if (!c->group)
		setsid();
	else if (setpgid(0, c->group)) {
		err_set(err, EX_TEMPFAIL, "its terminal has left: %s", strerror(errno));
		return;
	}
	/* The parent writes one byte when it has recorded the child. End of file means that the
	 * parent is gone. */
	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_NOT_EXECUTABLE);
	if (backend && backend->bind && backend->bind(c->devices, c->n_devices, err))
		return;
	if (set_descriptors(c)) {
		err_set(err, EX_OSERR, "cannot set up descriptors: %s", strerror(errno));
		return;
	}
	if (chdir(c->directory)) {
		err_set(err, EX_NOINPUT, "cannot enter '%s': %s", c->directory, strerror(errno));
		return;
	}
	limits_apply(c->limits);
	execve(c->program, c->argv->items, c->env->items);
	error = errno;
	program_file_cannot(c->program, NULL, error, &t);
	err_set(err, exec_status(c->program, error), "%s", t.data);
	text_release(&t);
}

/* Runs in the parent: records the child, lets it go on, and hears whether exec succeeded. */
static int release_child(const struct child *c, pid_t pid, int *go, int result_fd, struct err *err)
{
	int rc = c->record ? c->record(pid, c->record_arg, err) : 0;
	ssize_t n = 0;

	if (rc == 0 && write(go[1], "g", 1) != 1)
		rc = err_set(err, EX_OSERR, "cannot start the command: %s", strerror(errno));
	close(go[1]);
	go[1] = -1;
	/* An empty pipe means that exec succeeded and closed the pipe; else it has the error. */
	while (rc == 0 && (n = read(result_fd, err, sizeof(*err))) < 0 && errno == EINTR)
		;
	if (n == sizeof(*err))
		rc = -1;
	if (rc)
		waitpid(pid, NULL, 0);
	return rc;
}

pid_t child_start(const struct child *c, struct err *err)
{
	int go[2], result[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(result, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		struct err failure = { 0 };
		ssize_t n;

		close(go[1]);
		become(c, go[0], &failure);
		n = write(result[1], &failure, sizeof(failure));
		(void)n;
		_exit(failure.exit_status);
	}
	close(go[0]);
	close(result[1]);
	if (pid < 0) {
		err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
		close(go[1]);
	} else if (release_child(c, pid, go, result[0], err)) {
		pid = -1;
	}
	close(result[0]);
	return pid;
}
