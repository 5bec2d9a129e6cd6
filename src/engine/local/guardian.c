/* guardian.c - keeps the processes that a killed supervisor leaves in one tree. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"

static _Noreturn void guard(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_range(0, ~0U, 0);
	prctl(PR_SET_NAME, "pollux-guardian");
	while (wait(NULL) > 0 || errno == EINTR)
		;
	_exit(0);
}

pid_t guardian_start(void)
{
	pid_t guardian = getpid(), pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 0;
	pid = fork();
	if (pid > 0)
		guard();
	if (pid < 0)
		return 0;
	setsid();
	return guardian;
}

void guardian_dismiss(pid_t guardian)
{
	if (guardian > 0 && getppid() == guardian)
		kill(guardian, SIGKILL);
}
