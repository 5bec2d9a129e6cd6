/* generate_kinds.c - three kinds of training: one that scales well, one held back by its links, and
 * one whose gradients stay clear, so that large batches bring little. */
#include "generate.h"

const struct kind kinds[] = {
	{
		.name = "vision", .weight = 0.5,
		.params = { 0.02, 0.001, 0.008, 0.0004, 0.03, 0.0008, 1.6, { 0 } },
		.initial_batch_size = 64, .doublings = 5,
		.min_local_batch_size = 16, .local_doublings = 4,
		.epochs = 20, .updates = 2600, .noise_scale = 250, .growth = 20,
	},
	{
		.name = "language", .weight = 0.3,
		.params = { 0.05, 0.012, 0.06, 0.002, 0.22, 0.004, 2.5, { 0 } },
		.initial_batch_size = 16, .doublings = 5,
		.min_local_batch_size = 4, .local_doublings = 3,
		.epochs = 8, .updates = 7000, .noise_scale = 120, .growth = 6,
	},
	{
		.name = "ranking", .weight = 0.2,
		.params = { 0.006, 0.00001, 0.004, 0.0005, 0.02, 0.001, 1.2, { 0 } },
		.initial_batch_size = 512, .doublings = 3,
		.min_local_batch_size = 64, .local_doublings = 4,
		.epochs = 12, .updates = 10000, .noise_scale = 300, .growth = 3,
	},
};
const int n_kinds = sizeof(kinds) / sizeof(kinds[0]);
