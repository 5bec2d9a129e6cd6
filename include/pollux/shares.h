/* shares.h - how many devices of a machine each of several people is to have.
 *
 * The shares are max-min fair by weight in whole devices, with what each wants as the limit: the
 * devices are given out one at a time, each to the person whose share is the smallest for the
 * weight, among those whose share is below what they want. Between equals the device goes to whom
 * it would bring more than they have now, of these to whoever has been without the longest: so the
 * devices that do not come out even go round. The last tie is broken by the name.
 *
 *	struct share people[] = { { .name = "a", .held = 4, .wanted = 4, .weight = 1 },
 *				  { .name = "b", .held = 0, .wanted = 1, .weight = 1 } };
 *	shares_divide(people, 2, 4);	// 3 and 1
 *
 * Everybody who knows the same of all people computes the same, in whatever order they stand. */
#ifndef POLLUX_SHARES_H
#define POLLUX_SHARES_H

#include "pollux/policy.h"

#define SHARE_NAME_SIZE 64

struct share {
	char name[SHARE_NAME_SIZE];	/* nobody else's */
	int held, wanted;		/* devices; wanted: those that are held included */
	double weight;			/* above 0; any other counts as 1 */
	double without_since_s;		/* since when held is less than wanted; meaningful then */
	int devices;			/* (result) the share: at most wanted */
};

void shares_divide(struct share *people, int n, int n_devices);

/* The number of devices that people[own] may use now, of those that it holds and n_free free ones:
 * all of them unless others have less than their share. Then what these lack is left free for
 * them, beyond the own share. */
int shares_allowed(const struct share *people, int n, int own, int n_free);

/* The number of devices that the jobs would have if all n_devices were theirs: choices is what the
 * policy decides then. A job that waits even so counts with the least that it can run on. */
int shares_wanted(const struct sched_input *in, const struct sched_choice *choices);

/* The number of devices that jobs keep although others want them: those of jobs that are not
 * preemptible, or within their slice, and all where the policy never preempts. */
int shares_protected(const struct policy *policy, const struct sched_input *in);

#endif
