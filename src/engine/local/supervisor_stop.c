/* supervisor_stop.c - a run that is asked to stop: who gets the stop signal, by stop_order.h. */
#include <math.h>

#include "pollux/clock.h"
#include "local.h"
#include "supervisor.h"
#include "supervisor_loop.h"
#include "supervisor_remote.h"

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

	if (!s->leader_gone && pid == (pid_t)s->handle.leader_pid)
		supervisor_signal_leader(s, signal_number);
	else
		supervisor_signal(s, pid, signal_number);
}

/* Where a wrapper keeps the processes, the wrapper decides whom to tell. */
static bool wrapper_tells(const struct supervisor *s)
{
	return supervisor_remote && !s->leader_gone;
}

void supervisor_begin_stop(struct supervisor *s)
{
	pid_t leader = s->leader_gone ? 0 : (pid_t)s->handle.leader_pid;

	if (!s->signalled)
		s->run.stop_boot_s = clock_boot_s();
	stop_order_begin(&s->stop, leader, s->run.stop_boot_s, s->job.declared.grace_s);
	s->stop.is_taken_over = s->signalled;
	s->stop.shows_steps = isfinite(position(s));
	s->stop.knows_tasks = !supervisor_remote;
	s->stop_position = position(s);
	if (!s->signalled && wrapper_tells(s))
		supervisor_signal_leader(s, s->job.declared.stop_signal);
	s->stop_pause_s = 0;
	supervisor_tell(s);
	/* What a leader that ended by itself left may have nothing to save. */
	s->signalled |= !s->leader_gone || stop_order_was_heeded(&s->stop);
	s->recorder.told_to_stop = s->signalled;
}

static void see_steps(struct supervisor *s, double now)
{
	double at = position(s);

	if (!isfinite(at) || at == s->stop_position)
		return;
	s->stop_position = at;
	stop_order_see_step(&s->stop, now);
}

void supervisor_tell(struct supervisor *s)
{
	struct pid_list living;
	double now = clock_boot_s(), next;

	s->next_tell_boot_s = INFINITY;
	if (isnan(s->stop.asked_boot_s) || wrapper_tells(s))
		return;
	s->stop.grace_s = s->job.declared.grace_s;
	see_steps(s, now);
	next = INFINITY;
	if (supervisor_find_processes(s, &living) == 0) {
		local_add_containers(&living, &s->containers);
		stop_order_look(&s->stop, &living, s->job.declared.stop_signal);
		next = stop_order_tell(&s->stop, s->job.declared.stop_signal, now, send_to, s);
	}
	pid_list_release(&living);
	s->stop_pause_s = fmin(fmax(1.5 * s->stop_pause_s, FIRST_LOOK_S), LAST_LOOK_S);
	s->next_tell_boot_s = fmin(next, now + s->stop_pause_s);
}

void supervisor_see_end_of_process(struct supervisor *s)
{
	if (isnan(s->stop.asked_boot_s))
		return;
	s->stop_pause_s = 0;
	s->next_tell_boot_s = clock_boot_s();
}

bool supervisor_was_heeded(const struct supervisor *s)
{
	return supervisor_remote || s->stop_was_heeded || stop_order_was_heeded(&s->stop);
}

void supervisor_end_stop(struct supervisor *s)
{
	s->stop_was_heeded |= stop_order_was_heeded(&s->stop);
	stop_order_release(&s->stop);
	s->next_tell_boot_s = INFINITY;
}
