/* figures.h - what a simulation comes to. */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include "pollux/simulate.h"

/* The q-quantile of n values, which it sorts: between ranks linear, as numpy has it; NaN of none. */
double quantile(double *values, int n, double q);

/* Fills the figures of jobs and rounds: all but gpu_hours and those that are measured. */
void figures_of_jobs(struct sim_result *result);

#endif
