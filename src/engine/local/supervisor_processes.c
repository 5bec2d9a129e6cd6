/* supervisor_processes.c - the processes of a run: finding them, signals to the leader, the group,
 * and whatever else belongs to the run; who gets the stop signal, by stop_order.h; and the exit
 * status of a leader that is no child of this supervisor. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "pollux/supervise.h"
#include "supervisor_parts.h"

/* Names a process that may not be signalled, such as a program that became root: only root or the
 * program itself can end it. */
static void tell_of_protected(struct supervisor *s, pid_t pid)
{
	char *text, who[PROC_TEXT_SIZE];
	struct proc_info info;

	if (s->leader.protected_pid == pid)
		return;
	proc_look(pid, &info);
	if (!info.lives && !info.hidden)
		return;
	s->leader.protected_pid = pid;
	text = info.lives
		? xasprintf("process %d (%s) belongs to %s and may not be signalled", (int)pid,
			    info.command, info.owner)
		: xasprintf("%s, is still alive and may not be signalled",
			    proc_describe(pid, who));
	supervisor_log(s, "%s", text);
	supervisor_set_diagnosis(s, "%s", text);
	supervisor_note(s, store_run_set_diagnosis(&s->store, s->run.id, text, &s->err));
	free(text);
}

/* Signals the leader through its pidfd, which cannot hit another process with the same number. A
 * stopped leader (SIGSTOP, a debugger) is continued, or it would never get the signal. */
static void signal_leader(struct supervisor *s, int signal_number)
{
	if (s->leader.fd < 0)
		return;
	if (supervisor_remote && supervisor_remote->signal(s, signal_number, false))
		return;
	if (syscall(SYS_pidfd_send_signal, s->leader.fd, signal_number, NULL, 0) &&
	    errno == EPERM)
		tell_of_protected(s, (pid_t)s->handle.leader_pid);
	syscall(SYS_pidfd_send_signal, s->leader.fd, SIGCONT, NULL, 0);
}

/* A leader begins a session. Once the leader is gone, the number may belong to a stranger. */
struct proc_marks supervisor_marks(const struct supervisor *s)
{
	static char variable[160];	/* a socket's path has at most 107 bytes */
	pid_t leader = s->leader.gone ? 0 : (pid_t)s->handle.leader_pid;
	struct proc_marks marks = { .ancestor = getpid(), .session = leader };

	/* All others of an adopted run descend from the guardian of the first supervisor; without
	 * a guardian, from the leader. */
	if (s->adopted)
		marks.ancestor = local_is_supervisor(&s->run, s->handle.guardian_pid)
			? (pid_t)s->handle.guardian_pid : leader;
	snprintf(variable, sizeof(variable), "POLLUX_REPORT_SOCKET=%s", s->handle.socket_path);
	/* A run of the store that took the place of this one may have the same socket. */
	if (s->handle.socket_path[0] && store_is_there(&s->store))
		marks.variable = variable;
	if (s->handle.group[0])
		marks.group = s->handle.group;
	return marks;
}

int supervisor_find_processes(const struct supervisor *s, struct pid_list *list)
{
	struct proc_marks marks = supervisor_marks(s);
	int rc = proc_find(&marks, list);

	/* A child that asks a driver may hang as long as the driver, and one that writes the log
	 * lives as long as a process of the run. */
	local_leave_out(list, s->driver.pid);
	local_leave_out(list, s->freeze.freezer.pid);
	for (int i = 0; i < driver_children_left()->count; i++)
		local_leave_out(list, driver_children_left()->items[i]);
	local_leave_out(list, s->output.keeper.pid);
	if (local_is_command(s->handle.keeper_pid, LOG_KEEPER_COMMAND, s->run.id))
		local_leave_out(list, (pid_t)s->handle.keeper_pid);
	return rc;
}

/* Reads no environments, of every process of the machine: a run's memory is looked at often. */
int64_t supervisor_used_bytes(const struct supervisor *s)
{
	struct proc_marks marks = supervisor_marks(s);

	marks.variable = NULL;
	return proc_used_bytes(&marks);
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

void supervisor_signal_all(struct supervisor *s, int signal_number)
{
	struct pid_list list;

	if (supervisor_remote && supervisor_remote->signal(s, signal_number, true))
		return;
	/* The leader gets the signal through its pidfd, too: a leader that wrote over its
	 * environment has no mark. */
	if (!s->leader.gone)
		signal_leader(s, signal_number);
	if (signal_number == SIGKILL && s->handle.group[0])
		run_group_kill(s->handle.group);
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++) {
		if (s->leader.gone || list.items[i] != (pid_t)s->handle.leader_pid)
			send(s, list.items[i], signal_number);
		kill(list.items[i], SIGCONT);
	}
	pid_list_release(&list);
}

/* --- a run that is asked to stop --- */

/* Time between two looks at the processes; it grows from the first to the last one. */
#define FIRST_LOOK_S 0.1
#define LAST_LOOK_S 1.0

static double position(const struct supervisor *s)
{
	return isfinite(s->recorder.steps) ? s->recorder.steps : s->run.last_samples;
}

static void send_to(void *arg, pid_t pid, int signal_number)
{
	struct supervisor *s = arg;

	if (!s->leader.gone && pid == (pid_t)s->handle.leader_pid) {
		signal_leader(s, signal_number);
	} else {
		send(s, pid, signal_number);
		kill(pid, SIGCONT);
	}
}

/* Where a wrapper keeps the processes, the wrapper decides whom to tell. */
static bool wrapper_tells(const struct supervisor *s)
{
	return supervisor_remote && !s->leader.gone;
}

void supervisor_take_over_stop(struct supervisor *s)
{
	s->stop.told = s->run.state == RUN_STOPPING && isfinite(s->run.stop_boot_s);
	s->recorder.told_to_stop = s->stop.told;
}

void supervisor_begin_stop(struct supervisor *s)
{
	pid_t leader = s->leader.gone ? 0 : (pid_t)s->handle.leader_pid;

	if (!s->stop.told)
		s->run.stop_boot_s = clock_boot_s();
	stop_order_begin(&s->stop.order, leader, s->run.stop_boot_s, s->job.declared.grace_s);
	s->stop.order.is_taken_over = s->stop.told;
	s->stop.order.shows_steps = isfinite(position(s));
	s->stop.order.knows_tasks = !supervisor_remote;
	s->stop.position = position(s);
	if (!s->stop.told && wrapper_tells(s))
		signal_leader(s, s->job.declared.stop_signal);
	s->stop.pause_s = 0;
	supervisor_tell(s);
	/* What a leader that ended by itself left may have nothing to save. */
	s->stop.told |= !s->leader.gone || stop_order_was_heeded(&s->stop.order);
	s->recorder.told_to_stop = s->stop.told;
}

void supervisor_tell(struct supervisor *s)
{
	double now = clock_boot_s(), next = INFINITY, at = position(s);
	struct pid_list living;

	s->stop.next_boot_s = INFINITY;
	if (isnan(s->stop.order.asked_boot_s) || wrapper_tells(s))
		return;
	s->stop.order.grace_s = s->job.declared.grace_s;
	if (isfinite(at) && at != s->stop.position) {
		s->stop.position = at;
		stop_order_see_step(&s->stop.order, now);
	}
	if (supervisor_find_processes(s, &living) == 0) {
		local_add_containers(&living, &s->stop.containers);
		stop_order_look(&s->stop.order, &living, s->job.declared.stop_signal);
		next = stop_order_tell(&s->stop.order, s->job.declared.stop_signal, now, send_to,
				       s);
	}
	pid_list_release(&living);
	s->stop.pause_s = fmin(fmax(1.5 * s->stop.pause_s, FIRST_LOOK_S), LAST_LOOK_S);
	s->stop.next_boot_s = fmin(next, now + s->stop.pause_s);
}

void supervisor_see_end_of_process(struct supervisor *s)
{
	if (isnan(s->stop.order.asked_boot_s))
		return;
	s->stop.pause_s = 0;
	s->stop.next_boot_s = clock_boot_s();
}

bool supervisor_was_heeded(const struct supervisor *s)
{
	return supervisor_remote || s->stop.was_heeded || stop_order_was_heeded(&s->stop.order);
}

void supervisor_end_stop(struct supervisor *s)
{
	s->stop.was_heeded |= stop_order_was_heeded(&s->stop.order);
	stop_order_release(&s->stop.order);
	s->stop.next_boot_s = INFINITY;
}

void supervisor_end_containers(struct supervisor *s)
{
	struct text said = TEXT_INIT;

	local_kill_containers(&s->stop.containers, &s->command.env, &said);
	if (said.length)
		supervisor_add_event(s, "container", said.data);
	text_release(&said);
}

/* --- the leader --- */

int supervisor_record_leader(pid_t pid, void *arg, struct err *err)
{
	struct supervisor *s = arg;

	s->handle.leader_pid = pid;
	s->handle.leader_start_ticks = proc_start_ticks(pid);
	s->leader.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (s->leader.fd < 0)
		return err_set(err, EX_OSERR, "cannot watch the command: %s", strerror(errno));
	if (s->handle.group[0])
		supervisor_note(s, run_group_add(s->handle.group, pid, &s->err));
	supervisor_update_handle(s);
	return store_run_set_handle(&s->store, s->run.id, s->run.handle, err);
}

/* The exit status of an adopted leader: the kernel tells the status to the parent. Until the parent
 * has waited for the process, others may read the status from /proc; after that, from a pidfd, on
 * Linux 6.15 and later. On older kernels nobody else learns the status once the parent has
 * waited. */

/* linux/pidfd.h of 6.15; older headers lack both. */
struct pidfd_exit {
	uint64_t mask;
	/* cppcheck-suppress unusedStructMember ; the kernel writes it */
	uint64_t cgroup_id;
	/* cppcheck-suppress unusedStructMember */
	uint32_t ids[11];
	int32_t exit_code;
};
#define ASK_PIDFD _IOWR(0xFF, 11, struct pidfd_exit)
#define ASK_EXIT (UINT64_C(1) << 3)

void supervisor_watch_leader(struct supervisor *s)
{
	char path[48];

	s->leader.fd = (int)syscall(SYS_pidfd_open, (pid_t)s->handle.leader_pid, 0);
	if (s->leader.fd >= 0 && (s->handle.leader_start_ticks == 0 ||
	    proc_start_ticks((pid_t)s->handle.leader_pid) != s->handle.leader_start_ticks)) {
		close(s->leader.fd);
		s->leader.fd = -1;
	}
	if (s->leader.fd < 0) {
		s->handle.leader_pid = 0;
		return;
	}
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)s->handle.leader_pid);
	s->leader.stat_fd = file_open(path, O_RDONLY, 0);
}

void supervisor_lose_leader(struct supervisor *s)
{
	s->leader.gone = true;
}

void supervisor_leader_ended(struct supervisor *s, int wait_status)
{
	s->leader.wait_status = wait_status;
	s->leader.ended_boot_s = clock_boot_s();
	supervisor_handle(s, EV_LEADER_EXIT);
}

void supervisor_adopted_leader_ended(struct supervisor *s)
{
	struct pidfd_exit info = { .mask = ASK_EXIT };
	char buffer[1024];
	ssize_t n = s->leader.stat_fd >= 0
		? pread(s->leader.stat_fd, buffer, sizeof(buffer) - 1, 0) : -1;
	const char *state, *last;
	int status = -1;

	/* the last field of a zombie's /proc/PID/stat */
	buffer[n > 0 ? n : 0] = '\0';
	state = strrchr(buffer, ')');
	last = strrchr(buffer, ' ');
	if (state && last && state[1] == ' ' && state[2] && strchr("ZX", state[2]))
		status = (int)strtol(last + 1, NULL, 10);
	else if (s->leader.fd >= 0 && ioctl(s->leader.fd, ASK_PIDFD, &info) == 0 &&
		 (info.mask & ASK_EXIT))
		status = info.exit_code;
	supervisor_leader_ended(s, status);
}
