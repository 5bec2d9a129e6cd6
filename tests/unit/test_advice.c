/* test_advice.c - which commands sentences name for processes and files, and when others. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "tap.h"

#define PATIENCE_MS 60000

static bool comes_into(pid_t pid, char state)
{
	for (int ms = 0; ms < PATIENCE_MS && proc_state(pid) != state; ms += 10)
		poll(NULL, 0, 10);
	return proc_state(pid) == state;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static void test_stopped(void)
{
	pid_t pid = sleeper(), other;

	ok(!advice_stays_stopped(pid), "a sleeping process does not count as stopped");
	kill(pid, SIGSTOP);
	ok(comes_into(pid, 'T') && advice_stays_stopped(pid),
	   "a process that SIGSTOP stopped counts as stopped");
	other = fork();
	if (other == 0) {
		poll(NULL, 0, 100);
		_exit(kill(pid, SIGCONT));
	}
	ok(!advice_stays_stopped(pid),
	   "a process that goes on before the second look is not stopped");
	waitpid(other, NULL, 0);
	kill(pid, SIGKILL);
	ok(comes_into(pid, 'Z') && !advice_stays_stopped(pid),
	   "a zombie does not count as stopped");
	waitpid(pid, NULL, 0);
	ok(!advice_stays_stopped(pid), "a process that is gone does not count as stopped");
}

/* A parent waits in the kernel, as for a slow disk, until its vforked child has ended. */
static void test_in_kernel(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* NOLINTNEXTLINE(clang-analyzer-*) */
		if (vfork() == 0) {
			raise(SIGSTOP);
			_exit(0);
		}
		_exit(0);
	}
	ok(comes_into(pid, 'D') && !advice_stays_stopped(pid),
	   "a process that sleeps in the kernel is not stopped");
	kill(-getpgrp(), SIGCONT);
	end(pid);
}

static void test_debugged(void)
{
	scoped(text_release) struct text t = TEXT_INIT;
	autofree char *want = xasprintf("its debugger, process %d,", (int)getpid());
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	ok(comes_into(pid, 't') && advice_debugger(pid) == getpid(),
	   "the advice finds the debugger of a traced process");
	advice_add_continue(&t, pid);
	is_str(t.data, want, "the advice names the debugger of a process, and no signal");
	end(pid);
}

/* Asks as another user. */
static bool others_are_told(pid_t pid, const char *want)
{
	struct text t = TEXT_INIT;
	int status = 1;
	pid_t child = fork();

	if (child == 0) {
		if (setuid(65534))
			_exit(2);
		advice_add_kill(&t, "9", pid);
		_exit(strcmp(t.data, want) != 0 || strcmp(advice_sudo(), "sudo ") != 0);
	}
	waitpid(child, &status, 0);
	return status == 0;
}

static void test_whose(void)
{
	scoped(text_release) struct text t = TEXT_INIT;
	char *want;
	pid_t pid = sleeper();

	advice_add_kill(&t, "KILL", pid);
	want = xasprintf("kill -KILL %d", (int)pid);
	is_str(t.data, want, "the advice kills one's own process without sudo");
	free(want);
	text_clear(&t);
	advice_add_continue(&t, pid);
	want = xasprintf("'kill -CONT %d'", (int)pid);
	is_str(t.data, want, "the advice continues one's own process by a signal");
	free(want);
	text_clear(&t);
	if (geteuid() == 0) {
		want = xasprintf("sudo kill -9 %d", (int)pid);
		ok(others_are_told(pid, want), "the advice kills another user's process with sudo");
		free(want);
	}
	end(pid);
}

static void test_edit(const char *dir)
{
	autofree char *file = xasprintf("%s/a file", dir), *name = xasprintf("%s/it's", dir);
	scoped(text_release) struct text t = TEXT_INIT;
	char real[PATH_MAX], *want;

	fclose(fopen(file, "w"));
	if (symlink("a file", name) || !realpath(file, real))
		exit(1);
	advice_add_edit(&t, "sed -i s/a/b/", name);
	want = xasprintf("sed -i s/a/b/ '%s'", real);
	is_str(t.data, want, "the advice edits the target of a link, not the link");
	free(want);
	unlink(name);
	unlink(file);
}

static void is_private(const char *dir, const char *want, const char *name)
{
	scoped(text_release) struct text t = TEXT_INIT;
	autofree char *command = xasprintf("%s", want);

	advice_add_private(&t, dir);
	is_str(t.data, command, name);
}

static void test_private(const char *dir)
{
	char *mode = xasprintf("chmod 700 %s", dir), *file = xasprintf("%s/pollux.db", dir);
	autofree char *below = xasprintf("export POLLUX_DIR=%s/pollux", dir);
	autofree char *theirs = xasprintf("%s/paper.tex", dir);

	chmod(dir, 0777);
	is_private(dir, mode, "the advice makes an empty directory private");
	fclose(fopen(theirs, "w"));
	is_private(dir, below,
		   "the advice leaves a directory with foreign files, and names one below");
	fclose(fopen(file, "w"));
	is_private(dir, mode, "the advice makes a directory with a store private");
	chmod(dir, 01777);
	is_private(dir, below, "the advice leaves a directory with mode 1777, like /tmp");
	is_private("/", "export POLLUX_DIR=/pollux",
		   "the advice leaves the root directory as it is");
	unlink(file);
	unlink(theirs);
	free(file);
	free(mode);
}

int main(void)
{
	char dir[] = "/tmp/pollux-advice.XXXXXX";

	setpgid(0, 0);
	if (!mkdtemp(dir))
		return 1;
	test_stopped();
	test_in_kernel();
	test_debugged();
	test_whose();
	test_edit(dir);
	test_private(dir);
	rmdir(dir);
	return done();
}
