/* supervisor.h - what the parts of a supervisor share; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_H
#define POLLUX_RUN_SUPERVISOR_H

#include <sys/types.h>

#include "pollux/freeze.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "pollux/report_message.h"
#include "pollux/store.h"
#include "local.h"
#include "oom_killer.h"
#include "recorder.h"
#include "run_log.h"
#include "stop_order.h"

enum supervisor_state {
	ST_WAITING,		/* for its devices, and for the end of the job's last run */
	/* has the devices; waits until their driver says who else is there */
	ST_CHECKING,
	ST_RUNNING,
	ST_FREEZING,		/* its GPU memory goes to the host's */
	ST_SUSPENDING,		/* SIGSTOP goes to every process of the run until all are stopped */
	/* all are stopped; lasts until no kernel of theirs computes any more on their device */
	ST_SETTLING,
	ST_SUSPENDED,		/* all processes are stopped, and the devices belong to others */
	ST_THAWING,		/* the run has devices again, and its GPU memory comes back */
	ST_SIGNALLED,		/* it was told to stop; lasts until the grace is over */
	ST_TERMINATED,		/* SIGTERM went to the group */
	ST_KILLED,		/* SIGKILL went to every process of the run */
	ST_SWEEPING,		/* the leader is gone; the processes it left get time to end */
	ST_SWEEP_TERMINATED,	/* SIGTERM, later SIGKILL, went to the processes that are left */
	ST_FINISHED,
};
#define N_SUPERVISOR_STATES (ST_FINISHED + 1)

enum supervisor_event {
	EV_DEVICES_FREE,	/* locks taken and the run claimed, or claimed again */
	/* the driver has listed the processes on the devices, or gave no answer in time */
	EV_DRIVER,
	EV_SUSPEND,		/* run.suspension is SUSPENSION_ASKED */
	EV_FROZEN,		/* its GPU memory is where it is to be while the run is suspended */
	EV_STOPPED,		/* no process of the run can run */
	EV_SETTLED,		/* nor does anything that they began on their device */
	EV_UNSETTLED,		/* it does, and does not end: see unsettled */
	EV_THAWED,		/* its GPU memory is back, or could not leave */
	EV_STOP,		/* run.stop_reason is set */
	EV_LEADER_EXIT,
	EV_CLEAR,		/* no process of the run lives */
	EV_TIMEOUT,		/* the state's deadline has passed */
	EV_ENDED,		/* somebody else has ended the run, in the store */
	/* while this supervisor waited, another one claimed the run, or the store was removed */
	EV_SUPERSEDED,
	EV_OUTRUN,		/* another user took a device first */
};
#define N_SUPERVISOR_EVENTS (EV_OUTRUN + 1)

struct supervisor;

struct supervisor_lock {
	int fd;			/* of the run: others see by it that this supervisor lives */
	double next_beat_boot_s;	/* when to show that this supervisor does not hang */
};

/* The command's first process. */
struct supervisor_leader {
	int fd;				/* pidfd */
	int stat_fd;			/* of an adopted leader: for its exit status */
	bool gone;
	double ended_boot_s;		/* when it was seen to end; NaN: it was not */
	int wait_status;		/* as wait(2); -1 unknown */
	pid_t protected_pid;	/* a process of the run that may not be signalled; 0: none */
};

/* A run that is asked to stop. */
struct supervisor_stop {
	bool told;			/* a supervisor of the run has told it to stop */
	struct stop_order order;	/* who was told */
	double position;		/* where the run stood at the last look; NaN: unknown */
	double pause_s, next_boot_s;	/* between looks at whom to tell; the next one */
	bool was_heeded;		/* of an order that is over */
	struct strings containers;	/* that its processes started: local_add_containers() */
};

/* A device, and the locks on it: descriptors; less than 0: none. */
struct device_hold {
	struct device device;
	int own;			/* in this store's directory */
	int shared;			/* in the shared directory */
};

struct supervisor_devices {
	int n;				/* run.replicas */
	/* owned, n of each: the devices of the launch, whose locks the command has inherited; and
	 * other devices that a suspended run has come back to */
	struct device_hold *launch, *moved;
	bool outrun;			/* another user has a device that the run was to have */
	/* the last try to lock a device to come back to gave an error; else the lock was held */
	bool lock_failed;
};

/* The callee frees the list. n -1: the driver gave no whole answer. */
typedef void driver_answer(struct supervisor *s, struct device_process *list, int n);

struct supervisor_driver {
	/* The last question: */
	pid_t pid;			/* the child that asks; 0: none, or it was reaped */
	bool hangs;			/* the child was given up */
	int fd;				/* for the answer; -1: no answer is expected */
	struct text answer;		/* so far, while one is expected */
	/* when the child is given up; INFINITY: it has ended or was given up */
	double until_boot_s;
	driver_answer *then;
	/* owned; processes on the devices when the command was started */
	struct device_process *before;
	int n_before;
	/* the wait for ended processes on the devices ends then; INFINITY: it has not begun */
	double clear_until_boot_s;
};

struct supervisor_usage {
	double next_driver_boot_s;	/* when to ask a profile's driver for memory */
	double next_memory_boot_s;	/* when to look at the memory of the run's processes */
	/* until the memory of a profile's devices was read for the last time */
	bool stop_waits;
	bool sampled_last;		/* that reading has been taken */
	struct oom_watch oom;
	struct run_energy {
		struct device_energy *last;	/* owned; n counters, as they were read last */
		int n;			/* 0: none was read since the run has its devices */
		/* runs on its device beside it: at that reading; now */
		int64_t others, others_now;
		double next_boot_s;	/* when to read again */
	} energy;
};

/* The job's --memory. */
struct supervisor_memory {
	double look_boot_s;		/* when to look at the run's memory; INFINITY: no limit */
	bool limits_group;		/* its control group has the limit, too */
	int64_t over_bytes;		/* that it had when it was killed for that; 0: it was not */
};

/* The utilization over the last minutes, to tell of a low one. */
struct supervisor_use {
	double computed_s, span_s;	/* since these minutes began */
	bool told;			/* or it was told of the job before */
};

struct supervisor_wishes {
	double limit_boot_s;		/* when the job's time limit is used up; INFINITY none */
	double limit_left_s;		/* of the time limit, while the run is suspended */
	/* version of the configuration in the run's file; 0: no file */
	int offered_version;
};

struct supervisor_output {
	char *log_path;			/* owned */
	int log_fd;
	int64_t log_offset;		/* where this run begins in the job's log */
	bool steps_ended;		/* the log was not asked for steps any more */
	struct log_keeper keeper;	/* writes what the run prints into log_fd */
	struct log_watch watch;		/* used while the program reports no steps */
	double usual_limit_bytes;	/* of the log of a job without its own; 0: not read yet */
};

/* The kernel names the sender of a datagram. A sender is believed if it belongs to the run by its
 * session, its ancestors or its control group. An environment that names the run's socket does not
 * count: a shell that a person gave this environment is no part of the job. */
#define KNOWN_SENDERS 64

/* The last senders that were found to be the run's. A process that was once the run's stays the
 * run's. */
struct known_senders {
	struct known_sender {
		pid_t pid;		/* 0: an empty place */
		int64_t start_ticks;	/* with the pid, names one process */
		double looked_s;	/* boot clock */
	} items[KNOWN_SENDERS];
	int next;			/* the place to use next */
};

struct supervisor_reports {
	int socket_fd;
	double rest_until_boot_s;	/* the socket is not read before then */
	bool woken;			/* somebody has written to the store, and told so */
	struct known_senders senders;
	struct kept_place kept_read;	/* of the file of kept reports */
	int position_fd;		/* kept_position_write(); -1: not kept */
};

struct supervisor_suspension {
	/* owned, run.replicas; what the processes are bound to, since the first suspension */
	struct device *bound;
	int quiet_rounds;		/* looks in a row that found every process stopped */
	/* why the run has to keep its device though all its processes are stopped; "": nothing */
	char unsettled[160];
	bool told_of_continued;		/* that somebody continued the suspended run */
	/* processes that somebody else had stopped before: they stay so when the run goes on */
	struct pid_list stopped_before;
	double all_stopped_boot_s;	/* since when the running run is stopped; NaN: it is not */
	bool told_of_stopped;		/* since all_stopped_boot_s */
};

/* The move of the run's GPU memory. */
struct supervisor_freeze {
	struct freezer freezer;
	struct freezer_order order;	/* the last one */
	int n_failed;			/* thaws that failed, though there was room */
	bool told_of_room;		/* that a thaw waits for room */
	double until_boot_s;		/* when the driver is given up; INFINITY: no order waits */
};

struct supervisor_resume {
	bool worked_before;		/* an earlier run of the job came to its first step */
	/* the run that could not resume, after which this one goes on from the checkpoint before;
	 * 0: none */
	int refused_by_run;
};

struct supervisor_saved {
	bool is_known;
	double at_s;		/* if known: when something was last saved, wall clock; NaN */
};

/* Each member that names a file is changed there only, but for its beginning and its end in
 * supervise.c (tools/check-layers.sh). */
struct supervisor {
	const struct paths *paths;
	struct store store;
	struct job job;
	struct job_command command;
	struct run run;			/* as it is in the store, or will be written there */
	struct local_handle handle;	/* run.handle is its text */
	struct err err;			/* of the last call: supervisor_note() */
	struct recorder recorder;
	int signal_fd;
	pid_t guardian_pid;		/* this supervisor's parent; 0: none */
	pid_t foreground;	/* process group of a run's 'pollux run'; 0: the run has none */
	bool adopted;			/* the command was started by a supervisor that died */
	enum supervisor_state state;
	double deadline_boot_s;		/* end of the state; INFINITY: none */
	double next_look_boot_s;	/* when to look into the store or for leftover processes */
	double look_pause_s;		/* between searches for processes */
	bool ended_elsewhere;		/* somebody else has written the end of the run */
	/* the same, and nothing is to be removed: another supervisor has the run */
	bool superseded;
	bool profile_gone;		/* the profile's process was found to be gone */
	char last_log[1100];		/* the last line logged: a repetition is left out */
	struct supervisor_lock lock;			/* supervisor_loop.c */
	struct supervisor_leader leader;		/* supervisor_processes.c */
	struct supervisor_stop stop;			/* supervisor_processes.c */
	struct supervisor_devices devices;		/* supervisor_devices.c */
	struct supervisor_driver driver;		/* supervisor_driver.c */
	struct supervisor_usage usage;			/* supervisor_driver.c */
	struct supervisor_memory memory;		/* supervisor_memory.c */
	struct supervisor_use use;			/* supervisor_use.c */
	struct supervisor_wishes wishes;		/* supervisor_wishes.c */
	struct supervisor_output output;		/* supervisor_output.c */
	struct supervisor_reports reports;		/* supervisor_reports.c */
	struct supervisor_suspension suspension;	/* supervisor_suspend.c */
	struct supervisor_freeze freeze;		/* supervisor_freeze.c */
	struct supervisor_resume resume;		/* supervisor_resume.c */
	struct supervisor_saved saved;			/* supervisor_saving.c */
};

#endif
