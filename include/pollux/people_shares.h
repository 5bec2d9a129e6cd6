/* people_shares.h - how many devices of a machine each of several people is to have.
 *
 * The exact shares are max-min fair by weight, with what each wants as the limit. Each person has
 * the whole devices of the exact share. The devices that are left over by this go round: each goes
 * to whoever has been without the longest, among those with a part of a device in the exact share.
 * Example: of two devices a person of weight 2 has one always and the other one for a third of the
 * time; a person of weight 1 has that other one for two thirds. Where several have been without for
 * the same time, the one whose last gain is the oldest gets the device. The last tie is broken by
 * the name.
 *
 * How long a person has been without is measured against the exact share, which counts parts of
 * devices. A person who had a device-second less than the exact share counts as a second longer
 * without; a person who had a device-second more, as a second shorter. What was long ago counts
 * less: else the moments at which a device was changing hands, and nobody's, would add up for those
 * who were there, and a newcomer would wait as long.
 *
 * A device that is left over changes hands only when the next person is clearly longer without than
 * the holder (stay_s). Two things follow. The giver does not get the device again before the taker
 * has seen that it is free. And people who began at the same time come to differ: with three people
 * and one device, the turns settle so that at each change the holder is a third of a slice ahead,
 * the next one a third behind, and the third one even. Passes at odd moments do not upset that
 * order; they do upset the order of people who are even.
 *
 * How far from fair? Let n people want all, one device be left over, f = 1/n its part for each, and
 * let a turn end at most w slices late, because the holder's next pass is late.
 *
 * - No rule that leaves a device for a slice can promise less than (1 - f)(1 + w) slices: of n
 *   people who begin even, the last one to be served has waited for n - 1 turns of 1 + w. So one
 *   slice can be kept only if passes come within 1 / (n - 1) slices.
 * - Here nobody is ever further ahead of, or behind, the exact share than (1 - f)(1 + w) slices, as
 *   long as everybody knows what the others have. Ahead: a turn begins with whoever is the furthest
 *   behind, so not ahead, and in a slice the holder gets 1 - f ahead. The turn goes on after a
 *   slice only while nobody is stay_s further behind than the holder, who is then less than stay_s
 *   ahead, and stay_s is below 1 - f. In both cases w may be added. Behind: let M(k) be the most
 *   that any k people are behind together. Before a turn in which these k people wait, its holder
 *   was as far behind as the mean of them. So they were behind by k / (k + 1) M(k + 1) at most;
 *   in the turn k f (1 + w) is added. M(n) is 0, so M(1) is at most (n - 1) f (1 + w). In a turn
 *   that goes on after a slice, they are behind by less than k / (k + 1) stay_s: less.
 * - Over any span of time a person's lead changes by at most the double. What comes of it with
 *   passes at odd moments is in build/unit/test_people_turns.
 *
 * Everybody who is given the same numbers computes the same shares, in whatever order the people
 * are listed. */
#ifndef POLLUX_PEOPLE_SHARES_H
#define POLLUX_PEOPLE_SHARES_H

#include "pollux/people.h"
#include "pollux/policy.h"

struct person_share {
	char name[PERSON_NAME_SIZE];	/* nobody else's */
	int held, wanted;		/* devices; wanted: those that are held included */
	double weight;			/* above 0; any other counts as 1 */
	double without_since_s;
	/* A person who holds a device counts as this much longer without when that device is given
	 * out: it stays with a holder who is not much shorter without than the next person. */
	double stay_s;
	double gained_s;		/* when the person last got a device that they had not */
	int devices;			/* (result) the share: at most wanted */
};

void people_divide(struct person_share *people, int n, int n_devices);

/* The exact share of people[own]. */
double people_exact_share(const struct person_share *people, int n, int own, int n_devices);

/* stay_s of p, for slices since the last gain: this part of what a holder gets ahead in a slice. */
#define PEOPLE_STAY 0.9
#define PEOPLE_STAY_SLICES 3
double people_stay_s(const struct person_share *p, double exact, const struct sched_input *in);

/* After so many slices what somebody was short of, or beyond, the exact share counts 1/e. */
#define PEOPLE_MEMORY_SLICES 10
/* The most slices by which anybody counts as short of, or beyond, the exact share. */
#define PEOPLE_MOST_SLICES 10
/* Brings without_since_s up to date at a time, when the person has had so many devices since then.
 * A person whose exact share is all they want is not without. */
double people_without_since_s(const struct person_share *p, double exact, int had,
			      double had_since_s, const struct sched_input *in);

/* True if a device of p goes to the next person soon: it is left over by the division, and others
 * want it. Until then the jobs of p had better stay: another job that is begun now would keep the
 * device for a slice of its own. */
bool people_leave_soon(const struct person_share *p, double exact);
/* Jobs stay for that reason while they have run for fewer slices than this. */
#define PEOPLE_TURN_SLICES 4

/* The number of devices that people[own] may use now, of those that it holds and n_free free ones.
 * Free devices are for those who have less than their share, first for whoever has been without the
 * longest; what is left may be used by anybody. A person who has more than the share gives back as
 * many as the others lack. */
int people_allowed(const struct person_share *people, int n, int own, int n_free);

/* True if a person who got another device at this time keeps all for now: a device is kept for a
 * slice, however short the jobs are that run there one after the other. */
bool people_keep_turn(double gained_s, const struct sched_input *in);

/* False if every job that is to get devices needs more than n_devices. */
bool people_devices_are_of_use(const struct sched_input *in, const struct sched_choice *choices,
			       int n_devices);

/* The number of devices that the jobs would have if all n_devices were theirs: choices is what the
 * policy decides then. A job that waits even so counts with the least that it can run on. */
int people_wanted(const struct sched_input *in, const struct sched_choice *choices);

/* The number of devices that jobs keep although others want them: those of jobs that are not
 * preemptible, or within their slice, and all where the policy never preempts. */
int people_protected(const struct policy *policy, const struct sched_input *in);

#endif
