/* proc_files.c - what processes have open and are in: pipes and terminals between them, files,
 * control groups, containers; and processes that /proc hides. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
	scoped(close_dir) DIR *dir = proc_open_dir(pid, "fd");
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
}

static bool has_open(pid_t pid, const struct stat *file,
		     bool (*counts)(pid_t pid, const char *fd))
{
	scoped(close_dir) DIR *dir = proc_open_dir(pid, "fd");
	const struct dirent *entry;
	bool has = false;
	struct stat st;

	while (dir && !has && (entry = readdir(dir)))
		has = isdigit((unsigned char)entry->d_name[0]) &&
		      fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
		      file_stat_same(&st, file) && (!counts || counts(pid, entry->d_name));
	return has;
}

void proc_users_of_file(const char *path, bool (*counts)(pid_t pid, const char *fd),
			struct pid_list *list)
{
	scoped(pid_list_release) struct pid_list all = { 0 };
	struct stat file;

	*list = (struct pid_list){ 0 };
	if (stat(path, &file))
		return;
	pid_list_read(&all, "/proc");
	for (int i = 0; i < all.count; i++)
		if (all.items[i] != getpid() && has_open(all.items[i], &file, counts))
			pid_list_add(list, all.items[i]);
}

/* --- the processes of a control group and of the groups below --- */

#define DEPTH_MAX 32	/* depth of groups within groups */

static void add_tree(const char *directory, struct pid_list *list, int depth)
{
	char *path = xasprintf("%s/cgroup.procs", directory), line[32];
	scoped(close_file) FILE *file = file_open_stream(path);
	scoped(close_dir) DIR *dir = depth < DEPTH_MAX ? opendir(directory) : NULL;
	const struct dirent *entry;

	while (file && fgets(line, sizeof(line), file))
		if (strtol(line, NULL, 10) > 0)		/* 0: of another namespace */
			pid_list_add(list, (pid_t)strtol(line, NULL, 10));
	while (dir && (entry = readdir(dir))) {
		autofree char *below = NULL;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = xasprintf("%s/%s", directory, entry->d_name);
		add_tree(below, list, depth + 1);
	}
	free(path);
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
	scoped(close_file) FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = file_open_stream(path);
	while (file && !found && fgets(line, sizeof(line), file))
		found = proc_container_in(line, id);
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
	char found[PROC_CONTAINER_SIZE];
	scoped(pid_list_release) struct pid_list all = { 0 };
	bool lives = false;

	pid_list_read(&all, "/proc");
	for (int i = 0; i < all.count && !lives; i++)
		lives = find_container(all.items[i], found) && !strcmp(found, id) &&
			proc_lives(all.items[i]);
	return lives;
}

bool proc_has_loaded(pid_t pid, const char *part)
{
	char path[32], *line = NULL;
	bool found = false;
	size_t size = 0;
	scoped(close_file) FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = file_open_stream(path);
	while (file && !found && getline(&line, &size, file) > 0)
		found = strstr(line, part) != NULL;
	free(line);
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

void proc_add_hidden_children(pid_t pid, struct pid_list *list)
{
	scoped(pid_list_release) struct pid_list threads = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	pid_list_read(&threads, name);
	for (int i = 0; i < threads.count; i++) {
		char children[1 << 16], *p = children, *end;

		snprintf(name, sizeof(name), "task/%d/children", (int)threads.items[i]);
		proc_find_line(pid, name, "", children, sizeof(children));
		for (pid_t child; (child = (pid_t)strtol(p, &end, 10)) > 0 && end > p; p = end)
			if (!pid_list_has(list, child) && proc_is_hidden(child))
				pid_list_add(list, child);
	}
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
