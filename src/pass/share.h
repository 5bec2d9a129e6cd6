/* share.h - jobs that run beside each other on one device: private to src/pass.
 *
 * The policy decides on devices, not on parts of them. So of the runs on a shared device it is
 * asked about the oldest one alone, the host; the others, the guests, stay or leave with the host,
 * or leave by themselves once it is measured that they cost more than they bring. When the policy
 * has decided, jobs that are left without a device may become guests: so that the sum of what all
 * guests add is the largest there is, with at most one more on each device. The same is done again
 * for who is left, until nobody fits. */
#ifndef POLLUX_PASS_SHARE_H
#define POLLUX_PASS_SHARE_H

#include "pollux/share_pair.h"

struct snapshot;
struct decision;
struct candidate;

/* The place of a candidate that is a guest. */
struct share_place {
	int device;			/* -1: it is no guest */
	int host;			/* index of the candidate that has the device */
	bool leaves;			/* a guest that is to leave its host */
	int seat;			/* of a run that is to start and shares; 0: none */
	struct share_answer answer;	/* of the guest, beside those that came before */
};

/* True if the job's run shares its device, or would. */
bool share_is_for(const struct snapshot *s, const struct candidate *c);
/* Finds the guests among the candidates and puts them last, behind d->n_asked others. Called before
 * the policy is asked. */
void share_find_guests(const struct snapshot *s, struct decision *d);
/* Decides which guests stay and who becomes one. Called after the policy has decided. */
void share_place_guests(const struct snapshot *s, struct decision *d);
/* Gives a seat to each run that is to start and shares its device. */
void share_give_seats(const struct snapshot *s, struct decision *d);
/* share_guests.c: true if the policy is not asked about the candidate. */
bool share_is_guest(const struct share_place *p);
/* Puts the candidates that are guests behind d->n_asked others. */
void share_put_guests_last(struct decision *d);
/* Index of the workload in s->share; -1: none. */
int share_workload(const struct snapshot *s, const char *workload);

#endif
