/* bars.h - which of a program's progress bars is the one of its training; private to src/steps.
 *
 * Bars are told apart by total and description (without its digits: "Epoch 3:", and without its blanks, which
 * are fewer before "10%" than before " 9%"). One whose printed times of life add up to more than enough_s
 * (STEPS_BAR_LIFE_S), or whose total is the one expected, is taken. It is given up for another that has lived
 * so long since it was last seen, or that turns out to be the inner one of two that are nested. */
#ifndef POLLUX_STEPS_BARS_H
#define POLLUX_STEPS_BARS_H

#include "patterns.h"

#define BARS_MAX 8

struct bar {
	uint64_t id;			/* 0: unused */
	double life_s, life_unseen_s;	/* all; since steps were last seen elsewhere */
	double counted;			/* units, over all repetitions */
	int repeated;			/* how often it began again */
	double elapsed_s, step;		/* at its last line */
	double first_arrival_s;		/* NaN: not known */
};

struct bars {
	struct bar items[BARS_MAX];
	uint64_t taken;			/* id; 0: none yet */
	double expected_total;		/* NaN */
	double enough_s;
};

void bars_init(struct bars *b);

/* Whether a description is of no training: "Map", "Downloading", "Validating". *pauses: and of
 * something that holds the training up. */
bool bars_is_other(const struct sighting *s, bool *pauses);

/* Described as of an epoch: it counts batches, from its first line on. */
bool bars_is_of_epoch(const struct sighting *s);

/* When the one that is taken was first seen. */
double bars_taken_since(const struct bars *b);

/* The steps were seen elsewhere: what bars have lived up to now does not speak for them. */
void bars_see_other(struct bars *b);

/* A line of a bar: whether it is the one of the training. *changed: since this line, and *repeated says how
 * often it had begun again by then. */
bool bars_take(struct bars *b, const struct sighting *s, bool *changed, int *repeated);

#endif
