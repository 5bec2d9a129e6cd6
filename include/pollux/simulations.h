/* simulations.h - several workloads simulated side by side, and what is shown of them. */
#ifndef POLLUX_SIMULATIONS_H
#define POLLUX_SIMULATIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "pollux/report.h"
#include "pollux/simulate.h"
#include "pollux/text.h"

struct simulations {
	struct sim_options options;
	const char *restart_table, *slowdown_table;	/* the caller's; NULL: none */
	struct sim_profiles profiles;
	struct sim_workload *workloads;	/* owned, n of them */
	struct sim_result *results;	/* owned; of each workload */
	int n;
};

/* Read everything, then simulate on all cores, with a bar on standard error where that is a
 * terminal. */
int simulations_run(struct simulations *s, const char *profiles, const struct strings *workloads,
		    struct err *err);
void simulations_release(struct simulations *s);
/* Handle the signals that end a program from a terminal, except those that are ignored, as by
 * nohup(1). flags: see sigaction(2). */
void simulate_catch(void (*handler)(int signal_number), int flags);

/* simulate_print.c */
/* The name of the policy, also of one over tiers. */
const char *sim_policy_name(const struct sim_options *o);
/* "pollux on 4 nodes of 4 GPUs; models: none, lengths: unknown"; the part after ";" only for a
 * policy that uses models. */
void simulations_add_title(const struct simulations *s, struct text *t);
void simulations_print(const struct simulations *s, const struct output *out);
void simulations_print_json(const struct simulations *s, FILE *out);
extern const char *const sim_knowledge_names[];	/* by enum sim_knowledge; the end is NULL */

/* simulate_csv.c: complete, or as before. */
int simulations_write_jobs(const struct simulations *s, const char *path, struct err *err);
int simulations_write_ends(const struct simulations *s, const char *path, struct err *err);
int simulations_write_timeline(const struct simulations *s, const char *path, struct err *err);

/* simulate_plot.c: a script for gnuplot, of n simulations that differ by their policies. */
void simulations_plot_script(const struct simulations *s, int n, const char *format,
			     struct text *t);

#endif
