/* profile_state.h - what a profile knows while it runs; private to src/profile. */
#ifndef POLLUX_PROFILE_STATE_H
#define POLLUX_PROFILE_STATE_H

#include "pollux/device.h"
#include "pollux/knowledge.h"
#include "pollux/profile.h"
#include "pollux/text.h"

/* Whoever kills so many supervisors will kill the next, too. */
#define PROFILE_MOST_LOST 3

struct profile {
	const struct paths *paths;
	struct store *store;
	const struct profile_settings *settings;
	struct job *job;
	struct device *devices;			/* owned; reserved */
	int n_devices;
	char *missing;				/* owned: who has the others that it could use; NULL: there are none */
	int lock;				/* run/profile-JOB.lock */
	double start_boot_s;
	struct experiment_point *bad;		/* owned; what did not work here */
	int n_bad;
	double launches_s;			/* summed: launch to first step, and stop to exit */
	int n_launches;
	int n_points, n_measured;
	int n_lost;				/* further ones whose supervisor was killed */
	struct configuration lost;		/* the last of them */
	int n_lost_there;			/* in a row */
	int n_lasting, n_unsteady;		/* measured until steady or out of time; of these, not steady */
	int n_known;				/* points measured so far, now or by earlier runs */
	double watched_s, others_s, stolen_s;	/* summed over points: time, and processor time of others */
	int64_t n_hot;
	int n_slowed;				/* points whose devices said that they were slowed */
	char slowed_by[64];			/* the last of them: by what */
	double model_error;			/* of the model that came of it, relative; 0: there is none */
	bool interrupted, cancelled, abandoned;
};

/* What the machine's processors did since its start: seconds, summed over all of them. */
struct machine_time {
	double boot_s;
	double busy_s;			/* with any process */
	double stolen_s;		/* by the hypervisor, or held back by a control group's quota */
	int64_t n_hot;			/* how often cores were slowed by heat */
};

/* One point. */
struct trial {
	struct experiment_choice choice;
	double measure_s;		/* at most so long from its first step */
	double launch_limit_s;		/* to its first step */
	/* out */
	enum experiment_outcome outcome;
	struct run run;			/* as it ended; the caller's to release */
	struct observation observation;
	struct machine_time before, after;
	bool slowed;			/* a device, shortly before the run was stopped */
	char slowed_by[64];
};

/* reserve.c: add the job and take its devices; EX_TEMPFAIL, naming who has them. */
int profile_reserve(struct profile *p, const struct job_command *command, struct err *err);

/* trial.c: run it, stop it, wait for its end. p->cancelled: the job has ended, before it or meanwhile. */
int profile_try(struct profile *p, struct trial *t, struct err *err);
double profile_left_s(const struct profile *p);
bool profile_is_interrupted(const struct profile *p);
int profile_has_ended(struct profile *p, bool *ended, struct err *err);

/* machine.c */
struct machine_time machine_time_now(void);
/* Whether one of these devices says that it is slowed, and by what. */
bool machine_is_slowed(const struct device *devices, int n, int slots, char *by, size_t size);
int machine_processors(void);
int64_t machine_memory_bytes(void);

/* "failed with exit status 1: " and what it said last; of a run that ended by itself. */
void profile_describe_end(const struct run *run, struct text *text);

/* warn.c: what is to be known of the figures, into the store's events. */
int profile_warn(struct profile *p, struct err *err);

#endif
