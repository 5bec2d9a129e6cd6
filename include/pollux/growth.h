/* growth.h - whether a program may run at larger batches than its own: what ends its training, and
 * whether the learning rate of its optimizer can follow.
 *
 * A training that ends after a number of updates takes longer at larger batches, however high its
 * goodput, as goodput counts samples. So its batch grows only where that number can follow the
 * batch: where its command takes it as {steps}. Pure functions. */
#ifndef POLLUX_GROWTH_H
#define POLLUX_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/field.h"
#include "pollux/noise_scale.h"

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

/* ---- how far and how fast ---- */

/* How far and how fast the batch of a job may grow: pollux-goodput(7), The growth of batches. The
 * judgement is made after each window, and the first answer stands. So the same windows give the
 * same answer, and nothing else has to be remembered. Pure functions, constant memory. */

#define GROWTH_STEP 2			/* of the batch that was judged last */
#define GROWTH_BEHIND 3.0		/* standard errors above what was promised */
/* As promised: at most so many standard errors above it, after at least so many losses over at
 * least this part of the position. */
#define GROWTH_TOLERANCE 0.5
#define GROWTH_LOSSES 100
#define GROWTH_STRETCH 0.05
#define GROWTH_AGAIN 2.0		/* the position at which what fell behind is tried again */
#define GROWTH_LAST 0.8			/* of a known total: no growth after it */
#define DEFAULT_MIN_EFFICIENCY 0.8

enum growth_verdict {
	GROWTH_UNSEEN,			/* the job has reported nothing */
	GROWTH_OPEN,			/* too few losses to judge the batch by */
	GROWTH_AS_PROMISED,		/* or it is no larger than one that was */
	GROWTH_FELL_BEHIND,
};

struct growth {
	enum growth_verdict verdict;	/* on batch_size */
	bool has_loss;			/* else batches are judged by their gradients alone */
	int64_t batch_size;		/* the newest one; 0: none was seen */
	int64_t judged;			/* the largest so far; at least the submitted one */
	/* What fell behind is not tried before this position; 0: nothing fell behind. */
	double again_samples;
	/* Of the loss of the newest judgement, and of what was promised; NaN: no judgement. */
	double loss, promised, error;
};

/* Judges the batches of a job by its windows, which are in the order of its training. */
struct growth growth_judge(const struct noise_window *windows, int n, int64_t job_id,
			   int64_t initial_batch_size, double min_efficiency);

/* The largest batch of which a sample is worth min_efficiency (0: anything) of one in the initial
 * batch, at this noise scale; at least the initial batch, which it is where the noise scale is
 * unknown (NaN). */
int64_t growth_efficient(double noise_scale, int64_t initial_batch_size, double min_efficiency);

struct growth_bound {
	int64_t initial_batch_size, batch_size;	/* M0, and the present one; 0: not running */
	double noise_low;		/* the low end of the interval; NaN: unknown */
	double min_efficiency;
	double samples, total_samples;	/* position, and where the training ends; NaN: unknown */
};

/* Adds how the newest batch did, and the largest one that the job may have: "at most 128 now; batch
 * 64: loss 0.312, 0.314 +- 0.006 promised". */
void growth_print(const struct growth *g, int64_t initial_batch_size, int64_t most,
		  struct text *out);

/* The largest batch that the job may have now. */
int64_t growth_most(const struct growth *g, const struct growth_bound *b);

#endif
