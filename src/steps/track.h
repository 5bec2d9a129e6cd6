/* track.h - from the sightings of one counter to positions and times; private to src/steps. */
#ifndef POLLUX_STEPS_TRACK_H
#define POLLUX_STEPS_TRACK_H

#include "patterns.h"

/* Lines come in bundles with one time of arrival, which is that of the last line. An interval lies
 * between the last lines of two bundles. It has at least this length, so that the grain of arrivals
 * matters little. */
#define TRACK_INTERVAL_S 0.2

struct track_point {
	double position, time_s;	/* time: of arrival, or a printed sum; NaN: none */
};

/* A counter of unknown meaning (KIND_UNKNOWN) may be that of an evaluation between two steps. Lines
 * below the count that it reached, or with another total, are passed over until it goes on from
 * there. Two falls in a row from the same count make it a counter within epochs. After more than
 * this many lines passed over in a row, and more than were taken before, the counter has begun
 * anew. */
#define TRACK_ASIDE_MAX 1000
/* The largest leap of such a counter for which the steps between are timed. */
#define TRACK_LEAP 8

struct track_unknown {
	double seen;			/* the last count, taken or not; NaN: none yet */
	double fell_from;		/* the count before its last fall; NaN: it has not fallen */
	double leap;			/* of the last line taken */
	int64_t n_taken, n_aside;	/* lines taken, and lines passed over in a row */
};

struct track {
	double base;			/* units of the epochs before this one */
	double step, total, epoch;	/* of the last line taken; step NaN: none yet */
	struct track_unknown unknown;
	bool repeats;			/* the counter fell back: its total is that of an epoch */
	bool bars_are_of_updates;	/* known from elsewhere */
	bool broken;			/* something else went on since the last step */
	struct track_point anchor, latest, sum;
};

/* epochs: whole epochs before the first line, of total units each. */
void track_init(struct track *t, double epochs, double total);
/* Something else went on, so that the next step takes longer. */
void track_break(struct track *t);
/* Takes a sighting with a step, and fills in event, except begins. False: the sighting is of
 * something else, and event is unused. */
bool track_add(struct track *t, const struct sighting *s, struct step_event *event);

#endif
