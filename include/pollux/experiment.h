/* experiment.h - which configuration to measure next, so that a model of step times is soon known well.
 *
 *	struct experiment e = { .limits = ..., .points = tried, .n_points = n, .fit = fit,
 *				.launch_s = 1.2, .left_s = 40, .growth_left_s = 20, .share_s = 5 };
 *	struct experiment_choice c;
 *	while (experiment_next(&e, &c)) { ... run c.configuration, append what came of it, refit ... }
 *
 * In this order:
 *
 * 1. The job's own configuration on the fewest devices.
 * 2. The largest local batch, on the fewest devices: twice the largest that worked, until memory or time says
 *    no or the limits end. When memory has said no, the geometric mean of what worked and what did not, until
 *    they are within EXPERIMENT_MEMORY_RATIO. Only while growth_left_s lasts.
 * 3. The point that tells most for its time. With theta the parameters of the model (throughput.h), and
 *
 *	J(c)   = d ln T_step(c) / d ln theta		(and of ln T_grad, where synchronisation is timed)
 *	sigma  = FIT_MODEL_ERROR			errors of the model itself, in ln T
 *	A      = prior + sum over points of weight J J' / sigma^2
 *	V(g)   = J(g)' inverse(A) J(g)			the variance of what is predicted for g
 *
 *    it is the one with the greatest reduction of the mean of V(g) over the grid of configurations that the
 *    job may be given, per second of expected time (I-optimality: V. V. Fedorov, "Theory of Optimal
 *    Experiments", 1972). The prior is a standard deviation of 1 for each logarithm, 1/2 for that of gamma.
 *    What no observation determines is taken to be such that an attempt would show it: a synchronisation of a
 *    fifth of a pass, a tenth more of that for each further replica.
 *
 * No point lies outside of the limits, nor above the largest local batch that worked but for growth. Pure
 * functions. */
#ifndef POLLUX_EXPERIMENT_H
#define POLLUX_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/fit.h"

#define EXPERIMENT_MEMORY_RATIO 1.12
#define EXPERIMENT_MEASURE_S 2.5	/* steps are watched at least so long */
#define EXPERIMENT_PROBE_STEPS 5	/* these tell whether a batch fits */

/* What the job may be given. */
struct experiment_limits {
	int min_replicas, max_replicas;			/* on one node */
	int64_t batch_size;				/* M0; 0: none declared, there is one point */
	int64_t min_batch_size, max_batch_size;		/* 0: just M0 */
	int64_t max_local_batch_size;			/* 0: none */
	bool accumulates;
	bool shares_memory;				/* replicas have one memory, as on CPU slots: their
							   local batches count together */
};

enum experiment_outcome {
	EXPERIMENT_MEASURED,
	EXPERIMENT_NO_MEMORY,
	EXPERIMENT_FAILED,		/* for another reason, or ended by itself before it could be timed */
	EXPERIMENT_TOO_SLOW,		/* not a step, or too few, in the time it was given */
};

struct experiment_point {
	struct configuration configuration;
	enum experiment_outcome outcome;
	double weight;			/* fit_weight(), where it was measured */
	bool sync_known;
};

struct experiment {
	struct experiment_limits limits;
	const struct experiment_point *points;	/* tried, now or before */
	int n_points;
	struct fit_result fit;			/* of those that were measured */
	double launch_s;			/* expected: launch to first step, and stop to exit */
	double share_s;				/* that a point may take */
	double left_s, growth_left_s;		/* for all further points, and of that for growth */
	bool again;				/* nothing was tried yet: its own sizes are the first, measured before
						   or not, where they tell most. Rather than nothing they are
						   measured again, if they are known to fit: what earlier ones found
						   may not be so any more */
};

enum experiment_why { EXPERIMENT_OWN, EXPERIMENT_GROW, EXPERIMENT_BISECT, EXPERIMENT_INFORM };

struct experiment_choice {
	struct configuration configuration;
	enum experiment_why why;
	bool probe;			/* it is enough to see that it fits */
	double expected_s;
	double deviation;		/* root of the mean of V before it; NaN but for EXPERIMENT_INFORM */
};

/* False: nothing is left to be tried, or no time. */
bool experiment_next(const struct experiment *e, struct experiment_choice *choice);

/* "own sizes", "growth", "bisection", "tells most". */
const char *experiment_why_name(enum experiment_why why);

/* The configurations of step 3: local batches from the smallest to the largest, each so many times the one
 * before, on all numbers of devices up to 8, powers of two above, and the most. Local batches at most local_max;
 * at most EXPERIMENT_GRID_MAX configurations. */
#define EXPERIMENT_GRID_MAX 1024
struct experiment_grid {
	struct configuration *items;	/* owned; free(3) */
	int count;
};
struct experiment_grid experiment_grid_make(const struct experiment_limits *limits, int64_t local_max,
					    double ratio);

#endif
