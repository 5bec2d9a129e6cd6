/* simulate.h - the parts of 'pollux simulate'; private to src/cli. */
#ifndef POLLUX_CLI_SIMULATE_H
#define POLLUX_CLI_SIMULATE_H

#include "commands.h"
#include "pollux/simulate.h"
#include "pollux/simulations.h"
#include "pollux/text.h"

struct simulate_outputs {
	const char *jobs_csv, *timeline_csv, *ends_csv, *plot; /* or NULL */
};

/* simulate_options.c */
/* The files to read: each given path is a file, or a directory of files NAME.csv. */
int simulate_list_workloads(const struct text_list *given, struct strings *paths, struct err *err);
/* Checks before the run that no file is written that is also read or written twice, and that all
 * files can be written. profiles: a directory, or NULL. */
int simulate_check_outputs(const struct simulate_outputs *o, const char *profiles,
			   const struct strings *workloads, struct err *err);

#define SIMULATE_GPUS_MAX 100000

/* simulate_options.c: "t4:6x4,a100:2x8" cut into kinds, whose names stay in the list. */
int simulate_kinds(char *list, struct sim_options *o, struct err *err);

/* simulate_worlds.c: pollux simulate --plans; prints the figures. */
int simulate_plans(const struct sim_options *options, const char *placements,
		   const struct strings *workloads, bool json, struct err *err);

/* simulate_worlds.c: makes a workload, and says what was made. */
int simulate_generate(const char *directory, struct sim_generation *g, struct err *err);

/* simulate_worlds.c: pollux simulate --from-store. */
struct history_request {
	/* Names, or "all"; none: the present policy, fifo, las and pollux. */
	const struct text_list *policies;
	int devices;				/* 0: as many as can be used now */
	double interval_s;
	double slice_s;				/* 0: as configured */
	const char *plot;			/* NULL: no picture */
	bool json;
};

/* EX_NOINPUT: there is no store, or no job of it is done. */
int simulate_history(const struct history_request *q, struct err *err);

/* simulate_worlds.c: pollux simulate --racks. */
struct simulate_racks {
	const char *tiers, *links, *models, *timers;	/* or NULL */
	bool contention;
};

/* Sets what options and policy say in t, whose applications are not read, and in o, whose racks,
 * nodes, gpus_per_node and slice_s are set. */
int simulate_racks_check(struct sim_options *o, const struct simulate_racks *request,
			 const char *policy, struct sim_racks *t, struct err *err);
/* Reads the tables, and simulates the workloads; t must outlive the results. */
int simulate_racks_run(struct simulations *s, const struct simulate_racks *request,
		       struct sim_racks *t, const struct strings *workloads, struct err *err);

/* --- options --- */

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
