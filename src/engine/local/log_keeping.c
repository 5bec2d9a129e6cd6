/* log_keeping.c - the process that writes what a run prints into its log. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "pollux/err.h"
#include "pollux/file.h"
#include "pollux/log_keeping.h"
#include "pollux/poll_rest.h"

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
