/* counter_names.c - see counter_names.h. */
#include "counter_names.h"

#include <string.h>
#include <strings.h>

static const struct counter_name names[] = {
	{ "epoch", true, false, NO_STEP },
	{ "epochs", true, true, NO_STEP },
	{ "ep", true, false, NO_STEP },
	{ "global_step", false, false, BY_GLOBAL },
	{ "globalstep", false, false, BY_GLOBAL },
	{ "global_steps", false, false, BY_GLOBAL },
	{ "global_iter", false, false, BY_GLOBAL },
	{ "num_updates", false, false, BY_GLOBAL },
	{ "total_steps", false, true, BY_GLOBAL },
	{ "total_timesteps", false, true, BY_GLOBAL },
	{ "update", false, false, BY_UPDATE },
	{ "updates", false, true, BY_UPDATE },
	{ "step", false, false, BY_STEP },
	{ "steps", false, false, BY_STEP },
	{ "train_step", false, false, BY_STEP },
	{ "training_step", false, false, BY_STEP },
	{ "opt_step", false, false, BY_STEP },
	{ "optimizer_step", false, false, BY_STEP },
	{ "timestep", false, false, BY_STEP },
	{ "timesteps", false, true, BY_STEP },
	{ "iteration", false, false, BY_ITERATION },
	{ "iterations", false, false, BY_ITERATION },
	{ "training_iteration", false, false, BY_ITERATION },
	{ "iter", false, false, BY_ITERATION },
	{ "iters", false, false, BY_ITERATION },
	{ "iter_num", false, false, BY_ITERATION },
	{ "itr", false, false, BY_ITERATION },
	{ "batch", false, false, BY_BATCH },
	{ "batches", false, true, BY_BATCH },
	{ "batch_idx", false, false, BY_BATCH },
	{ "minibatch", false, false, BY_BATCH },
};

const struct counter_name *counter_name_find(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].text) == n && !strncasecmp(names[i].text, word, n))
			return &names[i];
	return NULL;
}
