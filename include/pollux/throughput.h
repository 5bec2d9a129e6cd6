/* throughput.h - models the time of an optimizer update by seven parameters: pollux-goodput(7).
 *
 *	T_grad(m)    = alpha_grad + beta_grad m
 *	T_sync(N, R) = 0					R = 1
 *		     = alpha_sync_local + beta_sync_local (R - 2)	N = 1, R >= 2
 *		     = alpha_sync_node + beta_sync_node (R - 2)	N >= 2
 *		       times the factor of the tier of the devices, exp(ln_tier)	N = 1
 *	T_update     = (T_grad^gamma + T_sync^gamma)^(1/gamma)
 *	T_step       = (s - 1) T_grad + T_update
 *	throughput   = R m s / T_step
 *
 * N nodes hold R >= N replicas. m is the local batch size; it is a double because searches need
 * values between whole numbers. s is the number of forward-backward passes of an update; 1: no
 * accumulation. Source: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized
 * Deep Learning", OSDI 2021, section 3.2; its code counts only the s - 1 extra passes. Pure
 * functions. */
#ifndef POLLUX_THROUGHPUT_H
#define POLLUX_THROUGHPUT_H

#include "pollux/configuration.h"

/* gamma = 1: synchronisation follows computation; 10: the two overlap, so that the longer one
 * decides. */
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
