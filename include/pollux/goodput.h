/* goodput.h - what a configuration is worth, and the best one: pollux-goodput(7).
 *
 *	goodput = throughput * efficiency	samples per second, at the worth of a sample at M0
 *
 * M = replicas * local_batch_size * accumulation_steps samples are in an update; the user tuned the
 * job for M0. Source: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep
 * Learning", OSDI 2021, section 3. Pure functions. */
#ifndef POLLUX_GOODPUT_H
#define POLLUX_GOODPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/residuals.h"
#include "pollux/throughput.h"

/* (phi + M0) / (phi + M): the progress that a sample brings in updates of M, relative to updates of M0;
 * in (0, 1] for M >= M0. An infinite phi gives 1. */
double goodput_efficiency(double phi, double initial_batch_size, double batch_size);

/* M / M0 * efficiency: the progress of an update of M, in updates of M0 (the gain of T. Johnson et al.,
 * "AdaScale SGD: A User-Friendly Algorithm for Distributed Training", ICML 2020). */
double goodput_gain(double phi, double initial_batch_size, double batch_size);

/* How a job changes its learning rate when M is not M0. */
enum lr_rule {
	LR_ADASCALE,			/* the gain */
	LR_SQRT,			/* sqrt(M / M0): for Adam and its kin */
	LR_LINEAR,			/* M / M0 */
	LR_NONE,
};

/* The factor on the learning rate. For adascale an unknown phi (NaN) is where the gain is least:
 * factor 1 for M >= M0, M / M0 below. */
double goodput_lr_factor(enum lr_rule rule, double phi, double initial_batch_size, double batch_size);

/* "adascale", "sqrt", "linear", "none"; false for another word. */
bool lr_rule_parse(enum lr_rule *rule, const char *word);
const char *lr_rule_name(enum lr_rule rule);

struct goodput_model {
	struct throughput_params params;
	const struct residuals *residuals;	/* NULL: none; what they say is on top of the parameters */
	double noise_scale;		/* phi, samples; NaN: unknown */
	int64_t initial_batch_size;	/* M0, at least 1 */
	int64_t max_batch_size;		/* 0: M0 */
	int64_t min_local_batch_size;	/* 0: 1 */
	int64_t max_local_batch_size;	/* memory, or the user; 0: no limit */
	bool accumulates;		/* the job can do more than one pass for an update */
	bool noise_is_measured;		/* even with one replica and one pass */
};

struct goodput_choice {
	struct configuration configuration;
	double throughput, efficiency, goodput;
};

/* Seconds of an update, by the parameters and the residuals. */
double goodput_step_time(const struct goodput_model *model, struct throughput_place place, double m, double s);

/* The goodput of any one configuration, limits or not; with phi unknown as goodput_best takes it. */
double goodput_of(const struct goodput_model *model, struct throughput_place place, double m, double s);

/* Any one configuration, limits or not, with what its goodput is made of. */
struct goodput_choice goodput_choice_of(const struct goodput_model *model, struct configuration c);

/* The configuration of most goodput on so many nodes and replicas by the parameters, exactly, under
 *
 *	M0 <= M <= max_batch_size
 *	min_local_batch_size <= local_batch_size <= max_local_batch_size
 *	accumulation_steps = 1 unless the job accumulates
 *	accumulation_steps >= 2 where replicas = 1 and M > M0, unless the noise is measured otherwise
 *
 * An unknown phi is taken to be 0: more samples in an update then bring nothing, and M is M0 or, where
 * that does not spread over the replicas, the next that does. False, with all zero, where no
 * configuration is within the limits. Exact to 1e-10 of the goodput; see the source for why. */
bool goodput_best(const struct goodput_model *model, struct throughput_place place,
		  struct goodput_choice *choice);

/* Likewise within 1 %, if that makes the local batch a number of three binary digits, four of which are to
 * a doubling. Goodput is flat where it is greatest: such sizes are measured again and again instead of a
 * new one each time, and devices like them. With residuals, the best of all such sizes under the same
 * limits, where it is more than 1 % better. */
bool goodput_best_round(const struct goodput_model *model, struct throughput_place place,
			struct goodput_choice *choice);

#endif
