/* throughput.h - models the time of an optimizer update by seven parameters: pollux-goodput(7) has
 * the formulas and their symbols. m is a double because searches need values between whole
 * numbers. Source: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep
 * Learning", OSDI 2021, section 3.2. Pure functions. */
#ifndef POLLUX_THROUGHPUT_H
#define POLLUX_THROUGHPUT_H

#include "pollux/configuration.h"

#define THROUGHPUT_TIME_MIN_S 1e-8
#define THROUGHPUT_GAMMA_MIN 1.0
#define THROUGHPUT_GAMMA_MAX 10.0

/* First seven doubles in the order of enum throughput_param, so that they can be copied to and from
 * arrays. */
struct throughput_params {
	double alpha_grad, beta_grad;			/* s, s per sample */
	double alpha_sync_local, beta_sync_local;	/* replicas on one node: s, s per replica */
	double alpha_sync_node, beta_sync_node;		/* replicas on several: s, s per replica */
	double gamma;
	/* By tier (configuration.h): ln of the factor on T_sync of one node; 0: none. Tier 0, which
	 * is not known, has none. */
	double ln_tier[CONFIGURATION_TIERS];
};

enum throughput_param {
	ALPHA_GRAD,
	BETA_GRAD,
	ALPHA_SYNC_LOCAL,
	BETA_SYNC_LOCAL,
	ALPHA_SYNC_NODE,
	BETA_SYNC_NODE,
	GAMMA,
	N_THROUGHPUT_PARAMS
};

/* Multiplies all times, as on devices of another speed. */
void throughput_scale(struct throughput_params *p, double factor);
/* Seconds of one forward-backward pass, of the synchronisation, of the last pass with the
 * synchronisation, and of a whole update. */
double throughput_grad_time(const struct throughput_params *p, double m);
double throughput_sync_time(const struct throughput_params *p, struct throughput_place place);
double throughput_update_time(const struct throughput_params *p, struct throughput_place place,
			      double m);
double throughput_step_time(const struct throughput_params *p, struct throughput_place place,
			    double m, double s);

/* The time of an update in a configuration, seconds. */
double throughput_time_of(const struct throughput_params *p, const struct configuration *c);

/* Returns the step time, and fills its partial derivatives by the parameters and by the local batch
 * size. The derivatives are exact unless T_grad and T_sync are both 0. */
struct throughput_slope {
	double by_param[N_THROUGHPUT_PARAMS];
	double by_m;
};
double throughput_step_slope(const struct throughput_params *p, struct throughput_place place,
			     double m, double s, struct throughput_slope *slope);

#endif
