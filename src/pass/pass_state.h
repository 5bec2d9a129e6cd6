/* pass_state.h - what a pass knows; private to src/pass. */
#ifndef POLLUX_PASS_STATE_H
#define POLLUX_PASS_STATE_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/pass.h"
#include "pollux/policy.h"
#include "pollux/store.h"

/* A job the policy decides on, and where to find the rest of it. */
struct candidate {
	const struct job *job;		/* in jobs */
	const struct run *run;		/* in runs: the one that holds its devices; NULL: waits */
};

struct pass_state {
	const struct paths *paths;
	const struct config *config;
	const struct policy *policy;
	enum pass_mode mode;
	struct store store;
	double now_boot_s, now_wall_s;
	struct device_list devices;
	int n_usable;
	struct job_list jobs;		/* queued and running */
	struct run_list runs;		/* not ended */
	struct dependency_list dependencies;
	struct candidate *candidates;	/* owned, as the arrays below; n_candidates long */
	struct sched_job *sched_jobs;
	struct sched_choice *choices;
	int n_candidates;
	int *owner;			/* per device: index of the candidate that is to have it */
	int64_t *wake;			/* runs that were asked to stop */
	int n_wake;
	struct pass_result *result;
};

/* look.c: ended machines, lost supervisors; then everything a decision needs. */
int pass_reconcile(struct pass_state *p, struct err *err);
int pass_spawn_missing(struct pass_state *p, struct err *err);
/* Of runs that are not among those that are active. */
void pass_remove_leftovers(const struct pass_state *p, const struct run_list *runs);
int pass_read(struct pass_state *p, struct err *err);

/* decide.c: who may run at all, and what the policy says. */
int pass_select(struct pass_state *p, struct err *err);
void pass_decide(struct pass_state *p);
/* Why a job waits or runs, where that differs from what the store says. */
int pass_set_reason(struct pass_state *p, const struct job *job, const char *reason, double next_s,
		    struct err *err);

/* act.c: into the store, inside the caller's transaction. */
int pass_write(struct pass_state *p, struct err *err);

#endif
