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

/* A line of a counter of unknown meaning (KIND_UNKNOWN) may be of an evaluation between two steps.
 * Lines below the count reached, or with another total, are passed over until the counter continues
 * from there. Three things show that such a fall belongs to the training: two falls in a row from
 * the same count (a counter within epochs); a line with the same words that begins at the first
 * count again (a second training; taken back if the counter then goes on from where it fell); more
 * than this many lines passed over in a row, and more than were taken before. */
#define TRACK_ASIDE_MAX 1000
/* The largest leap of such a counter for which the steps between are timed. */
#define TRACK_LEAP 8

struct track_unknown {
	double seen;			/* the last count, taken or not; NaN: none yet */
	double fell_from;		/* the count before its last fall; NaN: it has not fallen */
	double leap;			/* of the last line taken */
	double first;			/* the first count; NaN: none yet */
	double left_at, left_base;	/* before a fall that may be taken back; NaN: none */
	uint64_t label;			/* of the first line taken */
	int64_t n_taken, n_aside;	/* lines taken, and lines passed over in a row */
};

/* True if the counter begins again in each epoch. */
enum track_within { WITHIN_UNKNOWN, WITHIN_EPOCHS, NOT_WITHIN };

struct track {
	double trials;			/* units of the trainings before this one in the same run */
	double base;			/* units of trials and epochs before this one */
	double step, total;		/* of the last line taken; step NaN: none yet */
	double epoch, first_epoch;	/* NaN: no line has an epoch */
	double epochs;			/* number of epochs; NaN: not printed */
	double expected_epochs;		/* known from elsewhere; NaN */
	double length;			/* units of an epoch, where lines have no total; NaN */
	double former_total, former_position;	/* in the job's run before; NaN */
	int64_t header;			/* the line of the epoch, if it has one of its own */
	enum track_within within;
	struct track_unknown unknown;
	bool repeats;			/* the counter fell back: its total is that of an epoch */
	bool trial_ended;		/* the next line begins another training */
	bool from_0;			/* epochs count from 0, if nothing else is known */
	bool bars_are_of_updates;	/* known from elsewhere */
	bool broken;			/* something else went on since the last step */
	struct track_point anchor, latest, sum;
};

/* epochs: whole epochs before the first line, of total units each. */
void track_init(struct track *t, double epochs, double total);
/* Takes over what was learned of the same counter in the job's run before: how epochs are numbered,
 * and whether the counter begins again in each of them. */
void track_continue(struct track *t, const struct track *before);
/* The program did something else, so that the next step takes longer. */
void track_break(struct track *t);
/* The bar repeats within the units of an outer bar, of which `step` out of `total` are done. */
void track_see_outer(struct track *t, const struct sighting *s, double step, double total);
/* Takes a sighting with a step, and fills in event, except begins. False: the sighting is of
 * something else, and event is unused. */
bool track_add(struct track *t, const struct sighting *s, struct step_event *event);
/* track_time.c: for track_add. Fills in basis, n and unit_s of an event whose position is set. */
void track_set_times(struct track *t, const struct sighting *s, struct step_event *event);

#endif
