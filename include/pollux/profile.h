/* profile.h - run a command at chosen sizes, each until its step time is steady, and keep what that tells.
 *
 *	struct profile_settings settings = { .paths = &paths, .budget_s = 60 };
 *	struct profile_end end;
 *	if (profile_run(&store, &job, &command, &settings, &end, err)) ...
 *	... the points are the runs of job.id in the store, with their observations ...
 *
 * The profile is a job of the store that no pass decides on. Its devices are taken, from those that no run
 * has or is to have, in the transaction that adds it, and are its own until it has ended (reserved_devices).
 * Each point is a run of it, looked after by a supervisor as any run is; the next point is chosen by
 * experiment.h from all that the store knows of the workload. As long as the process lives it holds
 * run/profile-JOB.lock; a supervisor or a pass that finds that lock free stops the run and ends the job. Whatever is killed,
 * what was measured stays, under the job's workload. */
#ifndef POLLUX_PROFILE_H
#define POLLUX_PROFILE_H

#include <stdbool.h>

#include "pollux/err.h"
#include "pollux/experiment.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/step_stats.h"
#include "pollux/store.h"

#define PROFILE_BUDGET_S 60.0
#define PROFILE_POINTS 12		/* that a budget is divided among, where launches leave time for so many */

/* Where it is; all is the callee's only until it returns. */
struct profile_progress {
	int n_points;				/* tried before this one */
	const struct experiment_choice *choice;	/* that is being tried */
	const struct observation *observation;	/* of it, so far */
	bool launched;				/* its first step has been seen */
	double left_s;				/* of the budget */
	double stops_in_s;			/* it was asked to stop, and has so long until it is killed; NaN: it was not */
	bool interrupted;			/* by a person, for good */
};

struct profile_settings {
	const struct paths *paths;
	double budget_s;
	int max_points;			/* 0: PROFILE_POINTS */
	int slots;			/* as struct device_settings */
	double parameters;		/* of the workload's model, for the store; 0 or NaN: not declared */
	/* How often somebody has asked to stop: once, and the run is stopped and the job ended; twice, and that is
	 * left to others. May be NULL, as may progress, which is called some ten times a second. */
	int (*interrupted)(void);
	void (*progress)(const struct profile_progress *progress, void *arg);
	void *arg;
};

struct profile_end {
	int n_points;			/* tried */
	int n_measured;			/* of these, those with a step time */
	bool interrupted, cancelled;	/* cancelled: by 'pollux cancel' */
	bool abandoned;			/* interrupted twice: its supervisor still stops the run, and ends the job */
};

/* Adds the job (job->id is set) and measures. -1: *err says why there is nothing to show, EX_TEMPFAIL where
 * devices are not free and who has them, EX_FAILED where the command failed or told no step times; job->id
 * is 0 where not even a job was made. */
int profile_run(struct store *store, struct job *job, const struct job_command *command,
		const struct profile_settings *settings, struct profile_end *end, struct err *err);

#endif
