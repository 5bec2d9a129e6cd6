/* recorder_tier.c - step times count for one tier of devices. */
#include "recorder.h"

/* Step times on devices that are joined otherwise are others: a suspended run may have come back
 * to such devices. */
int recorder_see_tier(struct recorder *r, struct store *store, const struct run *run,
		      struct err *err)
{
	bool changed = r->tier_is_known && r->tier != run->configuration.tier;
	struct observation earlier;

	observation_init(&earlier);
	if (changed && store_observation_get(store, run, &earlier, err))
		return -1;
	r->tier = run->configuration.tier;
	r->tier_is_known = true;
	if (!changed)
		return 0;
	r->tiers_differ = true;
	step_stats_init(&r->stats);
	r->last_step = -1;
	r->earlier = earlier;
	return 0;
}
