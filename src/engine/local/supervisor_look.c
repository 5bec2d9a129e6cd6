/* supervisor_look.c - what a supervisor looks for from time to time: requests in the store, free
 * devices, processes that are left. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log_keeper.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/lock.h"
#include "pollux/store_runs.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"
#include "supervisor_remote.h"

/* between looks into the store, which also write what was learned */
#define LOOK_S 2.0
#define REMOTE_LOOK_S 1.0	/* the same where orders come in files, and no message wakes */
#define PROFILE_LOOK_S 0.25	/* the same for a profile, whose process waits for steady steps */
#define WAITING_LOOK_S 0.1	/* between attempts to take the devices */
#define SWEEP_LOOK_S 0.02	/* between searches for leftover processes, growing to LOOK_S */
#define LOCK_PATIENCE_S 10.0	/* with devices that are free by the store, but locked */

/* A run that is being waited for was claimed by another supervisor: two wait where somebody removed
 * the file of the run's lock. */
static bool is_claimed(const struct supervisor *s, enum run_state state)
{
	return s->state == ST_WAITING && (state == RUN_RUNNING || state == RUN_STOPPING);
}

void supervisor_look_for_stop(struct supervisor *s)
{
	enum stop_reason reason;
	enum run_state state;
	struct err err;

	if (store_run_stop_reason(&s->store, s->run.id, &reason, &state, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (state == RUN_ENDED)
		supervisor_handle(s, EV_ENDED);
	else if (is_claimed(s, state) || !store_is_there(&s->store))
		supervisor_handle(s, EV_SUPERSEDED);
	if (reason == STOP_NONE || s->superseded)
		return;
	s->run.stop_reason = reason;
	if (state != RUN_ENDED)
		supervisor_handle(s, EV_STOP);
}

static void look_for_suspension(struct supervisor *s)
{
	struct err err;

	if (s->run.suspension == SUSPENSION_CANNOT)
		return;
	if (store_run_read_suspension(&s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	if (s->run.suspension == SUSPENSION_ASKED)
		supervisor_handle(s, EV_SUSPEND);
}

/* Devices that no run uses, but whose locks stay held, do not become free by waiting. */
static void watch_return(struct supervisor *s)
{
	bool may = false;
	struct err err;

	if (s->run.suspension == SUSPENSION_RESUMING &&
	    store_run_may_resume(&s->store, &s->run, &may, &err))
		supervisor_log(s, "%s", err.text);
	if (!may)
		s->deadline_boot_s = INFINITY;
	else if (isinf(s->deadline_boot_s))
		s->deadline_boot_s = clock_boot_s() + LOCK_PATIENCE_S;
}

/* One query reads the configuration and the processors that a pass wants for the run. */
static void look_for_wishes(struct supervisor *s)
{
	char had[sizeof(s->run.cores)];

	memcpy(had, s->run.cores, sizeof(had));
	supervisor_offer_config(s);
	supervisor_look_for_cores(s, had);
}

void supervisor_look_for_orders(struct supervisor *s)
{
	supervisor_look_for_stop(s);
	if (s->state == ST_RUNNING)
		look_for_wishes(s);
	if (s->state == ST_RUNNING || s->state == ST_THAWING)
		look_for_suspension(s);
	else if (s->state == ST_SUSPENDED && supervisor_return_to_devices(s))
		supervisor_handle(s, EV_DEVICES_FREE);
	else if (s->state == ST_SUSPENDED)
		watch_return(s);
}

/* Devices that no run uses, but whose locks stay held, do not become free by waiting. */
static void watch_locks(struct supervisor *s)
{
	bool may = false;
	struct err err;

	if (store_run_may_claim(&s->store, s->run.id, &may, &err))
		supervisor_log(s, "%s", err.text);
	if (!may)
		s->deadline_boot_s = INFINITY;
	else if (isinf(s->deadline_boot_s))
		s->deadline_boot_s = clock_boot_s() + LOCK_PATIENCE_S;
}

static void try_to_start(struct supervisor *s)
{
	bool taken = false;
	struct err err;

	free(s->run.diagnosis);
	s->run.diagnosis = NULL;
	if (supervisor_take_devices(s, &taken, &err)) {
		supervisor_log(s, "%s", err.text);
		supervisor_set_diagnosis(s, err.text);
	}
	if (taken)
		supervisor_handle(s, EV_DEVICES_FREE);
	else if (!s->outrun)
		watch_locks(s);
	else if (!s->job.profile)	/* whose devices nobody else can be given */
		supervisor_handle(s, EV_OUTRUN);
}

/* Stops the run when the profile's process is gone: nobody is left to end the point. Where that
 * process is on another machine, a pass does this. */
static void look_for_profile(struct supervisor *s)
{
	if (supervisor_remote || s->run.stop_reason != STOP_NONE ||
	    job_lock_is_held(s->paths, JOB_LOCK_PROFILE, s->job.id))
		return;
	s->profile_gone = true;
	supervisor_stop_for(s, STOP_CANCEL);
}

static void look_waiting(struct supervisor *s)
{
	supervisor_look_for_stop(s);
	if (s->job.profile && s->state != ST_FINISHED)
		look_for_profile(s);
	if (s->state == ST_WAITING)
		try_to_start(s);
}

static void look_sweeping(struct supervisor *s)
{
	if (supervisor_count_processes(s) == 0 && supervisor_devices_clear(s))
		supervisor_handle(s, EV_CLEAR);
}

static void look_suspending(struct supervisor *s)
{
	supervisor_look_for_stop(s);
	if (s->state == ST_SUSPENDING && supervisor_is_quiet(s))
		supervisor_handle(s, EV_STOPPED);
	else if (s->state == ST_SETTLING)
		supervisor_keep_stopped(s);
}

/* Keeps the log within its limit. If the configuration cannot be read, the limit is the default. */
static void limit_log(struct supervisor *s)
{
	char *path = paths_log(s->paths, s->job.id);
	struct config config;
	struct err err;

	if (isfinite(s->job.declared.log_limit_bytes))
		s->log_limit_bytes = s->job.declared.log_limit_bytes;
	else if (s->log_limit_bytes <= 0)
		s->log_limit_bytes = config_load(&config, s->paths->config, &err)
			? CONFIG_DEFAULT_LOG_LIMIT : config.log_limit_bytes;
	if (isfinite(s->log_limit_bytes) && store_is_there(&s->store) &&
	    log_limit_keep(path, s->log_limit_bytes, &err))
		supervisor_log(s, "%s", err.text);
	free(path);
}

/* Pauses a run that has reached a rung, once it has saved. Nobody knows yet whether it resumes: the
 * person who asked for rungs says that it does. */
static void pause_at_rung(struct supervisor *s)
{
	const struct job_rungs *rungs = &s->recorder.rungs.known;
	const struct progress *p = &s->job.progress;
	bool saves = s->job.declared.preemption == PREEMPT_ALWAYS ||
		     isfinite(s->run.checkpoint_samples) || isfinite(p->checkpoint_samples) ||
		     p->saves_when_asked == 1;

	if (rungs->rung > rungs->passed && s->run.stop_reason == STOP_NONE && saves &&
	    s->job.declared.preemption != PREEMPT_NEVER && !p->saved_nothing)
		supervisor_stop_for(s, STOP_RUNG);
}

static void look_running(struct supervisor *s)
{
	struct err err;

	supervisor_tend_log(s);
	limit_log(s);
	supervisor_sample_memory(s);
	supervisor_watch_energy(s);
	oom_watch_look(&s->oom, clock_boot_s());
	if (s->job.profile)
		look_for_profile(s);
	/* The request to stop may just have waited for the store, and the next write may wait
	 * again: a program that saves must not find its queue full for so long. */
	supervisor_read_reports(s, clock_boot_s());
	if (recorder_write(&s->recorder, &s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	supervisor_look_for_orders(s);
	if (s->state == ST_RUNNING)
		pause_at_rung(s);
}

/* How long until a run with processes is looked at again. */
static double running_look_s(const struct supervisor *s)
{
	return s->job.profile ? PROFILE_LOOK_S : supervisor_remote ? REMOTE_LOOK_S : LOOK_S;
}

void supervisor_look(struct supervisor *s, double now)
{
	supervisor_keep_lock(s);
	if (supervisor_remote)
		supervisor_remote->look(s);
	if (s->state == ST_WAITING || s->state == ST_CHECKING) {
		s->next_look_boot_s = now + WAITING_LOOK_S;
		look_waiting(s);
	} else if (s->state == ST_SWEEPING || s->state == ST_SWEEP_TERMINATED ||
		   s->state == ST_SUSPENDING || s->state == ST_SETTLING) {
		s->sweep_pause_s = fmin(fmax(1.5 * s->sweep_pause_s, SWEEP_LOOK_S), LOOK_S);
		s->next_look_boot_s = now + s->sweep_pause_s;
		if (s->state == ST_SUSPENDING || s->state == ST_SETTLING)
			look_suspending(s);
		else
			look_sweeping(s);
	} else if (s->state == ST_SUSPENDED) {
		/* While the run has no devices there is no hurry: the pass that gives it devices
		 * wakes this supervisor. */
		bool waits = s->run.suspension == SUSPENSION_RESUMING;

		s->next_look_boot_s = now + (waits ? WAITING_LOOK_S : LOOK_S);
		supervisor_look_for_orders(s);
		if (s->state == ST_SUSPENDED && !waits)
			supervisor_keep_stopped(s);
	} else {
		s->next_look_boot_s = now + running_look_s(s);
		look_running(s);
	}
}
