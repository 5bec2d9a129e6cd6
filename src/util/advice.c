/* advice.c - see advice.h. */
#include "pollux/advice.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

#define SECOND_LOOK_MS 300

const char *advice_sudo(void)
{
	return geteuid() ? "sudo " : "";
}

/* --- processes --- */

static bool is_of_another(pid_t pid)
{
	return kill(pid, 0) && errno == EPERM;
}

void advice_add_kill(struct text *t, const char *signal, pid_t pid)
{
	text_addf(t, "%skill -%s %d", is_of_another(pid) ? "sudo " : "", signal, (int)pid);
}

pid_t advice_debugger(pid_t pid)
{
	static const char name[] = "TracerPid:";
	char path[48], line[256];
	long debugger = 0;
	FILE *f;

	if (proc_state(pid) != 't')
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = file_open_stream(path);
	while (f && fgets(line, sizeof(line), f))
		if (text_starts_with(line, name))
			debugger = strtol(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return (pid_t)debugger;
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

static bool is_stopped(pid_t pid)
{
	char state = proc_state(pid);

	return state == 'T' || state == 't';
}

bool advice_stays_stopped(pid_t pid)
{
	int64_t start = proc_start_ticks(pid);

	if (!is_stopped(pid))
		return false;
	poll(NULL, 0, SECOND_LOOK_MS);
	return is_stopped(pid) && proc_start_ticks(pid) == start;
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

static bool is_empty(const char *directory)
{
	const struct dirent *entry;
	DIR *dir = opendir(directory);
	bool empty = dir;

	while (dir && empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

/* The directory of a store, or an empty one without the sticky bit, is nobody else's. */
void advice_add_private(struct text *t, const char *directory)
{
	char *store = xasprintf("%s/pollux.db", directory);
	char *below = xasprintf("%s/pollux", strcmp(directory, "/") != 0 ? directory : "");
	struct stat st;
	bool sticky = stat(directory, &st) == 0 && (st.st_mode & S_ISVTX);

	if (!sticky && (access(store, F_OK) == 0 || is_empty(directory))) {
		text_add(t, "chmod 700 ");
		text_add_shell_quoted(t, directory);
	} else {
		text_add(t, "export POLLUX_DIR=");
		text_add_shell_quoted(t, below);
	}
	free(store);
	free(below);
}
