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

struct track {
	double base;			/* units of the epochs before this one */
	double step, total, epoch;	/* as said last; step NaN: nothing yet */
	bool repeats;			/* the counter fell back: its total is that of an epoch */
	bool broken;			/* something else went on since the last step */
	struct track_point anchor, latest, sum;
};

/* epochs: whole ones that went by before, of total units each. */
void track_init(struct track *t, double epochs, double total);
/* The next step takes longer. */
void track_break(struct track *t);
/* A sighting with a step; event is filled but for begins. */
void track_add(struct track *t, const struct sighting *s, struct step_event *event);

#endif
