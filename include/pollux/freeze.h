/* freeze.h - moves what processes keep in the memory of their devices to the host's memory, and
 * back, so that others can have the devices meanwhile.
 *
 * A freeze locks all processes (calls to the driver wait from then on), then saves them (their
 * devices' memory goes to the host, and the devices are released). The caller stops the processes
 * after a freeze and continues them before a thaw: a stopped process cannot be locked or restored.
 * A thaw restores all, then unlocks all. If a step of a freeze fails, the freeze is undone.
 *
 *	struct freezing f = { .freezer = backend->freezer, .pids = &pid, .n = 1,
 *			      .state = run.freeze_state, .record = { write_to_store, s } };
 *	if (freeze_run(&f, FREEZE_WISHED, err)) ... f.state is FREEZE_NONE, or FREEZE_LOST
 *
 * Each state is recorded before it is entered. If a caller died, the next caller asks the driver
 * how far the freeze came, and mends it:
 *
 *	if (freeze_mend(&f, &mended, err) == 0) log(freeze_mended_text(mended))
 *
 * freezer.h does this in a process of its own, which is what a supervisor uses. */
#ifndef POLLUX_FREEZE_H
#define POLLUX_FREEZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/device.h"
#include "pollux/err.h"
#include "pollux/field.h"

/* What the store says of a run's processes. */
enum freeze_state {
	FREEZE_NONE,			/* they run */
	FREEZE_LOCKING,			/* they are being locked */
	FREEZE_SAVING,			/* all are locked and are being saved */
	FREEZE_FROZEN,			/* all are saved */
	FREEZE_RESTORING,		/* they are being restored */
	FREEZE_UNLOCKING,		/* all are restored and are being unlocked */
	FREEZE_LOST,			/* a process can neither go on nor be saved: end the run */
};
#define N_FREEZE_STATES (FREEZE_LOST + 1)

/* What the driver says of one process. */
enum freeze_found {
	FOUND_RUNNING,
	FOUND_LOCKED,			/* on the way to be saved, or restored */
	FOUND_SAVED,
	FOUND_FAILED,			/* the driver gave the process up */
	FOUND_BUSY,			/* between two of these: ask again */
	FOUND_GONE,			/* the process has ended */
};
#define N_FREEZE_FOUND (FOUND_GONE + 1)

enum freeze_wish { FREEZE_WISHED, THAW_WISHED };

/* The next call for one process. */
enum freeze_step {
	STEP_NONE,			/* the wish is fulfilled */
	STEP_LOCK, STEP_SAVE, STEP_RESTORE, STEP_UNLOCK,
	STEP_WAIT,
	STEP_GIVE_UP,
};

/* What to do about a process whose supervisor died, by what the store and the driver say. */
enum freeze_mended {
	MENDED_NOTHING,			/* the process runs, or is gone */
	MENDED_KEPT,			/* the process is frozen and stays so */
	MENDED_THAWED,			/* it was found half way, and runs again */
	MENDED_BY_OTHERS,		/* recorded as frozen, but it runs: somebody thawed it */
	MENDED_NOT_OURS,		/* recorded as running: somebody else froze it */
	MENDED_WAIT,			/* half way between two states: ask the driver again */
	MENDED_LOST,			/* the run has to be ended */
};

/* Writes down a state before it is entered. -1: the state is not entered. NULL: nobody does. */
struct freeze_record {
	int (*write)(enum freeze_state state, void *arg, struct err *err);
	void *arg;
};

struct freezing {
	const struct device_freezer *freezer;
	void *driver;			/* from freezer->open() */
	const pid_t *pids;
	int n;
	enum freeze_state state;	/* the last that was recorded */
	double lock_limit_s;		/* for each process; 0: FREEZE_LOCK_S */
	bool cut_off;			/* a state could not be recorded: no more calls */
	struct freeze_record record;
	/* seconds that the four kinds of calls took, by enum freeze_step */
	double took_s[STEP_UNLOCK + 1];
};

#define FREEZE_LOCK_S 10.0		/* kernels of a step end within it */
#define FREEZE_PIDS 16			/* the most processes of a run that are frozen */

/* Freezes or thaws all processes, from whatever states the driver finds them in. -1: the wish was
 * not fulfilled; f->state says where the processes are. EX_TEMPFAIL: it may be tried again
 * later. */
int freeze_run(struct freezing *f, enum freeze_wish wish, struct err *err);

/* Brings the processes of a dead caller to rest: frozen if the freeze was complete, else
 * running. */
int freeze_mend(struct freezing *f, enum freeze_mended *mended, struct err *err);

/* The two tables. Pure functions. */
enum freeze_step freeze_next(enum freeze_wish wish, enum freeze_found found);
enum freeze_mended freeze_mending(enum freeze_state recorded, enum freeze_found found);

/* A sentence for logs and events; NULL: nothing is worth telling. */
const char *freeze_mended_text(enum freeze_mended mended);

extern const struct field_names freeze_state_names;	/* "none", "locking", ..., "lost" */

/* Returns 0 if so many bytes of devices' memory fit into the host's memory, of which
 * available_bytes are free (-1: unknown) and suspended jobs may take bound_bytes more. -1 with
 * EX_TEMPFAIL: they do not fit, or nobody can tell. */
int freeze_check_room(int64_t bytes, int64_t available_bytes, int64_t bound_bytes,
		      struct err *err);
/* Checks the same for a device's free memory, before a thaw: a restore without room cannot be
 * repeated. */
int freeze_check_device(int64_t bytes, int64_t free_bytes, const char *device, struct err *err);

/* The functions of a backend. They are called in one process, which opens the driver once, and they
 * block. Errors are whole sentences for people: EX_UNAVAILABLE if the machine or the program cannot
 * do it at all, EX_TEMPFAIL if a later try may succeed, EX_NOINPUT if the process has ended,
 * EX_OSERR otherwise. */
struct device_freezer {
	int (*open)(void **driver, struct err *err);
	int (*find)(void *driver, pid_t pid, enum freeze_found *found, struct err *err);
	int (*lock)(void *driver, pid_t pid, double limit_s, struct err *err);
	int (*save)(void *driver, pid_t pid, struct err *err);
	int (*restore)(void *driver, pid_t pid, struct err *err);
	int (*unlock)(void *driver, pid_t pid, struct err *err);
	/* For the self-test, in a process of its own: takes bytes of the one device that its
	 * environment shows, fills them, and computes `rounds` rounds on them at each byte read
	 * from fd 0, answering 'k' on fd 1. At end of file checks all, and answers 'y' or 'n'. If
	 * it cannot compute as most programs do, it first answers 'w' and why, and goes on at the
	 * next byte. */
	int (*work)(int64_t bytes, int rounds, struct err *err);
	int64_t (*host_bytes)(void);	/* free memory of the host; -1 unknown */
	int64_t (*free_bytes)(const char *device_id);	/* free memory of the device; -1 unknown */
};

#endif
