/* track.h - from the sightings of one counter to positions and times; private to src/steps. */
#ifndef POLLUX_STEPS_TRACK_H
#define POLLUX_STEPS_TRACK_H

#include "patterns.h"

/* Lines come in bundles of one arrival, of which only the last line arrived then: an interval lies between
 * the last lines of two bundles, and is this long at least, so that the grain of arrivals matters little. */
#define TRACK_INTERVAL_S 0.2

struct track_point {
	double position, time_s;	/* time: of arrival, or the sum that is printed; NaN: none */
};

/* A counter of nobody knows what (KIND_UNKNOWN) may be that of an evaluation in between. Lines below what it
 * reached, or of another total, are passed over until it goes on from there; two falls in a row from the
 * same count make it one of epochs. Where more than this many in a row, and more than were taken before, had to
 * be passed over, the counter has begun anew. */
#define TRACK_ASIDE_MAX 1000
/* How far such a counter may leap, in its last leaps, for the steps between to be timed. */
#define TRACK_LEAP 8

struct track_unknown {
	double seen;			/* as said last, taken or not; NaN: nothing yet */
	double fell_from;		/* at its last fall; NaN: it has not fallen */
	double leap;			/* of the last line taken */
	int64_t n_taken, n_aside;	/* lines; aside: in a row */
};

struct track {
	double base;			/* units of the epochs before this one */
	double step, total, epoch;	/* as taken last; step NaN: nothing yet */
	struct track_unknown unknown;
	bool repeats;			/* the counter fell back: its total is that of an epoch */
	bool bars_are_of_updates;	/* known from elsewhere */
	bool broken;			/* something else went on since the last step */
	struct track_point anchor, latest, sum;
};

/* epochs: whole ones that went by before, of total units each. */
void track_init(struct track *t, double epochs, double total);
/* The next step takes longer. */
void track_break(struct track *t);
/* A sighting with a step; event is filled but for begins. False: it is of something else, and event unused. */
bool track_add(struct track *t, const struct sighting *s, struct step_event *event);

#endif
