/* plan_speed.h - the time of an iteration under an execution plan: the published model of Rubick
 * (X. Zhang et al., "Rubick: Exploiting Job Reconfigurability for Deep Learning Cluster
 * Scheduling", MLSys 2025, and its artifact), and its fit.
 *
 *	struct plan_speed_params params;
 *	plan_speed_fit(rows, n, links, &params);
 *	ms = plan_speed(&params, links, &point).iteration_ms;
 *
 * Times are milliseconds, bandwidths MiB a millisecond. n GPUs share the batch; P is the number of
 * parameters in units of 2^20; f is the time of the forward pass:
 *
 *	bwd = k_bwd f,  dp = 8 P (n - 1) / n / bandwidth
 *	sync = (dp^k_sync + bwd^k_sync)^(1 / k_sync)		+ k_off + off, with offload
 *	swap = opt + k_swap					+ off, with offload
 *	opt = k_opt P | k_opt P / n (sharded) | k_os P / (n threads) (offload)
 *	off = 4 P / n / pcie
 *	iteration = forwards f + sync + swap + k_const */
#ifndef POLLUX_PLAN_SPEED_H
#define POLLUX_PLAN_SPEED_H

/* Where the state of the optimizer is. */
enum plan_optimizer {
	PLAN_REPLICATED, PLAN_OFFLOADED, PLAN_SHARDED	/* numbered as in the artifact's files */
};

struct plan_speed_params {
	double k_bwd, k_sync, k_opt, k_os, k_const, k_off, k_swap;
};
#define N_PLAN_SPEED_PARAMS 7

struct plan_speed_links {
	double pcie, between_gpus;
};

struct plan_speed_point {
	int gpus;
	double parameters_mi;
	double cpu_threads;		/* of each GPU */
	double forward_ms;
	double forwards;		/* 1; 2 where activations are computed again */
	enum plan_optimizer optimizer;
};

struct plan_speed_times {
	double sync_ms, swap_ms, iteration_ms;
};

/* What was measured at a point. */
struct plan_speed_row {
	struct plan_speed_point point;
	struct plan_speed_times times;
};

struct plan_speed_times plan_speed(const struct plan_speed_params *params,
				   struct plan_speed_links links,
				   const struct plan_speed_point *point);

/* The sum of the root mean squares of the differences of the logarithms of the three times. slope,
 * by the parameters in their order, may be NULL. */
double plan_speed_error(const struct plan_speed_params *params, struct plan_speed_links links,
			const struct plan_speed_row *rows, int n, double *slope);

/* Finds parameters with the least error within the published bounds. All times are above 0, and n
 * is at least 1. Returns the error. */
double plan_speed_fit(const struct plan_speed_row *rows, int n, struct plan_speed_links links,
		      struct plan_speed_params *params);

#endif
