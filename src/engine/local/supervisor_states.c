/* supervisor_states.c - a running job as a table of states and events.
 *
 * The loop (supervisor_loop.c) turns descriptors, the store and the clock into events. A cell of
 * the table is the reaction to one event in one state; NULL: none. */
#include "pollux/supervise.h"
#include "supervisor_parts.h"

/* Time between two rounds of SIGKILL. */
#define KILL_WAIT_S 1.0
/* Processes that the leader leaves behind (loggers, uploads) get this long to end. After a
 * requested stop they get the rest of the grace if that is longer. */
#define SWEEP_WAIT_S 5.0
/* Processes get at least this long, or the grace if it is longer, to be stopped by SIGSTOP. */
#define SUSPEND_LEAST_S 5.0
/* the time for which the processes run before they are stopped again */
#define REFUSE_AGAIN_S 0.5

static void enter_state(struct supervisor *s, enum supervisor_state state, double seconds)
{
	s->state = state;
	s->deadline_boot_s = clock_boot_s() + seconds;
	s->next_look_boot_s = 0;
}

static void launch_run(struct supervisor *s)
{
	struct err err = { 0 };
	bool its_fault;

	supervisor_read_energy(s, true);
	if (supervisor_check_devices(s, &err) == 0 && supervisor_launch(s, &err) == 0) {
		store_wait_patiently(&s->store, false);
		enter_state(s, ST_RUNNING, INFINITY);
		supervisor_begin_limit(s);
		return;
	}
	/* A command that cannot be executed has failed. Any other error (a full disk, no processes
	 * left) is not the job's fault, and the job goes back to the queue. */
	its_fault = err.exit_status == 126 || err.exit_status == 127;
	supervisor_log(s, "%s", err.text);
	s->run.outcome = its_fault ? OUTCOME_FAILED : OUTCOME_NOT_STARTED;
	s->run.exit_code = its_fault ? err.exit_status : -1;
	supervisor_set_diagnosis(s, "%s", err.text);
	enter_state(s, ST_FINISHED, 0);
}

static void start_run(struct supervisor *s)
{
	if (supervisor_ask_who_is_there(s))
		enter_state(s, ST_CHECKING, INFINITY);
	else
		launch_run(s);
}

static void call_off(struct supervisor *s)
{
	s->run.outcome = OUTCOME_NOT_STARTED;
	enter_state(s, ST_FINISHED, 0);
}

static double grace_left_s(const struct supervisor *s)
{
	return fmax(s->run.stop_boot_s + s->job.declared.grace_s - clock_boot_s(), 0);
}

void supervisor_set_grace(struct supervisor *s, double grace_s)
{
	bool changed = grace_s < s->job.declared.grace_s || grace_s > s->job.declared.grace_s;
	double least_s = s->state == ST_SWEEPING ? SWEEP_WAIT_S : 0;

	s->job.declared.grace_s = grace_s;
	if (changed && isfinite(s->stop.order.asked_boot_s))
		s->deadline_boot_s = clock_boot_s() + fmax(grace_left_s(s), least_s);
}

/* Not all processes are told at once: a signal to all would kill data loaders before the checkpoint
 * is written. */
static void ask_to_stop(struct supervisor *s)
{
	if (supervisor_sample_first(s))
		return;
	supervisor_begin_stop(s);
	supervisor_note(s, store_run_set_stopping(&s->store, s->run.id, &s->err));
	s->look_pause_s = 0;
	if (s->leader.gone)
		enter_state(s, ST_SWEEPING, fmax(grace_left_s(s), SWEEP_WAIT_S));
	else
		enter_state(s, ST_SIGNALLED, grace_left_s(s));
}

static void terminate(struct supervisor *s)
{
	bool sweeps = s->state == ST_SWEEPING;

	if (!sweeps)
		supervisor_log(s, "still there after the grace of %g s: SIGTERM to the group",
			       s->job.declared.grace_s);
	supervisor_end_stop(s);
	supervisor_signal_all(s, SIGTERM);
	enter_state(s, sweeps ? ST_SWEEP_TERMINATED : ST_TERMINATED, SUPERVISE_TERM_WAIT_S);
}

static void kill_all(struct supervisor *s)
{
	supervisor_signal_all(s, SIGKILL);
	enter_state(s, s->state == ST_SWEEP_TERMINATED ? s->state : ST_KILLED, KILL_WAIT_S);
}

static void sweep_processes(struct supervisor *s)
{
	supervisor_lose_leader(s);
	s->look_pause_s = 0;
	enter_state(s, ST_SWEEPING, SWEEP_WAIT_S);
}

static void stop_processes(struct supervisor *s)
{
	s->look_pause_s = 0;
	supervisor_begin_suspension(s);
	enter_state(s, ST_SUSPENDING, fmax(s->job.declared.grace_s, SUSPEND_LEAST_S));
}

static void suspend(struct supervisor *s)
{
	if (supervisor_counts_time(s)) {
		supervisor_refuse_suspension(s);
		return;
	}
	enter_state(s, ST_FREEZING, INFINITY);
	if (!supervisor_freeze(s))
		stop_processes(s);
}

static void go_on(struct supervisor *s)
{
	enter_state(s, ST_RUNNING, INFINITY);
}

static void leave_devices(struct supervisor *s)
{
	if (!supervisor_leave_devices(s)) {
		if (s->state == ST_SETTLING)
			s->deadline_boot_s = clock_boot_s() + REFUSE_AGAIN_S;
		return;
	}
	enter_state(s, ST_SUSPENDED, INFINITY);
	supervisor_read_energy(s, false);
}

static void see_if_settled(struct supervisor *s)
{
	if (!supervisor_ask_if_settled(s))
		leave_devices(s);
}

static void settle(struct supervisor *s)
{
	enter_state(s, ST_SETTLING, INFINITY);
	see_if_settled(s);
}

static void resume(struct supervisor *s)
{
	supervisor_end_suspension(s);
	enter_state(s, ST_RUNNING, INFINITY);
	supervisor_forget_energy(s);
	supervisor_read_energy(s, false);
}

static void thaw(struct supervisor *s)
{
	enter_state(s, ST_THAWING, INFINITY);
	supervisor_thaw(s);
}

/* A stopped process takes no part in a thaw. */
static void come_back(struct supervisor *s)
{
	if (s->run.freeze_state == FREEZE_NONE) {
		resume(s);
		return;
	}
	supervisor_continue_all(s);
	thaw(s);
}

/* Gives the suspension up, because some process does not stop: it is another user's, or somebody
 * continues it again and again; or because the device computes on. */
static void stay_running(struct supervisor *s)
{
	if (supervisor_refuse_suspension(s)) {
		come_back(s);
		return;
	}
	/* The store is locked, by a stopped process perhaps: its processes go on, and are stopped
	 * again. */
	supervisor_continue_all(s);
	enter_state(s, ST_SUSPENDING, SUSPEND_LEAST_S);
	s->next_look_boot_s = clock_boot_s() + REFUSE_AGAIN_S;
}

static void continue_and_ask(struct supervisor *s)
{
	supervisor_drop_suspension(s);
	ask_to_stop(s);
}

/* A program whose GPU memory is in the host's cannot save. As it still has its devices, it goes
 * there first, and the request to stop comes again once it runs. */
static void stop_before_leaving(struct supervisor *s)
{
	supervisor_drop_suspension(s);
	if (s->run.freeze_state == FREEZE_FROZEN)
		thaw(s);
	else
		ask_to_stop(s);
}

/* The same, where its devices are free. */
static void stop_suspended(struct supervisor *s)
{
	if (s->run.freeze_state != FREEZE_FROZEN) {
		continue_and_ask(s);
	} else if (!supervisor_note(s, store_run_take_back_devices(&s->store, s->run.id,
								   &s->err)) &&
		   supervisor_return_to_devices(s)) {
		come_back(s);
	} else {
		supervisor_tell_event(s, "freeze", "it cannot save before it is stopped: its GPU "
						   "memory is in the host's, and its GPU is "
						   "another's");
		continue_and_ask(s);
	}
}

/* The store was removed: no pass gives the run its devices back, and no command finds it. */
static void stop_forgotten(struct supervisor *s)
{
	s->run.stop_reason = STOP_ORPHAN;
	supervisor_log(s, "the store was removed: the suspended run is stopped");
	stop_suspended(s);
}

/* Suspends a run again that still waits for room on its devices. */
static void leave_again(struct supervisor *s)
{
	if (s->run.freeze_state == FREEZE_FROZEN && isinf(s->freeze.until_boot_s))
		stop_processes(s);
}

/* Delays a stop until the move of memory has ended, unless the move can only end with the
 * processes. */
static void stop_in_move(struct supervisor *s)
{
	if (s->run.freeze_state == FREEZE_LOST)
		kill_all(s);
	else if (s->state == ST_THAWING && s->run.freeze_state == FREEZE_FROZEN &&
		 isinf(s->freeze.until_boot_s))
		continue_and_ask(s);
}

static void continue_and_sweep(struct supervisor *s)
{
	supervisor_drop_suspension(s);
	sweep_processes(s);
}

/* The leader may be a shell that died of the signal. What it left has the rest of the grace to
 * save. */
static void sweep_stopped(struct supervisor *s)
{
	sweep_processes(s);
	supervisor_see_end_of_process(s);
	s->deadline_boot_s = clock_boot_s() + fmax(grace_left_s(s), SWEEP_WAIT_S);
}

/* The store says that the devices are free, but their locks cannot be taken: the diagnosis is why,
 * or an unknown process holds them. */
static void give_up_devices(struct supervisor *s)
{
	if (!s->run.diagnosis)
		supervisor_set_diagnosis(s, "a process of an ended run still holds a device");
	call_off(s);
}

/* Puts the job back into the queue, as if a pass had called its run off. */
static void make_way(struct supervisor *s)
{
	s->run.stop_reason = STOP_PREEMPT;
	supervisor_set_diagnosis(s, "another user took its device first");
	call_off(s);
}

static void leave(struct supervisor *s)
{
	s->ended_elsewhere = true;
	enter_state(s, ST_FINISHED, 0);
}

static void step_aside(struct supervisor *s)
{
	s->superseded = true;
	enter_state(s, ST_FINISHED, 0);
}

static void finish_run(struct supervisor *s)
{
	enter_state(s, ST_FINISHED, 0);
}

typedef void action(struct supervisor *s);

static action *const actions[N_SUPERVISOR_STATES][N_SUPERVISOR_EVENTS] = {
	[ST_WAITING] = {
		[EV_DEVICES_FREE] = start_run, [EV_STOP] = call_off,
		[EV_TIMEOUT] = give_up_devices, [EV_ENDED] = leave,
		[EV_SUPERSEDED] = step_aside, [EV_OUTRUN] = make_way,
	},
	[ST_CHECKING] = {
		[EV_DRIVER] = launch_run, [EV_STOP] = call_off, [EV_ENDED] = leave,
	},
	[ST_RUNNING] = {
		[EV_STOP] = ask_to_stop, [EV_LEADER_EXIT] = sweep_processes, [EV_SUSPEND] = suspend,
	},
	[ST_FREEZING] = {
		[EV_FROZEN] = stop_processes, [EV_THAWED] = go_on, [EV_TIMEOUT] = suspend,
		[EV_STOP] = stop_in_move, [EV_LEADER_EXIT] = continue_and_sweep,
	},
	[ST_SUSPENDING] = {
		[EV_STOPPED] = settle, [EV_TIMEOUT] = stay_running,
		[EV_STOP] = stop_before_leaving, [EV_LEADER_EXIT] = continue_and_sweep,
	},
	[ST_SETTLING] = {
		[EV_SETTLED] = leave_devices, [EV_UNSETTLED] = stay_running,
		[EV_TIMEOUT] = see_if_settled,
		[EV_STOP] = stop_before_leaving, [EV_LEADER_EXIT] = continue_and_sweep,
	},
	[ST_SUSPENDED] = {
		[EV_DEVICES_FREE] = come_back, [EV_TIMEOUT] = supervisor_decline_devices,
		[EV_STOP] = stop_suspended, [EV_LEADER_EXIT] = continue_and_sweep,
		[EV_SUPERSEDED] = stop_forgotten,
	},
	[ST_THAWING] = {
		[EV_THAWED] = resume, [EV_TIMEOUT] = thaw, [EV_SUSPEND] = leave_again,
		[EV_STOP] = stop_in_move, [EV_LEADER_EXIT] = continue_and_sweep,
	},
	[ST_SIGNALLED] = {
		[EV_LEADER_EXIT] = sweep_stopped, [EV_TIMEOUT] = terminate,
	},
	[ST_TERMINATED] = {
		[EV_LEADER_EXIT] = sweep_processes, [EV_TIMEOUT] = kill_all,
	},
	[ST_KILLED] = {
		[EV_LEADER_EXIT] = sweep_processes, [EV_TIMEOUT] = kill_all,
	},
	[ST_SWEEPING] = {
		[EV_CLEAR] = finish_run, [EV_TIMEOUT] = terminate,
	},
	[ST_SWEEP_TERMINATED] = {
		[EV_CLEAR] = finish_run, [EV_TIMEOUT] = kill_all,
	},
	[ST_FINISHED] = { 0 },
};

void supervisor_handle(struct supervisor *s, enum supervisor_event event)
{
	action *act = actions[s->state][event];

	if (act)
		act(s);
}
