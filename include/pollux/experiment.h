/* experiment.h - chooses the configuration to measure next, so that few measurements determine the
 * model of step times.
 *
 * In this order:
 *
 * 1. The job's own configuration on the fewest devices.
 * 2. The largest local batch on the fewest devices. It is searched by doubling the largest batch
 *    that worked, until memory, time or the limits end it. After a batch ran out of memory, the
 *    geometric mean of the largest that worked and the smallest that did not is tried, until their
 *    ratio is at most EXPERIMENT_MEMORY_RATIO. This step ends when growth_left_s is used up.
 * 3. The point with the most information per second. With theta the parameters of the model
 *    (throughput.h), and
 *
 *	J(c)   = d ln T_step(c) / d ln theta		(and of ln T_grad, if it is timed)
 *	sigma  = FIT_MODEL_ERROR			error of the model itself, in ln T
 *	A      = prior + sum over points of weight J J' / sigma^2
 *	V(g)   = J(g)' inverse(A) J(g)			variance of the prediction for g
 *
 *    the point is the one that most reduces the mean of V(g) over the grid of configurations that
 *    the job may be given, per second of expected time (I-optimality: V. V. Fedorov, "Theory of
 *    Optimal Experiments", 1972). The prior is a standard deviation of 1 for each logarithm, and
 *    1/2 for that of gamma. A parameter that no observation determines gets a guess large enough
 *    for a measurement to show it: a synchronisation takes a fifth of a pass, and a tenth more for
 *    each further replica.
 *
 * No point lies outside of the limits. Only step 2 exceeds the largest local batch that worked.
 * Pure functions. */
#ifndef POLLUX_EXPERIMENT_H
#define POLLUX_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/fit.h"

#define EXPERIMENT_MEMORY_RATIO 1.12
#define EXPERIMENT_MEASURE_S 2.5	/* the least time for which steps are watched */
#define EXPERIMENT_PROBE_STEPS 5	/* enough to show that a batch fits into memory */

/* The configurations that the job may be given. */
struct experiment_limits {
	int min_replicas, max_replicas;			/* on one node */
	struct batch_range batch;			/* without M0 there is one point */
	/* Replicas share one memory, as on CPU slots: the sum of their local batches counts. */
	bool shares_memory;
};

struct experiment {
	struct experiment_limits limits;
	/* Tried now or earlier: configuration and outcome; weight and sync_time_s if measured. */
	const struct observation *points;
	int n_points;
	struct fit_result fit;			/* to the points that were measured */
	/* expected: launch to first step, and stop to exit */
	double launch_s;
	double share_s;				/* the most time for one point */
	double left_s;				/* for all further points */
	double growth_left_s;			/* the part of left_s that growth may use */
	/* True if this profile has not tried a point yet. The job's own sizes may then be measured
	 * again where they give most information. They are also measured again if nothing else is
	 * left to try and they are known to fit, since earlier results may be out of date. */
	bool again;
};

enum experiment_why { EXPERIMENT_OWN, EXPERIMENT_GROW, EXPERIMENT_BISECT, EXPERIMENT_INFORM };

struct experiment_choice {
	struct configuration configuration;
	enum experiment_why why;
	bool probe;			/* run it only until it is known to fit */
	double expected_s;
};

/* Returns false if nothing is left to try, or no time. */
bool experiment_next(const struct experiment *e, struct experiment_choice *choice);

/* "own sizes", "growth", "bisection" or "tells most". */
const char *experiment_why_name(enum experiment_why why);

/* The grid of step 3. Each local batch is ratio times the one before, and at most local_max. The
 * numbers of devices are all up to 8, then powers of two, and the greatest. The grid has at most
 * EXPERIMENT_GRID_MAX configurations. */
#define EXPERIMENT_GRID_MAX 1024
struct experiment_grid {
	struct configuration *items;	/* owned; free(3) */
	int count;
};
struct experiment_grid experiment_grid_make(const struct experiment_limits *limits,
					    int64_t local_max, double ratio);

#endif
