/* shares.h - how many devices of a machine each of several people is to have.
 *
 * The shares are max-min fair by weight in whole devices, with what each wants as the limit: the
 * devices are given out one at a time, each to the person whose share is the smallest for the
 * weight, among those whose share is below what they want. Between equals the device goes to
 * whoever has been without the longest: so a device that is left over by the division goes round.
 * Where several have been without for the same time, the one whose last gain is the oldest gets the
 * device. The last tie is broken by the name.
 *
 * How long a person has been without is measured against the exact share, which counts parts of
 * devices. A person who had a device-second less than the exact share counts as a second longer
 * without; a person who had a device-second more, as a second shorter.
 *
 *	struct share people[] = { { .name = "a", .held = 4, .wanted = 4, .weight = 1 },
 *				  { .name = "b", .held = 0, .wanted = 1, .weight = 1 } };
 *	shares_divide(people, 2, 4);	// 3 and 1
 *
 * Everybody who is given the same numbers computes the same shares, in whatever order the people
 * are listed. */
#ifndef POLLUX_SHARES_H
#define POLLUX_SHARES_H

#include "pollux/policy.h"

#define SHARE_NAME_SIZE 64

struct share {
	char name[SHARE_NAME_SIZE];	/* nobody else's */
	int held, wanted;		/* devices; wanted: those that are held included */
	double weight;			/* above 0; any other counts as 1 */
	double without_since_s;
	/* Times without that differ by less count as equal; 0: none do. Between equals whoever
	 * gained a device the longest time ago comes first: else small differences of the passes'
	 * moments would decide whose turn it is. */
	double round_s;
	double gained_s;
	int devices;			/* (result) the share: at most wanted */
};

void shares_divide(struct share *people, int n, int n_devices);

/* The exact share of people[own]. */
double shares_exact(const struct share *people, int n, int own, int n_devices);

/* Times without are rounded to this part of a slice. */
#define SHARES_ROUND_SLICES 0.1
/* The most slices by which anybody counts as short of, or beyond, the exact share. */
#define SHARES_MOST_SLICES 10
/* Brings without_since_s up to date at a time, when the person has had so many devices since then.
 * A person whose exact share is all they want is not without. */
double shares_without_since_s(const struct share *p, double exact, int had, double had_since_s,
			      const struct sched_input *in);

/* The number of devices that people[own] may use now, of those that it holds and n_free free ones.
 * Free devices are for those who have less than their share, first for whoever has been without the
 * longest; what is left may be used by anybody. A person who has more than the share gives back as
 * many as the others lack. */
int shares_allowed(const struct share *people, int n, int own, int n_free);

/* True if a person who got another device at this time keeps all for now: a device is kept for a
 * slice, however short the jobs are that run there one after the other. */
bool shares_keep_turn(double gained_s, const struct sched_input *in);

/* False if every job that is to get devices needs more than n_devices. */
bool shares_are_of_use(const struct sched_input *in, const struct sched_choice *choices,
		       int n_devices);

/* The number of devices that the jobs would have if all n_devices were theirs: choices is what the
 * policy decides then. A job that waits even so counts with the least that it can run on. */
int shares_wanted(const struct sched_input *in, const struct sched_choice *choices);

/* The number of devices that jobs keep although others want them: those of jobs that are not
 * preemptible, or within their slice, and all where the policy never preempts. */
int shares_protected(const struct policy *policy, const struct sched_input *in);

#endif
