/* core_share.h - the second pass of a decision: which processors the runs are bound to, where plans
 * want more than the share of their devices.
 *
 * Each processor is at home at one of the devices that are near it. A run that wants processors
 * takes those at home at its own devices first. What the run lacks then comes from devices that no
 * run has, and from devices whose runs want less; runs take in turn, one processor each. If it is
 * known for a run how its step time falls with the number of processors, each processor goes to the
 * run whose goodput grows most by it, relative to that goodput; a run of which that is not known
 * counts as one whose step is all computed by processors. Processors that a run has now are
 * preferred to those near its devices, these to the nearest by number. A run that wants no number
 * of processors is bound to those near its devices, without those given to others.
 *
 * Without a run that wants processors nothing is bound. Pure functions. */
#ifndef POLLUX_CORE_SHARE_H
#define POLLUX_CORE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#define CORES_MAX 1024		/* processors */

struct core_set {
	uint64_t words[CORES_MAX / 64];
};

static inline bool core_set_has(const struct core_set *s, int p)
{
	return s->words[p / 64] >> (p % 64) & 1;
}

static inline void core_set_add(struct core_set *s, int p)
{
	s->words[p / 64] |= (uint64_t)1 << (p % 64);
}

#define CORES_IDLE (-1)		/* no run has the device: its processors can be given */
#define CORES_KEPT (-2)		/* the device is not ours to give, nor are its processors */

struct cores_device {
	struct core_set near;
	int run;			/* index of the run that has it, or one of the above */
};

struct cores_run {
	int wanted;			/* processors; 0: those near its devices */
	struct core_set now;		/* that it is bound to; empty: none, or not known */
	/* Processors near devices that it shares with another run, which cores_device.run does not
	 * name. */
	struct core_set near;
	/* The part of its step that falls with the number of processors, when it has base of them
	 * (time_ratio.h); base 0: not known. */
	double part, base;
	struct core_set given;		/* out: what it is to be bound to, if bound */
	bool bound;			/* out; false: it is bound as its devices are */
};

void cores_share(const struct cores_device *devices, int n_devices, struct cores_run *runs,
		 int n_runs);

#endif
