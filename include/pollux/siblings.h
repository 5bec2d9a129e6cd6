/* siblings.h - what the jobs of a workload that have ended tell of the length of the next one.
 *
 * Work is in any one unit. Lengths of one workload are taken to be lognormal. Of their spread, the
 * logarithms of SIBLINGS_PRIOR jobs with a deviation of SIBLINGS_SPREAD are assumed to be known
 * before, so one job is not trusted too far, and many that were alike are.
 *
 * A job may also be unlike all others, by Laplace's rule of succession with the chance 1 / (n + 2);
 * then half of such jobs last longer than the typical length, a third twice as long, and so on (a
 * log-logistic tail). A job that has outlived its siblings so far that it is more probably unlike
 * them than alike is of unknown length. */
#ifndef POLLUX_SIBLINGS_H
#define POLLUX_SIBLINGS_H

#define SIBLINGS_PRIOR 1
#define SIBLINGS_SPREAD 0.4
/* How far apart, in the logarithm, runs of one script with other arguments are; more than
 * SCHED_TRUSTED_SPREAD. */
#define SIBLINGS_APART 0.6

/* The largest spread at which the typical length is told to people: that of one job alone, and a
 * little more. */
#define SIBLINGS_USUAL 0.6

struct siblings {
	int n;
	/* of the logarithms of their work: the mean, and the sum of squares of what each is off */
	double mean, squares;
	double apart;	/* by which the job may be off all of them, beside: it is of another kind */
};

/* Adds a job that has ended. Work that is not positive and finite tells nothing. */
void siblings_add(struct siblings *s, double work);

/* The standard deviation of the logarithm of the next job's work, as it is predicted; NaN: none has
 * ended. */
double siblings_spread(const struct siblings *s);

/* What remains of a job after it has done some work, as an order of who comes first: the effective
 * length of src/sched/lengths.h, by the distribution of its siblings' lengths. Where these are much
 * alike it is the mean. NaN: none has ended, or the job is more probably unlike them. */
double siblings_remaining(const struct siblings *s, double done);

#endif
