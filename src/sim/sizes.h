/* sizes.h - the local batch and passes of a batch on GPUs, as in the published simulator. */
#ifndef SIM_SIZES_H
#define SIM_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "application.h"
#include "pollux/configuration.h"

/* Uses the fewest passes that the largest local batch allows, but at least two on one GPU above the
 * initial batch size, where one pass would not show the noise of the gradients (two_on_one: at any
 * batch size). Rounding may make the batch larger, but not larger than the maximum. */
struct configuration sizes_spread(const struct application *a, struct throughput_place place,
				  int64_t batch_size, bool two_on_one);

/* True if the batch lies between the smallest and the largest validated batch sizes. Where only 128
 * was validated, it does not divide over 3 GPUs: 42 samples on each are 126. */
bool sizes_are_validated(const struct application *a, const struct configuration *sizes);

#endif
