/* advice.c - see advice.h. */
#include "pollux/advice.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/proc.h"

#define SECOND_LOOK_MS 300

const char *advice_sudo(void)
{
	return geteuid() ? "sudo " : "";
}

/* --- processes --- */

void advice_add_kill(struct text *t, const char *signal, pid_t pid)
{
	bool is_of_another = kill(pid, 0) && errno == EPERM;

	text_addf(t, "%skill -%s %d", is_of_another ? "sudo " : "", signal, (int)pid);
}

pid_t advice_debugger(pid_t pid)
{
	char debugger[16];

	if (proc_state(pid) != 't' ||
	    !proc_find_line(pid, "status", "TracerPid:", debugger, sizeof(debugger)))
		return 0;
	return (pid_t)strtol(debugger, NULL, 10);
}

void advice_add_continue(struct text *t, pid_t pid)
{
	pid_t debugger = advice_debugger(pid);

	if (debugger) {
		text_addf(t, "its debugger, process %d,", (int)debugger);
		return;
	}
	text_add(t, "'");
	advice_add_kill(t, "CONT", pid);
	text_add(t, "'");
}

bool advice_stays_stopped(pid_t pid)
{
	int64_t start = proc_start_ticks(pid);
	char state = proc_state(pid);

	if (state != 'T' && state != 't')
		return false;
	poll(NULL, 0, SECOND_LOOK_MS);
	state = proc_state(pid);
	return (state == 'T' || state == 't') && proc_start_ticks(pid) == start;
}

/* --- files --- */

void advice_add_edit(struct text *t, const char *command, const char *path)
{
	struct stat st;
	bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	char *file = is_link ? realpath(path, NULL) : NULL;

	if (stat(path, &st) == 0 && st.st_uid != geteuid())
		text_add(t, advice_sudo());
	text_addf(t, "%s ", command);
	text_add_shell_quoted(t, file ? file : path);
	free(file);
}

void advice_add_private(struct text *t, const char *directory)
{
	char *store = xasprintf("%s/pollux.db", directory);
	char *below = xasprintf("%s/pollux", strcmp(directory, "/") != 0 ? directory : "");
	struct stat st;
	bool sticky = stat(directory, &st) == 0 && (st.st_mode & S_ISVTX);
	DIR *dir = opendir(directory);
	int n = 0;

	while (dir && readdir(dir) && n < 3)
		n++;
	if (dir)
		closedir(dir);
	/* The directory of a store, or an empty one ("." and ".."), is nobody else's. */
	if (!sticky && (access(store, F_OK) == 0 || (dir && n < 3))) {
		text_add(t, "chmod 700 ");
		text_add_shell_quoted(t, directory);
	} else {
		text_add(t, "export POLLUX_DIR=");
		text_add_shell_quoted(t, below);
	}
	free(store);
	free(below);
}
