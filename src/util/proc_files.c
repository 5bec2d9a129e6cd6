/* proc_files.c - what processes have open: pipes and terminals between them, and who has a file. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

/* --- the pipes, sockets and terminals between processes, see proc.h --- */

/* Looks at no more descriptors of a process: a data loader may have thousands. */
#define DESCRIPTORS_MAX 4096

/* Reads where a descriptor in the directory leads. */
static bool read_link(int dir, const char *name, char *target, size_t size)
{
	ssize_t n = readlinkat(dir, name, target, size - 1);

	target[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Pipes have positive numbers, sockets numbers above this one, and terminals negative ones. */
#define SOCKETS (INT64_C(1) << 62)

static int64_t terminal(long long index)
{
	return -1 - index;
}

static int64_t end_for_output(const char *target)
{
	if (!strncmp(target, "pipe:[", 6))
		return strtoll(target + 6, NULL, 10);
	if (!strncmp(target, "socket:[", 8))
		return SOCKETS + strtoll(target + 8, NULL, 10);
	if (!strncmp(target, "/dev/pts/", 9) && isdigit((unsigned char)target[9]))
		return terminal(strtoll(target + 9, NULL, 10));
	return 0;
}

/* Which terminal the descriptor of an emulator belongs to. */
static int64_t emulated(pid_t pid, const char *name)
{
	char path[64], line[128];
	int64_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.10s", (int)pid, name);
	file = file_open_stream(path);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "tty-index:", 10))
			number = terminal(strtoll(line + 10, NULL, 10));
	if (file)
		fclose(file);
	return number;
}

/* The link to a descriptor has the permissions with which it was opened. */
static bool may(int dir, const char *name, mode_t permission)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mode & permission;
}

static int64_t end_for_input(pid_t pid, int dir, const char *name, const char *target)
{
	if (!strcmp(target, "/dev/ptmx") || !strcmp(target, "/dev/pts/ptmx"))
		return emulated(pid, name);
	if (strncmp(target, "pipe:[", 6) != 0 || !may(dir, name, S_IRUSR))
		return 0;
	return strtoll(target + 6, NULL, 10);
}

/* A pipe beside standard output and standard error, as of tee >(gzip). */
static int64_t end_beside(int dir, const char *name, const char *target)
{
	if (!strcmp(name, "1") || !strcmp(name, "2") || strncmp(target, "pipe:[", 6) != 0 ||
	    !may(dir, name, S_IWUSR))
		return 0;
	return strtoll(target + 6, NULL, 10);
}

static void add_end(int64_t *ends, int *n, int max, int64_t end)
{
	if (end != 0 && *n < max)
		ends[(*n)++] = end;
}

/* socketpair(2), as of node's spawn(), makes two sockets of which the numbers are neighbours. */
static void add_other_socket(int64_t *ends, int *n, const char *target)
{
	int64_t number = strncmp(target, "socket:[", 8) != 0 ? 0 : strtoll(target + 8, NULL, 10);

	if (number == 0)
		return;
	add_end(ends, n, PROC_READS, SOCKETS + number - 1);
	add_end(ends, n, PROC_READS, SOCKETS + number + 1);
}

void proc_streams(pid_t pid, struct proc_streams *streams)
{
	int reads = 0, writes = PROC_STANDARD, seen = 0;
	const struct dirent *entry;
	char path[32], target[64];
	DIR *dir;

	*streams = (struct proc_streams){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return;
	if (read_link(dirfd(dir), "1", target, sizeof(target)))
		streams->prints[0] = end_for_output(target);
	if (read_link(dirfd(dir), "2", target, sizeof(target)))
		streams->prints[1] = end_for_output(target);
	while ((reads < PROC_READS || writes < PROC_PRINTS) && seen++ < DESCRIPTORS_MAX &&
	       (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!isdigit((unsigned char)*name) ||
		    !read_link(dirfd(dir), name, target, sizeof(target)))
			continue;
		add_end(streams->reads, &reads, PROC_READS,
			end_for_input(pid, dirfd(dir), name, target));
		add_other_socket(streams->reads, &reads, target);
		add_end(streams->prints, &writes, PROC_PRINTS,
			end_beside(dirfd(dir), name, target));
	}
	closedir(dir);
}

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
