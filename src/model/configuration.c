/* configuration.c - a batch spread over replicas and passes. */
#include "pollux/configuration.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

struct configuration configuration_spread(int64_t batch_size, int replicas,
					  int64_t max_local_batch_size, int64_t min_batch_size,
					  int64_t max_batch_size)
{
	int64_t limit = max_local_batch_size > 0 ? max_local_batch_size : batch_size;
	int64_t steps = ceil_div(batch_size, replicas * limit);
	int64_t parts = replicas * steps;
	int64_t local = (batch_size + parts / 2) / parts;	/* nearest */

	if (local < 1)
		local = 1;
	if (local > limit)
		local = limit;
	if (max_batch_size > 0 && local * parts > max_batch_size && local > 1)
		local--;
	if (min_batch_size > 0 && local * parts < min_batch_size && local < limit)
		local++;
	return (struct configuration){
		.replicas = replicas, .local_batch_size = local,
		.accumulation_steps = (int)steps, .batch_size = local * parts,
	};
}
