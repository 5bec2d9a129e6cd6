/* ends_play.h - one draw of ends.h: the jobs play on until those that are asked for have ended. */
#ifndef SCHED_ENDS_PLAY_H
#define SCHED_ENDS_PLAY_H

#include "curve.h"
#include "lengths.h"
#include "pollux/ends.h"

/* A job in one draw. */
struct player {
	const struct curve *curve;	/* NULL: a job still to come */
	bool known;		/* work counts down at the job's speed, else at r a second */
	double work;			/* until it ends, device-seconds */
	double error, doubling_error;	/* logarithms, see struct rate_error */
	double service;			/* for the order, where the length is not known */
	double shows_at;		/* with this service the length is known, from then on */
	int bin;
	double delay_s;			/* rest of its restart */
	int least, most, held, gets;
	double key;			/* the least comes first */
	double end_s;			/* NaN: not yet */
};

struct draw {
	const struct curves *curves;
	const struct lengths *lengths;	/* by what is known */
	struct lengths truth;		/* as drawn */
	double index[LENGTHS_BINS + 1];	/* effective length, by the bin of the service */
	double restart_s;		/* of jobs still to come */
	double known_part;		/* of the jobs, those of known length */
	uint64_t random;
	struct player *players;
	/* the players that are here, ordered by key: n_order of them, taken from the first
	 * n_ordered players */
	struct player **order;
	int n, n_ordered, n_order, n_wide;	/* wide: of these, those of two devices at least */
	bool one_ended;			/* since they were ordered */
	/* the players that have devices, and those whose key may have changed since the last
	 * ordering; in the order of players */
	struct player **moved;
	int n_moved;
	double now_s, next_s, gap_s;	/* since now; next: when a job comes */
	int n_came;
};

/* --- ends_devices.c --- */

/* True if the order of jobs knows the player's length. */
bool player_shows_length(const struct player *p);
/* True if the player has not ended, and there are devices for it. */
bool player_may_run(const struct player *p);
/* Gives the devices to the players that are here; those that start stand still for a restart. */
void draw_give(struct draw *d);

#endif
