/* freeze.c - the steps of a freeze and of a thaw, and what is done about one that was cut off. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pollux/clock.h"
#include "pollux/freeze.h"

#define WAIT_S 0.05			/* between two questions about a busy process */
#define WAITS 200
/* Questions about a process that the driver does not know any more, until it has ended. */
#define ERRORS 20

/* --- the tables --- */

static enum freeze_step freeze_next(enum freeze_wish wish, enum freeze_found found)
{
	static const enum freeze_step steps[2][N_FREEZE_FOUND] = {
		[FREEZE_WISHED] = {
			[FOUND_RUNNING] = STEP_LOCK, [FOUND_LOCKED] = STEP_SAVE,
			[FOUND_SAVED] = STEP_NONE, [FOUND_FAILED] = STEP_GIVE_UP,
			[FOUND_BUSY] = STEP_WAIT, [FOUND_GONE] = STEP_NONE,
		},
		[THAW_WISHED] = {
			[FOUND_RUNNING] = STEP_NONE, [FOUND_LOCKED] = STEP_UNLOCK,
			[FOUND_SAVED] = STEP_RESTORE, [FOUND_FAILED] = STEP_GIVE_UP,
			[FOUND_BUSY] = STEP_WAIT, [FOUND_GONE] = STEP_NONE,
		},
	};

	return steps[wish][found];
}

/* A freeze that was cut off is undone, unless all was saved; a thaw that was cut off goes on. A
 * process that pollux did not freeze belongs to whoever froze it. */
enum freeze_mended freeze_mending(enum freeze_state recorded, enum freeze_found found)
{
	static const enum freeze_mended mendings[N_FREEZE_STATES][3] = {
		/* found running, locked, saved */
		[FREEZE_NONE] = { MENDED_NOTHING, MENDED_NOT_OURS, MENDED_NOT_OURS },
		[FREEZE_LOCKING] = { MENDED_NOTHING, MENDED_THAWED, MENDED_KEPT },
		[FREEZE_SAVING] = { MENDED_NOTHING, MENDED_THAWED, MENDED_KEPT },
		[FREEZE_FROZEN] = { MENDED_BY_OTHERS, MENDED_THAWED, MENDED_KEPT },
		[FREEZE_RESTORING] = { MENDED_NOTHING, MENDED_THAWED, MENDED_THAWED },
		[FREEZE_UNLOCKING] = { MENDED_NOTHING, MENDED_THAWED, MENDED_THAWED },
		[FREEZE_LOST] = { MENDED_BY_OTHERS, MENDED_LOST, MENDED_LOST },
	};

	switch (found) {
	case FOUND_FAILED: return MENDED_LOST;
	case FOUND_BUSY: return MENDED_WAIT;
	case FOUND_GONE: return MENDED_NOTHING;
	case FOUND_RUNNING:
	case FOUND_LOCKED:
	case FOUND_SAVED: break;
	}
	return mendings[recorded][found];
}

const char *freeze_mended_text(enum freeze_mended mended)
{
	switch (mended) {
	case MENDED_KEPT: return "its memory was in the host's when its supervisor died, and stays";
	case MENDED_THAWED: return "its supervisor died while its memory was moved; it runs again";
	case MENDED_BY_OTHERS: return "somebody else moved its memory back to the device";
	case MENDED_NOT_OURS:
		return "somebody else locked it or moved its memory to the host's; left alone";
	case MENDED_LOST:
		return "the driver cannot bring its memory back: it has to be ended";
	case MENDED_NOTHING:
	case MENDED_WAIT: break;
	}
	return NULL;
}

static const char *const names[N_FREEZE_STATES] = {
	"none", "locking", "saving", "frozen", "restoring", "unlocking", "lost",
};

const struct field_names freeze_state_names = { names, N_FREEZE_STATES, FREEZE_NONE };

/* --- room --- */

/* Room for the driver's own buffers, and for growth of the process's host memory meanwhile. */
#define HOST_SHARE 0.08
#define HOST_BYTES (INT64_C(256) << 20)
/* Allocations come back at the driver's granularity. */
#define DEVICE_SHARE 0.02
#define DEVICE_BYTES (INT64_C(2) << 20)

static double gib(int64_t bytes)
{
	return (double)bytes / (double)(INT64_C(1) << 30);
}

int freeze_check_room(int64_t bytes, int64_t available_bytes, int64_t bound_bytes, struct err *err)
{
	int64_t wanted = bytes + (int64_t)((double)bytes * HOST_SHARE) + HOST_BYTES;

	if (bytes < 0)
		return err_set(err, EX_TEMPFAIL, "cannot tell how much memory is to be moved to "
			       "the host's: the driver does not say");
	if (available_bytes < 0)
		return err_set(err, EX_TEMPFAIL, "cannot tell how much of the host's memory is "
			       "free");
	if (bytes > bound_bytes)
		return err_set(err, EX_TEMPFAIL, "%.1f GiB would go to the host's memory, and "
			       "suspended jobs may have %.1f GiB more", gib(bytes),
			       gib(bound_bytes > 0 ? bound_bytes : 0));
	if (wanted > available_bytes)
		return err_set(err, EX_TEMPFAIL, "%.1f GiB of the host's memory are needed, and "
			       "%.1f GiB are free", gib(wanted), gib(available_bytes));
	return 0;
}

int freeze_check_device(int64_t bytes, int64_t free_bytes, const char *device, struct err *err)
{
	int64_t wanted = bytes + (int64_t)((double)bytes * DEVICE_SHARE) + DEVICE_BYTES;

	if (free_bytes >= 0 && wanted <= free_bytes)
		return 0;
	if (free_bytes < 0)
		return err_set(err, EX_TEMPFAIL, "cannot tell how much memory is free on '%s'",
			       device);
	return err_set(err, EX_TEMPFAIL, "%.2f GiB come back to '%s', and %.2f GiB are free there",
		       gib(wanted), device, gib(free_bytes));
}

/* --- the steps --- */

static int enter_freeze_state(struct freezing *f, enum freeze_state state, struct err *err)
{
	if (f->state == state)
		return 0;
	if (f->record.write && f->record.write(state, f->record.arg, err)) {
		f->cut_off = true;
		return -1;
	}
	f->state = state;
	return 0;
}

static int call(struct freezing *f, pid_t pid, enum freeze_step step, struct err *err)
{
	double begun = clock_boot_s();
	int rc = f->freezer->step(f->driver, pid, step,
				  f->lock_limit_s > 0 ? f->lock_limit_s : FREEZE_LOCK_S, err);

	f->took_s[step] += clock_boot_s() - begun;
	return rc;
}

/* Asks the driver until the process is in one of the states, not between two. The end of a process
 * that has memory on a GPU takes a while, in which the driver answers with an error. */
static int find_state(struct freezing *f, pid_t pid, enum freeze_found *found, struct err *err)
{
	for (int i = 0, errors = 0; i < WAITS; i++) {
		bool told = f->freezer->find(f->driver, pid, found, err) == 0;

		if (!told && ++errors == ERRORS)
			return -1;
		if (told && *found != FOUND_BUSY)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = (long)(WAIT_S * 1e9) }, NULL);
	}
	return err_set(err, EX_TEMPFAIL, "process %d is still being moved by somebody else",
		       (int)pid);
}

/* Enters the state and does one step for each process that needs just this one; all are asked for
 * before, because a question about a process may hang while another one of the job is locked, as
 * with NCCL (NVIDIA/cuda-checkpoint issues 30 and 45). A process that has ended needs no step. */
static int step_all(struct freezing *f, enum freeze_wish wish, enum freeze_step step,
		    enum freeze_state state, struct err *err)
{
	bool needs[FREEZE_PIDS] = { false };

	for (int i = 0; i < f->n; i++) {
		enum freeze_found found;
		enum freeze_step next;

		if (find_state(f, f->pids[i], &found, err))
			return -1;
		next = freeze_next(wish, found);
		if (next == STEP_GIVE_UP)
			return err_set(err, EX_OSERR, "the driver has given up process %d",
				       (int)f->pids[i]);
		needs[i] = next == step;
	}
	if (enter_freeze_state(f, state, err))
		return -1;
	for (int i = 0; i < f->n; i++)
		if (needs[i] && call(f, f->pids[i], step, err) && err->exit_status != EX_NOINPUT)
			return -1;
	return 0;
}

/* Unlocks what may be locked, in the order in which it was, and asks nothing before that: see
 * step_all(). True if anything was. */
static bool unlock_unasked(struct freezing *f)
{
	bool any = false;
	struct err ignored;

	for (int i = 0; i < f->n; i++)
		any |= call(f, f->pids[i], STEP_UNLOCK, &ignored) == 0;
	return any;
}

/* True if the driver says so of any, or of all, processes. A process that the driver cannot tell of
 * counts as failed. */
static bool any_is(struct freezing *f, enum freeze_found what)
{
	for (int i = 0; i < f->n; i++) {
		enum freeze_found found = FOUND_FAILED;
		struct err ignored;

		if (find_state(f, f->pids[i], &found, &ignored))
			found = FOUND_FAILED;
		if (found == what)
			return true;
	}
	return false;
}

static int lose_processes(struct freezing *f)
{
	struct err ignored;

	if (enter_freeze_state(f, FREEZE_LOST, &ignored))
		/* if the state cannot be recorded, the next look finds the same */
		f->state = FREEZE_LOST;
	return -1;
}

static int thaw(struct freezing *f, struct err *err)
{
	enum freeze_found ignored;
	struct err why;

	/* what is frozen may wait until the driver tells of it */
	for (int i = 0; f->state == FREEZE_FROZEN && i < f->n; i++)
		if (find_state(f, f->pids[i], &ignored, err))
			return -1;
	if (any_is(f, FOUND_SAVED)) {
		if (enter_freeze_state(f, FREEZE_RESTORING, err))
			return -1;
		if (step_all(f, THAW_WISHED, STEP_RESTORE, FREEZE_RESTORING, err)) {
			/* saves again what came back, so that all stays frozen, to be tried once
			 * more */
			if (any_is(f, FOUND_FAILED) ||
			    step_all(f, FREEZE_WISHED, STEP_SAVE, f->state, &why) ||
			    enter_freeze_state(f, FREEZE_FROZEN, &why))
				return lose_processes(f);
			return -1;
		}
	}
	if (enter_freeze_state(f, FREEZE_UNLOCKING, err))
		return -1;
	if (step_all(f, THAW_WISHED, STEP_UNLOCK, FREEZE_UNLOCKING, err))
		return lose_processes(f);
	return enter_freeze_state(f, FREEZE_NONE, err);
}

/* Undoes a freeze. Keeps the error of the freeze, which tells more than one of the undoing. */
static int undo(struct freezing *f, struct err *err)
{
	struct err why = *err, undoing = { 0 };

	if (f->state == FREEZE_LOCKING)
		unlock_unasked(f);
	if (any_is(f, FOUND_FAILED))
		return lose_processes(f);
	if (thaw(f, &undoing) && f->state == FREEZE_LOST)
		return err_set(err, EX_OSERR, "%.400s; and then: %.400s", why.text, undoing.text);
	return -1;
}

int freeze_run(struct freezing *f, enum freeze_wish wish, struct err *err)
{
	enum freeze_state before = f->state;

	memset(f->took_s, 0, sizeof(f->took_s));
	if (wish == THAW_WISHED)
		return thaw(f, err);
	if (step_all(f, FREEZE_WISHED, STEP_LOCK, FREEZE_LOCKING, err))
		return f->cut_off || f->state == before ? -1 : undo(f, err);
	if (step_all(f, FREEZE_WISHED, STEP_SAVE, FREEZE_SAVING, err))
		return f->cut_off ? -1 : undo(f, err);
	return enter_freeze_state(f, FREEZE_FROZEN, err);
}

/* --- after a death --- */

/* The worst of what the processes need, in the order of the enum; a run with one process half way
 * and one saved is thawed. */
static int judge_processes(struct freezing *f, enum freeze_mended *worst, struct err *err)
{
	bool kept = false, others = false;

	*worst = MENDED_NOTHING;
	for (int i = 0; i < f->n; i++) {
		enum freeze_mended mended;
		enum freeze_found found;

		if (find_state(f, f->pids[i], &found, err))
			return -1;
		mended = freeze_mending(f->state, found);
		kept |= mended == MENDED_KEPT;
		others |= found == FOUND_RUNNING;
		if (mended > *worst)
			*worst = mended;
	}
	if (kept && others && *worst < MENDED_NOT_OURS)
		*worst = MENDED_THAWED;
	return 0;
}

int freeze_mend(struct freezing *f, enum freeze_mended *mended, struct err *err)
{
	bool unlocked = f->state == FREEZE_LOCKING && unlock_unasked(f);

	if (judge_processes(f, mended, err))
		return -1;
	if (unlocked && *mended == MENDED_NOTHING)
		*mended = MENDED_THAWED;
	switch (*mended) {
	case MENDED_KEPT: return enter_freeze_state(f, FREEZE_FROZEN, err);
	case MENDED_THAWED: return thaw(f, err);
	case MENDED_LOST:
		lose_processes(f);
		return 0;
	case MENDED_NOTHING:
	case MENDED_BY_OTHERS: return enter_freeze_state(f, FREEZE_NONE, err);
	case MENDED_NOT_OURS:
	case MENDED_WAIT: break;
	}
	return 0;
}
