/* supervisor_reading.c - reads what the program of a run tells: its reports and its log. */
#include <math.h>

#include "pollux/clock.h"
#include "pollux/report_message.h"
#include "pollux/report_socket.h"
#include "local.h"
#include "supervisor_loop.h"

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
