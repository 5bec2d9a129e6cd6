/* halving.h - which runs of a sweep go on: asynchronous successive halving (ASHA; Li et al. 2020,
 * "A System for Massively Parallel Hyperparameter Tuning", algorithm 2).
 *
 * Rungs are positions in samples. A run that reaches a rung is paused there, and its metric at that
 * position is recorded. Of n runs that reached a rung, the best floor(n / eta) may go on to the
 * next one; a run that went on counts among these n as before. The decision is made anew whenever a
 * device is free, on what is known by then.
 *
 * At the end, the paper's rule may leave a small sweep without any run that is complete: the third
 * of two runs is none. So where none can go on otherwise, the best paused run at the highest rung
 * goes on unless a complete run was at least as good there. A run that ran to its end beside the
 * rungs, because it never reported the metric, beats nobody.
 *
 * A value that is not finite is worse than every number (text.h), and a run with such a value at
 * its rung never goes on. If all runs diverge at a rung, the sweep is over. The first value at or
 * beyond a rung counts, whatever the run reports later. */
#ifndef POLLUX_HALVING_H
#define POLLUX_HALVING_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/text.h"

#define HALVING_RUNGS_MAX 16
#define HALVING_METRIC_SIZE 64

struct halving {
	char metric[HALVING_METRIC_SIZE];
	/* low_is_best means something only where it was said, or the caller has set it */
	bool low_is_best, says_way;
	double eta;			/* one of so many goes on; above 1 */
	double rungs[HALVING_RUNGS_MAX];	/* in samples, ascending */
	int n_rungs;
};

/* "METRIC[:min|max][,eta=X][,rungs=A/B/C or ,first=N]". Without rungs they are computed from the
 * samples that a run has to its end (NaN: not known): first=N gives N, N * eta, N * eta^2, ...
 * below the end; nothing gives three rungs, the last at an eta-th of the end. -1: EX_USAGE. */
int halving_parse(const char *text, double total_samples, struct halving *h, struct err *err);
/* Writes the text from which halving_parse makes *h, whatever the end of the run. */
void halving_format(const struct halving *h, struct text *out);

enum halving_state {
	HALVING_GOING,		/* it runs, or waits for devices: it will reach its next rung */
	HALVING_PAUSED,		/* it waits at the rung that it reached */
	HALVING_DONE,		/* it ran to its end */
	HALVING_OUT,		/* it failed, was cancelled or is held: it goes nowhere by itself */
};

struct halving_run {
	int64_t id;
	enum halving_state state;
	int rung;			/* the last one that it reached, from 1; 0: none */
	double values[HALVING_RUNGS_MAX];	/* at rungs 1 to rung; text.h */
	bool diverged;			/* the last value of its metric is not finite */
	/* Results, of a paused run: */
	int rank, of;			/* its place, from 1, among runs that reached its rung */
	bool goes_on;
	/* By place among the runs that go on, from 1: those at higher rungs first; 0: none of
	 * them. */
	int turn;
};

/* Returns true if the sweep is over: every run has ended or stays where it is paused. */
bool halving_decide(const struct halving *h, struct halving_run *runs, int n);

#endif
