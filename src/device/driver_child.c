/* driver_child.c - see device.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"

#define DONE 'd'		/* the last byte of a whole answer */
#define LIMIT_S 30.0
#define CHILD_NAME "pollux-driver"
#define ANSWER_FD 3		/* of a child: the pipe of its answer */
#define LINK_SIZE 64
#define KILL_WAIT_S 0.2	/* a child that is killed ends in this time, unless it hangs */

double driver_limit_s(void)
{
	const char *text = getenv("POLLUX_DRIVER_LIMIT");
	double limit_s;

	return text && number_parse(text, &limit_s) == 0 && limit_s > 0 ? limit_s : LIMIT_S;
}

/* The child may outlive the caller where the kernel cannot end it. So it first gives up what it
 * inherited: locks, the store, the pipe that a person reads. */
static _Noreturn void child(int fd, driver_child_answer *answer, void *arg, pid_t parent)
{
	int null = file_open_null(O_RDWR);

	if (!proc_dies_with(parent, SIGKILL))
		_exit(1);
	prctl(PR_SET_NAME, CHILD_NAME);
	for (int i = 0; i < 3; i++)
		if (null >= 0)
			dup2(null, i);
	if (dup2(fd, ANSWER_FD) < 0)
		_exit(1);
	close_range(ANSWER_FD + 1, ~0U, 0);
	answer(ANSWER_FD, arg);
	file_write_all(ANSWER_FD, &(char){ DONE }, 1);
	_exit(0);
}

/* --- a child that hangs --- */

/* Reads where a descriptor of /proc leads, such as "pipe:[12]". */
static bool read_link(int directory, const char *name, char to[LINK_SIZE])
{
	ssize_t n = readlinkat(directory, name, to, LINK_SIZE - 1);

	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* True if whoever asked the child waits for it no longer, because it has ended or closed the pipe:
 * a caller may have a longer limit than this process. A child that is about to end has no
 * descriptors any more. */
static bool is_given_up(pid_t pid)
{
	char path[48], answer[LINK_SIZE], other[LINK_SIZE];
	const struct dirent *entry;
	struct proc_times times;
	bool waits = false;
	scoped(close_dir) DIR *dir = NULL;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, ANSWER_FD);
	if (!proc_times(pid, &times) || !read_link(AT_FDCWD, path, answer))
		return proc_lives(pid);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)times.parent);
	dir = opendir(path);
	while (dir && !waits && (entry = readdir(dir)))
		waits = read_link(dirfd(dir), entry->d_name, other) && !strcmp(other, answer);
	return !waits && proc_lives(pid);
}

/* Returns a child that was asked longer ago than the limit and could not be killed; 0: none. To ask
 * again would only leave one more of them. */
static pid_t find_hanging(void)
{
	scoped(pid_list_release) struct pid_list all = { 0 };
	pid_t found = 0;

	pid_list_read(&all, "/proc");
	for (int i = 0; i < all.count && !found; i++) {
		struct proc_info info;
		struct stat st;
		char path[32];

		/* anybody may give a process of their own the name of such a child */
		snprintf(path, sizeof(path), "/proc/%d", (int)all.items[i]);
		if (stat(path, &st) || st.st_uid != geteuid() ||
		    !proc_has_name(all.items[i], CHILD_NAME))
			continue;
		proc_look(all.items[i], &info);
		if (info.lives && info.age_s > driver_limit_s() + 1 && is_given_up(all.items[i]))
			found = all.items[i];
	}
	return found;
}

static struct pid_list left;

const struct pid_list *driver_children_left(void)
{
	return &left;
}

void driver_child_leave(pid_t pid)
{
	pid_list_add(&left, pid);
}

bool driver_child_reaped(pid_t pid)
{
	int n = 0, before = left.count;

	for (int i = 0; i < before; i++)
		if (left.items[i] != pid)
			left.items[n++] = left.items[i];
	left.count = n;
	return n < before;
}

/* --- the caller --- */

static int set_silent(struct err *err)
{
	return err_set(err, EX_TEMPFAIL, "the driver has not answered for %g s: it hangs",
		       driver_limit_s());
}

/* The caller frees *bytes, also after an error. */
static int read_all(int fd, char **bytes, size_t *length, struct err *err)
{
	struct pollfd from = { .fd = fd, .events = POLLIN };
	double until_s = clock_boot_s() + driver_limit_s();
	size_t room = 0;
	ssize_t k = -1;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (k) {
		double left_s = until_s - clock_boot_s();

		if (left_s <= 0)
			return set_silent(err);
		if (poll_or_rest(&from, 1, (int)(left_s * 1e3) + 1) == 0)
			continue;
		if (*length == room)
			*bytes = xreallocarray(*bytes, room = room ? 2 * room : 4096, 1);
		k = read(fd, *bytes + *length, room - *length);
		*length += k > 0 ? (size_t)k : 0;
		if (k < 0 && errno != EINTR && errno != EAGAIN)
			break;
	}
	if (*length > 0 && (*bytes)[*length - 1] == DONE)
		return 0;
	return err_set(err, EX_UNAVAILABLE, "the process that asked has died");
}

/* After a driver hung, this process asks nothing for as long as it has waited, since the next
 * question would wait as long again. */
static double silent_until_boot_s;

void *library_child_ask(driver_child_answer *answer, void *arg, size_t *size, struct err *err)
{
	char *bytes = NULL;
	size_t length = 0;
	pid_t parent = getpid(), pid;
	int ends[2], rc = -1;

	if (pipe2(ends, O_CLOEXEC)) {
		err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
		return NULL;
	}
	pid = fork();
	if (pid == 0)
		child(ends[1], answer, arg, parent);
	if (pid < 0)
		err_set(err, EX_OSERR, "cannot start a process: %s", strerror(errno));
	close(ends[1]);
	if (pid > 0)
		rc = read_all(ends[0], &bytes, &length, err);
	close(ends[0]);
	if (pid < 0)
		return NULL;
	kill(pid, SIGKILL);
	if (!proc_reap(pid, KILL_WAIT_S, NULL))
		driver_child_leave(pid);
	*size = length - 1;
	if (rc == 0)
		return bytes;
	free(bytes);
	return NULL;
}

void *driver_child_ask(driver_child_answer *answer, void *arg, size_t *size, struct err *err)
{
	pid_t hanging = find_hanging();
	void *bytes;

	if (hanging) {
		err_set(err, EX_TEMPFAIL, "the driver hangs: process %lld still waits in it",
			(long long)hanging);
		return NULL;
	}
	if (clock_boot_s() < silent_until_boot_s) {
		set_silent(err);
		return NULL;
	}
	bytes = library_child_ask(answer, arg, size, err);
	if (!bytes && err->exit_status == EX_TEMPFAIL)
		silent_until_boot_s = clock_boot_s() + driver_limit_s();
	return bytes;
}
