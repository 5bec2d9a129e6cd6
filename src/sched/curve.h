/* curve.h - a job as the policies by goodput see it: what it may be given, what it gains from it,
 * and its other figures with those that are unknown or cannot be right replaced.
 *
 * Which numbers may be given. On one node any. On several, those that can be placed together
 * whatever the others have: powers of two that divide a node, a node, and whole nodes (the
 * configurations of Jayaram Subramanya et al., "Sia", SOSP 2023). Each of these divides the next, so
 * that placing the largest first leaves no gaps: any choice of them with a sum of at most n_devices
 * fits, one node being smaller than the others where n_devices is no multiple. What a job holds it
 * may keep, as that is placed. */
#ifndef SCHED_CURVE_H
#define SCHED_CURVE_H

#include "pollux/policy.h"

#define CURVE_SETTLE_RESTARTS 2
#define CURVE_SETTLE_SLICES 0.1
/* What a job has its devices for is work for two thirds at least: with a restart as long as a slice of the
 * configured length it would come and go without any. */
#define CURVE_SLICE_RESTARTS 3

struct curve {
	const struct sched_job *job;
	int least;		/* the smallest number it may be started on; 0: none here */
	int held;		/* devices it has; 0: it waits */
	/* In devices: of[r], r = 0..n_devices, is goodput[r] in units of what one device adds at
	 * the least, so that of[least] = least. NaN: not to be given r. Where goodput is not known
	 * only of[min_replicas] and of[held] are there, and r devices count as r. */
	double *of;
	double unit;		/* goodput of one such device, samples/s; NaN: not known */
	double now;		/* as of[held], at the configuration it runs at */
	double weight;		/* 1 where it is not positive and finite */
	/* slice_s / 20 where it is not known: 30 s, as published, at the default slice of 10 min. */
	double restart_s;
	double slice_s;		/* its own: the configured one, or CURVE_SLICE_RESTARTS restarts */
	double remaining_device_s;	/* on the least number of devices, of one sample at
					   least; NaN: not known */
	double ends_in_s;	/* as it runs; NaN: not known, or it waits */
	bool in_slice;		/* it runs, and was launched less than its slice ago */
	/* It runs, and has for CURVE_SETTLE_RESTARTS restarts and CURVE_SETTLE_SLICES slices. Until then it
	 * is left as it is, or each of passes close to each other would relaunch it for what it has seen of it
	 * so far. */
	bool settled;
};

struct curves {
	const struct sched_input *in;
	int n_devices;
	double slice_s;		/* 600 s where the input's is not positive and finite */
	struct curve *items;	/* n_jobs of them, in the order of their ids */
	double *values;		/* theirs */
};

struct curves curves_of(const struct sched_input *in);
void curves_release(struct curves *curves);

/* Whether a policy may start a job on r devices of the machine, wanted or not. */
bool curve_placeable(const struct sched_input *in, int r);

/* The end of its slice: of the run that it has, or of one that starts now. */
double curve_slice_end_s(const struct curves *curves, const struct curve *c, bool starts_now);

/* The next larger number that it may be given; 0: none. */
int curve_next(const struct curves *curves, const struct curve *c, int r);

#endif
