/* oom_killer.h - tell whether the kernel's out-of-memory killer ended a run; private to
 * src/engine/local.
 *
 * The kernel names its victims only in its log, which not everybody may read, and SIGKILL has many
 * senders. A SIGKILL is taken for the killer's if all of this is true:
 *
 * 	- a process other than the supervisor sent the signal to the run's first process, and the
 * 	  signal ended the run;
 * 	- the kernel's count of its kills rose in the last seconds: the count of the control group
 * 	  that the run shares with its supervisor (memory.events or memory.oom_control) where there
 * 	  is one for memory, otherwise the count of the machine;
 * 	- at its peak the run had a sixteenth of the available memory: of the limit of its control
 * 	  groups, or of the machine's memory. The killer takes the largest process; a run that is
 * 	  smaller than that is missed. */
#ifndef POLLUX_OOM_KILLER_H
#define POLLUX_OOM_KILLER_H

#include <stdbool.h>
#include <stdint.h>

struct oom_reading {
	int64_t kills;			/* -1: unknown */
	int64_t memory_bytes;		/* 0: unknown */
	/* true: kills counts the control group's; false: the machine's */
	bool of_group;
};

/* proc, cgroup: paths of these file systems, "/proc" and "/sys/fs/cgroup". */
void oom_read(const char *proc, const char *cgroup, struct oom_reading *r);

/* Compares a reading made at least OOM_WINDOW_S and at most twice that ago with a new one. */
#define OOM_WINDOW_S 10.0

struct oom_watch {
	struct oom_reading before, last;	/* before is the older one */
	double next_boot_s;			/* when last becomes before */
};

/* for a run that another process started: nothing is known yet */
void oom_watch_init(struct oom_watch *w);
void oom_watch_start(struct oom_watch *w, double now_boot_s);
/* call often; reads only when due */
void oom_watch_look(struct oom_watch *w, double now_boot_s);
/* True if a run that was killed by SIGKILL before now had run out of memory. */
bool oom_was_killer(const struct oom_reading *before, const struct oom_reading *now,
		    int64_t peak_bytes);

#endif
