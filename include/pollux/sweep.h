/* sweep.h - one 'pollux submit' for many runs: the options of each run of a sweep.
 *
 *	struct sweep s;
 *	if (sweep_init(&s, by, &asked, &sweep_asked, argv, err)) ...
 *	struct sweep_run run;
 *	sweep_run_init(&s, i, &run);		// run.asked and run.argv as if typed for this run
 *	...
 *	sweep_run_release(&run);
 *	sweep_release(&s);
 */
#ifndef POLLUX_SWEEP_H
#define POLLUX_SWEEP_H

#include "pollux/sweep_axes.h"

/* The options of a submission, of one job or of many. */
struct submit_asked {
	struct asked job;
	struct sweep_asked sweep;
};

struct sweep {
	const struct command *by;	/* whom errors name */
	const struct asked *asked;	/* borrowed, as is the next: parameters are not put in */
	char **argv;
	struct axes axes;
};

struct sweep_run {
	struct asked asked;		/* its texts are of strings below, or of the sweep's */
	struct strings argv;
	struct strings parameters;	/* "NAME=VALUE", as the store keeps them */
	struct strings env;		/* owns asked.env */
	char *checkpoint_dir, *resume_args;	/* own what is in asked */
};

/* Reads the axes and checks that every parameter is used. */
int sweep_init(struct sweep *s, const struct command *by, const struct asked *asked,
	       const struct sweep_asked *o, char **argv, struct err *err);
void sweep_release(struct sweep *s);
/* Run i, from 0. Name and workload are put in where they were given, else NULL. */
void sweep_run_init(const struct sweep *s, int i, struct sweep_run *run);
void sweep_run_release(struct sweep_run *run);
/* The text of parameter 'lr', borrowed; NULL: there is no such parameter. */
const char *sweep_run_learning_rate(const struct sweep_run *run);
/* EX_USAGE: the value of parameter 'lr' is no learning rate. */
int sweep_check_learning_rate(const struct command *by, const char *value, struct err *err);
/* What varies, for people and programs: "NAME=HOW". */
void sweep_varied(const struct sweep *s, struct strings *out);
/* The name of a run of a sweep where the user has given none: "train lr=0.1 seed=2". The caller
 * frees it. */
char *sweep_run_name(const char *of_group, const struct strings *parameters);

#endif
