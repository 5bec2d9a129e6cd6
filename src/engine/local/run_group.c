/* run_group.c - make, find and remove the control groups of runs, or guard what has none. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/text.h"
#include "run_group.h"

#define GROUP_PREFIX "pollux-"
#define STORE_DIGITS 16
#define DEPTH_MAX 32	/* of groups that a job makes in its group */

/* --- where --- */

/* Finds the file system of control groups, version 2: its mount point, the group that is seen there
 * as the root, and the control group of this process. Each has PATH_MAX bytes. */
static bool find_places(char *point, char *root, char *own)
{
	FILE *mounts = file_open_stream("/proc/self/mountinfo");
	FILE *groups = file_open_stream("/proc/self/cgroup");
	bool mounted = false, found = false;
	char line[3 * PATH_MAX];

	while (mounts && !mounted && fgets(line, sizeof(line), mounts))
		mounted = strstr(line, " - cgroup2 ") &&
			  sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) == 2;
	while (groups && !found && fgets(line, sizeof(line), groups))
		if (!strncmp(line, "0::/", 4)) {
			line[strcspn(line, "\n")] = '\0';
			found = strlen(line + 3) < PATH_MAX;
			memcpy(own, line + 3, found ? strlen(line + 3) + 1 : 0);
		}
	if (mounts)
		fclose(mounts);
	if (groups)
		fclose(groups);
	return mounted && found;
}

/* True if the path begins with the name of a run's group: other units may be called pollux, too. */
static bool begins_with_group(const char *path)
{
	size_t n = strlen(GROUP_PREFIX);

	return !strncmp(path, GROUP_PREFIX, n) &&
	       strspn(path + n, "0123456789abcdef") == STORE_DIGITS &&
	       path[n + STORE_DIGITS] == '-' &&
	       strspn(path + n + STORE_DIGITS + 1, "0123456789") > 0;
}

void run_group_leave(char *path)
{
	char *at = path;

	while ((at = strchr(at, '/')) && !begins_with_group(at + 1))
		at++;
	if (at)
		*at = '\0';
}

static char *own_directory(struct err *err)
{
	char point[PATH_MAX], root[PATH_MAX], own[PATH_MAX];
	size_t shown;

	if (!find_places(point, root, own)) {
		err_set(err, EX_UNAVAILABLE, "control groups of version 2 are not mounted");
		return NULL;
	}
	run_group_leave(own);
	shown = strcmp(root, "/") != 0 ? strlen(root) : 0;
	if (strncmp(own, root, shown) != 0 || !strncmp(own, "/..", 3)) {
		err_set(err, EX_UNAVAILABLE, "this process's control group is not mounted");
		return NULL;
	}
	return xasprintf("%s%s", point, !strcmp(own + shown, "/") ? "" : own + shown);
}

char *run_group_base(struct err *err)
{
	const char *wanted = getenv("POLLUX_CGROUP");
	char *base, *processes;
	bool is_writable;

	if (wanted && !strcmp(wanted, "none")) {
		err_set(err, EX_UNAVAILABLE, "POLLUX_CGROUP is 'none'");
		return NULL;
	}
	base = wanted && *wanted ? xstrdup(wanted) : own_directory(err);
	if (!base)
		return NULL;
	processes = xasprintf("%s/cgroup.procs", base);
	is_writable = access(base, W_OK) == 0 && access(processes, W_OK) == 0;
	if (!is_writable)
		err_set(err, EX_UNAVAILABLE, "'%s' may not be written: %s", base, strerror(errno));
	free(processes);
	if (is_writable)
		return base;
	free(base);
	return NULL;
}

/* --- one group --- */

static char *group_prefix(const struct paths *paths)
{
	unsigned long long hash = 0xcbf29ce484222325;	/* FNV-1a: tells stores apart */

	for (const char *c = paths->dir; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	return xasprintf(GROUP_PREFIX "%016llx-", hash);
}

static int write_file(const char *group, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", group, name);
	int fd = file_open(path, O_WRONLY, 0);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
	int saved = errno;

	if (fd >= 0)
		close(fd);
	free(path);
	errno = saved;
	return n < 0 ? -1 : 0;
}

char *run_group_make(const struct paths *paths, int64_t run_id, const char *store_id,
		     struct err *err)
{
	char *base = run_group_base(err), *prefix = group_prefix(paths), *path, *group = NULL;
	char type[32];

	if (base)
		group = xasprintf("%s/%s%lld.%.8s", base, prefix, (long long)run_id, store_id);
	free(prefix);
	free(base);
	if (!group)
		return NULL;
	if (mkdir(group, 0755) && errno != EEXIST) {
		err_set(err, EX_UNAVAILABLE, "cannot make control group '%s': %s", group,
			strerror(errno));
		free(group);
		return NULL;
	}
	path = xasprintf("%s/cgroup.type", group);
	file_find_line(path, "", type, sizeof(type));
	free(path);
	/* in a threaded tree a new group takes no processes */
	if (strcmp(type, "domain") != 0) {
		err_set(err, EX_UNAVAILABLE, "control group '%s' takes no processes", group);
		rmdir(group);
		free(group);
		return NULL;
	}
	return group;
}

int run_group_add(const char *group, pid_t pid, struct err *err)
{
	char number[24];

	snprintf(number, sizeof(number), "%d", (int)pid);
	if (write_file(group, "cgroup.procs", number))
		return err_set(err, EX_OSERR, "cannot put process %d into control group '%s': %s",
			       (int)pid, group, strerror(errno));
	return 0;
}

/* --- its memory --- */

bool run_group_limit_memory(const char *group, int64_t bytes)
{
	char limit[24] = "max";

	if (bytes > 0)
		snprintf(limit, sizeof(limit), "%lld", (long long)bytes);
	if (write_file(group, "memory.max", limit) &&
	    (write_file(group, "../cgroup.subtree_control", "+memory") ||
	     write_file(group, "memory.max", limit)))
		return false;
	/* a kernel without swap, or an older one, lacks these */
	write_file(group, "memory.swap.max", bytes > 0 ? "0" : "max");
	write_file(group, "memory.oom.group", bytes > 0 ? "1" : "0");
	return bytes > 0;
}

static int64_t read_figure(const char *group, const char *name, const char *word)
{
	char *path = xasprintf("%s/%s", group, name), line[64];

	file_find_line(path, word, line, sizeof(line));
	free(path);
	return strtoll(line, NULL, 10);
}

int64_t run_group_memory_kills(const char *group, int64_t *peak_bytes)
{
	*peak_bytes = read_figure(group, "memory.peak", "");
	return read_figure(group, "memory.events", "oom_kill ");
}

void run_group_kill(const char *group)
{
	write_file(group, "cgroup.kill", "1");
}

static bool remove_groups(const char *group, int depth)
{
	DIR *dir = depth < DEPTH_MAX ? opendir(group) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = xasprintf("%s/%s", group, entry->d_name);
		remove_groups(below, depth + 1);
		free(below);
	}
	if (dir)
		closedir(dir);
	return rmdir(group) == 0 || errno == ENOENT;
}

bool run_group_remove(const char *group)
{
	return remove_groups(group, 0);
}

/* --- leftovers --- */

void run_group_clean(const struct paths *paths, bool (*is_over)(int64_t run_id, const void *arg),
		     const void *arg)
{
	struct err ignored;
	char *base = run_group_base(&ignored), *prefix = group_prefix(paths);
	DIR *dir = base ? opendir(base) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *number = entry->d_name + strlen(prefix);
		char *group;

		if (!text_starts_with(entry->d_name, prefix) ||
		    !is_over(strtoll(number, NULL, 10), arg))
			continue;
		group = xasprintf("%s/%s", base, entry->d_name);
		run_group_kill(group);
		run_group_remove(group);
		free(group);
	}
	if (dir)
		closedir(dir);
	free(prefix);
	free(base);
}

/* --- a guardian --- */

pid_t guardian_start(void)
{
	pid_t guardian = getpid(), pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 0;
	pid = fork();
	if (pid > 0) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		close_range(0, ~0U, 0);
		prctl(PR_SET_NAME, "pollux-guardian");
		while (wait(NULL) > 0 || errno == EINTR)
			;
		_exit(0);
	}
	if (pid < 0)
		return 0;
	setsid();
	return guardian;
}

void guardian_dismiss(pid_t guardian)
{
	if (guardian > 0 && getppid() == guardian)
		kill(guardian, SIGKILL);
}
