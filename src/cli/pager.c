/* pager.c - output that is longer than the terminal, by $PAGER. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/proc.h"

#define PAGER "less"
#define LESS "FRX"	/* as git(1): quits where all fits, shows colours, leaves the screen */

/* The pager as a command of sh(1); NULL: none is wanted, or there is none. */
static const char *find_pager(void)
{
	const char *pager = getenv("PAGER"), *path = getenv("PATH"), *term = getenv("TERM");
	char *found;

	if (!term || !strcmp(term, "dumb"))
		return NULL;
	if (pager)
		return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
	found = path_search(path ? path : "/usr/bin:/bin", PAGER, NULL);
	free(found);
	return found ? PAGER : NULL;
}

void paged_begin(struct paged *p, struct output *out)
{
	int fd;

	*p = (struct paged){ .pager = isatty(STDOUT_FILENO) ? find_pager() : NULL };
	if (!p->pager)
		return;
	fd = memfd_create("page", MFD_CLOEXEC);
	p->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (p->file)
		out->file = p->file;
	else if (fd >= 0)
		close(fd);
}

/* True if the terminal has rows for all lines and the prompt, or nobody knows its rows. */
static bool fits(FILE *file)
{
	struct winsize terminal = { 0 };
	int lines = 1, c;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal);
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	rewind(file);
	return terminal.ws_row == 0 || lines <= terminal.ws_row;
}

/* The pager alone gets Ctrl-C. False: it could not be started. */
static bool run_pager(const char *pager, int fd)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		signals_reset();
		setenv("LESS", LESS, 0);
		if (lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		_exit(QUESTION_NO_PROGRAM);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, interrupt);
	return pid > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == QUESTION_NO_PROGRAM);
}

void paged_end(struct paged *p)
{
	if (!p->file)
		return;
	fflush(p->file);
	rewind(p->file);
	fflush(stdout);
	if (fits(p->file) || !run_pager(p->pager, fileno(p->file))) {
		rewind(p->file);
		for (int c; (c = getc(p->file)) != EOF;)
			putchar(c);
	}
	fclose(p->file);
	p->file = NULL;
}
