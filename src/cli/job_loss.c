/* job_loss.c - jobs that would lose work if they were stopped: how much, and whose runs are
 * suspended instead, to be held. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/pause.h"

/* --- the work that a running job would lose if it were stopped now --- */

static struct job_loss loss_of_run(const struct job *job, const struct run *run)
{
	bool is_of_this_boot = run_is_of_this_boot(run);
	bool saved = isfinite(run->checkpoint_boot_s) && is_of_this_boot &&
		     run->checkpoint_boot_s > run->launch_boot_s;
	double now_s = run_clock_s(run, clock_boot_s());
	double running_s = isfinite(run->launch_boot_s) && is_of_this_boot
		? fmax(now_s - run->launch_boot_s, 0) : run->duration_s;
	double since_save_s = fmax(now_s - run->checkpoint_boot_s, 0);

	/* A program whose GPU memory is in the host's may not get its GPU back before it is
	 * stopped. */
	if (job_may_be_preempted(job, run) && run->freeze_state == FREEZE_FROZEN)
		return (struct job_loss){
			saved ? since_save_s : fmax(now_s - run->launch_boot_s, 0),
			"is suspended without its GPU memory, and may not be able to save" };
	if (job_may_be_preempted(job, run))
		return (struct job_loss){ .work_s = NAN };
	if (!saved)
		return (struct job_loss){ running_s,
			isfinite(job->progress.checkpoint_samples)
				? "has saved nothing since its last launch" : "has saved nothing" };
	if (job->declared.preemption == PREEMPT_SAVED)
		return (struct job_loss){ running_s, "was never seen to resume" };
	return (struct job_loss){ since_save_s, "has saved nothing since its last checkpoint" };
}

int job_loss_read(struct session *s, const struct job *job, struct job_loss *loss, struct err *err)
{
	struct run_list runs;

	*loss = (struct job_loss){ .work_s = NAN };
	if (job->profile || job->state != JOB_RUNNING)
		return 0;
	if (store_runs_active_of(&s->store, job->id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++) {
		const struct run *run = &runs.items[i];

		if (run->state == RUN_RUNNING && run->stop_reason == STOP_NONE)
			*loss = loss_of_run(job, run);
	}
	run_list_release(&runs);
	return 0;
}

/* --- may it be suspended? --- */

/* Adds what the supervisor said of its last try; nothing: it made none. */
static int add_last_try(struct session *s, int64_t job_id, struct text *t, struct err *err)
{
	struct event_list events;

	if (store_events_of_job(&s->store, job_id, &events, err))
		return -1;
	for (int i = events.count - 1; i >= 0 && t->length == 0; i--)
		if (!strcmp(events.items[i].kind, "suspend") ||
		    !strcmp(events.items[i].kind, "freeze"))
			text_add(t, events.items[i].text);
	event_list_release(&events);
	return 0;
}

int hold_may_suspend(struct session *s, struct hold_work *work, int64_t job_id, bool *freezes,
		     struct text *why, struct err *err)
{
	static const char *const words[N_SUSPEND_BARS] = {
		[SUSPEND_BAR_NEVER] = "its --suspend is never",
		[SUSPEND_BAR_ENGINE] = "no run is there",
		[SUSPEND_BAR_SHARES] = "it shares its GPU",
		[SUSPEND_BAR_TRIED] = "an older pollux began it",
		[SUSPEND_BAR_SEVERAL] = "it has several GPUs, where kernels would wait for it",
		[SUSPEND_BAR_EXCLUSIVE] = "its GPU takes one process at a time, or is gone",
		[SUSPEND_BAR_UNKNOWN] = "how much of its GPU's memory it has is not known yet",
		[SUSPEND_BAR_CONTAINER] = "its container would go on",
		[SUSPEND_BAR_MEMORY] = "suspended jobs may keep no more memory (suspend_memory)",
		[SUSPEND_BAR_ROOM] = "other jobs would find no memory beside what it keeps",
	};
	enum suspend_bar bar;
	int64_t bytes;

	if (!work->look && pause_look_new(s, &work->look, err))
		return -1;
	bar = pause_ask(work->look, job_id, freezes, &bytes);
	if (bar == SUSPEND_BAR_TRIED && add_last_try(s, job_id, why, err))
		return -1;
	if (bar != SUSPEND_MAY && why->length == 0)
		text_addf(why, "it cannot be suspended: %s", words[bar]);
	return 0;
}

int hold_suspend(struct session *s, const struct job *job, bool freezes, struct run_list *runs,
		 struct err *err)
{
	int rc = store_runs_active_of(&s->store, job->id, runs, err);

	for (int i = 0; rc == 0 && i < runs->count; i++) {
		const struct run *run = &runs->items[i];

		if (run->state != RUN_RUNNING || run->stop_reason != STOP_NONE ||
		    run->suspension == SUSPENSION_CANNOT)
			rc = err_set(err, EX_FAILED, "job %lld has just changed: try again",
				     (long long)job->id);
		else
			rc = store_job_hold_suspended(&s->store, run, freezes, err) ||
			     store_event_add(&s->store, job->id, run->id, "hold",
					     "asked to hold: it is suspended", err);
	}
	return rc ? -1 : 0;
}

/* --- what became of it --- */

/* A supervisor waits about so long for processes to stop, and for their GPU to come to rest. */
#define SUSPENDED_WITHIN_S 20.0
#define LOOK_NS 50000000L

enum awaited { AWAITED_NOT_YET, AWAITED_DONE, AWAITED_REFUSED, AWAITED_OVER };

static enum awaited look_at(const struct job *job, const struct run *run, double began_boot_s)
{
	if (run->state == RUN_ENDED)
		return job->state == JOB_HELD ? AWAITED_DONE : AWAITED_OVER;
	/* a run that is lost leaves its job held */
	if (run->stop_reason != STOP_NONE && !(job->held && run->stop_reason == STOP_ORPHAN))
		return AWAITED_OVER;
	if (job->held || run->suspension == SUSPENSION_ASKED)
		return run->suspension == SUSPENSION_DONE ? AWAITED_DONE : AWAITED_NOT_YET;
	/* Somebody may have released it since, and it may have come back. */
	return run->suspension > SUSPENSION_NONE || run->resumed_boot_s >= began_boot_s
		? AWAITED_DONE : AWAITED_REFUSED;
}

static int tell_awaited(struct session *s, const struct job *job, const struct run *run,
			enum awaited what, struct err *err)
{
	struct text why = TEXT_INIT;
	long long id = job->id;
	int rc = 0;

	if (what == AWAITED_REFUSED && add_last_try(s, job->id, &why, err) == 0)
		rc = err_set(err, EX_FAILED, "job %lld runs on: %s; 'pollux hold --force %lld' "
			     "stops it", id, why.data, id);
	else if (what == AWAITED_REFUSED)
		rc = -1;
	else if (what == AWAITED_OVER && job_has_ended(job->state))
		rc = err_set(err, EX_FAILED, "job %lld has ended meanwhile: %s", id,
			     job_state_name(job->state));
	else if (what == AWAITED_OVER)
		rc = err_set(err, EX_FAILED, "job %lld is not held, as its run was stopped "
			     "meanwhile: %s", id, stop_reason_words(run->stop_reason));
	else if (what == AWAITED_NOT_YET)
		output_messagef("job %lld is still being suspended, to be held: 'pollux status "
				"%lld' tells when it is", id, id);
	text_release(&why);
	return rc;
}

int hold_await(struct session *s, int64_t job_id, int64_t run_id, double began_boot_s,
	       struct err *err)
{
	enum awaited what = AWAITED_NOT_YET;
	int rc = 0;

	while (rc == 0 && what == AWAITED_NOT_YET) {
		struct timespec pause = { .tv_nsec = LOOK_NS };
		bool late = clock_boot_s() >= began_boot_s + SUSPENDED_WITHIN_S;
		struct job job;
		struct run run;

		if (store_job_get(&s->store, job_id, &job, err))
			return -1;
		rc = store_run_get(&s->store, run_id, &run, err);
		if (rc == 0) {
			what = look_at(&job, &run, began_boot_s);
			if (what != AWAITED_NOT_YET || late)
				rc = tell_awaited(s, &job, &run, what, err);
			run_release(&run);
		}
		job_release(&job);
		if (late)
			break;
		if (what == AWAITED_NOT_YET)
			nanosleep(&pause, NULL);
	}
	return rc;
}
