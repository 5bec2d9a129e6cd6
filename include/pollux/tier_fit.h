/* tier_fit.h - how much longer replicas synchronise on devices that are joined worse:
 * pollux-goodput(7).
 *
 *	double prior[CONFIGURATION_TIERS];
 *	tier_prior(&measured, bytes, prior);
 *	struct fit_result fit = fit_by_tier(seen, n, &options, prior);
 *
 * The seven parameters are fitted to the observations of one device and of the best tier that was
 * seen, the base. For each worse tier t that was seen, T_sync has one factor kappa_t >= 1. The
 * factor is the most probable one, where ln kappa_t is normal around its prior with the standard
 * deviation TIER_SPREAD, and the logarithm of a measured time around that of the modelled time with
 * FIT_MODEL_ERROR. A tier that was not seen has its prior: above 1 where the tier is worse than the
 * base, below 1 where it is better. If nothing was measured on several devices, all factors are 1.
 *
 * The prior is the time of an exchange between two devices of the tier over that between two of the
 * base, from 'pollux profile --devices'; else TIER_PRIOR for each step from one tier to the next.
 * Pure functions. */
#ifndef POLLUX_TIER_FIT_H
#define POLLUX_TIER_FIT_H

#include "pollux/device_measurement.h"
#include "pollux/fit.h"

#define TIER_PRIOR 1.5
#define TIER_SPREAD 0.5

/* The best tier that was seen on several devices of one node; TIER_UNKNOWN: none was told. */
enum configuration_tier tier_base(const struct observation *seen, int n);
/* True if this tier was seen on several devices of one node. */
bool tier_was_seen(const struct observation *seen, int n, enum configuration_tier tier);

/* Sets time_s to the time of an exchange of so many bytes between two devices of each tier; NaN:
 * not measured. */
void tier_prior(const struct device_measurement_list *measured, double bytes,
		double time_s[CONFIGURATION_TIERS]);
/* The variant of the measurement of exchanges that belongs to a tier: "numa", "peer numa". */
void tier_variant(enum configuration_tier tier, bool copies, char variant[MEASURED_VARIANT_SIZE]);

/* time_s: as by tier_prior(); NULL: nothing was measured. */
struct fit_result fit_by_tier(const struct observation *seen, int n,
			      const struct fit_options *options, const double *time_s);

/* What one fit takes from another of the same workload, on another kind of device or under another
 * plan. `to` has times of synchronisation at its base, or none on several devices at all.
 *
 * Sets the factors that `to` does not know by observations to those that `from` knows by
 * observations, both counted from the base of `to`. If `to` knows no tier, all its factors become
 * those of `from`: with synchronisation times of `from`. Returns true if some factor was set. */
bool tier_borrow(struct throughput_params *params, const struct fit_result *to,
		 const struct fit_result *from);
/* The factor from synchronisation times of `from` to those at the base of `to`. */
double tier_borrowed_sync(const struct fit_result *to, const struct fit_result *from);

#endif
