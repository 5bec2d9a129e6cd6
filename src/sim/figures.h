/* figures.h - the figures of a simulation. */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include "pollux/simulate.h"

/* The q-quantile of n values, which are sorted; linear between ranks, as in numpy. NaN if n is
 * 0. */
double quantile(double *values, int n, double q);

/* Fills the figures of jobs and rounds: all but measured times. */
void figures_of_jobs(struct sim_result *result);

#endif
