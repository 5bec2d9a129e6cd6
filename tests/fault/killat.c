/* killat.c - run a command and kill it (SIGKILL) at a chosen point.
 *
 *	killat -n N [-c FILE] COMMAND...	as it is about to make its Nth call that matters
 *	killat -f -n N COMMAND...		as it is about to fork for the Nth time
 *	killat -h FILE -f -n N COMMAND...	not killed: makes FILE, goes on when that is gone
 *	killat -u MICROSECONDS COMMAND...	that long after it began
 *
 * A call matters when it can change something outside the process, lets go of a lock, or waits:
 * files, locks, sockets, processes. Between two such calls death leaves the same behind, but for
 * the memory that SQLite shares, which is why locks count. The calls are seen by ptrace(2), so any
 * binary will do, sanitizers and all; what the command forks is left alone.
 *
 * Exit status: the command's own when it ended before (FILE then holds the number of calls), 137
 * when it was killed, 125 when that could not be done here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* <linux/ptrace.h> does not go with <sys/ptrace.h>: what we need of it (Linux 5.3). */
#define GET_SYSCALL_INFO 0x420e
#define OP_ENTRY 1
struct syscall_info {
	uint8_t op, pad[3];
	uint32_t arch;
	uint64_t instruction_pointer, stack_pointer, number, arguments[6], more[4];
};

#define EXIT_CANNOT 125
#define EXIT_KILLED 137

static const int calls[] = {
	SYS_write, SYS_writev, SYS_pwrite64, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync,
	SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_fcntl, SYS_utimensat, SYS_fchown, SYS_fchmod,
	SYS_clone, SYS_clone3, SYS_execve, SYS_exit_group, SYS_wait4, SYS_kill,
	SYS_pidfd_send_signal, SYS_setpgid, SYS_setsid, SYS_sendto, SYS_bind, SYS_ppoll,
	SYS_clock_nanosleep, SYS_signalfd4, SYS_pidfd_open, SYS_prctl, SYS_recvfrom,
#ifdef SYS_unlink	/* older calls, not on every architecture */
	SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir, SYS_chmod, SYS_fork, SYS_vfork, SYS_poll,
#endif
};

/* The raw call takes numbers where glibc's function wants pointers. */
static long trace_call(long request, pid_t pid, long argument, long data)
{
	return syscall(SYS_ptrace, request, (long)pid, argument, data);
}

static int cannot(const char *what)
{
	fprintf(stderr, "killat: cannot %s: %s\n", what, strerror(errno));
	return EXIT_CANNOT;
}

static const int forks[] = {
	SYS_clone, SYS_clone3,
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
};

static int is_one_of(const struct syscall_info *info, const int *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (info->number == (uint64_t)list[i])
			return 1;
	return 0;
}

static int matters(const struct syscall_info *info, int forks_only)
{
	if (forks_only)
		return is_one_of(info, forks, sizeof(forks) / sizeof(forks[0]));
	/* openat(directory, path, flags, mode) */
	if (info->number == SYS_openat)
		return (info->arguments[2] & O_CREAT) != 0;
	return is_one_of(info, calls, sizeof(calls) / sizeof(calls[0]));
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int kill_child(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) < 0)
		return cannot("wait");
	return exit_status(status);
}

static pid_t start(char **command, int traced)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (traced && (trace_call(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP)))
		_exit(cannot("be traced"));
	execvp(command[0], command);
	_exit(cannot("execute the command"));
}

/* The child has stopped at the beginning or the end of a call. */
static int at_call_that_matters(pid_t pid, int forks_only)
{
	struct syscall_info info = { 0 };

	if (syscall(SYS_ptrace, GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0) {
		kill(pid, SIGKILL);
		return -1;
	}
	return info.op == OP_ENTRY && matters(&info, forks_only);
}

static void write_count(const char *path, long count)
{
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld\n", count);
	fclose(f);
}

/* Whoever has the file knows that the child is held here, and lets it go on by removing it. */
static void hold(const char *path)
{
	struct timespec pause = { .tv_nsec = 10000000 };

	write_count(path, 0);
	while (access(path, F_OK) == 0)
		nanosleep(&pause, NULL);
}

struct point {
	long n;			/* the call */
	int forks_only;
	const char *count_path, *hold_path;
};

static int trace(pid_t pid, const struct point *at)
{
	long count = 0, options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
	int status, deliver = 0;

	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return EXIT_CANNOT;
	if (trace_call(PTRACE_SETOPTIONS, pid, 0, options))
		return cannot("trace");
	for (;;) {
		int call;

		if (trace_call(PTRACE_SYSCALL, pid, 0, deliver) && errno != ESRCH)
			return cannot("trace");
		if (waitpid(pid, &status, 0) < 0)
			return cannot("wait");
		if (!WIFSTOPPED(status))
			break;
		deliver = 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			/* not a call: an exec event, or a signal on its way */
			deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
			continue;
		}
		call = at_call_that_matters(pid, at->forks_only);
		if (call < 0)
			return cannot("read the call");
		count += call;
		if (!call || count != at->n)
			continue;
		if (!at->hold_path)
			return kill_child(pid);
		hold(at->hold_path);
	}
	write_count(at->count_path, count);
	return exit_status(status);
}

static int kill_after(pid_t pid, long us)
{
	struct timespec pause = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
	return kill_child(pid);
}

static int usage(void)
{
	fputs("usage: killat [-f] -n N [-c FILE] [-h FILE] | -u MICROSECONDS COMMAND...\n", stderr);
	return EXIT_CANNOT;
}

int main(int argc, char **argv)
{
	struct point at = { .n = -1 };
	long us = -1;
	int option;
	pid_t pid;

	while ((option = getopt(argc, argv, "+fn:u:c:h:")) != -1) {
		switch (option) {
		case 'f': at.forks_only = 1; break;
		case 'n': at.n = strtol(optarg, NULL, 10); break;
		case 'u': us = strtol(optarg, NULL, 10); break;
		case 'c': at.count_path = optarg; break;
		case 'h': at.hold_path = optarg; break;
		default: return usage();
		}
	}
	if (optind >= argc || (at.n < 0) == (us < 0))
		return usage();
	pid = start(argv + optind, us < 0);
	if (pid < 0)
		return cannot("fork");
	return us < 0 ? trace(pid, &at) : kill_after(pid, us);
}
