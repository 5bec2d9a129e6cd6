/* ends_play.h - one draw of ends.h: the jobs play on until those that are asked for have ended. */
#ifndef SCHED_ENDS_PLAY_H
#define SCHED_ENDS_PLAY_H

#include "curve.h"
#include "lengths.h"
#include "pollux/ends.h"

/* A job in one draw. */
struct player {
	const struct curve *curve;	/* NULL: a job still to come */
	bool modelled;		/* work counts down at the job's speed, else at r a second */
	bool told;		/* the order of jobs knows its length, and may err */
	bool trusted;		/* and it keeps no devices because of its slice */
	bool brief;		/* before its first run it starts as soon as a slice ends */
	double work;		/* until it ends, device-seconds */
	double told_work;	/* the same as the order takes it, where told */
	double error, doubling_error;	/* logarithms, see struct rate_error */
	double service;		/* for the order, where the length is not known */
	double shows_at;	/* with this service the length is known, from then on */
	int group;		/* its siblings; -1: it has none */
	int bin;
	double delay_s;		/* rest of its restart */
	double kept_s, turn_s;	/* it keeps devices until then; or until then, if trusted */
	double settled_s;	/* from then on its run may be suspended for a brief job */
	int least, most, held, gets;
	bool yields;		/* to a brief job, at this moment */
	double key;		/* the least comes first */
	double start_s, end_s;	/* NaN: not yet */
	bool guess;		/* nobody told anything of its length */
	bool rests_on_guess;	/* a job of which that is true ended before it started */
};

/* Jobs of one workload whose length nobody has told. */
struct group {
	int pilot;		/* the player of most service; -1: none is left */
	double length;		/* drawn: the typical service of a job of it at its end */
	int n_ended;		/* in this draw; and the sum of the services they had */
	double ended_device_s;
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
	struct group *groups;
	int *group_of;			/* of each job, -1: it has no siblings */
	int n_groups;
	int *brief;			/* those jobs that are, the shortest first */
	int n_brief;
	/* the players that are here, ordered by key: n_order of them, taken from the first
	 * n_ordered players */
	struct player **order;
	int n, n_ordered, n_order, n_wide;	/* wide: of these, those of two devices at least */
	bool one_ended;			/* since they were ordered */
	/* the players that have devices, and those whose key may have changed since the last
	 * ordering; in the order of players */
	struct player **moved;
	int n_moved;
	int n_guessed;			/* players that ended whose length was a guess */
	double now_s, next_s, gap_s;	/* since now; next: when a job comes */
	int n_came;
};

/* --- ends_lengths.c --- */

/* Sets the groups and brief jobs of all draws. */
void draws_find_siblings(struct draw *d);
/* Draws the lengths of all jobs: makes the first n_jobs players. */
void draw_players(struct draw *d);
/* Draws the length of a job that has had this much service. */
double draw_length(struct draw *d, double service);
/* Counts an ended player among its siblings. */
void draw_count_ended(struct draw *d, const struct player *p);
/* Finds pilots in the place of those that have ended, or whose length is known by now. */
void draw_find_pilots(struct draw *d);
/* Makes a player the pilot of its group if it has had the most service. */
void draw_note_service(struct draw *d, const struct player *p);
/* Sets how long a player keeps devices that was launched then. */
void draw_set_kept(const struct draw *d, struct player *p, double began_s);
int draw_bin_of(const struct lengths *l, double service);

/* --- ends_devices.c --- */

/* True if the order of jobs knows the player's length. */
bool player_shows_length(const struct draw *d, const struct player *p);
/* True if the player's start is a part of its work, which is the service that others had. is_first:
 * it is the start of its first run. */
bool player_counts_start(const struct player *p, bool is_first);
/* True if the player has not ended, and there are devices for it. */
bool player_may_run(const struct player *p);
/* Until when it keeps devices because of its run, since now. */
double player_kept_s(const struct draw *d, const struct player *p);
/* True if the player keeps devices now, whatever the others are worth. */
bool player_is_kept(const struct draw *d, const struct player *p);
/* Orders the players that are here. */
void draw_order(struct draw *d);
/* Gives the devices to the players that are here; those that start stand still for a restart. */
void draw_give(struct draw *d);

#endif
