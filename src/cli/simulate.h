/* simulate.h - the parts of 'pollux simulate'; private to src/cli. */
#ifndef POLLUX_CLI_SIMULATE_H
#define POLLUX_CLI_SIMULATE_H

#include "commands.h"
#include "pollux/simulate.h"
#include "pollux/simulations.h"
#include "pollux/text.h"

struct simulate_outputs {
	const char *jobs_csv, *timeline_csv, *ends_csv, *cdf_csv, *plot; /* or NULL */
};

/* simulate_options.c */
/* The files to read: each given path is a file, or a directory of files NAME.csv. */
int simulate_list_workloads(const struct text_list *given, struct strings *paths, struct err *err);

#define SIMULATE_GPUS_MAX 100000

/* simulate_options.c: "t4:6x4,a100:2x8" cut into kinds, whose names stay in the list. */
int simulate_kinds(char *list, struct sim_options *o, struct err *err);

struct simulate_options {
	const char *profiles, *knowledge, *lengths;
	const char *generate, *kinds, *restart_table, *slowdown_table;
	const char *tiers, *links, *models, *timers;	/* of the world of racks */
	struct simulate_outputs outputs;
	struct text_list policies, workloads_read;
	struct strings policy_names;	/* of policies, cut at commas */
	int64_t racks, nodes, gpus_per_node, jobs, workloads, draws, seed, devices;
	double interval_s, interference, length_spread, restart_s, slice_s, span_s, since_s;
	bool json, from_store, events, kinds_blind, plans, contention;
};

extern const struct option_spec simulate_option_specs[];

/* Checks before the run that no file is written that is also read or written twice, and that all
 * files can be written. */
int simulate_check_outputs(const struct simulate_options *o, const struct strings *workloads,
			   struct err *err);

/* Sets all options, and refuses those that would have no effect. Whatever is returned,
 * options_release() is called later. */
int simulate_options_parse(int argc, char **argv, struct simulate_options *o, struct err *err);

#endif
