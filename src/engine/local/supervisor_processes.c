/* supervisor_processes.c - the processes of a run: finding them, and signals to the leader, the
 * group, and whatever else belongs to the run. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "supervisor.h"

/* Signals the leader through its pidfd, which cannot hit another process with the same number. A
 * stopped leader (SIGSTOP, a debugger) is continued, or it would never get the signal. */
void supervisor_signal_leader(struct supervisor *s, int signal_number)
{
	if (s->leader_fd < 0)
		return;
	syscall(SYS_pidfd_send_signal, s->leader_fd, signal_number, NULL, 0);
	syscall(SYS_pidfd_send_signal, s->leader_fd, SIGCONT, NULL, 0);
}

/* A child that asks a driver is no process of the run and may hang as long as the driver. */
static void leave_out(struct pid_list *list, pid_t pid)
{
	int n = 0;

	for (int i = 0; i < list->count; i++)
		if (list->items[i] != pid)
			list->items[n++] = list->items[i];
	list->count = n;
}

int supervisor_find_processes(const struct supervisor *s, struct pid_list *list)
{
	int rc;

	char *variable = xasprintf("POLLUX_REPORT_SOCKET=%s", s->handle.socket_path);
	/* The session of an adopted run is not used: its number may belong to a stranger by now. */
	struct proc_marks marks = {
		.ancestor = !s->adopted ? getpid()
					: s->leader_gone ? 0 : (pid_t)s->handle.leader_pid,
		.session = s->adopted ? 0 : getpid(),
		.variable = s->handle.socket_path[0] ? variable : NULL,
	};

	rc = proc_find(&marks, list);
	leave_out(list, s->driver.pid);
	leave_out(list, s->freeze.freezer.pid);
	free(variable);
	return rc;
}

int supervisor_count_processes(const struct supervisor *s)
{
	struct pid_list list;
	int rc = supervisor_find_processes(s, &list);
	int n = list.count;

	pid_list_release(&list);
	return rc ? 1 : n;
}

void supervisor_signal_all(struct supervisor *s, int signal_number)
{
	struct pid_list list;

	/* The leader gets the signal through its pidfd, too: a leader that wrote over its
	 * environment has no mark. */
	if (!s->leader_gone)
		supervisor_signal_leader(s, signal_number);
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++) {
		if (s->leader_gone || list.items[i] != (pid_t)s->handle.leader_pid)
			kill(list.items[i], signal_number);
		kill(list.items[i], SIGCONT);
	}
	pid_list_release(&list);
}
