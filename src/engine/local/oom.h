/* oom.h - whether the kernel's out-of-memory killer was what killed a run; private to src/engine/local.
 *
 * Whom it killed it says to those only who may read its log. SIGKILL alone has many senders. It is taken for the
 * killer's where all of this is so:
 *
 *	- somebody else than the supervisor sent it to the run's first process, and that ended the run;
 *	- the kernel's count of its kills rose in the last seconds: that of the control group which the run
 *	  shares with its supervisor (memory.events, or memory.oom_control), where there is one for memory;
 *	  otherwise that of the machine;
 *	- at its peak the run had a sixteenth of the memory that there is for it: of the limit of its control
 *	  groups, or of the machine's. The killer takes who has most; of more than 16 as large it may be missed. */
#ifndef POLLUX_RUN_OOM_H
#define POLLUX_RUN_OOM_H

#include <stdbool.h>
#include <stdint.h>

struct oom_reading {
	int64_t kills;			/* -1: unknown */
	int64_t memory_bytes;		/* 0: unknown */
	bool of_group;			/* kills are of the control group, not of the machine */
};

/* proc, cgroup: where these file systems are: "/proc", "/sys/fs/cgroup". */
void oom_read(const char *proc, const char *cgroup, struct oom_reading *r);

/* Between an old reading, of at least OOM_WINDOW_S and at most twice that ago, and one of now. */
#define OOM_WINDOW_S 10.0

struct oom_watch {
	struct oom_reading before, last;	/* before is the older one */
	double next_boot_s;			/* when last is to become before */
};

void oom_watch_init(struct oom_watch *w);	/* of a run that somebody else started: nothing is known yet */
void oom_watch_start(struct oom_watch *w, double now_boot_s);
void oom_watch_look(struct oom_watch *w, double now_boot_s);	/* often; reads when it is time */
/* Whether a run that was killed by SIGKILL before now had run out of memory. */
bool oom_was_killer(const struct oom_reading *before, const struct oom_reading *now, int64_t peak_bytes);

#endif
