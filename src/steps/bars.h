/* bars.h - finds the progress bar of the training among a program's bars; private to src/steps.
 *
 * Bars are told apart by total and description. The description counts without digits ("Epoch 3:")
 * and without blanks, which are fewer before "10%" than before " 9%". A bar is taken if its printed
 * times of life add up to more than enough_s (STEPS_BAR_LIFE_S), or if its total is the expected
 * one, or if it was taken in the job's run before. It is given up for a bar that turns out to be
 * the inner of two nested bars. It is given up, too, for a bar that has lived as long since the
 * taken bar was last seen, unless the taken bar moves on beside it: then the other bar is that of
 * an evaluation. */
#ifndef POLLUX_STEPS_BARS_H
#define POLLUX_STEPS_BARS_H

#include "patterns.h"

#define BARS_MAX 8

struct bar {
	uint64_t id;			/* 0: unused */
	double life_s, life_unseen_s;	/* in all; since steps were last seen elsewhere */
	double counted;			/* units, over all repetitions */
	int repeated;			/* how often the bar began again */
	double total;			/* NaN: none */
	int64_t born;			/* order of their first lines */
	bool described;
	bool of_epochs;			/* the description is "epoch", without a number */
	double elapsed_s, step;		/* at its last line */
	double first_arrival_s;		/* NaN: not known */
};

struct bars {
	struct bar items[BARS_MAX];
	uint64_t taken;			/* id; 0: none yet */
	uint64_t last;			/* id of the last line's bar */
	/* ids of the bar that was taken in the run before, and of its outer bar; 0: none */
	uint64_t known, known_outer;
	int64_t n_born;
	double expected_total;		/* NaN */
	double enough_s;
};

void bars_init(struct bars *b);

/* True if a description is not of a training: "Map", "Downloading", "Validating". *pauses: true if
 * the described work holds the training up. */
bool bars_is_other(const struct sighting *s, bool *pauses);

/* True if the description is of an epoch: the bar then counts batches from its first line on. */
bool bars_is_of_epoch(const struct sighting *s);

/* The time at which the taken bar was first seen. */
double bars_taken_since(const struct bars *b);

/* The bar within whose units the taken bar repeats itself, as batches do in epochs; NULL: none. */
const struct bar *bars_outer(const struct bars *b);

/* The job was launched again: forgets all bars, but knows the taken one again. */
void bars_begin_run(struct bars *b);

/* The last bar is that of the training, as another line says: it is taken at once. */
void bars_trust_last(struct bars *b);

/* Steps were seen elsewhere: the bars' lives up to now no longer count. */
void bars_see_other(struct bars *b);

/* Takes a line of a bar. True if the bar is that of the training. *changed: it is since this line.
 * *repeated: how often the bar has begun again. */
bool bars_take(struct bars *b, const struct sighting *s, bool *changed, int *repeated);

#endif
