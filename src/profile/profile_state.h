/* profile_state.h - the state of a running profile; private to src/profile. */
#ifndef POLLUX_PROFILE_STATE_H
#define POLLUX_PROFILE_STATE_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/execution_plan.h"
#include "pollux/knowledge.h"
#include "pollux/paths.h"
#include "pollux/profile.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

/* The profile gives up after this many killed supervisors: the next would be killed too. */
#define PROFILE_MOST_LOST 3

struct profile {
	const struct paths *paths;
	struct store *store;
	const struct profile_settings *settings;
	struct job *job;
	struct device *devices;			/* owned; reserved */
	int n_devices;
	/* Owned; by number of devices, up to n_devices: the tier of the first so many of them. */
	enum configuration_tier *tiers;
	char *missing;				/* owned; holders of further devices, or NULL */
	int lock;				/* run/profile-JOB.lock */
	struct execution_plans plans;		/* of the command; none: it has one way */
	const struct execution_plan *plan;	/* that is measured now; NULL: none */
	char *workload;				/* owned; the name of what is learnt */
	double start_boot_s;
	double budget_s, until_boot_s;		/* of the whole, or of the plan */
	struct observation_list bad;		/* points that did not work here */
	double launches_s;			/* summed: launch to first step, and stop to exit */
	int n_launches;
	int n_points, n_measured;
	int n_lost;				/* further points whose supervisor was killed */
	struct configuration lost;		/* the last lost point */
	int n_lost_there;			/* losses in a row at this point */
	int n_lasting;				/* points measured until steady or out of time */
	int n_unsteady;				/* of these, those that were not steady */
	int n_known;				/* points measured now or by earlier runs */
	/* Summed over points: time, processor time of other programs, and throttled time. */
	double watched_s, others_s, stolen_s;
	int64_t n_hot;
	int n_slowed;				/* points with slowed devices */
	char slowed_by[64];			/* the reason at the last of them */
	double model_error;			/* relative; 0: no model */
	bool interrupted, cancelled, abandoned;
};

/* Times since the start of the machine, seconds summed over all processors. */
struct machine_time {
	double boot_s;
	double busy_s;			/* running processes */
	double stolen_s;		/* taken by the hypervisor or by a control group's quota */
	int64_t n_hot;			/* number of times that heat slowed a core */
};

/* One point. */
struct trial {
	struct experiment_choice choice;
	double measure_s;		/* most time from the first step */
	double launch_limit_s;		/* most time to the first step */
	/* out */
	enum observation_outcome outcome;
	struct run run;			/* as it ended; the caller releases it */
	struct observation observation;
	struct machine_time before, after;
	bool slowed;			/* a device was slowed shortly before the stop */
	char slowed_by[64];
};

/* reserve.c: adds the job and reserves its devices. EX_TEMPFAIL, naming their holders: not enough
 * are free. */
int profile_reserve(struct profile *p, const struct job_command *command, struct err *err);

/* profile_choice.c: reads what is known of the workload, and chooses the next point: t->choice and
 * its limits of time. *chosen is false if nothing is left to try, or no time. */
int profile_choose(struct profile *p, struct trial *t, bool *chosen, struct err *err);

/* Counts a point that was tried. */
void profile_learn(struct profile *p, const struct trial *t);
/* True if the command fails at its own sizes. Failures at other sizes do not end the profile. */
bool profile_is_hopeless(const struct profile *p, const struct trial *t);
/* Fills *err with the reason why the profile has nothing to show. Returns -1. */
int profile_failed(const struct profile *p, const struct trial *t, struct err *err);

/* trial.c: runs a point, stops the run and waits for its end. Sets p->cancelled if the job has
 * ended. */
int profile_try(struct profile *p, struct trial *t, struct err *err);
double profile_left_s(const struct profile *p);
int profile_interruptions(const struct profile *p);	/* how often a person has interrupted it */
int profile_has_ended(struct profile *p, bool *ended, struct err *err);

/* Adds "failed with exit status 1: " and the last output, for a run that ended by itself. */
void profile_describe_end(const struct run *run, struct text *text);

/* warn.c: adds warnings about the figures to the events of the store. */
int profile_warn(struct profile *p, struct err *err);

/* reserve.c: the locks of devices that a measurement takes. */
struct device_claims {
	const struct paths *paths;
	struct store *store;
	const struct device_list *devices;
	struct run_list runs;		/* that have not ended */
	struct reserved_list reserved;	/* devices reserved by profiles of jobs */
	/* For each device, a descriptor or less than 0: its lock, the mark that tells other
	 * processes that a measurement holds the lock, and the lock that other users see. */
	int *locks, *marks, *shared;
};

/* Reads who has what; c->paths and c->store are set. Lists the devices, whose owner is the
 * caller. */
int device_claims_open(struct device_claims *c, const struct config *config, bool in_full,
		       struct device_list *devices, struct err *err);
/* Takes the lock of device d, unless somebody has or is about to have the device: EX_TEMPFAIL. */
int device_claims_take(struct device_claims *c, int d, struct err *err);
/* Gives all locks back. */
void device_claims_drop(struct device_claims *c);
void device_claims_release(struct device_claims *c);

#endif
