/* goodput_limits.h - what a search of configurations may choose from, for one place; private to the model. */
#ifndef MODEL_GOODPUT_LIMITS_H
#define MODEL_GOODPUT_LIMITS_H

#include "pollux/goodput.h"

struct goodput_limits {
	int64_t share_min, share_max;	/* of samples for each replica, in all passes */
	int64_t local_min, local_max;	/* in one */
	int64_t s_max;			/* passes */
};

/* Made definite; false where they leave nothing. */
bool goodput_limits_of(const struct goodput_model *model, struct throughput_place place,
		       struct goodput_limits *limits);
/* Whether the noise would not be seen with one pass of so many: one replica, above the initial batch size. */
bool goodput_needs_passes(const struct goodput_model *model, struct throughput_place place, int64_t m);

/* What a local batch of m in s passes is worth on a place. */
struct goodput_choice goodput_choice_at(const struct goodput_model *model,
					struct throughput_place place, int64_t m, int64_t s);

#endif
