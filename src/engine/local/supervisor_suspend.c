/* supervisor_suspend.c - a run leaves its devices with its memory as it is, and comes back.
 *
 * Each state is in the store before it is entered: the devices are free in the store before their
 * locks are, and in use before a process goes on. If this supervisor dies while the run is
 * suspended, the next one keeps it so; else the next one continues what is stopped and ends it. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_runs.h"
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

void supervisor_continue_all(struct supervisor *s)
{
	struct pid_list list;

	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		kill(list.items[i], SIGCONT);
	pid_list_release(&list);
}

/* --- devices --- */

static struct device *copy_devices(const struct run *run)
{
	size_t size = (size_t)run->configuration.replicas * sizeof(*run->devices);
	struct device *copy = xmalloc(size);

	memcpy(copy, run->devices, size);
	return copy;
}

static bool is_bound_elsewhere(const struct supervisor *s)
{
	for (int i = 0; i < s->run.configuration.replicas; i++)
		if (!device_is_same(&s->suspension.bound[i], &s->run.devices[i]))
			return true;
	return false;
}

static void rebind(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);

	if (!is_bound_elsewhere(s) || !backend || !backend->rebind)
		return;
	s->run.cores[0] = '\0';	/* the next look binds them to what a pass gives */
	supervisor_bind_processes(s, backend, s->run.devices);
}

/* --- there --- */

static void go_on_at(struct run *run, double now)
{
	if (isfinite(run->suspended_boot_s))
		run->suspended_s += fmax(now - run->suspended_boot_s, 0);
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
	free(s->suspension.bound);
	s->suspension.bound = copy_devices(&s->run);
	s->run.suspended_boot_s = clock_boot_s();
	supervisor_stop_limit(s);
	s->suspension.quiet_rounds = 0;
	s->suspension.unsettled[0] = '\0';
	s->suspension.told_of_continued = false;
	stop_round(s);
}

/* Names a process that is not stopped. False: there is none. */
static bool name_the_unstopped(struct supervisor *s, char *text, size_t size)
{
	struct pid_list list;
	char who[PROC_TEXT_SIZE];
	bool found = false;

	snprintf(text, size, "its processes");
	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count && !found; i++) {
		found = !proc_is_stopped(list.items[i]);
		if (!found)
			continue;
		snprintf(text, size, "%s", proc_describe(list.items[i], who));
	}
	pid_list_release(&list);
	return found;
}

void supervisor_keep_stopped(struct supervisor *s)
{
	char who[PROC_TEXT_SIZE], text[192];

	if (!name_the_unstopped(s, who, sizeof(who)))
		return;
	stop_round(s);
	if (s->suspension.told_of_continued)
		return;
	s->suspension.told_of_continued = true;
	snprintf(text, sizeof(text), "somebody continued %s while the job is suspended: it is "
		 "stopped again", who);
	supervisor_tell_event(s, "suspend", text);
}

bool supervisor_refuse_suspension(struct supervisor *s)
{
	double now = clock_boot_s();
	char who[PROC_TEXT_SIZE], text[320];
	struct run run = s->run;
	struct err err;

	run.suspension = SUSPENSION_CANNOT;
	go_on_at(&run, now);
	if (store_run_leave_suspension(&s->store, &run, &err)) {
		supervisor_log(s, "%s", err.text);
		s->suspension.quiet_rounds = 0;
		return false;
	}
	name_the_unstopped(s, who, sizeof(who));
	if (s->suspension.unsettled[0])
		snprintf(text, sizeof(text), "it is not suspended and keeps its GPU: %s",
			 s->suspension.unsettled);
	else
		snprintf(text, sizeof(text), "it cannot be suspended and keeps its devices: %s did "
			 "not stop within %.3g s", who, now - s->run.suspended_boot_s);
	s->run = run;
	supervisor_tell_event(s, "suspend", text);
	return true;
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
	struct run_marks m = supervisor_marks(s);
	char *unsettled = s->suspension.unsettled;
	size_t size = sizeof(s->suspension.unsettled);
	bool sees_all = proc_sees_all();

	if (s->state == ST_SETTLING)
		unsettled[0] = '\0';
	for (int i = 0; s->state == ST_SETTLING && i < n; i++) {
		const struct device_process *p = &list[i];

		if (supervisor_was_frozen(s, p->pid) ||
		    (sees_all && !proc_bears((pid_t)p->pid, &m.marks)))
			continue;
		busy = fmax(busy, p->recent);		/* a number, where either is NaN */
		if (s->run.freeze_state == FREEZE_FROZEN && sees_all && p->memory_bytes > 0)
			snprintf(unsettled, size, "process %lld has %lld MiB there that "
				 "did not go to the host's", (long long)p->pid,
				 (long long)(p->memory_bytes >> 20));
	}
	run_marks_release(&m);
	free(list);
	if (s->state != ST_SETTLING)
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

/* Reads everything that the processes said before they were stopped, so that it counts as said
 * before the suspension. */
static void take_last_words(struct supervisor *s)
{
	double now = clock_boot_s();
	struct err err;

	supervisor_read_reports(s, now);
	supervisor_read_log(s, now);
	supervisor_rest_log(s);
	if (recorder_write(&s->recorder, &s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
}

bool supervisor_leave_devices(struct supervisor *s)
{
	enum supervisor_state state = s->state;
	char text[400];	/* doubles may be long */
	struct err err;
	bool done;
	int rc;

	take_last_words(s);
	if (s->state != state)	/* one of them asked the run to stop */
		return false;
	s->run.kept_memory_bytes = supervisor_used_bytes(s);
	s->run.suspension = SUSPENSION_DONE;
	snprintf(text, sizeof(text), "%.1f MiB kept, stopped within %.2g s",
		 (double)s->run.kept_memory_bytes / 1048576,
		 clock_boot_s() - s->run.suspended_boot_s);
	rc = store_run_set_suspended(&s->store, &s->run, text, &done, &err);
	if (rc)
		supervisor_log(s, "%s", err.text);
	if (!done) {
		s->run.suspension = SUSPENSION_ASKED;
		return false;
	}
	supervisor_release_locks(s);
	return true;
}

/* --- and back --- */

/* Writes that the run goes on, on its new devices; they may still be in use. */
static bool claim_devices(struct supervisor *s)
{
	struct run run = s->run;
	bool resumed;
	struct err err;

	run.suspension = SUSPENSION_NONE;
	run.resumed_boot_s = clock_boot_s();
	go_on_at(&run, run.resumed_boot_s);
	if (store_run_resume(&s->store, &run, &resumed, &err))
		supervisor_log(s, "%s", err.text);
	if (resumed)
		s->run = run;
	return resumed;
}

bool supervisor_return_to_devices(struct supervisor *s)
{
	struct err err;

	if (store_run_read_suspension(&s->store, &s->run, &err)) {
		supervisor_log(s, "%s", err.text);
		return false;
	}
	if (s->run.suspension != SUSPENSION_RESUMING || !supervisor_take_locks(s))
		return false;
	if (claim_devices(s))
		return true;
	supervisor_release_locks(s);
	return false;
}

bool supervisor_take_back_devices(struct supervisor *s)
{
	struct err err;

	if (store_run_take_back_devices(&s->store, s->run.id, &err)) {
		supervisor_log(s, "%s", err.text);
		return false;
	}
	return supervisor_return_to_devices(s);
}

void supervisor_decline_devices(struct supervisor *s)
{
	char text[DEVICE_ID_SIZE + 120];
	struct err err;

	s->deadline_boot_s = INFINITY;
	if (store_run_decline_devices(&s->store, s->run.id, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	s->run.suspension = SUSPENSION_DONE;
	snprintf(text, sizeof(text), "it cannot come back to %s, whose lock %s; it stays suspended",
		 s->run.devices[0].id,
		 s->devices.lock_failed ? "cannot be taken" : "a process holds");
	supervisor_tell_event(s, "resume", text);
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
	struct err err;

	if (s->run.suspension > SUSPENSION_NONE || isfinite(s->run.suspended_boot_s)) {
		/* A run that has left its devices has none until its end. */
		s->run.suspension = s->run.suspension == SUSPENSION_ASKED ? SUSPENSION_NONE
									  : SUSPENSION_DONE;
		go_on_at(&s->run, clock_boot_s());
		if (store_run_leave_suspension(&s->store, &s->run, &err))
			supervisor_log(s, "%s", err.text);
	}
	start_clocks(s);
	supervisor_continue_all(s);
}
