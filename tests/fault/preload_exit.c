/* preload_exit.c - LD_PRELOAD: while the file named in EXIT_HANGS_FILE is there, a process whose
 * standard input is a pipe and that leads a session closes that pipe when it exits, and then hangs.
 * The child of a supervisor that asks a driver does so when the driver does not let it go. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	for (;;)
		syscall(SYS_exit_group, status);
}
