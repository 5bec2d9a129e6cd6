/* supervisor.h - what the parts of a supervisor share; private to src/engine/local. */
#ifndef POLLUX_RUN_SUPERVISOR_H
#define POLLUX_RUN_SUPERVISOR_H

#include <sys/types.h>

#include "account.h"
#include "kept_position.h"
#include "kept_reports.h"
#include "local_handle.h"
#include "log_keeper.h"
#include "log_watch.h"
#include "oom_killer.h"
#include "pollux/freeze.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "pollux/store.h"
#include "recorder.h"
#include "report_sender.h"
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

/* The callee frees the list. n -1: the driver gave no whole answer. */
typedef void driver_answer(struct supervisor *s, struct device_process *list, int n);

/* The last question to a driver. */
struct driver_question {
	pid_t pid;			/* the child that asks; 0: none, or it was reaped */
	bool hangs;			/* the child was given up */
	int fd;				/* for the answer; -1: no answer is expected */
	char *bytes;			/* owned; the answer so far */
	size_t length, room;
	/* when the child is given up; INFINITY: it has ended or was given up */
	double until_boot_s;
	driver_answer *then;
};

/* The last reading of the energy of the run's devices. */
struct run_energy {
	struct device_energy *last;	/* owned; n counters */
	int n;				/* 0: none was read since the run has its devices */
	int64_t others, others_now;	/* runs on its device beside it: at that reading; now */
	double next_boot_s;		/* when to read again */
};

/* The move of the run's GPU memory. */
struct supervisor_freeze {
	struct freezer freezer;
	struct freezer_order order;	/* the last one */
	int n_failed;			/* thaws that failed, though there was room */
	double until_boot_s;		/* when the driver is given up; INFINITY: no order waits */
};

struct supervisor {
	const struct paths *paths;
	struct store store;
	struct job job;
	struct job_command command;
	struct run run;
	struct local_handle handle;	/* run.handle is its text */
	struct strings containers;	/* that its processes started: local_add_containers() */
	struct recorder recorder;
	struct known_senders senders;
	enum supervisor_state state;
	double deadline_boot_s;		/* end of the state; INFINITY: none */
	double limit_boot_s;		/* when the job's time limit is used up; INFINITY none */
	double next_look_boot_s;	/* when to look into the store or for leftover processes */
	bool adopted;			/* the command was started by a supervisor that died */
	bool leader_gone;
	pid_t protected_pid;	/* a process of the run that may not be signalled; 0: none */
	bool first_start_worked;	/* an earlier run of the job came to its first step */
	/* the run that could not resume, after which this one goes on from the checkpoint before;
	 * 0: none */
	int refused_by_run;
	bool saved_is_known;
	double saved_s;		/* if known: when something was last saved, wall clock; NaN */
	bool signalled;			/* a supervisor of the run has told it to stop */
	struct stop_order stop;		/* who was told; see supervisor_stop.c */
	double stop_position;		/* where the run stood at the last look; NaN: unknown */
	double stop_pause_s, next_tell_boot_s;	/* between looks at whom to tell; the next one */
	bool stop_was_heeded;		/* of an order that is over */
	bool ended_elsewhere;		/* somebody else has written the end of the run */
	/* the same, and nothing is to be removed: another supervisor has the run */
	bool superseded;
	double sweep_pause_s;		/* between searches for leftover processes */
	/* the wait for a driver ends then; INFINITY: it has not begun */
	double driver_until_boot_s;
	double next_driver_boot_s;	/* when to ask a profile's driver for memory */
	double next_memory_boot_s;	/* when to look at the memory of the run's processes */
	struct driver_question driver;
	/* until the memory of a profile's devices was read for the last time */
	bool stop_waits;
	bool sampled_last;		/* that reading has been taken */
	/* owned; processes on the devices when the command was started */
	struct device_process *before;
	int n_before;
	char last_log[1100];		/* the last line logged: a repetition is left out */
	int wait_status;		/* of the leader, as wait(2); -1 unknown */
	/* version of the configuration in the run's file; 0: no file */
	int offered_version;
	struct oom_watch oom;
	struct kept_place kept_read;	/* of the file of kept reports */
	int64_t log_offset;		/* where this run begins in the job's log */
	pid_t guardian_pid;		/* this supervisor's parent; 0: none */
	int position_fd;		/* kept_position.h; -1: not kept */
	int run_lock, signal_fd, socket_fd, leader_fd, log_fd;
	struct log_keeper keeper;	/* writes what the run prints into log_fd */
	int leader_stat_fd;		/* of an adopted leader: exit_status.h */
	/* Inherited by the command: for each replica the lock of its device in this store's
	 * directory, then for each replica that in the shared directory; less than 0: none. */
	int *device_locks;
	bool outrun;			/* another user has a device that the run was to have */
	/* owned, since the first suspension, run.replicas of each: the devices of those locks; the
	 * devices that the processes are bound to; and as device_locks, locks of other devices */
	struct device *launch_devices, *bound_devices;
	int *moved_locks;
	struct supervisor_freeze freeze;
	struct run_energy energy;
	/* the last try to lock a device to come back to gave an error; else the lock was held */
	bool lock_failed;
	int quiet_rounds;		/* looks in a row that found every process stopped */
	/* why the run has to keep its device though all its processes are stopped; "": nothing */
	char unsettled[160];
	bool told_of_continued;		/* that somebody continued the suspended run */
	double limit_left_s;		/* of the time limit, while the run is suspended */
	double socket_rest_until_s;	/* the socket is not read before then */
	double log_limit_bytes;		/* 0: not read yet */
	double next_beat_boot_s;	/* when to show that this supervisor lives */
	bool profile_gone;		/* the profile's process was found to be gone */
	pid_t foreground;	/* process group of a run's 'pollux run'; 0: the run has none */
	struct log_watch log_watch;	/* used while the program reports no steps */
};

/* supervise.c */
/* Start "pollux supervise RUN" as a daemon: own session, no terminal, stderr to supervisor.log. */
int supervisor_spawn(const struct paths *paths, int64_t run_id, struct err *err);
/* In a process that is to become a supervisor. */
void supervisor_set_environment(const struct paths *paths);
/* Tells the run's supervisor to look into the store now. Without this it looks every two
 * seconds. */
void supervisor_wake(const struct run *run);

/* Shows passes, every few seconds, that this supervisor does not hang. */
void supervisor_beat(struct supervisor *s);
/* Makes the file of the run's lock anew, and locks it, if the file was removed or replaced. The
 * lock of another store, which took the place of the run's store, is left alone. */
void supervisor_keep_lock(struct supervisor *s);
/* True if the file of the run's lock is the one that this supervisor holds: the other files named
 * by the run's number are this run's then, and not those of another store's run. */
bool supervisor_has_lock_file(const struct supervisor *s);

/* Writes handle to run.handle. */
void supervisor_update_handle(struct supervisor *s);

/* supervisor_edited.c: reads again what a person may change while the run goes on: the time limit,
 * the grace and the limit of the log. */
void supervisor_read_declared(struct supervisor *s);
/* What is left of the job's time limit for this run, at a reading of the boot clock; INFINITY
 * without a limit. */
double supervisor_limit_left_s(const struct supervisor *s, double boot_s);

/* foreground.c */
/* The command's descriptors in a supervisor whose run is in the foreground. */
extern const int foreground_stdio[3];
/* Tells 'pollux run' that the command starts now, and until when it may run. Returns when the
 * person was told. */
void foreground_tell_limit(const struct supervisor *s);

/* supervisor_adopt.c: takes over a run whose supervisor died. */
int supervisor_adopt(struct supervisor *s, struct err *err);

/* supervisor_devices.c */
/* Number of descriptors in device_locks, and in moved_locks. */
int supervisor_lock_count(const struct supervisor *s);
/* Takes the locks of all devices or none. Every process of the run inherits the locks, so they are
 * free when the last process has ended, even if the supervisor died. Sets s->outrun. */
int supervisor_lock_devices(struct supervisor *s, bool *locked, struct err *err);
void supervisor_unlock_devices(struct supervisor *s);
/* The same for a run that has ended, wherever it is now. */
void supervisor_leave_locks(struct supervisor *s);
/* The descriptors that the command has inherited stay open: their locks can be taken again, for the
 * command too, if the run comes back to these devices. */
void supervisor_release_locks(struct supervisor *s);
/* After supervisor_release_locks(): takes the locks of the devices that the run has now, all or
 * none. */
bool supervisor_take_locks(struct supervisor *s);
/* Takes the locks that other users see where the processes of an adopted run have let go of
 * them. */
void supervisor_hold_devices(struct supervisor *s);
/* A supervisor lets go of the locks of its devices after the store says that the run has left them,
 * and takes them before the store says that it is back. The processes share these locks, and go on
 * holding them where the supervisor died in between. Lets go of every device lock, of the store and
 * of the shared directory, that one of these processes holds. False: a lock is held, and the kernel
 * does not give its descriptor to this process. */
bool left_locks_release(const struct paths *paths, const struct pid_list *list);

/* supervisor_start.c */
int supervisor_take_devices(struct supervisor *s, bool *taken, struct err *err);
int supervisor_launch(struct supervisor *s, struct err *err);
int supervisor_open_socket(struct supervisor *s, struct err *err);
int supervisor_open_log(struct supervisor *s, struct err *err);
/* Starts another process that writes the log, if there is none any more. */
void supervisor_tend_log(struct supervisor *s);
/* Reads the steps in the log from log_offset on. */
void supervisor_watch_log(struct supervisor *s);

/* supervisor_reports.c */
/* Keeps where the run stands for whoever concludes it if this supervisor is killed. */
void supervisor_keep_position(struct supervisor *s, double now_boot_s);
/* Stops keeping the position: what was kept stays in its file. */
void supervisor_leave_position(struct supervisor *s);
/* Takes over where the run stands from the supervisor that died. True: *k is what that one kept,
 * and the run has it. */
bool supervisor_take_position(struct supervisor *s, struct kept_position *k);
/* Reads the log after the part that the supervisor that died has read. k NULL: that part is not
 * known, and reading begins at the end of the log. */
void supervisor_watch_rest_of_log(struct supervisor *s, const struct kept_position *k);
/* Waits, for a limited time, for a report of a program that has sent some: only its next report
 * tells what it did while it had no supervisor. */
void supervisor_hear_report(struct supervisor *s);

/* supervisor_usage.c: puts the run's use of memory and processors into run. */
struct rusage;
void supervisor_sample_memory(struct supervisor *s);
/* Asks for the memory of a profile's devices before the run is stopped. True: the driver is being
 * asked, and EV_STOP will come again. */
bool supervisor_sample_first(struct supervisor *s);
/* one reaped process */
void supervisor_take_usage(struct supervisor *s, const struct rusage *usage);

/* supervisor_usage.c: adds the energy of the run's devices to run. */
/* Reads the counters; where a driver is asked, they come later. */
void supervisor_read_energy(struct supervisor *s);
/* The same from time to time, and when somebody has come to the run's device or has left. */
void supervisor_watch_energy(struct supervisor *s);
/* Before the command is started and when its last process has ended: reads the counters that need
 * no driver. A driver was asked then who is on the devices, and has told the counters. */
void supervisor_read_energy_at_once(struct supervisor *s);
/* Adds what was taken since the last reading of these counters. n 0: there is no answer. */
void supervisor_count_energy(struct supervisor *s, const struct device_energy *list, int n);
/* The energy that is taken until the next reading is not counted for the run. */
void supervisor_forget_energy(struct supervisor *s);

/* supervisor_config.c */
/* Reads what a pass wants of the run: its processors, and a configuration, which is written where
 * the running program looks. */
void supervisor_offer_config(struct supervisor *s);
/* Removes that file, also when it is incomplete or was left by another store's run with the same
 * id. */
void supervisor_remove_config(const struct supervisor *s);
/* supervisor_usage.c: binds the processes to the processors that a pass has given the run, if they
 * are others than it had. */
void supervisor_look_for_cores(struct supervisor *s, const char *had);
/* The run's devices, with the binding and the cores that the run has. The caller frees them. */
struct device *supervisor_devices_with_cores(const struct run *run);

/* supervisor_processes.c */
void supervisor_signal_leader(struct supervisor *s, int signal_number);
void supervisor_signal_all(struct supervisor *s, int signal_number);
/* Signals one process, and continues it if it is stopped. */
void supervisor_signal(struct supervisor *s, pid_t pid, int signal_number);
int supervisor_count_processes(const struct supervisor *s);

/* supervisor_stop.c */
/* Begins to tell the run's processes to stop, in the order of stop_order.h. */
void supervisor_begin_stop(struct supervisor *s);
/* Looks at the processes, tells those whose turn it is, and says when to look again. */
void supervisor_tell(struct supervisor *s);
/* A process has ended: others may have their turn now. */
void supervisor_see_end_of_process(struct supervisor *s);
/* The grace is over: signals go to all processes from now on. */
void supervisor_end_stop(struct supervisor *s);
/* False if no process of the run could do anything about the stop signal. */
bool supervisor_was_heeded(const struct supervisor *s);

/* The marks that distinguish the run's processes from others. Every list of the processes is made
 * by these marks, so that the same set is stopped, suspended, frozen and counted. */
struct run_marks {
	struct proc_marks marks;
	char *variable;			/* owned */
};
struct run_marks supervisor_marks(const struct supervisor *s);
void run_marks_release(struct run_marks *m);

/* Lists the run's processes. -1: /proc cannot be read, so nothing is known. */
int supervisor_find_processes(const struct supervisor *s, struct pid_list *list);
/* The memory of these processes; a page that they share counts once. */
int64_t supervisor_used_bytes(const struct supervisor *s);

/* report_sender.c: whose report was received from this process; now: the boot clock. */
enum report_sender supervisor_know_sender(struct supervisor *s, pid_t pid, double now);

/* supervisor_suspend.c */
/* Begins to stop every process of the run. */
void supervisor_begin_suspension(struct supervisor *s);
/* Continues stopping them. True: every process is stopped. */
bool supervisor_is_quiet(struct supervisor *s);
/* Asks the driver whether the device is free, now that all processes of the run are stopped. False:
 * there is nothing to ask. True: EV_SETTLED or EV_UNSETTLED follows, or the deadline of the state
 * says when to ask again. */
bool supervisor_ask_if_settled(struct supervisor *s);
/* Writes that the run is suspended, and leaves its devices. False: it could not be written. */
bool supervisor_leave_devices(struct supervisor *s);
/* Takes the devices that a pass gave to the run, and writes that it goes on. False: there are none
 * yet, or somebody still uses them. */
bool supervisor_return_to_devices(struct supervisor *s);
/* After that: binds the processes to these devices and continues them. */
void supervisor_end_suspension(struct supervisor *s);
/* Writes that the run cannot be suspended and keeps its devices. False: it could not be written. */
bool supervisor_refuse_suspension(struct supervisor *s);
/* Takes the devices that the run had before, or was given, without a pass. False: somebody uses
 * them. */
bool supervisor_take_back_devices(struct supervisor *s);
/* The run stays suspended: somebody holds the devices that it was given, though no run has them. */
void supervisor_decline_devices(struct supervisor *s);
/* While the run is suspended: stops what somebody continued, and says so once. */
void supervisor_keep_stopped(struct supervisor *s);
/* Instead, for a run that another supervisor has suspended. */
void supervisor_stay_suspended(struct supervisor *s);
/* Continues the processes of a run that is to be stopped, or whose leader has ended. */
void supervisor_drop_suspension(struct supervisor *s);
void supervisor_continue_all(struct supervisor *s);

/* supervisor_freeze.c */
/* Before the processes are stopped: moves the run's GPU memory to the host's, if the pass wants it;
 * EV_FROZEN follows, or EV_THAWED if the memory stays and the run goes on. False: nothing is to be
 * moved. */
bool supervisor_freeze(struct supervisor *s);
/* After the processes were continued: moves it back; EV_THAWED follows. False: nothing was moved.
 * Whatever cannot be mended ends the run: EV_STOP comes, with run.freeze_state FREEZE_LOST. */
bool supervisor_thaw(struct supervisor *s);
void supervisor_read_freezer(struct supervisor *s);	/* when freeze.freezer.fd can be read */
void supervisor_give_up_freezer(struct supervisor *s);	/* when freeze.until_boot_s is over */
void supervisor_leave_freezer(struct supervisor *s);
void supervisor_tell_of_freeze(struct supervisor *s, const char *text);	/* in the log, in status */
/* Instead of a supervisor that died while the memory was in the host's: as if it had moved it. */
void supervisor_stay_frozen(struct supervisor *s);
/* Instead of a supervisor that died while it moved the memory: brings the processes to rest, as far
 * as the driver can, and tells. */
void supervisor_mend_freeze(struct supervisor *s);

/* supervisor_loop.c: stops the run for a reason of the supervisor's own. */
void supervisor_stop_for(struct supervisor *s, enum stop_reason reason);

/* supervisor_resume.c */
struct template_values;
/* Decides whether the command gets the resume arguments: fills values->newest and resume_args.
 * Returns newest, which the caller frees. */
char *supervisor_choose_resume(struct supervisor *s, const char *directory,
			       struct template_values *values);
/* After a failure: says so if the run could not go on from a checkpoint, where an earlier run of
 * the job could start. */
void supervisor_diagnose_resume(struct supervisor *s);

/* supervisor_checkpoints.c: the directory of the job's checkpoints, which need not be there; the
 * caller frees. */
char *supervisor_checkpoint_dir(const struct supervisor *s);

/* supervisor_saving.c */
/* After the run has ended because it was asked to stop, and what it has lost is known: sees whether
 * it has saved. */
void supervisor_see_savings(struct supervisor *s);
/* Before what an adopted run has lost is known: a checkpoint that was written, but reported to
 * nobody, because no supervisor lived then, counts as the files tell. */
void supervisor_count_unheard_checkpoint(struct supervisor *s);
/* Where a job that never reported a checkpoint goes on, by what its last run wrote. */
struct fallback supervisor_fallback(struct supervisor *s);

/* supervisor_reports.c: both wait while the store cannot be written. False: that does not help. */
bool supervisor_record_reports(struct supervisor *s);
bool supervisor_record_end(struct supervisor *s);

/* supervisor_outcome.c */
/* Sets run.outcome, if nothing has set it yet, after the last reports and the log were read; and
 * run.diagnosis, where people want to know why. */
void supervisor_set_outcome(struct supervisor *s);
/* After a failure: says so if the run failed right after a suspension, or if a clock of its own
 * that does not know of suspensions ended it. */
void supervisor_diagnose_pause(struct supervisor *s);

/* supervisor_end.c */
/* Records how the run ended. True: a pass at once is useful. False: the command was not run for a
 * reason of ours, or the end could not be recorded, so that a pass would only repeat the failure;
 * or the machine is shutting down. */
bool supervisor_conclude(struct supervisor *s);
/* Ends a run whose processes cannot exist any more, as after a reboot. The work since the last
 * record, in the store or kept beside its lock, is lost. */
int run_end_lost(const struct paths *paths, struct store *store, struct run *run, struct err *err);
/* Sets why the run failed. */
void supervisor_set_diagnosis(struct supervisor *s, const char *text);
void supervisor_diagnose_diverged(struct supervisor *s);

/* Writes time, run and text to supervisor.log. A line that repeats the last one is left out. */
void supervisor_log(struct supervisor *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
