/*
 * deaf - becomes COMMAND with every signal ignored and blocked, those two that the C
 * library keeps for itself too: as daemons and container runtimes at times leave them.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_MASK_BYTES 8

int main(int argc, char *argv[])
{
	// struct sigaction of the kernel, and room
	unsigned long action[8] = { (unsigned long)SIG_IGN };
	unsigned long all[2];

	if (argc < 2) {
		fputs("usage: deaf COMMAND [ARGUMENT...]\n", stderr);
		return 64;
	}
	for (int i = 1; i < NSIG; i++)
		syscall(SYS_rt_sigaction, i, action, NULL, KERNEL_MASK_BYTES);
	memset(all, 0xff, sizeof(all));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, all, NULL, KERNEL_MASK_BYTES);
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
