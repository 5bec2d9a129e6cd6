/* local_processes.c - which processes of this machine belong to a run. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "run_group.h"

bool local_is_supervisor(const struct run *run, int64_t pid)
{
	char path[48], got[64], want[64];
	int length = snprintf(want, sizeof(want), "pollux%csupervise%c%lld", 0, 0,
			      (long long)run->id);
	ssize_t n;
	int fd;

	if (pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)pid);
	fd = file_open(path, O_RDONLY, 0);
	n = fd < 0 ? -1 : read(fd, got, sizeof(got));
	if (fd >= 0)
		close(fd);
	return n > length && !memcmp(got, want, (size_t)length + 1);
}

void local_leave_out(struct pid_list *list, pid_t pid)
{
	int n = 0;

	for (int i = 0; i < list->count; i++)
		if (list->items[i] != pid)
			list->items[n++] = list->items[i];
	list->count = n;
}

int local_list_processes(const struct local_handle *h, struct pid_list *list)
{
	struct proc_marks marks = { .ancestor = (pid_t)h->supervisor_pid };

	*list = (struct pid_list){ 0 };
	if (h->group[0])
		proc_group_list(h->group, list);
	else if (proc_find(&marks, list))
		return -1;
	local_leave_out(list, (pid_t)h->keeper_pid);
	return 0;
}

/* Returns the most that any process of the run does about the signal: a program that heeds the
 * signal may be the child of a shell that does not. */
static enum proc_heed most_heed(const struct local_handle *h, int signal)
{
	enum proc_heed most = PROC_HEEDS_NOT;
	struct pid_list list;

	if (local_list_processes(h, &list) || list.count == 0)
		most = PROC_HANDLES;
	for (int i = 0; most != PROC_HANDLES && i < list.count; i++) {
		enum proc_heed heed = proc_heed(list.items[i], signal);

		most = heed > most ? heed : most;
	}
	pid_list_release(&list);
	return most;
}

/* Looks again if a signal is only blocked, as it is while a process forks: after 2 ms, then after
 * twice as long each time, since a busy machine may keep that process waiting. */
#define LOOKS 5
#define LOOK_AGAIN_US 2000

bool local_dies_of(const struct run *run, int signal)
{
	enum proc_heed heed = PROC_BLOCKS;
	useconds_t wait_us = LOOK_AGAIN_US;
	struct local_handle handle;

	local_handle_parse(run->handle, &handle);
	if (!local_is_supervisor(run, handle.supervisor_pid))
		heed = PROC_HANDLES;
	for (int i = 0; heed == PROC_BLOCKS && i < LOOKS; i++) {
		heed = most_heed(&handle, signal);
		if (heed == PROC_BLOCKS && i < LOOKS - 1)
			usleep(wait_us);
		wait_us *= 2;
	}
	local_handle_release(&handle);
	return heed == PROC_HEEDS_NOT;
}

/* True for a process of a run that was taken over from a dead supervisor, if it descends from the
 * leader. */
static bool comes_from_leader(const struct local_handle *h, int64_t pid)
{
	struct proc_marks marks = {
		.ancestor = (pid_t)h->leader_pid, .session = (pid_t)h->leader_pid,
	};

	return h->leader_pid > 0 && h->leader_start_ticks > 0 &&
	       proc_start_ticks((pid_t)h->leader_pid) == h->leader_start_ticks &&
	       proc_bears((pid_t)pid, &marks);
}

bool local_owns_process(const struct run *run, int64_t pid)
{
	struct local_handle handle;
	struct proc_marks marks = { 0 };
	char *variable;
	bool owns;

	local_handle_parse(run->handle, &handle);
	variable = xasprintf("POLLUX_REPORT_SOCKET=%s", handle.socket_path);
	if (local_is_supervisor(run, handle.supervisor_pid))
		marks.ancestor = marks.session = (pid_t)handle.supervisor_pid;
	else if (local_is_supervisor(run, handle.guardian_pid))
		marks.ancestor = (pid_t)handle.guardian_pid;
	if (handle.group[0])
		marks.group = handle.group;
	if (handle.socket_path[0])
		marks.variable = variable;
	owns = proc_bears((pid_t)pid, &marks) || comes_from_leader(&handle, pid);
	free(variable);
	local_handle_release(&handle);
	return owns;
}

int64_t local_command_pid(const struct run *run)
{
	struct local_handle handle;
	int64_t pid;

	local_handle_parse(run->handle, &handle);
	pid = handle.leader_pid;
	local_handle_release(&handle);
	return pid;
}

enum engine_containment local_containment(struct text *detail)
{
	struct err err;
	char *base = run_group_base(&err);
	bool has_groups = base;

	text_add(detail, base ? base : err.text);
	free(base);
	return has_groups ? CONTAINED_BY_GROUP : CONTAINED_BY_GUARDIAN;
}
