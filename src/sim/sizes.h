/* sizes.h - a batch on GPUs as the published simulator spreads it. */
#ifndef SIM_SIZES_H
#define SIM_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "application.h"
#include "pollux/configuration.h"

/* The fewest passes that the largest local batch allows, but two at least on one GPU above the initial batch
 * size, where the noise of the gradients is not seen otherwise (two_on_one: at any). The batch may come out
 * larger by rounding, but not above the largest. */
struct configuration sizes_spread(const struct application *a,
				  struct throughput_place place, int64_t batch_size,
				  bool two_on_one);

#endif
