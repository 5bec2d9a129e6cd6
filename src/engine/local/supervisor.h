/* supervisor.h - what the parts of a supervisor share; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_H
#define POLLUX_RUN_SUPERVISOR_H

#include <sys/types.h>

#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store.h"
#include "local_handle.h"
#include "log_watch.h"
#include "oom.h"
#include "recorder.h"

enum supervisor_state {
	ST_WAITING,		/* for its devices and for the job's last run to end */
	ST_CHECKING,		/* it has them; for what their driver says of who is there */
	ST_RUNNING,
	ST_SIGNALLED,		/* the leader was told to stop; until the grace is over */
	ST_TERMINATED,		/* SIGTERM went to the group */
	ST_KILLED,		/* SIGKILL went to every process of the run */
	ST_SWEEPING,		/* the leader is gone; what it left behind gets time to end */
	ST_SWEEP_TERMINATED,	/* SIGTERM went to what is left, then SIGKILL */
	ST_FINISHED,
};
#define N_SUPERVISOR_STATES (ST_FINISHED + 1)

enum supervisor_event {
	EV_DEVICES_FREE,	/* locks taken and the run claimed */
	EV_DRIVER,		/* the driver has said who is on the devices, or has not answered in time */
	EV_STOP,		/* run.stop_reason is set */
	EV_LEADER_EXIT,
	EV_CLEAR,		/* no process of the run lives */
	EV_TIMEOUT,		/* the state's deadline has passed */
	EV_ENDED,		/* somebody else has ended the run, in the store */
};
#define N_SUPERVISOR_EVENTS (EV_ENDED + 1)

struct supervisor;

/* The list is the callee's to free; n -1: there is no answer, or none that says anything. */
typedef void driver_answer(struct supervisor *s, struct device_process *list, int n);

/* What was asked of a driver last. */
struct driver_question {
	pid_t pid;			/* the child that asks; 0: none, or it was reaped */
	bool hangs;			/* it was given up */
	int fd;				/* its answer; -1: none is waited for */
	char *bytes;			/* owned; of the answer so far */
	size_t length, room;
	double until_boot_s;		/* it is given up then; INFINITY: it has ended, or was */
	driver_answer *then;
};

struct supervisor {
	const struct paths *paths;
	struct store store;
	struct job job;
	struct job_command command;
	struct run run;
	struct local_handle handle;	/* run.handle is its text */
	struct recorder recorder;
	enum supervisor_state state;
	double deadline_boot_s;		/* of the state; INFINITY none */
	double limit_boot_s;		/* when the job's time limit is used up; INFINITY none */
	double next_look_boot_s;	/* into the store, or for leftover processes */
	bool adopted;			/* the command was started by a supervisor that died */
	bool leader_gone;
	bool signalled;			/* the leader was asked to stop, by us or a supervisor before us */
	bool ended_elsewhere;		/* nothing is left to be written */
	double sweep_pause_s;		/* between searches for leftover processes */
	double driver_until_boot_s;	/* a driver is waited for until then; INFINITY: not yet */
	double next_driver_boot_s;	/* a profile's driver is asked for memory */
	struct driver_question driver;
	bool stop_waits;		/* for a last look at the memory of a profile's devices */
	bool sampled_last;		/* which was taken */
	struct device_process *before;	/* owned; on its devices when the command was started */
	int n_before;
	char last_log[1100];		/* what was logged last: the same is not repeated */
	int wait_status;		/* of the leader, as wait(2); -1 unknown */
	int offered_version;		/* of the configuration in the run's file; 0: none is there */
	struct oom_watch oom;
	int64_t log_offset;		/* of the job's log where this run begins */
	int run_lock, signal_fd, socket_fd, leader_fd, log_fd;
	int *device_locks;		/* run.replicas of them, inherited by the command */
	double socket_rest_until_s;	/* the socket is left alone until then */
	bool profile_gone;		/* the process that it is a point for, found out here */
	struct log_watch log_watch;	/* of a program that reports no steps */
};

/* supervise.c */
/* Start "pollux supervise RUN" as a daemon: own session, no terminal, stderr to supervisor.log. */
int supervisor_spawn(const struct paths *paths, int64_t run_id, struct err *err);
/* Tell the run's supervisor to look into the store now; it looks every two seconds anyway. */
void supervisor_wake(const struct run *run);

/* Bring run.handle up to date with handle. */
void supervisor_update_handle(struct supervisor *s);

/* supervisor_start.c */
int supervisor_take_devices(struct supervisor *s, bool *taken, struct err *err);
int supervisor_launch(struct supervisor *s, struct err *err);
int supervisor_open_socket(struct supervisor *s, struct err *err);
int supervisor_open_log(struct supervisor *s, struct err *err);

/* supervisor_usage.c: what the run takes of memory and processors, into run. */
struct rusage;
void supervisor_sample_memory(struct supervisor *s);
/* What a profile's devices have before it is stopped. True: that is being asked, and EV_STOP comes again. */
bool supervisor_sample_first(struct supervisor *s);
void supervisor_take_usage(struct supervisor *s, const struct rusage *usage);	/* of one reaped */

/* supervisor_config.c */
/* Where a pass wants the running program to have another configuration, put it where the program looks. */
void supervisor_offer_config(struct supervisor *s);
/* None is at the place any more, whole or in part, of this run or of another store's run of its number. */
void supervisor_remove_config(const struct supervisor *s);

/* supervisor_stop.c */
void supervisor_signal_leader(struct supervisor *s, int signal_number);
void supervisor_signal_all(struct supervisor *s, int signal_number);
int supervisor_count_processes(const struct supervisor *s);

/* supervisor_driver.c */
enum driver_asked {
	DRIVER_ASKED,		/* then() is called within limit_s, from the loop */
	DRIVER_BUSY,		/* with what was asked before, or its child has not quite ended */
	DRIVER_NONE,		/* there is no driver to ask, or it hangs: such a one is not asked again */
};
/* For the processes on the run's devices, by their index among them. */
enum driver_asked supervisor_ask_driver(struct supervisor *s, double limit_s, driver_answer *then);
void supervisor_read_driver(struct supervisor *s);	/* when driver.fd can be read */
void supervisor_give_up_driver(struct supervisor *s);	/* when driver.until_boot_s is over */
void supervisor_driver_ended(struct supervisor *s);	/* its child was reaped */
void supervisor_leave_driver(struct supervisor *s);	/* nobody wants its answer any more */

/* supervisor_devices.c */
/* Before the command is started: who is on its devices is asked, and EV_DRIVER comes. False: there is nobody
 * to ask. */
bool supervisor_ask_who_is_there(struct supervisor *s);
/* After that: that nobody has come to its devices since they were given out. -1: EX_TEMPFAIL and who it is. */
int supervisor_check_devices(struct supervisor *s, struct err *err);
/* Looked at once no process of the run lives: true where there is no driver to ask. Otherwise EV_CLEAR comes when
 * the drivers of its devices list none that has ended, or were waited for long enough. */
bool supervisor_devices_clear(struct supervisor *s);

/* supervisor_end.c */
/* Writes down how the run ended. False: it never got to run its command for a reason of ours, or the end
 * could not be written, so that a pass at once would only do it again; or the machine goes down. */
bool supervisor_conclude(struct supervisor *s);
/* End a run whose processes cannot exist any more, as after a reboot: what it had done since its
 * last record is lost. */
int run_end_lost(struct store *store, struct run *run, struct err *err);
/* Why the run failed, as far as can be told. */
void supervisor_set_diagnosis(struct supervisor *s, const char *text);

/* Into supervisor.log: time, run, text; once, where the same is said again and again. */
void supervisor_log(struct supervisor *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
