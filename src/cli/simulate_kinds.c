/* simulate_kinds.c - the kinds of GPU of pollux simulate --kinds. */
#include <stdlib.h>
#include <string.h>

#include "pollux/text.h"
#include "simulate.h"

static int refuse_item(const char *item, struct err *err)
{
	return usage_error(&cmd_simulate, err,
			   "option '--kinds': '%.60s' is not KIND:NODESxGPUS, such as a100:2x8",
			   item);
}

static int read_count(const char *text, int64_t *count)
{
	return number_parse_int(text, count) || *count < 1 || *count > SIMULATE_GPUS_MAX ? -1 : 0;
}

/* Cuts the item, "a100:2x8", into its parts. */
static int read_kind(char *item, struct sim_kind *kind, struct err *err)
{
	char *colon = strchr(item, ':'), *x = colon ? strchr(colon, 'x') : NULL;
	int64_t nodes, gpus;

	if (!x || colon == item || strchr(item, '/'))
		return refuse_item(item, err);
	*colon = *x = '\0';
	if (read_count(colon + 1, &nodes) || read_count(x + 1, &gpus)) {
		*colon = ':';
		*x = 'x';
		return refuse_item(item, err);
	}
	*kind = (struct sim_kind){ item, (int)nodes, (int)gpus };
	return 0;
}

int simulate_kinds(char *list, struct sim_options *o, struct err *err)
{
	int64_t gpus = 0;

	for (char *item = list, *next; item; item = next) {
		struct sim_kind *kind = &o->kinds[o->n_kinds];

		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		if (o->n_kinds == SCHED_KINDS)
			return usage_error(&cmd_simulate, err, "option '--kinds': at most %d kinds",
					   SCHED_KINDS);
		if (read_kind(item, kind, err))
			return -1;
		for (int k = 0; k < o->n_kinds; k++)
			if (strcmp(o->kinds[k].name, kind->name) == 0)
				return usage_error(&cmd_simulate, err,
						   "option '--kinds': '%.60s' comes twice",
						   kind->name);
		o->n_kinds++;
		gpus += (int64_t)kind->nodes * kind->gpus_per_node;
	}
	if (gpus > SIMULATE_GPUS_MAX)
		return usage_error(&cmd_simulate, err, "%lld GPUs; at most %d can be simulated",
				   (long long)gpus, SIMULATE_GPUS_MAX);
	return 0;
}
