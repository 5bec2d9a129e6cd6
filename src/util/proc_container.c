/* proc_container.c - control groups, containers, and processes that /proc hides. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

/* --- the processes of a control group and of the groups below --- */

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

/* The container that a process is in, by its control group; the libraries that it has loaded. */

/* Docker, Podman, containerd and CRI-O name a container by 64 hexadecimal digits, and its group
 * after it: "/docker/ID", "docker-ID.scope", "libpod-ID.scope/container",
 * "cri-containerd-ID.scope", "system.slice:docker:ID". The last one in a path is the innermost. */
bool proc_container_in(const char *line, char id[PROC_CONTAINER_SIZE])
{
	bool found = false;

	while (*line) {
		size_t n = 0;

		while (isdigit((unsigned char)line[n]) || (line[n] >= 'a' && line[n] <= 'f'))
			n++;
		if (n == PROC_CONTAINER_SIZE - 1) {
			snprintf(id, PROC_CONTAINER_SIZE, "%s", line);
			found = true;
		}
		line += n > 0 ? n : 1;
	}
	return found;
}

static bool find_container(pid_t pid, char id[PROC_CONTAINER_SIZE])
{
	char path[32], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = file_open_stream(path);
	while (file && !found && fgets(line, sizeof(line), file))
		found = proc_container_in(line, id);
	if (file)
		fclose(file);
	return found;
}

bool proc_container(pid_t pid, char id[PROC_CONTAINER_SIZE])
{
	char own[PROC_CONTAINER_SIZE];

	if (pid <= 0 || !find_container(pid, id) ||
	    (find_container(getpid(), own) && !strcmp(own, id))) {
		id[0] = '\0';
		return false;
	}
	return true;
}

bool proc_container_lives(const char *id)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	bool lives = false;

	while (dir && !lives && (entry = readdir(dir))) {
		char found[PROC_CONTAINER_SIZE];
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		lives = pid > 0 && find_container(pid, found) && !strcmp(found, id) &&
			proc_lives(pid);
	}
	if (dir)
		closedir(dir);
	return lives;
}

bool proc_has_loaded(pid_t pid, const char *part)
{
	char path[32], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = file_open_stream(path);
	while (file && !found && getline(&line, &size, file) > 0)
		found = strstr(line, part) != NULL;
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* Processes of other users where /proc is mounted with hidepid: they have no entry there, or an
 * empty one, and live all the same. */

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
