/* store_locality.h - how long jobs waited for devices of a tier, of the last TIER_WAITS_KEPT_S, and
 * who waits for such devices now. */
#ifndef POLLUX_STORE_LOCALITY_H
#define POLLUX_STORE_LOCALITY_H

#include "pollux/configuration.h"
#include "pollux/store.h"
#include "pollux/tier_wait.h"

/* The caller frees *list. Tiers are distances, as in tier_wait.h. */
int store_locality_list(struct store *s, struct tier_past **list, int *n, struct err *err);
/* Adds a wait, and removes those that are too old. */
int store_locality_add(struct store *s, const struct tier_past *wait, struct err *err);
/* Since when the job waits for devices of a better tier, and until when; NaN, NaN: it does not. */
int store_job_set_tier_wait(struct store *s, int64_t id, double since_s, double until_s,
			    struct err *err);

#endif
