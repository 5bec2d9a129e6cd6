/* proc_files.c - what processes have open: pipes and terminals between them, and who has a file. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
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

static int64_t end_for_output(const char *target)
{
	if (text_starts_with(target, "pipe:["))
		return strtoll(target + 6, NULL, 10);
	if (text_starts_with(target, "socket:["))
		return SOCKETS + strtoll(target + 8, NULL, 10);
	if (text_starts_with(target, "/dev/pts/") && isdigit((unsigned char)target[9]))
		return -1 - strtoll(target + 9, NULL, 10);
	return 0;
}

/* The link to a descriptor has the permissions with which it was opened. */
static bool may(int dir, const char *name, mode_t permission)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mode & permission;
}

struct ends {
	struct proc_streams *streams;
	int n_reads, n_prints;
};

static void add_read(struct ends *e, int64_t end)
{
	if (e->n_reads < PROC_READS)
		e->streams->reads[e->n_reads++] = end;
}

/* Adds what a descriptor beside standard output and standard error may be: a pipe that is read or
 * written, as of tee >(gzip), the terminal of an emulator, one of two sockets of socketpair(2), as
 * of node's spawn(), whose numbers are neighbours. */
static void add_ends(struct ends *e, pid_t pid, int dir, const char *name, const char *target)
{
	char path[32], number[32];

	if (text_starts_with(target, "pipe:[")) {
		int64_t pipe = strtoll(target + 6, NULL, 10);

		if (may(dir, name, S_IRUSR))
			add_read(e, pipe);
		if (e->n_prints < PROC_PRINTS && may(dir, name, S_IWUSR) &&
		    strcmp(name, "1") != 0 && strcmp(name, "2") != 0)
			e->streams->prints[e->n_prints++] = pipe;
	} else if (!strcmp(target, "/dev/ptmx") || !strcmp(target, "/dev/pts/ptmx")) {
		snprintf(path, sizeof(path), "fdinfo/%.10s", name);
		if (proc_find_line(pid, path, "tty-index:", number, sizeof(number)))
			add_read(e, -1 - strtoll(number, NULL, 10));
	} else if (text_starts_with(target, "socket:[")) {
		add_read(e, SOCKETS + strtoll(target + 8, NULL, 10) - 1);
		add_read(e, SOCKETS + strtoll(target + 8, NULL, 10) + 1);
	}
}

void proc_streams(pid_t pid, struct proc_streams *streams)
{
	struct ends e = { .streams = streams, .n_prints = PROC_STANDARD };
	DIR *dir = proc_open_dir(pid, "fd");
	const struct dirent *entry;
	char target[64];
	int seen = 0;

	*streams = (struct proc_streams){ 0 };
	if (!dir)
		return;
	if (read_link(dirfd(dir), "1", target, sizeof(target)))
		streams->prints[0] = end_for_output(target);
	if (read_link(dirfd(dir), "2", target, sizeof(target)))
		streams->prints[1] = end_for_output(target);
	while ((e.n_reads < PROC_READS || e.n_prints < PROC_PRINTS) &&
	       seen++ < DESCRIPTORS_MAX && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_link(dirfd(dir), entry->d_name, target, sizeof(target)))
			add_ends(&e, pid, dirfd(dir), entry->d_name, target);
	closedir(dir);
}

void proc_users_of_file(const char *path, struct pid_list *list)
{
	const struct dirent *entry;
	struct stat file;
	DIR *proc = NULL;

	*list = (struct pid_list){ 0 };
	if (stat(path, &file) == 0)
		proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		DIR *dir = pid > 0 && pid != getpid() ? proc_open_dir(pid, "fd") : NULL;
		bool has = false;
		struct stat st;

		while (dir && !has && (entry = readdir(dir)))
			has = isdigit((unsigned char)entry->d_name[0]) &&
			      fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
			      file_stat_same(&st, &file);
		if (dir)
			closedir(dir);
		if (has)
			pid_list_add(list, pid);
	}
	if (proc)
		closedir(proc);
}
