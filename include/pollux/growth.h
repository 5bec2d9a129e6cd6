/* growth.h - whether a program may run at larger batches than its own: what ends its training, and
 * whether the learning rate of its optimizer can follow.
 *
 * A training that ends after a number of updates takes longer at larger batches, however high its
 * goodput, as goodput counts samples. So its batch grows only where that number can follow the
 * batch: where its command takes it as {steps}. Pure functions. */
#ifndef POLLUX_GROWTH_H
#define POLLUX_GROWTH_H

#include <stdbool.h>

#include "pollux/field.h"

/* What ends a training. */
enum training_end {
	END_UNKNOWN,
	END_STEPS,		/* a number of updates */
	END_SAMPLES,		/* a number of samples */
	END_EPOCHS,		/* a number of passes over the data, or whatever, between two */
	END_METRIC,		/* a metric that is good enough */
	END_TIME,		/* a time */
};
#define N_TRAINING_ENDS (END_TIME + 1)

extern const struct field_names training_end_names;	/* "steps", "epochs", ... */

/* Reads "steps" and the like; END_UNKNOWN for another word. */
enum training_end training_end_parse(const char *word);

/* Optimizers whose learning rates follow the batch by one rule. */
enum optimizer_family {
	OPTIMIZER_UNKNOWN,	/* not reported */
	OPTIMIZER_SGD,
	OPTIMIZER_ADAM,		/* Adam, AdamW, RMSprop and others that divide by a norm */
	OPTIMIZER_OTHER,	/* no rule is known, as for Lion or Muon */
	OPTIMIZER_SEARCH,	/* L-BFGS: the batch must not change at all */
};

/* The family of "FAMILY NAMES" as programs report: "adam AdamW". */
enum optimizer_family optimizer_family_of(const char *report);
/* The names in it: "AdamW". */
const char *optimizer_names_of(const char *report);

/* What is known of a program. Unknown numbers are NaN. */
struct growth_facts {
	enum training_end reported;	/* by the program, which saw its own loops */
	bool passes_steps;		/* its command takes the number of updates: {steps} */
	double declared_samples, declared_steps;
	double total_samples, total_epochs;	/* as reported or printed */
	double total_steps;
	double epoch;
	enum optimizer_family optimizer;
	bool rule_is_given;	/* a person chose the rule for the learning rate */
	bool has_batch;		/* its batch was declared: all replicas share it */
};

/* Why the batch of a job does not grow, if it does not. */
enum growth_veto {
	GROWTH_ALLOWED,
	GROWTH_COUNTS_STEPS,	/* larger batches would make it longer */
	GROWTH_END_UNKNOWN,	/* not known yet what ends it */
	GROWTH_OPTIMIZER,	/* its learning rate cannot follow */
};

enum training_end growth_end(const struct growth_facts *f);
enum growth_veto growth_veto(const struct growth_facts *f);

/* True if more replicas would not end the training sooner: it was seen to count updates, and each
 * replica makes all of them, with a batch of its own. */
bool growth_keeps_replicas(const struct growth_facts *f);

/* The total of updates for a program that has done some, so that the samples of all its updates are
 * `total_steps` batches of its own size: what is left, in updates of the batch of now, rounded up.
 * Unknown numbers done are NaN. */
double growth_steps(double total_steps, double own_batch_size, double batch_size,
		    double steps_done, double samples_done);

#endif
