/* supervisor_reports.c - what a run tells, where it stands by that, and what is written of it. */
#include <poll.h>
#include <time.h>

#include "pollux/report_message.h"
#include "supervisor_parts.h"

/* --- the socket --- */

/* A Unix socket's path has at most 107 bytes: a store in a deep directory gets its sockets under
 * /tmp. An adopted run's socket is made anew at the old path, where its command reports the last
 * checkpoint. There is no path if the old supervisor died before the command was recorded. */
int supervisor_open_socket(struct supervisor *s, struct err *err)
{
	if (s->adopted && !s->handle.socket_path[0])
		return 0;
	if (!s->adopted) {
		char *path = paths_run(s->paths, s->run.id, "sock");

		if (!report_socket_fits(path)) {
			char dir[] = "/tmp/pollux-XXXXXX";

			free(path);
			if (!mkdtemp(dir))
				return err_set(err, EX_CANTCREAT,
					       "cannot make a directory in '/tmp': %s",
					       strerror(errno));
			path = xasprintf("%s/%lld.sock", dir, (long long)s->run.id);
		}
		free(s->handle.socket_path);
		s->handle.socket_path = path;
		kept_reports_remove(path);	/* another store's run may have left some */
	}
	s->reports.socket_fd = report_socket_open(s->handle.socket_path, err);
	return s->reports.socket_fd < 0 ? -1 : 0;
}

/* --- who reports --- */

#define LOOK_AGAIN_S 1.0	/* a job may report a thousand times a second */

/* True if the process belongs to the run. The session of an adopted run is that of its leader,
 * which lasts as long as a process is in it. */
static bool is_of_run(const struct supervisor *s, pid_t pid)
{
	struct proc_marks marks = supervisor_marks(s), remote = { 0 };
	pid_t session = s->adopted && !s->leader.gone ? getsid((pid_t)s->handle.leader_pid) : -1;

	marks.variable = NULL;
	if (session > 0)
		marks.session = session;
	remote.ancestor = supervisor_remote ? supervisor_remote->ancestor() : 0;
	return proc_bore(pid, &marks) || (remote.ancestor > 0 && proc_bore(pid, &remote));
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
	if (!s->leader.gone && getsid(pid) == (pid_t)s->handle.leader_pid)
		return SENDER_OURS;
	if (supervisor_find_processes(s, &list))
		return SENDER_GONE;
	for (int i = 0; i < list.count; i++)
		is |= list.items[i] == pid;
	pid_list_release(&list);
	return is ? SENDER_OURS : SENDER_GONE;
}

/* Tells whose report was received from this process. */
static enum report_sender know_sender(struct supervisor *s, pid_t pid, double now)
{
	struct known_senders *known = &s->reports.senders;
	struct known_sender *k = NULL;
	enum report_sender who = SENDER_OURS;
	int64_t start_ticks;

	if (pid <= 0)
		return SENDER_FOREIGN;
	for (int i = 0; i < KNOWN_SENDERS && !k; i++)
		if (known->items[i].pid == pid)
			k = &known->items[i];
	if (k && now - k->looked_s < LOOK_AGAIN_S)
		return SENDER_OURS;
	start_ticks = proc_start_ticks(pid);
	/* A program that does not wait for its report to be read may end while it is looked at. */
	if (start_ticks == 0)
		who = k ? SENDER_OURS : judge_unseen(s, pid);
	else if (!(k && k->start_ticks == start_ticks) && !is_of_run(s, pid))
		who = proc_start_ticks(pid) == start_ticks ? SENDER_FOREIGN : SENDER_GONE;
	if (who != SENDER_OURS)
		return who;
	if (!k) {
		k = &known->items[known->next];
		known->next = (known->next + 1) % KNOWN_SENDERS;
	}
	*k = (struct known_sender){ pid, start_ticks, now };
	return who;
}

/* --- what the program tells --- */

/* After the socket was read empty it is left alone for this long, so that a job that reports a
 * thousand steps a second costs two hundred wake-ups. The socket's queue (net.unix.max_dgram_qlen,
 * 10 or more) holds the reports meanwhile. */
#define SOCKET_REST_S 0.005
/* A job that sends without end must not keep its supervisor from its other work. */
#define REPORTS_AT_ONCE 256
/* When a process has ended, all that its queue may hold is read: the last report, often of a
 * checkpoint, counts most. Administrators raise net.unix.max_dgram_qlen to some thousands. */
#define REPORTS_AT_END 65536

void supervisor_read_reports(struct supervisor *s, double now, bool last)
{
	char bytes[REPORT_MESSAGE_SIZE];
	int i, most = last ? REPORTS_AT_END : REPORTS_AT_ONCE;
	pid_t pid;

	if (s->reports.socket_fd < 0)
		return;
	for (i = 0; i < most && report_socket_next_sender(s->reports.socket_fd, &pid); i++) {
		enum report_sender sender = know_sender(s, pid, now);
		ssize_t n = report_socket_receive(s->reports.socket_fd, bytes, sizeof(bytes), &pid);
		enum stop_reason asked = n > 0 && (size_t)n <= sizeof(bytes)
			? local_stop_asked(bytes, (size_t)n) : STOP_NONE;

		if (n < 0)
			break;
		if (asked != STOP_NONE) {
			supervisor_stop_for(s, asked);
			continue;
		}
		s->recorder.sender = sender;
		s->reports.woken |= recorder_add(&s->recorder, &s->store, &s->run, bytes,
						 (size_t)n, run_clock_s(&s->run, now));
	}
	if (i > 0)
		supervisor_keep_position(s, now);
	s->reports.rest_until_boot_s = now + SOCKET_REST_S;
}

bool supervisor_was_woken(struct supervisor *s)
{
	bool woken = s->reports.woken;

	s->reports.woken = false;
	return woken;
}

struct kept_taker {
	struct supervisor *s;
	double now, wall_to_boot_s;
};

static void take_kept(const char *bytes, size_t n, double time_wall_s, void *arg)
{
	const struct kept_taker *taker = arg;
	struct supervisor *s = taker->s;
	double at_s = fmin(time_wall_s + taker->wall_to_boot_s, taker->now);
	double last_s = isfinite(s->recorder.position_s) ? s->recorder.position_s
							 : s->run.launch_boot_s;

	s->recorder.sender = SENDER_KEPT;
	s->recorder.kept_s = run_clock_s(&s->run, at_s);
	recorder_add(&s->recorder, &s->store, &s->run, bytes, n,
		     fmax(s->recorder.kept_s, last_s));
}

void supervisor_read_kept_reports(struct supervisor *s, double now)
{
	struct kept_taker taker = { s, now, clock_boot_s() - clock_wall_s() };
	int64_t heard = s->run.reports;

	if (!s->handle.socket_path[0])
		return;
	kept_reports_read(s->handle.socket_path, &s->reports.kept_read, take_kept, &taker);
	if (s->run.reports != heard)
		supervisor_keep_position(s, now);
}

/* --- the position --- */

/* The wait for a report is twice the mean time between the program's reports, within these
 * bounds. */
#define HEAR_LEAST_S 0.2
#define HEAR_MOST_S 5.0
#define HEAR_UNKNOWN_S 1.0	/* if the mean time is not known */

void supervisor_begin_position(struct supervisor *s)
{
	s->reports.position_fd = kept_position_create(s->paths, &s->run);
}

void supervisor_leave_position(struct supervisor *s)
{
	if (s->reports.position_fd >= 0)
		close(s->reports.position_fd);
	s->reports.position_fd = -1;
}

void supervisor_keep_position(struct supervisor *s, double now)
{
	struct kept_position k;

	if (s->reports.position_fd < 0)
		return;
	kept_position_fill(&k, &s->recorder, &s->run, run_clock_s(&s->run, now));
	k.log_read = s->output.watch.fd >= 0 ? s->output.watch.line_offset
					     : s->output.log_offset;
	k.log_begin = k.log_read < s->output.log_offset ? k.log_read : s->output.log_offset;
	if (kept_position_write(s->reports.position_fd, &k, &s->run))
		return;
	kept_position_remove(s->paths, s->run.id);
	supervisor_leave_position(s);
}

bool supervisor_take_position(struct supervisor *s, struct kept_position *k)
{
	bool found = kept_position_read(s->paths, &s->run, k, &s->reports.position_fd);

	if (found)
		kept_position_apply(k, &s->run);
	else
		supervisor_begin_position(s);
	return found;
}

void supervisor_hear_report(struct supervisor *s)
{
	const struct position_watch *w = &s->recorder.positions;
	double between_s = w->last_s - w->before_s, until_s = clock_boot_s();
	int64_t heard = s->run.reports;

	if ((heard == 0 && w->n == 0) || s->reports.socket_fd < 0 || s->leader.fd < 0)
		return;
	until_s += w->n < 2 || !(between_s > 0)
		? HEAR_UNKNOWN_S : fmin(fmax(2 * between_s, HEAR_LEAST_S), HEAR_MOST_S);
	while (s->run.reports == heard) {
		double left_s = until_s - clock_boot_s();
		struct pollfd fds[] = {
			{ .fd = s->reports.socket_fd, .events = POLLIN },
			{ .fd = s->leader.fd, .events = POLLIN },
			{ .fd = s->signal_fd, .events = POLLIN },
		};

		if (left_s <= 0 || poll(fds, 3, (int)ceil(left_s * 1e3)) < 0 || !fds[0].revents)
			return;
		supervisor_read_reports(s, clock_boot_s(), false);
	}
}

/* --- what must not get lost --- */

/* Waits while the disk is full or the store is locked. The processes of the run have ended by now.
 * The locks of its devices are free; the store keeps the devices for the run until the end is
 * recorded. A wish to stop that could not be recorded either (local_stop_unrecorded) comes by the
 * socket, and decides what becomes of the job. */
bool supervisor_record(struct supervisor *s, bool end)
{
	struct timespec pause = { .tv_nsec = 200000000 };
	double duration_s = s->run.duration_s;
	bool told = false;

	while (end ? store_run_end(&s->store, &s->run, &s->err)
		   : recorder_write(&s->recorder, &s->store, &s->run, &s->err)) {
		int status = s->err.exit_status;

		s->run.duration_s = duration_s;
		if (!told)
			supervisor_log(s, "cannot record the end yet: %s", s->err.text);
		told = true;
		supervisor_beat(s);
		supervisor_read_reports(s, clock_boot_s(), true);
		/* waiting helps in neither case; the next pass may */
		if (status == EX_SOFTWARE || status == EX_DATAERR)
			return false;
		nanosleep(&pause, NULL);
		pause = (struct timespec){ .tv_sec = pause.tv_sec < 8 ? 2 * pause.tv_sec + 1 : 8 };
	}
	s->run.duration_s = duration_s;	/* that of the end */
	return true;
}
