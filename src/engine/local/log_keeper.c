/* log_keeper.c - see log_keeper.h. The keeper itself is log_keeping.c. */
#include "log_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/log_keeping.h"
#include "pollux/open_file.h"

#define FINISH_S 5.0		/* for a keeper to write what is left */
#define QUIET_S 0.2		/* without output, where a process has the FIFO open */
#define FINISH_LOOK_NS 1000000L

int log_keeper_make(struct log_keeper *k, const char *path, struct err *err)
{
	int fd = -1;

	unlink(path);
	if (mkfifo(path, 0600) == 0)
		fd = file_open_fifo(path, O_RDWR);
	if (fd < 0)
		return err_set(err, EX_CANTCREAT, "cannot make the FIFO '%s': %s", path,
			       strerror(errno));
	fcntl(fd, F_SETPIPE_SZ, LOG_KEEPER_ROOM);
	log_keeper_open(k, path);
	return fd;
}

void log_keeper_open(struct log_keeper *k, const char *path)
{
	log_keeper_close(k);
	k->fd = file_open_fifo(path, O_RDONLY | O_NONBLOCK);
}

/* Opens the log again, not for appending, because the kernel does not move bytes from a FIFO to
 * such a file. Returns a copy of the descriptor where that cannot be done. */
static int open_again(int log_fd)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", log_fd);
	fd = file_open(name, O_RDWR, 0);
	return fcntl(fd >= 0 ? fd : log_fd, F_DUPFD, STDERR_FILENO + 1);
}

/* The keeper has the reading end with its lock, the log, and the supervisor's standard error. */
static _Noreturn void become_keeper(int fifo_fd, int log_fd, long long run_id)
{
	char id[24];
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	/* neither number may be overwritten before it was copied */
	fifo_fd = fcntl(fifo_fd, F_DUPFD, STDERR_FILENO + 1);
	log_fd = open_again(log_fd);
	if (dup2(fifo_fd, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0)
		_exit(EX_OSERR);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	snprintf(id, sizeof(id), "%lld", run_id);
	execl("/proc/self/exe", "pollux", LOG_KEEPER_COMMAND, id, (char *)NULL);
	/* the program's file is out of reach: its disk, or the permission to execute it, is gone */
	_exit(log_keeping());
}

/* The lock belongs to the open file, which a keeper shares with the supervisor that started it. It
 * is free when both are gone. */
int log_keeper_tend(struct log_keeper *k, int log_fd, long long run_id, struct err *err)
{
	if (k->fd < 0 || k->done || k->pid > 0 || flock(k->fd, LOCK_EX | LOCK_NB))
		return 0;
	k->pid = fork();
	if (k->pid == 0)
		become_keeper(k->fd, log_fd, run_id);
	if (k->pid < 0) {
		k->pid = 0;
		return err_set(err, EX_OSERR, "cannot start a process for the log: %s",
			       strerror(errno));
	}
	return 0;
}

void log_keeper_ended(struct log_keeper *k, int wait_status)
{
	k->pid = 0;
	k->done = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

static bool has_ended(struct log_keeper *k)
{
	int status;

	if (k->pid > 0 && waitpid(k->pid, &status, WNOHANG) == k->pid)
		log_keeper_ended(k, status);
	return k->done || (k->pid == 0 && flock(k->fd, LOCK_EX | LOCK_NB) == 0);
}

/* Writes what a keeper that was killed has left. */
static void write_rest(const struct log_keeper *k, int log_fd)
{
	char bytes[65536];
	ssize_t n;

	fcntl(k->fd, F_SETFL, O_NONBLOCK);
	log_take_turn(log_fd);
	while ((n = read(k->fd, bytes, sizeof(bytes))) > 0)
		if (file_write_all(log_fd, bytes, (size_t)n))
			break;
	log_end_turn(log_fd);
}

void log_keeper_finish(struct log_keeper *k, int log_fd)
{
	const struct timespec pause = { .tv_nsec = FINISH_LOOK_NS };
	double now = clock_boot_s(), end_s = now + FINISH_S, quiet_s = now;

	while (k->fd >= 0 && now < end_s && now - quiet_s < QUIET_S) {
		int left = 0;

		if (has_ended(k)) {
			write_rest(k, log_fd);
			break;
		}
		nanosleep(&pause, NULL);
		now = clock_boot_s();
		if (ioctl(k->fd, FIONREAD, &left) == 0 && left > 0)
			quiet_s = now;
	}
	log_keeper_close(k);
}

void log_keeper_close(struct log_keeper *k)
{
	if (k->fd >= 0)
		close(k->fd);
	*k = (struct log_keeper){ .fd = -1 };
}

bool log_keeper_is(pid_t pid, long long run_id)
{
	char path[48], got[64], want[64];
	int length = snprintf(want, sizeof(want), "pollux%c" LOG_KEEPER_COMMAND "%c%lld", 0, 0,
			      run_id);
	ssize_t n;
	int fd;

	if (pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = file_open(path, O_RDONLY, 0);
	n = fd < 0 ? -1 : read(fd, got, sizeof(got));
	if (fd >= 0)
		close(fd);
	return n > length && !memcmp(got, want, (size_t)length + 1);
}
