/* sizes.c - computes passes first, then the local batch. */
#include "sizes.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

struct configuration sizes_spread(const struct application *a, struct throughput_place place,
				  int64_t batch_size, bool two_on_one)
{
	int replicas = place.replicas;
	/* The published code takes two steps, from ceil(B / R), with the same result. */
	int64_t passes = ceil_div(batch_size, replicas * a->max_local_batch_size);
	int64_t limit, local;

	if (replicas == 1 && passes < 2 && (two_on_one || batch_size > a->initial_batch_size))
		passes = 2;
	local = ceil_div(batch_size, replicas * passes);
	limit = a->max_batch_size / (replicas * passes);
	return configuration_at(place, local < limit ? local : limit, (int)passes);
}

bool sizes_are_validated(const struct application *a, const struct configuration *sizes)
{
	int64_t batch_size = configuration_batch_size(sizes);

	return batch_size >= a->initial_batch_size && batch_size <= a->max_batch_size;
}
