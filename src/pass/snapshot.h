/* snapshot.h - what a pass knows before it decides: private to src/pass.
 *
 * Everything that decides (decide.c, actions.c and the files that they call) takes a snapshot and
 * calls nothing that reads or writes, so a test can make a snapshot by hand. */
#ifndef POLLUX_SNAPSHOT_H
#define POLLUX_SNAPSHOT_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/outlook.h"
#include "pollux/people.h"
#include "pollux/policy.h"
#include "pollux/share_pair.h"
#include "pollux/siblings.h"
#include "pollux/store_measurements.h"
#include "pollux/store_groups.h"
#include "pollux/store_machine.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/knowledge.h"

/* A device that a profile keeps. */
struct profile_hold {
	int64_t job_id;			/* the profile's; 0: none */
	double until_s;			/* the end of its budget, wall clock; NaN: not known */
};

/* The machine's memory, in which suspended runs stay. 0: unknown, and no run is suspended. */
struct snapshot_memory {
	int64_t total_bytes;
	int64_t available_bytes;	/* without the page cache that can be dropped */
	int64_t largest_waiting_bytes;	/* the most that a run of a waiting job had; 0: none ran */
};

/* The newest jobs that are done, from which lengths are learnt. */
#define SNAPSHOT_ENDED 1000

/* What the jobs tell that are done, of one workload, or of one family. */
struct past {
	int64_t key;			/* text_number() of the workload, or job_family() */
	struct siblings samples, service;
	/* What remains by these of a job that has done nothing yet, as most that wait. */
	double fresh_samples, fresh_device_s;
};

/* What is known of jobs that may share a device; nothing is read where no job may. */
struct share_facts {
	struct strings workloads;	/* of jobs that may share */
	double *need_bytes;		/* by workload: of a device's, or the machine's; NaN */
	/* By run and workload: [run * workloads + w] the run's workload beside w; then the other
	 * way round. Only for runs that share. */
	struct share_factor *of_runs, *of_others;
	int64_t *alone;			/* by run: windows of its workload's step times alone */
};

/* The disk of the directory that a job declares for its checkpoints. */
struct job_disk {
	int64_t job_id;
	char *full;			/* owned; why the job may not start; NULL: there is room */
};

struct snapshot {
	bool weighs_only;		/* outlook.h: these jobs, whatever their state */
	const struct config *config;
	const struct policy *policy;
	double now_boot_s, now_wall_s;	/* later than all that was read */
	int64_t data_version;		/* of the store when this was read */
	bool look_failed;		/* the machine could not be read: no jobs are in here */
	struct err failure;		/* why */
	/* Jobs came when there was nothing to look for: no jobs are in here, and the pass reads
	 * again, from the machine on, when the rest is done. */
	bool jobs_came;

	/* usable: neither the machine, other people's processes nor profiles forbid it. */
	struct device_list devices;
	bool *elsewhere;		/* owned; by device: another user has it */
	struct people people;		/* who share the devices */
	bool suspends;			/* new runs, on these devices, can be suspended */
	/* Owned; by device: seconds to move a byte of its memory to the host's and back; NaN: it
	 * cannot be moved, or that was never tried. */
	double *move_s_per_byte;
	struct snapshot_memory memory;
	struct device *listed;		/* devices.items as listed; NULL: not looked at */
	struct device_user_list users;	/* processes on the devices */
	struct profile_hold *holds;	/* by device; NULL: no profile has any */
	char **remarks;			/* owned, by run: what was last said; NULL: not looked */
	/* Owned, by run: it has a program such as docker(1), whose suspension leaves the container
	 * computing on the run's GPU. NULL: no run is on a GPU. */
	bool *starts_containers;
	struct ignored_list gone;	/* processes that were ignored, and are on no GPU now */

	/* owned; why no run may start: the disk of the store or the logs; NULL: there is room */
	char *disk_full;
	char *checkpoints_full;		/* the same for runs that save in the store's directory */
	struct job_disk *job_disks;	/* owned, by job: queued ones that declare a directory */
	int n_job_disks;
	struct job_list jobs;		/* queued and running */
	struct setback *setbacks;	/* by job */
	struct past_list {
		struct past items[SNAPSHOT_ENDED];
		int n;
	} workload_pasts, family_pasts;
	int64_t *families;		/* of each job whose workload is in no past; owned */
	double ended_device_s[SNAPSHOT_ENDED];	/* typical service, by workload_pasts */
	double brief_device_s;		/* as in struct sched_input */
	struct run_list runs;		/* not ended */
	enum engine_answer *answers;	/* by run: whether it is known, gone, or unknown */
	/* By job: the memory that its workload took on a device; NULL: devices have none. */
	int64_t *device_needs;
	/* By job: memory of the host that runs of the job, or of its workload, took; 0: not
	 * known. */
	int64_t *host_needs;
	/* By run: a stop would lose its work since the last checkpoint; NULL: not known. */
	bool *loses;
	bool *deserted;			/* by job: interactive, and its process is gone */
	/* Owned: the processors of each core of this machine (host_cores.h); none where no job is
	 * without a device. */
	struct strings cores;
	/* The time on the boot clock until which the queue comes before interactive turns;
	 * -HUGE_VAL: it does not. */
	double interactive_rest_boot_s;
	int *windows;			/* by run: of step times that count, of its configuration */
	struct tier_past *tier_past;	/* owned: waits of the last days for devices of a tier */
	int n_tier_past;
	struct share_facts share;
	struct dependency_list dependencies;
	struct job_group_list groups;	/* of jobs that have not ended */
	struct halving_sweep *sweeps;	/* owned, by group: n_rungs 0: it has no rungs */
	struct workload_list workloads;
	struct ran_out_list ran_out;	/* of queued and running jobs */
	/* Owned; of each kind, where there are several. */
	struct kind_speed {
		char kind[sizeof(((struct device *)0)->kind)];
		struct device_measurement_list list;
	} *speeds;
	int n_speeds;
};

/* Reads what jobs that have ended tell of lengths. past_lengths.c */
int read_past_lengths(struct store *store, struct snapshot *s, struct err *err);
/* What is known of the length of a job: by its workload or, where no job of that is done, by its
 * family. Without either, siblings of which none has ended. */
const struct past *past_of_job(const struct snapshot *s, const struct job *job);

/* Looks at the machine, reads the store in one read transaction, and fits the models of
 * workloads with new observations. */
int pass_read(const struct engine_context *at, const struct config *config, struct snapshot *s,
	      struct err *err);
/* For outlook.h: the job alone, and what its offers rest on. kind: of devices that may not be
 * listed any more, where it was measured; NULL: none. */
int pass_read_job(const struct engine_context *at, const struct config *config, int64_t job_id,
		  const char *kind, struct snapshot *s, struct err *err);
/* The same for jobs that were read already, on devices that were listed. Fits no models. */
int pass_read_jobs(const struct engine_context *at, const struct config *config,
		   const struct outlook_jobs *jobs, struct snapshot *s, struct err *err);
/* For pause.h: the machine, and all that tells whether runs can be suspended. */
int pass_read_running(const struct engine_context *at, const struct config *config,
		      struct snapshot *s, struct err *err);
/* outlook.c: the devices that can be given out, as the text of DEVICES_SETTING; nothing where there
 * are none. */
struct decision;
void outlook_describe_devices(const struct snapshot *s, const struct decision *d, struct text *t);
/* Devices as the last pass could give out: how they are joined is not told. No devices: no pass has
 * described any. */
int outlook_read_devices(struct store *store, struct device_list *list, struct err *err);
/* Inside a write transaction: whether nobody has written since the snapshot was read. */
int snapshot_is_current(const struct snapshot *s, struct store *store, bool *current,
			struct err *err);
/* Inside a write transaction: reads all but the machine again, and keeps the fits. */
int pass_read_again(const struct engine_context *at, struct snapshot *s, struct err *err);
void snapshot_release(struct snapshot *s);

/* The run that holds devices for the job: assigned or running, and not told to stop. NULL: none. */
const struct run *snapshot_run_of(const struct snapshot *s, const struct job *job);
/* NULL: there is no such job. Jobs are in the order of their numbers. */
const struct job *snapshot_job(const struct snapshot *s, int64_t id);
/* The index of the device that is the same as when it was given out; -1: there is none. */
int snapshot_device(const struct snapshot *s, const struct device *wanted);
/* True if the run has the device, or waits for it: none while it is suspended. */
bool run_holds(const struct run *run, const struct device *device);
/* True if the run holds the device, or had it when it was suspended. */
bool run_has(const struct run *run, const struct device *device);
/* True if the run has left its devices and is to come back to some. */
static inline bool is_suspended(const struct run *run)
{
	return run->suspension == SUSPENSION_DONE && run->stop_reason == STOP_NONE;
}

/* read_devices.c */
/* Looks at the devices and their users, outside any transaction since a driver or a directory of
 * users may take seconds, if there is a job to decide on. Sets s->look_failed for a machine that
 * cannot be read: the pass fails with s->failure at its end, since runs that lost their supervisors
 * must not wait for the machine. */
int pass_look_at_machine(const struct engine_context *at, struct snapshot *s, struct err *err);
/* Sets how runs here are suspended, and the machine's memory. */
void pass_look_for_suspension(struct snapshot *s);
/* Once the runs are read: marks the devices that cannot be given out, with the reason. */
int pass_judge_devices(const struct engine_context *at, struct snapshot *s, struct err *err);
/* A run that was assigned so long ago, and has not begun, does not wait for a silent device, nor
 * for one that others have while there is room elsewhere. */
#define PASS_AWAITED_S 60.0
/* Takes the devices from such a run that others have crowded out, if there is room elsewhere: the
 * run is called off, and its job is placed anew. */
void pass_leave_crowded(const struct engine_context *at, struct snapshot *s);

/* gpu_remarks.c: reads s->remarks, if the devices are GPUs of this machine. */
int read_remarks(struct store *store, struct snapshot *s, struct err *err);
/* suspension.c: reads s->move_s_per_byte from the self-tests, once the devices are listed. */
int read_freezable(struct store *store, struct snapshot *s, struct err *err);
/* interactive.c: who of the jobs is deserted, once jobs and runs are read. */
int read_interactive(const struct engine_context *at, struct snapshot *s, struct err *err);
/* read_jobs.c, once jobs, runs and devices are read: */
/* s->windows and s->starts_containers. */
int read_runs(struct store *store, struct snapshot *s, struct err *err);
/* s->setbacks, s->loses, and the most memory that a run of a waiting job had. */
int read_of_jobs(struct store *store, struct snapshot *s, struct err *err);
int read_device_needs(struct store *store, struct snapshot *s, struct err *err);
int read_host_needs(struct store *store, struct snapshot *s, struct err *err);
/* True if the policy is told what jobs need of the host's memory. */
static inline bool policy_heeds_memory(const struct snapshot *s)
{
	return s->host_needs && s->policy == &policy_goodput;
}
/* What is known of jobs that may share a device. */
int read_share(struct store *store, struct snapshot *s, struct err *err);
/* The index of the workload in s->share; -1: none. */
int share_workload(const struct snapshot *s, const char *workload);
int read_disks(const struct engine_context *at, struct snapshot *s, struct err *err);
/* Why the job cannot save: its disk is nearly full. NULL: it can. */
const char *snapshot_full_disk(const struct snapshot *s, const struct job *job);

#endif
