/* configuration.c - compares, prints and hashes configurations; spreads a batch over replicas and
 * passes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/configuration.h"

static const char *const tiers[CONFIGURATION_TIERS] = {
	[TIER_UNKNOWN] = "", [TIER_FAST] = "fast", [TIER_SWITCH] = "switch", [TIER_NUMA] = "numa",
	[TIER_FAR] = "machine",
};
const struct field_names configuration_tier_names = { tiers, CONFIGURATION_TIERS, TIER_UNKNOWN };

#define MOST_EXTRA_PASSES 100000	/* tried beyond the fewest */

const char *configuration_tier_name(enum configuration_tier tier)
{
	return tier == TIER_UNKNOWN ? NULL : tiers[tier];
}

bool configuration_equal(const struct configuration *a, const struct configuration *b)
{
	return a->replicas == b->replicas && configuration_width(a) == configuration_width(b) &&
	       a->local_batch_size == b->local_batch_size &&
	       a->accumulation_steps == b->accumulation_steps && a->nodes == b->nodes &&
	       strcmp(a->kind, b->kind) == 0 && strcmp(a->plan, b->plan) == 0;
}

/* 64-bit FNV-1a over words instead of bytes, with a final shift. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x100000001b3;
	return hash ^ (hash >> 29);
}

uint64_t configuration_hash(const struct configuration *c)
{
	uint64_t hash = mix(0xcbf29ce484222325, (uint64_t)c->replicas);

	hash = mix(hash, (uint64_t)c->local_batch_size);
	hash = mix(hash, (uint64_t)c->accumulation_steps);
	hash = mix(hash, (uint64_t)c->nodes);
	if (c->width > 1)
		hash = mix(hash, (uint64_t)c->width);
	for (const char *k = c->kind; *k; k++)
		hash = mix(hash, (unsigned char)*k);
	for (const char *p = c->plan; *p; p++)
		hash = mix(hash, (unsigned char)*p);
	return hash;
}

void configuration_print(const struct configuration *c, struct text *out)
{
	text_addf(out, "%lld = %d * %lld * %d", (long long)configuration_batch_size(c),
		  configuration_workers(c), (long long)c->local_batch_size, c->accumulation_steps);
	if (c->nodes > 1)
		text_addf(out, " on %d nodes", c->nodes);
	if (c->plan[0])
		text_addf(out, " in plan %s", c->plan);
}

static bool in_range(const struct configuration *c, const struct batch_range *range)
{
	int64_t batch_size = configuration_batch_size(c);

	return (range->min <= 0 || batch_size >= range->min) &&
	       (range->max <= 0 || batch_size <= range->max);
}

/* Takes the local batch nearest to an even share of the batch, one less or one more if the range
 * requires it. */
static struct configuration in_passes(const struct batch_range *range, int replicas, int64_t steps,
				      int64_t limit)
{
	int64_t parts = replicas * steps;
	int64_t local = (range->size + parts / 2) / parts;

	if (local < 1)
		local = 1;
	if (local > limit)
		local = limit;
	if (range->max > 0 && local * parts > range->max && local > 1)
		local--;
	if (range->min > 0 && local * parts < range->min && local < limit)
		local++;
	return configuration_make(replicas, local, (int)steps);
}

/* Uses the smallest number of passes that fits the local limit, or one less if its result is
 * nearer: 5 samples over 4 replicas of at most one sample each become 4, not 8. Adds passes only to
 * reach the allowed range, since smaller parts reach sizes that larger parts step over. */
struct configuration configuration_spread(const struct batch_range *range, int replicas)
{
	int64_t limit = range->max_local > 0 ? range->max_local : range->size;
	int64_t fewest = ceil_div(range->size, replicas * limit);
	int64_t steps = fewest > 1 ? fewest - 1 : 1;
	struct configuration best = in_passes(range, replicas, fewest, limit);

	do {
		struct configuration other = in_passes(range, replicas, steps, limit);
		bool fits = in_range(&other, range), nearer;

		nearer = llabs(configuration_batch_size(&other) - range->size) <
			 llabs(configuration_batch_size(&best) - range->size);
		if (fits == in_range(&best, range) ? nearer : fits)
			best = other;
		steps++;
	} while (!in_range(&best, range) && replicas * steps <= range->max &&
		 steps <= fewest + MOST_EXTRA_PASSES);
	return best;
}

bool configuration_within(const struct batch_range *range, int replicas, int64_t local_limit,
			  struct configuration *c)
{
	struct batch_range within = *range;

	within.max_local = local_limit;
	*c = configuration_spread(&within, replicas);
	if ((c->accumulation_steps == 1 || range->accumulates) && in_range(c, range))
		return true;
	*c = configuration_make(replicas, local_limit, 1);
	return range->min > 0 && in_range(c, range);
}
