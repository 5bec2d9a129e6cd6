/* proc_files.c - see proc_files.h. */
#include "pollux/proc_files.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"

static bool has_open(const char *pid, const struct stat *file)
{
	const struct dirent *entry;
	bool has = false;
	char path[64];
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && !has && (entry = readdir(dir)))
		has = isdigit((unsigned char)entry->d_name[0]) &&
		      fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
		      st.st_dev == file->st_dev && st.st_ino == file->st_ino;
	if (dir)
		closedir(dir);
	return has;
}

void proc_users_of_file(const char *path, struct pid_list *list)
{
	const struct dirent *entry;
	struct stat file;
	DIR *dir = NULL;

	*list = (struct pid_list){ 0 };
	if (stat(path, &file) == 0)
		dir = opendir("/proc");
	while (dir && (entry = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0])
			? (pid_t)strtol(entry->d_name, NULL, 10) : 0;

		if (pid <= 0 || pid == getpid() || !has_open(entry->d_name, &file))
			continue;
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = pid;
	}
	if (dir)
		closedir(dir);
}
