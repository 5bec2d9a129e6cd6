/* proc_group.c - the processes of a control group and of the groups below. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/open_file.h"
#include "pollux/proc.h"

#define DEPTH_MAX 32	/* depth of groups within groups */

static void add_pid(struct pid_list *list, pid_t pid)
{
	/* a power of 2: the room is used up, and is doubled */
	if ((list->count & (list->count - 1)) == 0)
		list->items = xreallocarray(list->items, list->count ? 2 * (size_t)list->count : 1,
					    sizeof(*list->items));
	list->items[list->count++] = pid;
}

/* Adds the processes. A process of another namespace is shown as 0 and is skipped. */
static void add_processes(const char *directory, struct pid_list *list)
{
	char *path = xasprintf("%s/cgroup.procs", directory);
	FILE *file = file_open_stream(path);
	char line[32];

	while (file && fgets(line, sizeof(line), file)) {
		long pid = strtol(line, NULL, 10);

		if (pid > 0)
			add_pid(list, (pid_t)pid);
	}
	if (file)
		fclose(file);
	free(path);
}

static void add_tree(const char *directory, struct pid_list *list, int depth)
{
	DIR *dir = depth < DEPTH_MAX ? opendir(directory) : NULL;
	const struct dirent *entry;

	add_processes(directory, list);
	while (dir && (entry = readdir(dir))) {
		char *below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = xasprintf("%s/%s", directory, entry->d_name);
		add_tree(below, list, depth + 1);
		free(below);
	}
	if (dir)
		closedir(dir);
}

void proc_group_list(const char *directory, struct pid_list *list)
{
	*list = (struct pid_list){ 0 };
	add_tree(directory, list, 0);
}
