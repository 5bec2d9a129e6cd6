/* simulate_options.h - the options of 'pollux simulate', and which of them go together; private to
 * src/cli. */
#ifndef POLLUX_CLI_SIMULATE_OPTIONS_H
#define POLLUX_CLI_SIMULATE_OPTIONS_H

#include "simulate.h"

struct simulate_options {
	const char *profiles, *knowledge, *lengths;
	const char *generate, *kinds, *restart_table, *slowdown_table;
	struct simulate_outputs outputs;
	struct text_list policies, workloads_read;
	struct simulate_racks tiers;
	int64_t racks, nodes, gpus_per_node, jobs, workloads, seed, devices;
	double interval_s, interference, restart_s, slice_s, span_s;
	bool json, from_store, events, kinds_blind, plans;
};

extern const struct option_spec simulate_option_specs[];

/* Sets all options, and refuses those that would have no effect. Whatever is returned,
 * options_release() is called later. */
int simulate_options_parse(int argc, char **argv, struct simulate_options *o, struct err *err);

#endif
