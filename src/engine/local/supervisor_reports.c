/* supervisor_reports.c - what a run tells, where it stands by that, and what is written of it. */
#include <math.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "local.h"
#include "pollux/clock.h"
#include "pollux/report_message.h"
#include "pollux/report_socket.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_loop.h"

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

static bool read_at_most(struct supervisor *s, double now, int most)
{
	char bytes[REPORT_MESSAGE_SIZE];
	bool wake = false;
	pid_t pid;
	int i;

	for (i = 0; i < most && report_socket_next_sender(s->socket_fd, &pid); i++) {
		enum report_sender sender = supervisor_know_sender(s, pid, now);
		ssize_t n = report_socket_receive(s->socket_fd, bytes, sizeof(bytes), &pid);
		enum stop_reason asked = n > 0 && (size_t)n <= sizeof(bytes)
			? local_stop_asked(bytes, (size_t)n) : STOP_NONE;

		if (n < 0)
			break;
		if (asked != STOP_NONE) {
			supervisor_stop_for(s, asked);
			continue;
		}
		s->recorder.sender = sender;
		wake |= recorder_add(&s->recorder, &s->store, &s->run, bytes, (size_t)n,
				     run_clock_s(&s->run, now));
	}
	if (i > 0)
		supervisor_keep_position(s, now);
	s->socket_rest_until_s = now + SOCKET_REST_S;
	return wake;
}

bool supervisor_read_reports(struct supervisor *s, double now)
{
	return s->socket_fd >= 0 && read_at_most(s, now, REPORTS_AT_ONCE);
}

bool supervisor_read_last_reports(struct supervisor *s, double now)
{
	return s->socket_fd >= 0 && read_at_most(s, now, REPORTS_AT_END);
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
	kept_reports_read(s->handle.socket_path, &s->kept_read, take_kept, &taker);
	if (s->run.reports != heard)
		supervisor_keep_position(s, now);
}

static void take_step(const struct step_event *e, void *arg)
{
	struct supervisor *s = arg;

	if (e->begins) {
		struct steps_summary summary;

		steps_summary(s->log_watch.steps, &summary);
		recorder_begin_log(&s->recorder, &s->run, summary.pattern, summary.first_arrival_s);
	}
	recorder_add_logged(&s->recorder, &s->run, &s->job, e);
}

static void take_metric(const char *name, double value, void *arg)
{
	struct supervisor *s = arg;

	recorder_add_metric(&s->recorder, &s->run, name, value);
}

/* Logs once, at the end, why visible steps may not have counted. */
static void log_unread(struct supervisor *s)
{
	struct steps_summary summary;

	steps_summary(s->log_watch.steps, &summary);
	if (summary.n_clipped || summary.n_skipped)
		supervisor_log(s, "of %lld lines of the log, %lld were longer than %d bytes, and "
			       "%lld not looked at: they came too fast, or their pattern takes "
			       "too long", (long long)summary.n_lines,
			       (long long)summary.n_clipped, STEPS_LINE_MAX,
			       (long long)summary.n_skipped);
}

void supervisor_read_log(struct supervisor *s, double now, bool last)
{
	int64_t read = s->log_watch.offset;

	const struct log_sinks sinks = { take_step, take_metric, s };

	if (s->recorder.steps_are_reported)
		log_watch_end_steps(&s->log_watch);
	log_watch_look(&s->log_watch, now, last, &sinks);
	if (s->log_watch.offset != read)
		supervisor_keep_position(s, now);
	if (last && s->log_watch.steps)
		log_unread(s);
}

/* --- the position --- */

/* The wait for a report is twice the mean time between the program's reports, within these
 * bounds. */
#define HEAR_LEAST_S 0.2
#define HEAR_MOST_S 5.0
#define HEAR_UNKNOWN_S 1.0	/* if the mean time is not known */

void supervisor_leave_position(struct supervisor *s)
{
	if (s->position_fd >= 0)
		close(s->position_fd);
	s->position_fd = -1;
}

void supervisor_keep_position(struct supervisor *s, double now)
{
	const struct log_watch *w = &s->log_watch;
	struct kept_position k;

	if (s->position_fd < 0)
		return;
	kept_position_fill(&k, &s->recorder, &s->run, run_clock_s(&s->run, now));
	k.log_read = w->fd >= 0 ? w->line_offset : s->log_offset;
	k.log_begin = k.log_read < s->log_offset ? k.log_read : s->log_offset;
	if (kept_position_write(s->position_fd, &k, &s->run))
		return;
	kept_position_remove(s->paths, s->run.id);
	supervisor_leave_position(s);
}

bool supervisor_take_position(struct supervisor *s, struct kept_position *k)
{
	bool found = kept_position_read(s->paths, &s->run, k, &s->position_fd);

	if (found)
		kept_position_apply(k, &s->run);
	else
		s->position_fd = kept_position_create(s->paths, &s->run);
	return found;
}

void supervisor_watch_rest_of_log(struct supervisor *s, const struct kept_position *k)
{
	s->log_offset = s->log_fd >= 0 ? lseek(s->log_fd, 0, SEEK_END) : 0;
	if (k)
		s->log_offset = k->log_begin;
	if (s->log_fd < 0 ||
	    (s->recorder.steps_are_reported && s->command.metric_regexes.count == 0 &&
	     s->job.declared.stop_nan <= 0))
		return;
	supervisor_watch_log(s);
	if (k)
		log_watch_catch_up(&s->log_watch, k->log_read);
}

static double patience_s(const struct supervisor *s)
{
	const struct position_watch *w = &s->recorder.positions;
	double between_s = w->last_s - w->before_s;

	if (w->n < 2 || !(between_s > 0))
		return HEAR_UNKNOWN_S;
	return fmin(fmax(2 * between_s, HEAR_LEAST_S), HEAR_MOST_S);
}

void supervisor_hear_report(struct supervisor *s)
{
	double until_s = clock_boot_s() + patience_s(s);
	int64_t heard = s->run.reports;

	if ((heard == 0 && s->recorder.positions.n == 0) || s->socket_fd < 0 || s->leader_fd < 0)
		return;
	while (s->run.reports == heard) {
		double left_s = until_s - clock_boot_s();
		struct pollfd fds[] = {
			{ .fd = s->socket_fd, .events = POLLIN },
			{ .fd = s->leader_fd, .events = POLLIN },
			{ .fd = s->signal_fd, .events = POLLIN },
		};

		if (left_s <= 0 || poll(fds, 3, (int)ceil(left_s * 1e3)) < 0 || !fds[0].revents)
			return;
		supervisor_read_reports(s, clock_boot_s());
	}
}

/* --- the end --- */

/* Waiting helps in neither case; the next pass may. */
static bool is_hopeless(const struct err *err)
{
	return err->exit_status == EX_SOFTWARE || err->exit_status == EX_DATAERR;
}

/* Records what must not get lost, the last reports and the end of the run: waits while the disk is
 * full or the store is locked. The processes of the run have ended by now. The locks of its devices
 * are free; the store keeps the devices for the run until the end is recorded. A wish to stop that
 * could not be recorded either (local_stop_unrecorded) comes by the socket, and decides what
 * becomes of the job. */
static bool insist(struct supervisor *s, int (*record)(struct supervisor *s, struct err *err))
{
	struct timespec pause = { .tv_nsec = 200000000 };
	struct err err;
	bool told = false;

	while (record(s, &err)) {
		if (!told)
			supervisor_log(s, "cannot record the end yet: %s", err.text);
		told = true;
		supervisor_beat(s);
		supervisor_read_last_reports(s, clock_boot_s());
		if (is_hopeless(&err))
			return false;
		nanosleep(&pause, NULL);
		pause = (struct timespec){ .tv_sec = pause.tv_sec < 8 ? 2 * pause.tv_sec + 1 : 8 };
	}
	return true;
}

static int record_reports(struct supervisor *s, struct err *err)
{
	double duration_s = s->run.duration_s;
	int rc = recorder_write(&s->recorder, &s->store, &s->run, err);

	s->run.duration_s = duration_s;
	return rc;
}

static int record_end(struct supervisor *s, struct err *err)
{
	return store_run_end(&s->store, &s->run, err);
}

bool supervisor_record_reports(struct supervisor *s)
{
	return insist(s, record_reports);
}

bool supervisor_record_end(struct supervisor *s)
{
	return insist(s, record_end);
}
