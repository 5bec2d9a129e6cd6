/* goodput_limits.h - the limits within which a search chooses, for one place; private to the
 * model. */
#ifndef MODEL_GOODPUT_LIMITS_H
#define MODEL_GOODPUT_LIMITS_H

#include "pollux/goodput.h"

struct goodput_limits {
	int64_t share_min, share_max;	/* samples per replica in all passes */
	int64_t local_min, local_max;	/* samples per replica in one pass */
	int64_t s_max;			/* passes */
};

/* Computes the limits from the model. Returns false if they leave no configuration. */
bool goodput_limits_of(const struct goodput_model *model, struct throughput_place place,
		       struct goodput_limits *limits);
/* True if a single pass of m samples gives no noise estimate: there is one replica, and m exceeds
 * the initial batch size. */
bool goodput_needs_passes(const struct goodput_model *model, struct throughput_place place,
			  int64_t m);

/* The noise scale; 0 if it is unknown. */
double goodput_known_noise(const struct goodput_model *model);

/* The goodput of a local batch of m samples in s passes at a place. */
struct goodput_choice goodput_choice_at(const struct goodput_model *model,
					struct throughput_place place, int64_t m, int64_t s);

#endif
