/* supervisor_suspend.c - a run leaves its devices with its memory as it is, and comes back.
 *
 * Each state is in the store before it is entered: the devices are free in the store before their
 * locks are, and in use before a process goes on. If this supervisor dies while the run is
 * suspended, the next one keeps it so; else the next one continues what is stopped and ends it. */
#include "pollux/advice.h"
#include "supervisor_parts.h"

/* A process that was forked while the others were being stopped may be missed by one look at
 * /proc, but not by the next one. */
#define QUIET_ROUNDS 2

/* --- processes --- */

/* Sends SIGSTOP to every process of the run that is not stopped. True if there was none, and no
 * process was new. */
static bool stop_round(struct supervisor *s)
{
	struct pid_list list;
	bool quiet = supervisor_find_processes(s, &list) == 0;

	for (int i = 0; i < list.count; i++) {
		quiet = proc_is_stopped(list.items[i]) && quiet;
		kill(list.items[i], SIGSTOP);
	}
	pid_list_release(&list);
	return quiet;
}

bool supervisor_is_quiet(struct supervisor *s)
{
	s->suspension.quiet_rounds = stop_round(s) ? s->suspension.quiet_rounds + 1 : 0;
	return s->suspension.quiet_rounds >= QUIET_ROUNDS;
}

static void continue_processes(struct supervisor *s, bool stopped_ones)
{
	struct pid_list list;

	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		if (!pid_list_has(&s->suspension.stopped_before, list.items[i]) &&
		    (!stopped_ones || proc_is_stopped(list.items[i])))
			kill(list.items[i], SIGCONT);
	pid_list_release(&list);
}

void supervisor_continue_all(struct supervisor *s)
{
	continue_processes(s, false);
}

/* A program such as script(1) stops itself when it sees that its child was stopped: it may see
 * that only after both were continued. */
#define CONTINUED_S 30.0
#define CONTINUED_LEAST_S 0.02

static bool goes_on_again(const struct supervisor *s, double now)
{
	return now - s->run.resumed_boot_s < CONTINUED_S;	/* NaN: it never left */
}

static void keep_stopped_before(struct supervisor *s, double now)
{
	struct pid_list list;

	if (goes_on_again(s, now))
		return;
	pid_list_release(&s->suspension.stopped_before);
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		if (proc_was_stopped(list.items[i]))
			pid_list_add(&s->suspension.stopped_before, list.items[i]);
	pid_list_release(&list);
}

#define STOPPED_S 10.0		/* somebody may want to look at a program for a moment */

/* True if the run's leader is stopped, and so is each of its other processes. */
static bool is_stopped_whole(struct supervisor *s)
{
	struct pid_list list;
	bool all = !s->leader.gone && proc_was_stopped((pid_t)s->handle.leader_pid);

	if (!all)
		return false;
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count && all; i++)
		all = proc_was_stopped(list.items[i]);
	pid_list_release(&list);
	return all;
}

static void tell_of_stopped(struct supervisor *s)
{
	struct text t = TEXT_INIT;

	advice_add_continue(&t, (pid_t)s->handle.leader_pid);
	supervisor_tell_event(s, "suspend", "somebody has stopped all its processes, and it keeps "
			      "its devices: %s continues the first of them", t.data);
	text_release(&t);
	s->suspension.told_of_stopped = true;
}

double supervisor_watch_stopped(struct supervisor *s, double now)
{
	struct supervisor_suspension *u = &s->suspension;

	if (goes_on_again(s, now)) {
		continue_processes(s, true);
		return fmax(now - s->run.resumed_boot_s, CONTINUED_LEAST_S);
	}
	if (is_stopped_whole(s)) {
		if (isnan(u->all_stopped_boot_s))
			u->all_stopped_boot_s = now;
		if (!u->told_of_stopped && now - u->all_stopped_boot_s >= STOPPED_S)
			tell_of_stopped(s);
		return INFINITY;
	}
	if (u->told_of_stopped && !s->leader.gone)
		supervisor_tell_event(s, "resume", "it goes on, after %.0f s for which somebody "
				      "had stopped it", now - u->all_stopped_boot_s);
	u->told_of_stopped = false;
	u->all_stopped_boot_s = NAN;
	return INFINITY;
}

/* --- devices --- */

static void rebind(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	bool elsewhere = false;

	for (int i = 0; i < s->run.configuration.replicas; i++)
		elsewhere |= !device_is_same(&s->suspension.bound[i], &s->run.devices[i]);
	if (!elsewhere || !backend || !backend->rebind)
		return;
	s->run.cores[0] = '\0';	/* the next look binds them to what a pass gives */
	supervisor_bind_processes(s, backend, s->run.devices);
}

/* --- there --- */

/* Also of a run that never left its devices: clocks of its program went on, too. */
static void go_on_at(struct run *run, double now)
{
	if (isfinite(run->suspended_boot_s)) {
		run->suspended_s += fmax(now - run->suspended_boot_s, 0);
		run->resumed_boot_s = now;
	}
	run->suspended_boot_s = NAN;
}

/* Where its processes are bound is not known: they are bound when the run comes back. */
void supervisor_stay_suspended(struct supervisor *s)
{
	s->suspension.bound = xcalloc((size_t)s->run.configuration.replicas,
				      sizeof(*s->suspension.bound));
}

void supervisor_begin_suspension(struct supervisor *s)
{
	size_t size = (size_t)s->run.configuration.replicas * sizeof(*s->run.devices);
	struct supervisor_suspension *u = &s->suspension;

	s->run.suspended_boot_s = clock_boot_s();
	keep_stopped_before(s, s->run.suspended_boot_s);
	free(u->bound);
	*u = (struct supervisor_suspension){
		.bound = xmalloc(size), .stopped_before = u->stopped_before,
		.all_stopped_boot_s = NAN,
	};
	memcpy(u->bound, s->run.devices, size);
	supervisor_stop_limit(s);
	stop_round(s);
}

/* Names a process that is not stopped. False: there is none. */
static bool name_the_unstopped(struct supervisor *s, char who[PROC_TEXT_SIZE])
{
	struct pid_list list;
	bool found = false;

	snprintf(who, PROC_TEXT_SIZE, "its processes");
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count && !found; i++) {
		found = !proc_is_stopped(list.items[i]);
		if (found)
			proc_describe(list.items[i], who);
	}
	pid_list_release(&list);
	return found;
}

void supervisor_keep_stopped(struct supervisor *s)
{
	char who[PROC_TEXT_SIZE];

	if (!name_the_unstopped(s, who))
		return;
	stop_round(s);
	if (!s->suspension.told_of_continued)
		supervisor_tell_event(s, "suspend", "somebody continued %s while the job is "
				      "suspended: it is stopped again", who);
	s->suspension.told_of_continued = true;
}

/* The clock of timeout(1) goes on while it is stopped: it would kill its command when the run goes
 * on. */
bool supervisor_counts_time(struct supervisor *s)
{
	struct pid_list list;
	bool found = false;

	if (s->job.declared.suspend == SUSPEND_ALWAYS)
		return false;
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count && !found; i++)
		found = proc_has_name(list.items[i], "timeout");
	pid_list_release(&list);
	if (found)
		snprintf(s->suspension.unsettled, sizeof(s->suspension.unsettled),
			 "timeout(1), among its processes, would count the time for which it is "
			 "suspended; --time-limit does not");
	return found;
}

bool supervisor_refuse_suspension(struct supervisor *s)
{
	double now = clock_boot_s(), after_s = now - s->run.suspended_boot_s;
	struct text why = TEXT_INIT;
	char who[PROC_TEXT_SIZE];
	struct run run = s->run;
	bool done;

	run.suspension = SUSPENSION_CANNOT;
	go_on_at(&run, now);
	name_the_unstopped(s, who);
	if (s->suspension.unsettled[0])
		text_addf(&why, "it is not suspended and keeps its devices: %s",
			  s->suspension.unsettled);
	else
		text_addf(&why, "it cannot be suspended and keeps its devices: %s did not stop "
			  "within %.3g s", who, after_s);
	done = !supervisor_note(s, store_run_refuse_suspension(&s->store, &run, "suspend",
							     why.data, &s->err));
	if (done) {
		s->run = run;
		supervisor_log(s, "%s", why.data);
	} else {
		s->suspension.quiet_rounds = 0;
	}
	text_release(&why);
	return done;
}

/* --- what they began on their device --- */

/* A driver's reading of the utilization is the mean of up to a second and may be as old, or a
 * little older: the first that counts is taken when one that began after the stop must have ended.
 * Queued kernels end meanwhile. One that waits for a stopped process, as NCCL's do, never does. */
#define FIRST_READING_S 2.7
#define NEXT_READING_S 1.0
#define SETTLE_S 10.0
#define BUSY_PART 0.2		/* of the device: a spinning kernel shows 1, alone there */
#define READING_S 5.0		/* for the driver to answer */
#define BUSY_DRIVER_S 0.5	/* while an earlier question to the driver has no answer */

/* A process that came while the others were frozen has memory that nobody has moved. */
static void judge_reading(struct supervisor *s, struct device_process *list, int n)
{
	double now = clock_boot_s(), stopped_s = now - s->run.suspended_boot_s, busy = 0;
	struct proc_marks marks = supervisor_marks(s);
	char *unsettled = s->suspension.unsettled;
	size_t size = sizeof(s->suspension.unsettled);
	bool sees_all = proc_sees_all(), settles = s->state == ST_SETTLING;

	if (settles)
		unsettled[0] = '\0';
	for (int i = 0; settles && i < n; i++) {
		const struct device_process *p = &list[i];

		if (supervisor_was_frozen(s, p->pid) ||
		    (sees_all && !proc_bears((pid_t)p->pid, &marks)))
			continue;
		busy = fmax(busy, p->recent);		/* a number, where either is NaN */
		if (s->run.freeze_state == FREEZE_FROZEN && sees_all && p->memory_bytes > 0)
			snprintf(unsettled, size, "process %lld has %lld MiB there that "
				 "did not go to the host's", (long long)p->pid,
				 (long long)(p->memory_bytes >> 20));
	}
	free(list);
	if (!settles)
		return;
	if (!unsettled[0] && busy > BUSY_PART) {
		s->deadline_boot_s = now + NEXT_READING_S;
		if (stopped_s < SETTLE_S)
			return;
		snprintf(unsettled, size, "%ld s after its processes were stopped the GPU was %ld "
			 "%% busy, as with kernels that wait for them",
			 lround(stopped_s), lround(100 * busy));
	}
	supervisor_handle(s, unsettled[0] ? EV_UNSETTLED : EV_SETTLED);
}

bool supervisor_ask_if_settled(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	double first = s->run.suspended_boot_s + FIRST_READING_S;
	enum driver_asked asked;

	if (!backend || !backend->resident)
		return false;
	s->deadline_boot_s = INFINITY;
	if (s->run.freeze_state != FREEZE_FROZEN && clock_boot_s() < first) {
		s->deadline_boot_s = first;
		return true;
	}
	asked = supervisor_ask_driver(s, READING_S, judge_reading);
	if (asked == DRIVER_BUSY)
		s->deadline_boot_s = clock_boot_s() + BUSY_DRIVER_S;
	return asked != DRIVER_NONE;
}

bool supervisor_leave_devices(struct supervisor *s)
{
	enum supervisor_state state = s->state;
	double now = clock_boot_s();
	char text[400];	/* doubles may be long */
	bool done;

	/* What the processes said before they were stopped counts as said before the suspension. */
	supervisor_read_reports(s, now, false);
	supervisor_read_log(s, now, false);
	supervisor_rest_log(s);
	supervisor_note(s, recorder_write(&s->recorder, &s->store, &s->run, &s->err));
	if (s->state != state)	/* one of them asked the run to stop */
		return false;
	s->run.kept_memory_bytes = supervisor_used_bytes(s);
	s->run.suspension = SUSPENSION_DONE;
	snprintf(text, sizeof(text), "%.1f MiB kept, stopped within %.2g s",
		 (double)s->run.kept_memory_bytes / 1048576,
		 clock_boot_s() - s->run.suspended_boot_s);
	supervisor_note(s, store_run_set_suspended(&s->store, &s->run, text, &done, &s->err));
	if (!done) {
		s->run.suspension = SUSPENSION_ASKED;
		return false;
	}
	supervisor_release_locks(s);
	return true;
}

/* --- and back --- */

bool supervisor_return_to_devices(struct supervisor *s)
{
	struct run run;
	bool resumed;

	if (supervisor_note(s, store_run_read_suspension(&s->store, &s->run, &s->err)) ||
	    s->run.suspension != SUSPENSION_RESUMING || !supervisor_take_locks(s))
		return false;
	run = s->run;
	run.suspension = SUSPENSION_NONE;
	go_on_at(&run, clock_boot_s());
	supervisor_note(s, store_run_resume(&s->store, &run, &resumed, &s->err));
	if (resumed)
		s->run = run;
	else
		supervisor_release_locks(s);
	return resumed;
}

void supervisor_decline_devices(struct supervisor *s)
{
	s->deadline_boot_s = INFINITY;
	if (supervisor_note(s, store_run_decline_devices(&s->store, s->run.id, &s->err)))
		return;
	s->run.suspension = SUSPENSION_DONE;
	supervisor_tell_event(s, "resume", "it cannot come back to %s, whose lock %s; it stays "
			      "suspended", s->run.devices[0].id,
			      s->devices.lock_failed ? "cannot be taken" : "a process holds");
}

static void start_clocks(struct supervisor *s)
{
	double now = clock_boot_s();

	supervisor_go_on_limit(s, now);
	supervisor_go_on_log(s, now);
	recorder_skip_pause(&s->recorder);
}

void supervisor_end_suspension(struct supervisor *s)
{
	rebind(s);
	start_clocks(s);
	supervisor_continue_all(s);
}

void supervisor_drop_suspension(struct supervisor *s)
{
	if (s->run.suspension > SUSPENSION_NONE || isfinite(s->run.suspended_boot_s)) {
		/* A run that has left its devices has none until its end. */
		s->run.suspension = s->run.suspension == SUSPENSION_ASKED ? SUSPENSION_NONE
									  : SUSPENSION_DONE;
		go_on_at(&s->run, clock_boot_s());
		supervisor_note(s, store_run_leave_suspension(&s->store, &s->run, &s->err));
	}
	start_clocks(s);
	supervisor_continue_all(s);
}
