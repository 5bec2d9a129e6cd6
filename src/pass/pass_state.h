/* pass_state.h - what a pass knows; private to src/pass. */
#ifndef POLLUX_PASS_STATE_H
#define POLLUX_PASS_STATE_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/knowledge.h"
#include "pollux/pass.h"
#include "pollux/policy.h"
#include "pollux/store.h"

/* A job the policy decides on, and where to find the rest of it. */
struct candidate {
	const struct job *job;		/* in jobs */
	const struct run *run;		/* in runs: the one that holds its devices; NULL: waits */
	struct job_model model;
	/* What it can make of r devices, r = 0..n_usable: owned, or another candidate's whose model is
	 * the same; NULL: nothing is known of it. */
	struct worth *worth;
	bool owns_worth;
	char *change;			/* owned; what this pass changes of it, and why; NULL: nothing */
};

/* Goodput by number of devices, as policy.h wants it, and the sizes it is of (replicas 0: none). */
struct worth {
	double *goodput;
	struct goodput_choice *best;
	bool assumed;			/* not from a model: it never told its step times */
};

struct workload_knowledge {
	char *workload;
	const char *kind;		/* of device: one's in devices */
	struct knowledge k;
};

/* Of a device, by a profile. */
struct reservation {
	int64_t job_id;			/* 0: none */
	double until_s;			/* the end of the profile's budget, wall clock; NaN */
};

struct pass_state {
	const struct paths *paths;
	const struct config *config;
	const struct policy *policy;
	enum pass_mode mode;
	struct store store;
	struct engine_context at;	/* paths and store, for the engines */
	double now_boot_s, now_wall_s;
	struct device_list devices;
	struct device_user_list users;	/* processes on the devices */
	bool looked;			/* devices are listed, and who is on them */
	struct reservation *reservations;	/* owned; per device; NULL: no profile has any */
	int n_usable;
	struct job_list jobs;		/* queued and running */
	struct run_list runs;		/* not ended */
	struct dependency_list dependencies;
	struct workload_knowledge *knowledge;	/* owned; of workloads with observations */
	int n_knowledge;
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
/* At the machine, outside of any transaction: a driver takes seconds at times, and so does a directory of users.
 * Nothing is looked at where there is no job to decide on. */
int pass_look(struct pass_state *p, struct err *err);
int pass_read(struct pass_state *p, struct err *err);

/* profiles.c: profiles whose process is gone, and the devices of the others, which are nobody else's. */
int pass_end_profiles(struct pass_state *p, struct err *err);
int pass_withdraw_reserved(struct pass_state *p, struct err *err);

/* decide.c: who may run at all, and what the policy says. */
int pass_select(struct pass_state *p, struct err *err);
void pass_decide(struct pass_state *p);
/* When the last of the jobs that it was to come after ended, wall clock; NaN: there is none. */
double pass_dependencies_end(const struct pass_state *p, int64_t job_id);
/* Why a job waits or runs, where that differs from what the store says. */
int pass_set_reason(struct pass_state *p, const struct job *job, const char *reason, double next_s,
		    struct err *err);

/* blocked.c: what keeps devices from those who wait for them, into the reasons. */
void pass_explain_blocked(struct pass_state *p);

/* learn.c: models, where the policy wants them. */
int pass_learn(struct pass_state *p, struct err *err);
/* NULL: nothing was measured of it. */
struct knowledge *pass_knowledge_of(const struct pass_state *p, const struct candidate *c);
void pass_forget(struct pass_state *p);

/* weigh.c: what the candidates make of devices, into sched_jobs. */
void pass_weigh(struct pass_state *p);
void worth_release(struct worth *w);
/* At the sizes it runs at, by its model; NaN: it does not run, or there is no model. */
double pass_goodput_now(const struct candidate *c);
/* Whether another configuration can be brought to the run without a relaunch. */
bool pass_takes_configs(const struct pass_state *p, const struct run *run);
/* The configuration for a number of devices, and the factor on the learning rate that goes with it. */
struct configuration pass_configuration(const struct pass_state *p, int j, int replicas, double *lr_scale);

/* The factor for an update of so many samples. */
double pass_learning_rate_scale(const struct pass_state *p, int j, int64_t batch_size);

/* act.c: into the store, inside the caller's transaction. */
int pass_write(struct pass_state *p, struct err *err);

#endif
