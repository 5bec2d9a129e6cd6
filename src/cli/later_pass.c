/* later_pass.c - see later_pass.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "later_pass.h"
#include "pollux/err.h"
#include "pollux/file.h"
#include "pollux/pass_files.h"
#include "pollux/store.h"

static int take_settings(const struct paths *paths, struct err *err)
{
	static const char *const names[] = { "POLLUX_SLOTS", "POLLUX_SLICE", "POLLUX_POLICY",
					     "POLLUX_SUSPEND_MEMORY" };
	struct store store;
	int rc;

	if (store_open(&store, paths, STORE_READ, err))
		return -1;
	rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		char *value;

		rc = store_setting_get(&store, names[i], &value, err);
		if (rc == 0 && value)
			setenv(names[i], value, 1);
		free(value);
	}
	store_close(&store);
	return rc;
}

int later_pass_become(const struct paths *paths, struct err *err)
{
	sigset_t none;

	if (take_settings(paths, err)) {
		failed_pass_note(paths, err->text);
		return -1;
	}
	setenv(LATER_PASS, "1", 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/proc/self/exe", "pollux", "schedule", (char *)NULL);
	return err_set(err, EX_OSERR, "cannot run a pass");
}

/* Closes inherited descriptors, such as those of the terminal or the end of a pipe. */
static void leave_all(void)
{
	int null = file_open_null(O_RDWR);

	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	closefrom(3);
}

/* The child of the child belongs to init: nobody has to wait for it. True in that child. It is out
 * of the terminal's session before this process goes on: where this process leads that session, as
 * under script(1) or 'ssh -t HOST pollux submit', its end sends SIGHUP to all who are in it. */
static bool is_apart(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		leave_all();
		return true;
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	return false;
}

void later_pass_start(const struct paths *paths)
{
	struct err ignored;

	if (!is_apart())
		return;
	later_pass_become(paths, &ignored);
	_exit(EX_OSERR);
}

void later_start(char *const argv[])
{
	if (!is_apart())
		return;
	execv("/proc/self/exe", argv);
	_exit(EX_OSERR);
}
