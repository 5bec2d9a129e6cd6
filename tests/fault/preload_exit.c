/* preload_exit.c - LD_PRELOAD: while the file named in EXIT_HANGS_FILE is there, a process whose
 * standard input is a pipe and that leads a session closes that pipe when it exits, and then hangs.
 * The child of a supervisor that asks a driver does so when the driver does not let it go. So does
 * a process named as EXIT_HANGS_NAME says, if its parent executed the program. If EXIT_HANGS_EVER
 * is set, SIGKILL from a process of this program does not end it. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t executed;	/* the process that executed the program */

__attribute__((constructor)) static void begin(void)
{
	executed = getpid();
}

static bool hangs(pid_t pid)
{
	const char *path = getenv("EXIT_HANGS_FILE"), *name = getenv("EXIT_HANGS_NAME");
	char file[48], got[32] = "";
	FILE *stream;

	if (!path || !name || access(path, F_OK))
		return false;
	snprintf(file, sizeof(file), "/proc/%d/comm", (int)pid);
	stream = fopen(file, "re");
	if (!stream || !fgets(got, sizeof(got), stream))
		got[0] = '\0';
	if (stream)
		fclose(stream);
	got[strcspn(got, "\n")] = '\0';
	return !strcmp(got, name);
}

int kill(pid_t pid, int sig)
{
	if (getenv("EXIT_HANGS_EVER") && sig == SIGKILL && pid > 0 && hangs(pid))
		return 0;
	return (int)syscall(SYS_kill, pid, sig);
}

_Noreturn void _exit(int status)
{
	const char *path = getenv("EXIT_HANGS_FILE");
	struct stat st;

	if (path && access(path, F_OK) == 0 && getsid(0) == getpid() && fstat(0, &st) == 0 &&
	    S_ISFIFO(st.st_mode)) {
		close(0);
		for (;;)
			pause();
	}
	if (getppid() == executed && hangs(getpid())) {
		close_range(3, ~0U, 0);
		for (;;)
			pause();
	}
	for (;;)
		syscall(SYS_exit_group, status);
}
