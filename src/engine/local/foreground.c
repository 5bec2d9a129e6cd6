/* foreground.c - a run that has the terminal of its 'pollux run'; see supervise.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/proc.h"
#include "pollux/supervise.h"
#include "supervisor.h"

/* The command's: the supervisor's own standard descriptors are those of any supervisor. */
const int foreground_stdio[3] = { 3, 4, 5 };
#define TOLD_FD 6	/* to 'pollux run' */
#define TELL_MS 2000	/* a 'pollux run' that is stopped says nothing */
#define BEYOND_FD 10	/* no descriptor from here on is one of the above */

/* Runs in the child: moves the three standard descriptors and the pipe to their numbers. */
static int move_descriptors(const struct paths *paths, int told)
{
	int null = fcntl(file_open_null(O_RDWR), F_DUPFD, BEYOND_FD);
	int log = file_open(paths->supervisor_log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	int from[4];

	log = log < 0 ? null : fcntl(log, F_DUPFD, BEYOND_FD);
	for (int i = 0; i < 4; i++) {
		from[i] = fcntl(i < 3 ? i : told, F_DUPFD, BEYOND_FD);
		if (from[i] < 0)
			from[i] = null;
	}
	for (int i = 0; i < 4; i++)
		if (dup2(from[i], i < 3 ? foreground_stdio[i] : TOLD_FD) < 0)
			return -1;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		return -1;
	return close_range(TOLD_FD + 1, ~0U, 0);
}

/* SIGTERM, when 'pollux run' dies, stops the run. */
static _Noreturn void become_supervisor(const struct paths *paths, int64_t run_id, int told,
					pid_t parent)
{
	char id[24], group[24];

	snprintf(id, sizeof(id), "%lld", (long long)run_id);
	snprintf(group, sizeof(group), "%lld", (long long)getpgrp());
	if (setpgid(0, 0) || move_descriptors(paths, told))
		_exit(EX_OSERR);
	supervisor_set_environment(paths);
	if (!proc_dies_with(parent, SIGTERM) || chdir("/"))
		_exit(EX_OSERR);
	execl("/proc/self/exe", "pollux", "supervise", id, group, (char *)NULL);
	_exit(EX_OSERR);
}

int foreground_start(const struct paths *paths, int64_t run_id, struct foreground *f,
		     struct err *err)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	f->supervisor = fork();
	if (f->supervisor == 0)
		become_supervisor(paths, run_id, fds[1], parent);
	close(fds[1]);
	f->fd = fds[0];
	if (f->supervisor > 0)
		return 0;
	close(fds[0]);
	return err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
}

void foreground_tell_limit(const struct supervisor *s)
{
	double now_s = clock_boot_s(), limit_boot_s = now_s + supervisor_limit_left_s(s, now_s);
	struct pollfd told = { .fd = TOLD_FD };

	if (write(TOLD_FD, &limit_boot_s, sizeof(limit_boot_s)) == sizeof(limit_boot_s))
		poll(&told, 1, TELL_MS);	/* until the reader closes its end */
}
