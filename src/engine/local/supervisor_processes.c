/* supervisor_processes.c - the processes of a run: finding them, and signals to the leader, the
 * group, and whatever else belongs to the run. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "local.h"
#include "run_group.h"
#include "supervisor_remote.h"

/* Names a process that may not be signalled, such as a program that became root: only root or the
 * program itself can end it. */
static void tell_of_protected(struct supervisor *s, pid_t pid)
{
	char *text, who[PROC_TEXT_SIZE];
	struct proc_info info;
	struct err err;

	if (s->protected_pid == pid)
		return;
	proc_look(pid, &info);
	if (!info.lives && !info.hidden)
		return;
	s->protected_pid = pid;
	text = info.lives
		? xasprintf("process %d (%s) belongs to %s and may not be signalled", (int)pid,
			    info.command, info.owner)
		: xasprintf("%s, is still alive and may not be signalled",
			    proc_describe(pid, who));
	supervisor_log(s, "%s", text);
	supervisor_set_diagnosis(s, text);
	if (store_run_set_diagnosis(&s->store, s->run.id, text, &err))
		supervisor_log(s, "%s", err.text);
	free(text);
}

/* Signals the leader through its pidfd, which cannot hit another process with the same number. A
 * stopped leader (SIGSTOP, a debugger) is continued, or it would never get the signal. */
void supervisor_signal_leader(struct supervisor *s, int signal_number)
{
	if (s->leader_fd < 0)
		return;
	if (supervisor_remote && supervisor_remote->signal(s, signal_number, false))
		return;
	if (syscall(SYS_pidfd_send_signal, s->leader_fd, signal_number, NULL, 0) &&
	    errno == EPERM)
		tell_of_protected(s, (pid_t)s->handle.leader_pid);
	syscall(SYS_pidfd_send_signal, s->leader_fd, SIGCONT, NULL, 0);
}

/* Returns the process from which all others of the run descend. For an adopted run this is the
 * guardian of the first supervisor; without a guardian, the leader. */
static pid_t ancestor_of(const struct supervisor *s)
{
	if (!s->adopted)
		return getpid();
	if (local_is_supervisor(&s->run, s->handle.guardian_pid))
		return (pid_t)s->handle.guardian_pid;
	return s->leader_gone ? 0 : (pid_t)s->handle.leader_pid;
}

/* A leader begins a session. Once the leader is gone, the number may belong to a stranger. */
struct run_marks supervisor_marks(const struct supervisor *s)
{
	struct run_marks m = {
		.marks = { .ancestor = ancestor_of(s),
			   .session = s->leader_gone ? 0 : (pid_t)s->handle.leader_pid },
		.variable = xasprintf("POLLUX_REPORT_SOCKET=%s", s->handle.socket_path),
	};

	/* A run of the store that took the place of this one may have the same socket. */
	if (s->handle.socket_path[0] && store_is_there(&s->store))
		m.marks.variable = m.variable;
	if (s->handle.group[0])
		m.marks.group = s->handle.group;
	return m;
}

void run_marks_release(struct run_marks *m)
{
	free(m->variable);
	m->variable = NULL;
}

int supervisor_find_processes(const struct supervisor *s, struct pid_list *list)
{
	struct run_marks m = supervisor_marks(s);
	int rc = proc_find(&m.marks, list);

	/* A child that asks a driver may hang as long as the driver, and one that writes the log
	 * lives as long as a process of the run. */
	local_leave_out(list, s->driver.pid);
	local_leave_out(list, s->freeze.freezer.pid);
	local_leave_out(list, s->keeper.pid);
	if (log_keeper_is((pid_t)s->handle.keeper_pid, s->run.id))
		local_leave_out(list, (pid_t)s->handle.keeper_pid);
	run_marks_release(&m);
	return rc;
}

/* Reads no environments, of every process of the machine: a run's memory is looked at often. */
int64_t supervisor_used_bytes(const struct supervisor *s)
{
	struct run_marks m = supervisor_marks(s);
	int64_t bytes;

	m.marks.variable = NULL;
	bytes = proc_used_bytes(&m.marks);
	run_marks_release(&m);
	return bytes;
}

int supervisor_count_processes(const struct supervisor *s)
{
	struct pid_list list;
	int rc = supervisor_find_processes(s, &list);
	int n = list.count;

	pid_list_release(&list);
	return rc ? 1 : n;
}

static void send(struct supervisor *s, pid_t pid, int signal_number)
{
	if (kill(pid, signal_number) && errno == EPERM)
		tell_of_protected(s, pid);
}

void supervisor_signal(struct supervisor *s, pid_t pid, int signal_number)
{
	send(s, pid, signal_number);
	kill(pid, SIGCONT);
}

void supervisor_signal_all(struct supervisor *s, int signal_number)
{
	struct pid_list list;

	if (supervisor_remote && supervisor_remote->signal(s, signal_number, true))
		return;
	/* The leader gets the signal through its pidfd, too: a leader that wrote over its
	 * environment has no mark. */
	if (!s->leader_gone)
		supervisor_signal_leader(s, signal_number);
	if (signal_number == SIGKILL && s->handle.group[0])
		run_group_kill(s->handle.group);
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++) {
		if (s->leader_gone || list.items[i] != (pid_t)s->handle.leader_pid)
			send(s, list.items[i], signal_number);
		kill(list.items[i], SIGCONT);
	}
	pid_list_release(&list);
}
