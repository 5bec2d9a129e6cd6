/* proc_hidden.c - processes of other users where /proc is mounted with hidepid: they have no entry
 * there, or an empty one, and live all the same. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/open_file.h"
#include "pollux/proc.h"

bool proc_is_hidden(pid_t pid)
{
	return pid > 0 && kill(pid, 0) && errno == EPERM && proc_start_ticks(pid) == 0 &&
	       kill(pid, 0) && errno == EPERM;	/* it has not ended meanwhile */
}

bool proc_hides_others(void)
{
	return proc_is_hidden(1);
}

static bool has(const struct pid_list *list, pid_t pid)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

static void add_children_of_thread(pid_t pid, const char *thread, struct pid_list *list)
{
	char path[80], *line = NULL, *p, *end;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, thread);
	f = file_open_stream(path);
	p = f && getline(&line, &size, f) > 0 ? line : NULL;
	for (; p; p = end) {
		pid_t child = (pid_t)strtol(p, &end, 10);

		if (end == p)
			break;
		if (has(list, child) || !proc_is_hidden(child))
			continue;
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = child;
	}
	free(line);
	if (f)
		fclose(f);
}

void proc_add_hidden_children(pid_t pid, struct pid_list *list)
{
	const struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_children_of_thread(pid, entry->d_name, list);
	if (dir)
		closedir(dir);
}

const char *proc_describe(pid_t pid, char text[PROC_TEXT_SIZE])
{
	struct proc_info info;

	proc_look(pid, &info);
	if (info.lives)
		snprintf(text, PROC_TEXT_SIZE, "process %d (%s) of %s", (int)pid, info.command,
			 info.owner);
	else
		snprintf(text, PROC_TEXT_SIZE, "process %d%s", (int)pid, info.hidden
			 ? " of another user, which is not visible here" : ", which has ended");
	return text;
}
