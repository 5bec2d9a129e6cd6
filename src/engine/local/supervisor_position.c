/* supervisor_position.c - keeps the position of a run beyond the death of its supervisor. */
#include <math.h>
#include <poll.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "supervisor.h"
#include "supervisor_loop.h"

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
