/* freeze.h - moves what processes keep in the memory of their devices to the host's memory, and
 * back, so that others can have the devices meanwhile.
 *
 * A freeze locks all processes (calls to the driver wait from then on), then saves them (their
 * devices' memory goes to the host, and the devices are released). The caller stops the processes
 * after a freeze and continues them before a thaw: a stopped process cannot be locked or restored.
 * A thaw restores all, then unlocks all. If a step of a freeze fails, the freeze is undone.
 *
 * Each state is recorded before it is entered. If a caller died, the next caller asks the driver
 * how far the freeze came, and mends it (freeze_mend).
 *
 * A freezer, below, does this in a process of its own, which is what a supervisor uses. */
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

/* What the two say, as a table. A pure function. */
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
	/* STEP_LOCK, which may take limit_s, STEP_SAVE, STEP_RESTORE or STEP_UNLOCK */
	int (*step)(void *driver, pid_t pid, enum freeze_step step, double limit_s,
		    struct err *err);
	/* For the self-test, in a process of its own: takes bytes of the one device that its
	 * environment shows, fills them, and computes `rounds` rounds on them at each byte read
	 * from fd 0, answering 'k' on fd 1. At end of file checks all, and answers 'y' or 'n'. If
	 * it cannot compute as most programs do, it first answers 'w' and why, and goes on at the
	 * next byte. */
	int (*work)(int64_t bytes, int rounds, struct err *err);
	int64_t (*host_bytes)(void);	/* free memory of the host; -1 unknown */
	int64_t (*free_bytes)(const char *device_id);	/* free memory of the device; -1 unknown */
};

/* --- a process that freezes and thaws for a supervisor, which goes on meanwhile --- */

/* A driver's call takes seconds, may hang, and may crash its caller. So a child makes the calls.
 * The child starts the driver once and serves orders until its socket is closed. Before it enters a
 * state, the child asks the caller and waits until the caller has recorded the state. If the caller
 * dies, the child ends after its present call. No signal but SIGKILL ends it: a caller that is
 * killed in the middle leaves the process that it moves unusable. Where a driver hangs before
 * memory moves, the child ends itself; another one, ordered to mend, unlocks what was locked. */

struct freezer {
	pid_t pid;			/* reaped by the caller, or by freezer_stop; 0: none */
	int fd;				/* -1: none */
};

#define FREEZER_NONE ((struct freezer){ .fd = -1 })

enum freezer_task { FREEZER_FREEZE, FREEZER_THAW, FREEZER_MEND };

struct freezer_order {
	enum freezer_task task;
	enum freeze_state state;	/* as recorded */
	pid_t pids[FREEZE_PIDS];
	int n;
	double lock_limit_s;
	/* A thaw waits until so many bytes are free on the device: the driver may give up
	 * processes for which there is no room. 0: it does not wait. */
	int64_t bytes;
	char device[DEVICE_ID_SIZE];
};

/* FREEZER_ENTERS: the caller records news.state, then calls freezer_allow(), or freezer_stop().
 * FREEZER_DIED: the driver tells how far it came: another freezer is ordered to mend. */
enum freezer_says { FREEZER_ENTERS, FREEZER_DONE, FREEZER_FAILED, FREEZER_DIED };

struct freezer_news {
	enum freezer_says says;
	enum freeze_state state;
	enum freeze_mended mended;	/* of FREEZER_MEND */
	double took_s[STEP_UNLOCK + 1];
	/* of FREEZER_FAILED and FREEZER_DIED; EX_TEMPFAIL of a thaw: there was no room */
	struct err err;
};

/* keep: a descriptor that the child holds as long as it lives, such as a run's lock, so that nobody
 * else touches the processes while a call goes on; -1: none. The child keeps nothing else. */
int freezer_start(struct freezer *f, const struct device_freezer *functions, int keep,
		  struct err *err);
int freezer_order(struct freezer *f, const struct freezer_order *order, struct err *err);
/* Reads the next message of the child into *news; blocks until there is one. */
enum freezer_says freezer_read(struct freezer *f, struct freezer_news *news);
void freezer_allow(struct freezer *f);
/* Closes the socket and does not wait for the child: it may be in a call. */
void freezer_stop(struct freezer *f);

/* Carries out one order from beginning to end, and records the states by *record. -1 with *err:
 * EX_TEMPFAIL also if the child said nothing for limit_s; the freezer is then stopped. */
int freezer_carry_out(struct freezer *f, const struct freezer_order *order,
		      const struct freeze_record *record, double limit_s,
		      struct freezer_news *news, struct err *err);

/* --- the test --- */

/* Shows whether a device's driver can freeze: a small program of pollux computes on the device, is
 * frozen, stopped, continued, thawed, and has to come to the right result.
 *
 * The caller holds the device's lock. */

#define FREEZE_TEST_WEAKER 240

struct freeze_test {
	int64_t bytes;			/* that the program had allocated */
	int64_t released_bytes;		/* that became free on the device by the freeze */
	double lock_s, save_s, restore_s, unlock_s;
	double start_s;			/* the freezing process's start of the driver */
	/* why the program did not use cuBLAS, so that others may be refused; "": it did */
	char weaker[FREEZE_TEST_WEAKER];
};

/* bytes: what the program allocates; 0: FREEZE_TEST_BYTES, or a quarter of what is free if that is
 * less. -1: the device, or this machine, did not pass, with the reason; EX_UNAVAILABLE also if the
 * device's memory cannot be moved at all, EX_TEMPFAIL if there is no room for the test now. */
int freeze_test(const struct device *d, int64_t bytes, struct freeze_test *t, struct err *err);

#define FREEZE_TEST_BYTES (INT64_C(1) << 30)

#endif
