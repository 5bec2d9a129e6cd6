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
#include "pollux/log_keeping.h"
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

/* The head never changes, so the next call finds the same place for the marker. */
static int drop(int fd, off_t begin, off_t end)
{
	char text[MARKER_SIZE], line[MARKER_SIZE + 1];

	snprintf(text, sizeof(text), "[pollux: %lld bytes of the log were dropped here]",
		 (long long)(end - begin));
	snprintf(line, sizeof(line), "%-*s\n", MARKER_SIZE - 1, text);
	/* Makes the hole first: on a file system without holes the log stays as it is. */
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin + MARKER_SIZE,
		      end - begin - MARKER_SIZE))
		return -1;
	return pwrite(fd, line, MARKER_SIZE, begin) == MARKER_SIZE ? 0 : -1;
}

int log_limit_keep(const char *path, double limit_bytes, struct err *err)
{
	struct stat st;
	off_t begin, end;
	int fd, rc;

	if (stat(path, &st) || (double)st.st_blocks * 512 <= limit_bytes)
		return 0;
	fd = file_open(path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return err_set(err, EX_IOERR, "cannot open log '%s': %s", path,
			       file_open_why(errno));
	begin = next_line(fd, (off_t)(limit_bytes * HEAD_PART));
	end = next_line(fd, st.st_size - (off_t)(limit_bytes * TAIL_PART));
	rc = end > begin + MARKER_SIZE ? drop(fd, begin, end) : 0;
	if (rc)
		err_set(err, EX_IOERR, "cannot keep log '%s' below its limit: %s", path,
			strerror(errno));
	close(fd);
	return rc ? -1 : 0;
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
static void go_to_end(void)
{
	lseek(STDOUT_FILENO, 0, SEEK_END);
}

static bool write_bytes(const char *bytes, size_t n)
{
	go_to_end();
	return file_write_all(STDOUT_FILENO, bytes, n) == 0;
}

/* True if the log has a line now that says what was dropped. */
static bool tell_dropped(long long bytes, int error)
{
	char line[160], last = '\n';
	off_t end = lseek(STDOUT_FILENO, 0, SEEK_END);
	int n;

	if (end > 0 && pread(STDOUT_FILENO, &last, 1, end - 1) != 1)
		last = '\n';
	n = snprintf(line, sizeof(line), "%s[pollux: %lld bytes of the output were dropped here: "
		     "%s]\n", last == '\n' ? "" : "\n", bytes, strerror(error));
	return write_bytes(line, (size_t)n);
}

/* Takes bytes from the FIFO that cannot be moved by the kernel: writes them where that can be done.
 * Returns their number; 0: nobody can print any more; -1 with errno. */
static ssize_t copy_or_drop(int error, long long *dropped)
{
	char bytes[BLOCK];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n <= 0)
		return n;
	if (error != EINVAL || !write_bytes(bytes, (size_t)n))
		*dropped += n;
	return n;
}

/* Moves bytes from the FIFO to the log in one system call, so that none is lost on the way if this
 * process is killed. Returns as copy_or_drop(). */
static ssize_t move_in_turn(void)
{
	static long long dropped;
	static int error;
	ssize_t n;

	if (dropped > 0 && tell_dropped(dropped, error))
		dropped = 0;
	go_to_end();
	n = splice(STDIN_FILENO, NULL, STDOUT_FILENO, NULL, BLOCK, SPLICE_F_NONBLOCK);
	if (n >= 0 || errno == EAGAIN || errno == EINTR)
		return n;
	error = errno;
	return copy_or_drop(error, &dropped);
}

static ssize_t move(void)
{
	ssize_t n;
	int error;

	log_take_turn(STDOUT_FILENO);
	n = move_in_turn();
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
