/* profile.h - runs a command at chosen sizes, each until its step time is steady, and stores the
 * results.
 *
 * The profile is a job of the store that no pass decides on. Its devices are chosen in the
 * transaction that adds the job, from those that no run has or is to have. They are reserved for
 * the job until it has ended (reserved_devices). Each point is a run of the job, with a supervisor
 * like any run. experiment.h chooses the next point from all that the store knows of the workload.
 * As long as the process lives it holds run/profile-JOB.lock. A supervisor or a pass that finds
 * this lock free stops the run and ends the job. Whatever is killed, the measurements stay, under
 * the workload of the job. */
#ifndef POLLUX_PROFILE_H
#define POLLUX_PROFILE_H

#include <stdbool.h>

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/err.h"
#include "pollux/experiment.h"
#include "pollux/freeze.h"
#include "pollux/job.h"
#include "pollux/measure.h"
#include "pollux/paths.h"
#include "pollux/step_stats.h"
#include "pollux/store.h"
#include "pollux/text.h"

#define PROFILE_BUDGET_S 60.0
#define PROFILE_POINTS 12	/* points to share the budget, if launches leave time for them */

/* The state of a profile. The pointers are valid only during the call. */
struct profile_progress {
	int n_points;				/* tried before the current point */
	const struct experiment_choice *choice;	/* the current point */
	const struct observation *observation;	/* of the current point so far */
	bool launched;				/* its first step has been seen */
	double left_s;				/* of the budget */
	/* Time until the run is killed, after a request to stop; NaN: no request. */
	double stops_in_s;
	bool interrupted;			/* by a person; ends the profile */
};

struct profile_settings {
	const struct paths *paths;
	double budget_s;
	int max_points;			/* 0: PROFILE_POINTS */
	struct config config;		/* which devices there are */
	double parameters;		/* of the model, for the store; 0 or NaN: not declared */
	/* Returns how often a person has interrupted the profile. After one interruption the run is
	 * stopped and the job ended. After two, the supervisor does this without the profile. May
	 * be NULL. */
	int (*interrupted)(void);
	/* Called about ten times a second. May be NULL. */
	void (*progress)(const struct profile_progress *progress, void *arg);
	void *arg;
};

struct profile_end {
	int n_points;			/* tried */
	int n_measured;			/* with a step time */
	bool interrupted, cancelled;	/* cancelled: by 'pollux cancel' */
	bool abandoned;			/* interrupted twice: the supervisor stops the run and ends
					   the job */
};

/* Adds the job, sets job->id and measures. Returns -1 if there is nothing to show, with the reason
 * in *err: EX_TEMPFAIL if devices are not free, naming their holders; EX_FAILED if the command
 * failed or reported no step times. job->id is 0 if no job was added. */
int profile_run(struct store *store, struct job *job, const struct job_command *command,
		const struct profile_settings *settings, struct profile_end *end, struct err *err);

/* Measures one device of each kind, and keeps the measurements in the store.
 *
 * A device is measured under its lock, as a supervisor takes the lock, and only when nothing holds
 * the device or is about to: no job is disturbed. A pass may assign the device meanwhile; the run's
 * supervisor then waits for the lock. */

struct profile_kinds_settings {
	struct session *session;
	const struct config *config;
	bool quick;
	const char *device;		/* measure this device alone; NULL: one of each kind */
	/* Called before each measurement, which takes seconds to minutes. exchanges: between the
	 * device and the others of its kind. */
	void (*progress)(const struct device *device, bool exchanges);
};

/* A kind of device, measured on one device; exchanges are measured between several. */
struct profiled_kind {
	const struct device *device;	/* in the profile's list of devices */
	struct measure_result result;
};

struct devices_profile {
	struct device_list devices;
	struct profiled_kind *kinds;	/* owned */
	int n_kinds;
	struct strings left_out;	/* lines: which devices were not measured, and why */
	double time_s;			/* wall clock: when the profile began */
	bool quick;
};

/* -1: nothing was measured, or a measurement could not be kept. The profile is to be released in
 * any case. */
int profile_kinds(const struct profile_kinds_settings *settings, struct devices_profile *profile,
		  struct err *err);
void devices_profile_release(struct devices_profile *profile);

/* pollux devices --self-test: whether each GPU's memory can be moved to the host's
 * and back, tried out and kept in the store. No job is frozen on a device that has not passed with
 * the driver that runs now. */

struct self_test_settings {
	struct session *session;
	const struct config *config;
	/* called before each test, which takes seconds; NULL: nobody wants to know */
	void (*progress)(const struct device *device);
};

struct self_tested {
	const struct device *device;	/* in the list of devices */
	bool passed;
	struct freeze_test test;	/* if passed */
	struct err why;			/* if not */
};

struct self_test {
	struct device_list devices;
	struct self_tested *items;	/* owned */
	int n;
	char driver[80];
};

/* Tests each device whose memory could be moved. -1: there is none (EX_UNAVAILABLE), or a result
 * could not be kept. *t is to be released in any case. */
int self_test_run(const struct self_test_settings *settings, struct self_test *t, struct err *err);
void self_test_release(struct self_test *t);

#endif
