/* report_sender.c - tell whether the sender of a report belongs to the run. */
#include <unistd.h>

#include "pollux/proc.h"
#include "supervisor_remote.h"

#define LOOK_AGAIN_S 1.0	/* a job may report a thousand times a second */

static struct known_sender *find_sender(struct known_senders *known, pid_t pid)
{
	for (int i = 0; i < KNOWN_SENDERS; i++)
		if (known->items[i].pid == pid)
			return &known->items[i];
	return NULL;
}

static void remember_sender(struct known_senders *known, pid_t pid, int64_t start_ticks, double now)
{
	struct known_sender *k = find_sender(known, pid);

	if (!k) {
		k = &known->items[known->next];
		known->next = (known->next + 1) % KNOWN_SENDERS;
	}
	*k = (struct known_sender){ pid, start_ticks, now };
}

/* True if the process belongs to the run. The session of an adopted run is that of its leader,
 * which lasts as long as a process is in it. */
static bool is_of_run(const struct supervisor *s, pid_t pid)
{
	struct run_marks m = supervisor_marks(s);
	pid_t session = s->adopted && !s->leader_gone ? getsid((pid_t)s->handle.leader_pid) : -1;
	bool is;

	m.marks.variable = NULL;
	if (session > 0)
		m.marks.session = session;
	is = proc_bore(pid, &m.marks);
	if (!is && supervisor_remote && supervisor_remote->ancestor() > 0) {
		m.marks = (struct proc_marks){ .ancestor = supervisor_remote->ancestor() };
		is = proc_bore(pid, &m.marks);
	}
	run_marks_release(&m);
	return is;
}

/* Judges a process of which /proc shows nothing. It has ended, or is a program of another user that
 * /proc hides: the run's, if it is in the run's session or found among the run's processes. Of
 * others nothing can be told: a hidden process may have started them. */
static enum report_sender judge_unseen(const struct supervisor *s, pid_t pid)
{
	struct pid_list list;
	bool is = false;

	if (!proc_is_hidden(pid))
		return SENDER_GONE;
	if (!s->leader_gone && getsid(pid) == (pid_t)s->handle.leader_pid)
		return SENDER_OURS;
	if (supervisor_find_processes(s, &list))
		return SENDER_GONE;
	for (int i = 0; i < list.count; i++)
		is |= list.items[i] == pid;
	pid_list_release(&list);
	return is ? SENDER_OURS : SENDER_GONE;
}

enum report_sender supervisor_know_sender(struct supervisor *s, pid_t pid, double now)
{
	struct known_sender *k = pid > 0 ? find_sender(&s->senders, pid) : NULL;
	int64_t start_ticks;

	if (pid <= 0)
		return SENDER_FOREIGN;
	if (k && now - k->looked_s < LOOK_AGAIN_S)
		return SENDER_OURS;
	start_ticks = proc_start_ticks(pid);
	if (start_ticks == 0) {
		enum report_sender unseen = k ? SENDER_OURS : judge_unseen(s, pid);

		if (unseen == SENDER_OURS)
			remember_sender(&s->senders, pid, start_ticks, now);
		return unseen;
	}
	/* A program that does not wait for its report to be read may end while it is looked at. */
	if (!(k && k->start_ticks == start_ticks) && !is_of_run(s, pid))
		return proc_start_ticks(pid) == start_ticks ? SENDER_FOREIGN : SENDER_GONE;
	remember_sender(&s->senders, pid, start_ticks, now);
	return SENDER_OURS;
}
