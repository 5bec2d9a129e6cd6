/* goodput.h - the goodput of a configuration, and the best configuration: pollux-goodput(7), which
 * has the symbols, too. Pure functions. */
#ifndef POLLUX_GOODPUT_H
#define POLLUX_GOODPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/growth.h"
#include "pollux/residuals.h"
#include "pollux/throughput.h"

/* (phi + M0) / (phi + M): the progress by a sample in updates of M samples, relative to updates of
 * M0. In (0, 1] for M >= M0. 1 for an infinite phi. */
double goodput_efficiency(double phi, double initial_batch_size, double batch_size);

/* M / M0 * efficiency: the progress by an update of M samples, counted in updates of M0 (the gain
 * of T. Johnson et al., "AdaScale SGD: A User-Friendly Algorithm for Distributed Training", ICML
 * 2020). */
double goodput_gain(double phi, double initial_batch_size, double batch_size);

/* The rule by which a job scales its learning rate when M is not M0. */
enum lr_rule {
	LR_AUTO,			/* by the family of the optimizer: lr_rule_for() */
	LR_ADASCALE,			/* goodput_gain(): for SGD */
	LR_SQRT_GAIN,			/* its square root: for Adam and similar optimizers */
	LR_SQRT,			/* sqrt(M / M0) */
	LR_LINEAR,			/* M / M0 */
	LR_NONE,
};

/* The factor on the learning rate. With an unknown phi (NaN) adascale takes the smallest possible
 * gain: 1 for M >= M0, and M / M0 for smaller M. */
double goodput_lr_factor(enum lr_rule rule, double phi, double initial_batch_size,
			 double batch_size);

/* The rule that "auto" stands for; another rule is itself. Without a report of the optimizer it is
 * adascale; for optimizers of which no rule is known it is none. */
enum lr_rule lr_rule_for(enum lr_rule rule, enum optimizer_family optimizer);

/* Reads "auto", "adascale", "sqrt-gain", "sqrt", "linear" or "none"; returns false for another
 * word. */
bool lr_rule_parse(enum lr_rule *rule, const char *word);
const char *lr_rule_name(enum lr_rule rule);

struct goodput_model {
	struct throughput_params params;
	const struct residuals *residuals;	/* factors on modelled times; NULL: none */
	double noise_scale;		/* phi, samples; NaN: unknown */
	/* That are legal: batch.size, M0, is at least 1; max_local is by memory or by the user.
	 * Goodput is never best below M0, so that batch.min does not bind. */
	struct batch_range batch;
	/* How far the batch may grow where phi is known (growth.h); 0: no bound. The least
	 * batch that spreads over the replicas is allowed, whatever the bound. */
	int64_t growth_bound;
	bool noise_is_measured;		/* even by one replica in one pass */
};

struct goodput_choice {
	struct configuration configuration;
	double throughput, efficiency, goodput;
};

/* The time of an update, seconds, by the parameters and the residuals. */
double goodput_step_time(const struct goodput_model *model, struct throughput_place place, double m,
			 double s);

/* The goodput of any configuration, within the limits or not. An unknown phi is taken to be 0. */
double goodput_of(const struct goodput_model *model, struct throughput_place place, double m,
		  double s);

/* The goodput of any configuration, within the limits or not, with its factors. */
struct goodput_choice goodput_choice_of(const struct goodput_model *model, struct configuration c);

/* Finds the configuration of greatest goodput at a place by the parameters, without residuals,
 * subject to
 *
 *	M0 <= M <= batch.max, and M <= growth_bound
 *	batch.min_local <= local_batch_size <= batch.max_local
 *	accumulation_steps = 1 unless the job accumulates
 *	accumulation_steps >= 2 if replicas = 1 and M > M0, unless noise_is_measured
 *
 * An unknown phi is taken to be 0. More samples in an update then bring no gain, so M is M0, or the
 * next size that spreads over the replicas. Returns false, with all zero, if no configuration is
 * within the limits. The goodput is exact to 1e-10, as goodput.c shows. */
bool goodput_best(const struct goodput_model *model, struct throughput_place place,
		  struct goodput_choice *choice);

/* Finds a round configuration within 1 % of the goodput of goodput_best(), or else that of
 * goodput_best() itself. Round local batches have three significant binary digits, so there are
 * four to a doubling. Goodput is flat around its maximum: with few sizes, the same ones are
 * measured again and again, on many numbers of devices. With residuals, the best of all round sizes
 * within the limits is taken if it is more than 1 % better. */
bool goodput_best_round(const struct goodput_model *model, struct throughput_place place,
			struct goodput_choice *choice);

#endif
