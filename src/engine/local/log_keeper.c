/* log_keeper.c - the process that writes what a run prints into the log, and a log that is too
 * large: see run_log.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/err.h"
#include "pollux/file.h"
#include "pollux/proc.h"
#include "pollux/supervise.h"
#include "run_log.h"

/* --- a log that is too large --- */

#define HEAD_PART 0.1
#define TAIL_PART 0.6
#define LINE_MOST 65536		/* bytes; a longer line is cut */
#define MARKER_SIZE 80

/* Returns the offset after the first line that ends at or after `from`, by a newline or a carriage
 * return. */
static off_t next_line(int fd, off_t from)
{
	char block[LINE_MOST];
	ssize_t n = pread(fd, block, sizeof(block), from), i = 0;

	while (i < n && block[i] != '\n' && block[i] != '\r')
		i++;
	if (i + 1 < n && block[i] == '\r' && block[i + 1] == '\n')
		i++;
	return i < n ? from + i + 1 : from + LINE_MOST;
}

int log_limit_keep(const char *path, double limit_bytes, struct err *err)
{
	char text[MARKER_SIZE], line[MARKER_SIZE + 1];
	struct stat st;
	off_t begin, end;
	int fd, rc = 0;

	if (stat(path, &st) || (double)st.st_blocks * 512 <= limit_bytes)
		return 0;
	fd = file_open(path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return err_set(err, EX_IOERR, "cannot open log '%s': %s", path,
			       file_open_why(errno));
	begin = next_line(fd, (off_t)(limit_bytes * HEAD_PART));
	end = next_line(fd, st.st_size - (off_t)(limit_bytes * TAIL_PART));
	snprintf(text, sizeof(text), "[pollux: %lld bytes of the log were dropped here]",
		 (long long)(end - begin));
	snprintf(line, sizeof(line), "%-*s\n", MARKER_SIZE - 1, text);
	/* Makes the hole first: on a file system without holes the log stays as it is. The head
	 * never changes, so the next call finds the same place for the line. */
	if (end > begin + MARKER_SIZE &&
	    (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin + MARKER_SIZE,
		       end - begin - MARKER_SIZE) ||
	     pwrite(fd, line, MARKER_SIZE, begin) != MARKER_SIZE))
		rc = err_set(err, EX_IOERR, "cannot keep log '%s' below its limit: %s", path,
			     strerror(errno));
	close(fd);
	return rc;
}

/* --- the keeper --- */

#define BLOCK 65536
/* After a short write the keeper rests, so that a program that prints a thousand lines a second
 * does not wake it as often. The file's times stay exact to a tick of the kernel. */
#define REST_NS 2000000L

#define TURN_LOOK_NS 1000000L
#define TURN_LOOKS 1000		/* then a writer is taken for stopped, and not waited for */

void log_take_turn(int log_fd)
{
	const struct timespec pause = { .tv_nsec = TURN_LOOK_NS };

	for (int i = 0; i < TURN_LOOKS && flock(log_fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return;
		nanosleep(&pause, NULL);
	}
}

void log_end_turn(int log_fd)
{
	flock(log_fd, LOCK_UN);
}

/* The end of the log moves where somebody else writes or truncates. */
static bool write_at_end(const char *bytes, size_t n)
{
	lseek(STDOUT_FILENO, 0, SEEK_END);
	return file_write_all(STDOUT_FILENO, bytes, n) == 0;
}

/* Moves bytes from the FIFO to the log in one system call, so that none is lost on the way if this
 * process is killed. Bytes that the kernel cannot move are written where that can be done. Returns
 * their number; 0: nobody can print any more; -1 with errno. */
static ssize_t move(void)
{
	static long long dropped;
	static int why;
	ssize_t n;
	off_t end;
	int error;

	log_take_turn(STDOUT_FILENO);
	end = lseek(STDOUT_FILENO, 0, SEEK_END);
	if (dropped > 0) {
		char line[160], last = '\n';

		if (end > 0 && pread(STDOUT_FILENO, &last, 1, end - 1) != 1)
			last = '\n';
		n = snprintf(line, sizeof(line), "%s[pollux: %lld bytes of the output were "
			     "dropped here: %s]\n", last == '\n' ? "" : "\n", dropped,
			     strerror(why));
		if (write_at_end(line, (size_t)n))
			dropped = 0;
		lseek(STDOUT_FILENO, 0, SEEK_END);
	}
	n = splice(STDIN_FILENO, NULL, STDOUT_FILENO, NULL, BLOCK, SPLICE_F_NONBLOCK);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		char bytes[BLOCK];

		why = errno;
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
		if (n > 0 && (why != EINVAL || !write_at_end(bytes, (size_t)n)))
			dropped += n;
	}
	error = errno;
	log_end_turn(STDOUT_FILENO);
	errno = error;
	return n;
}

int log_keeping(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ, SIGPIPE };
	const struct timespec rest = { .tv_nsec = REST_NS };
	struct pollfd fifo = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t n;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "pollux-log");
	while ((n = move()) != 0) {
		if (n < 0 && errno == EAGAIN)
			poll_or_rest(&fifo, 1, -1);
		else if (n < 0 && errno != EINTR)
			return EX_IOERR;
		if (n > 0 && n < BLOCK)
			nanosleep(&rest, NULL);
	}
	return 0;
}

/* --- the supervisor's side --- */

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

/* The keeper has the reading end with its lock, the log, and the supervisor's standard error. */
static _Noreturn void become_keeper(int fifo_fd, int log_fd, long long run_id)
{
	char name[32];
	int again;

	signals_unblock();
	setsid();
	/* neither number may be overwritten before it was copied */
	fifo_fd = fcntl(fifo_fd, F_DUPFD, STDERR_FILENO + 1);
	/* The log is opened again, not for appending, because the kernel does not move bytes from a
	 * FIFO to such a file. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", log_fd);
	again = file_open(name, O_RDWR, 0);
	log_fd = fcntl(again >= 0 ? again : log_fd, F_DUPFD, STDERR_FILENO + 1);
	if (dup2(fifo_fd, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0)
		_exit(EX_OSERR);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	snprintf(name, sizeof(name), "%lld", run_id);
	execl("/proc/self/exe", "pollux", LOG_KEEPER_COMMAND, name, (char *)NULL);
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

void log_keeper_finish(struct log_keeper *k, int log_fd)
{
	const struct timespec pause = { .tv_nsec = FINISH_LOOK_NS };
	double now = clock_boot_s(), end_s = now + FINISH_S, quiet_s = now;

	while (k->fd >= 0 && now < end_s && now - quiet_s < QUIET_S) {
		int left = 0, status;

		if (k->pid > 0 && waitpid(k->pid, &status, WNOHANG) == k->pid)
			log_keeper_ended(k, status);
		if (k->done || (k->pid == 0 && flock(k->fd, LOCK_EX | LOCK_NB) == 0)) {
			char bytes[BLOCK];
			ssize_t n;

			/* what a keeper that was killed has left */
			fcntl(k->fd, F_SETFL, O_NONBLOCK);
			log_take_turn(log_fd);
			while ((n = read(k->fd, bytes, sizeof(bytes))) > 0)
				if (file_write_all(log_fd, bytes, (size_t)n))
					break;
			log_end_turn(log_fd);
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
