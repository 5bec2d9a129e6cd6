/* supervisor_parts.h - what the parts of a supervisor do for each other, and include; private to
 * src/engine. */
#ifndef POLLUX_RUN_SUPERVISOR_PARTS_H
#define POLLUX_RUN_SUPERVISOR_PARTS_H

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/template.h"
#include "pollux/text.h"
#include "checkpoints.h"
#include "run_group.h"
#include "supervisor.h"

/* --- supervise.c: begins, takes over and leaves --- */

/* The command's descriptors in a supervisor whose run is in the foreground. */
extern const int foreground_stdio[3];
/* Tells 'pollux run' that the command starts now, and until when it may run. Returns when the
 * person was told. */
void foreground_tell_limit(const struct supervisor *s);

/* --- supervisor_states.c: the reaction to an event in the state of the run --- */

void supervisor_handle(struct supervisor *s, enum supervisor_event event);
/* The grace is this from now on, also for a stop that has begun. */
void supervisor_set_grace(struct supervisor *s, double grace_s);

/* --- supervisor_loop.c: events, and what every part uses --- */

/* Turns descriptors, the store and the clock into events until the run is finished. */
void supervisor_loop(struct supervisor *s);
/* Stops the run for a reason of the supervisor's own. */
void supervisor_stop_for(struct supervisor *s, enum stop_reason reason);
/* Shows passes, every few seconds, that this supervisor does not hang. */
void supervisor_beat(struct supervisor *s);
/* True if the file of the run's lock is the one that this supervisor holds: the other files named
 * by the run's number are this run's then, and not those of another store's run. */
bool supervisor_has_lock_file(const struct supervisor *s);
/* Removes a file named by the run's number, as "lock", if it is there. */
void supervisor_unlink(const struct supervisor *s, const char *suffix);
void supervisor_update_handle(struct supervisor *s);
/* Writes time, run and text to supervisor.log. A line that repeats the last one is left out. */
void supervisor_log(struct supervisor *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Takes what a call returned that had &s->err. Logs the error, if there is one. Returns rc. */
int supervisor_note(struct supervisor *s, int rc);
/* Adds to the events of the job what happened to the run; the second one logs it as well. */
void supervisor_add_event(struct supervisor *s, const char *kind, const char *text);
void supervisor_tell_event(struct supervisor *s, const char *kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Says why the run failed, instead of what was said before. */
void supervisor_set_diagnosis(struct supervisor *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --- supervisor_start.c: from an assigned run to a running command --- */

int supervisor_take_devices(struct supervisor *s, bool *taken, struct err *err);
int supervisor_launch(struct supervisor *s, struct err *err);

/* --- supervisor_output.c: what the run prints --- */

int supervisor_open_log(struct supervisor *s, struct err *err);
/* Returns a new descriptor for the standard output of the program: the FIFO from which another
 * process writes into the log, or the log itself where there can be no FIFO. */
int supervisor_open_output(struct supervisor *s);
/* Starts another process that writes the log, if there is none any more. */
void supervisor_tend_log(struct supervisor *s);
/* The first line of each run in the log is its command, ready for a shell: that of the first node.
 * No program reads it. The last line tells how the run ended. */
void supervisor_begin_log(struct supervisor *s, const struct strings *argv,
			  const struct template_values *values, const char *code);
void supervisor_end_log(const struct supervisor *s);
void supervisor_keeper_ended(struct supervisor *s, int wait_status);	/* it was reaped */
void supervisor_limit_log(struct supervisor *s);
/* Reads the steps in the log from log_offset on. */
void supervisor_watch_log(struct supervisor *s);
/* Reads the log after the part that the supervisor that died has read. k NULL: that part is not
 * known, and reading begins at the end of the log. */
void supervisor_watch_rest_of_log(struct supervisor *s, const struct kept_position *k);
/* Reads the steps that a program printed, if it reports none. last: no process of the run is left,
 * and all is read. */
void supervisor_read_log(struct supervisor *s, double now_boot_s, bool last);
/* While the run is suspended it is not read. */
void supervisor_rest_log(struct supervisor *s);
void supervisor_go_on_log(struct supervisor *s, double now_boot_s);

/* --- supervisor_reports.c: what the run reports --- */

int supervisor_open_socket(struct supervisor *s, struct err *err);
/* Takes in the reports that came, up to a limit; last: a process of the run has ended, and all are
 * taken. */
void supervisor_read_reports(struct supervisor *s, double now_boot_s, bool last);
/* True, once, if one of the messages asked to look into the store. */
bool supervisor_was_woken(struct supervisor *s);
/* Takes in the reports that nobody took when they were sent, each once. */
void supervisor_read_kept_reports(struct supervisor *s, double now_boot_s);
/* Waits, for a limited time, for a report of a program that has sent some: only its next report
 * tells what it did while it had no supervisor. */
void supervisor_hear_report(struct supervisor *s);
/* Records the last reports, or the end of the run: waits while the store cannot be written. False:
 * that does not help. */
bool supervisor_record(struct supervisor *s, bool end);
/* Where the run stands is kept in a file for whoever concludes the run if this supervisor is
 * killed: the file is made at the launch, written, and left as it is. */
void supervisor_begin_position(struct supervisor *s);
void supervisor_keep_position(struct supervisor *s, double now_boot_s);
void supervisor_leave_position(struct supervisor *s);
/* Takes over where the run stands from the supervisor that died. True: *k is what that one kept,
 * and the run has it. */
bool supervisor_take_position(struct supervisor *s, struct kept_position *k);

/* --- supervisor_wishes.c: what is asked of the run while it goes on --- */

/* Reads again what a person may change while the run goes on: the time limit, the grace and the
 * limit of the log. */
void supervisor_read_declared(struct supervisor *s);
/* The job's time limit: begins with the run; stands still while the run is suspended; goes on; is
 * taken over from a supervisor that died while the run was suspended; is over, which is told
 * once. */
void supervisor_begin_limit(struct supervisor *s);
void supervisor_stop_limit(struct supervisor *s);
void supervisor_go_on_limit(struct supervisor *s, double now_boot_s);
void supervisor_keep_limit(struct supervisor *s);
bool supervisor_limit_is_over(struct supervisor *s, double now_boot_s);
/* What is left of the job's time limit for this run, at a reading of the boot clock; INFINITY
 * without a limit. */
double supervisor_limit_left_s(const struct supervisor *s, double boot_s);
/* Reads what a pass wants of the run: a configuration, which is written where the running program
 * looks, and its processors, to which its processes are bound. */
void supervisor_look_for_wishes(struct supervisor *s);
/* Binds the processes to the devices. One that cannot be bound goes on where it was: slower, but
 * correctly. */
void supervisor_bind_processes(struct supervisor *s, const struct device_backend *backend,
			       const struct device *devices);
/* The run's devices, with the binding and the cores that the run has. The caller frees them. */
struct device *supervisor_devices_with_cores(const struct run *run);

/* --- supervisor_processes.c --- */

/* The marks that distinguish the run's processes from others, as long as s lasts. Every list of the
 * processes is made by these marks, so that the same set is stopped, suspended, frozen and
 * counted. */
struct proc_marks supervisor_marks(const struct supervisor *s);
/* Lists the run's processes. -1: /proc cannot be read, so nothing is known. */
int supervisor_find_processes(const struct supervisor *s, struct pid_list *list);
int supervisor_count_processes(const struct supervisor *s);
/* The memory of these processes; a page that they share counts once. */
int64_t supervisor_used_bytes(const struct supervisor *s);

/* --- supervisor_memory.c: --memory --- */

/* Begins to keep the limit that the job declares, or another one than before. */
void supervisor_limit_memory(struct supervisor *s);
/* Kills a run that is beyond it. */
void supervisor_watch_memory(struct supervisor *s);
/* Reads of the control group, before that is removed, whether the kernel has done so. */
void supervisor_end_memory(struct supervisor *s);
/* True if one of them did: sets the diagnosis. */
bool supervisor_diagnose_memory(struct supervisor *s);
void supervisor_signal_all(struct supervisor *s, int signal_number);

/* Another supervisor may have told the run to stop. */
void supervisor_take_over_stop(struct supervisor *s);
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
/* A stop of docker(1) does not always stop its container: ends those that the run's processes
 * started. */
void supervisor_end_containers(struct supervisor *s);

/* Writes who the command's first process is, and watches it: as struct child wants it. */
int supervisor_record_leader(pid_t pid, void *arg, struct err *err);
/* Watches that of an adopted run, if the pid is still the recorded process. It is no child of this
 * supervisor. */
void supervisor_watch_leader(struct supervisor *s);
/* It has ended: EV_LEADER_EXIT. wait_status: as of wait(2). That of an adopted leader nobody may
 * know. */
void supervisor_leader_ended(struct supervisor *s, int wait_status);
void supervisor_adopted_leader_ended(struct supervisor *s);
/* Nothing is asked of it any more. */
void supervisor_lose_leader(struct supervisor *s);

/* --- supervisor_devices.c: the locks of the run's devices --- */

/* Before anything else here: no lock is held. */
void supervisor_begin_holds(struct supervisor *s);
/* Takes the locks of all devices or none. Every process of the run inherits the locks, so they are
 * free when the last process has ended, even if the supervisor died. Sets devices.outrun. */
int supervisor_lock_devices(struct supervisor *s, bool *locked, struct err *err);
/* Closes the locks, wherever the run is now. */
void supervisor_leave_locks(struct supervisor *s);
/* After EV_DRIVER: checks that nobody has come to the devices since they were assigned. -1:
 * EX_TEMPFAIL, with the process that is there. */
int supervisor_check_devices(struct supervisor *s, struct err *err);
/* The descriptors that the command has inherited stay open: their locks can be taken again, for the
 * command too, if the run comes back to these devices. Those of the devices that the run has now
 * are taken all or none. */
void supervisor_release_locks(struct supervisor *s);
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

/* --- supervisor_driver.c: what a driver tells of the run's devices --- */

enum driver_asked {
	DRIVER_ASKED,		/* then() will be called within limit_s, from the loop */
	DRIVER_BUSY,		/* an earlier question, or the child that asked it, has not ended */
	/* there is no driver to ask, or an earlier question hangs for ever */
	DRIVER_NONE,
};
/* Asks for the processes on the run's devices, which are named by their index in the run. then
 * NULL: the counters of energy are wanted, which every answer has. */
enum driver_asked supervisor_ask_driver(struct supervisor *s, double limit_s, driver_answer *then);
void supervisor_read_driver(struct supervisor *s);	/* when driver.fd can be read */
void supervisor_give_up_driver(struct supervisor *s);	/* when driver.until_boot_s is over */
void supervisor_driver_ended(struct supervisor *s);	/* the child was reaped */
void supervisor_leave_driver(struct supervisor *s);	/* drop the question */

/* Before the command is started: asks who is on the run's devices; EV_DRIVER follows. False: there
 * is no driver to ask. */
bool supervisor_ask_who_is_there(struct supervisor *s);
/* After the last process of the run has ended. True: there is no driver to ask. Otherwise EV_CLEAR
 * follows when the drivers list no ended process any more, or after a limited wait. */
bool supervisor_devices_clear(struct supervisor *s);

/* Puts what the run takes of the machine into run. Looks at memory and energy from time to time,
 * and when somebody has come to the run's device or has left. */
void supervisor_begin_usage(struct supervisor *s);
void supervisor_watch_usage(struct supervisor *s);
/* True if the kernel has killed the run, which was ended by SIGKILL, because memory was short. */
bool supervisor_was_killed_for_memory(const struct supervisor *s);
/* Asks for the memory of a profile's devices before the run is stopped. True: the driver is being
 * asked, and EV_STOP will come again. */
bool supervisor_sample_first(struct supervisor *s);
void supervisor_take_usage(struct supervisor *s, const struct rusage *usage);	/* one that ended */

/* --- supervisor_use.c: what the run does with its devices --- */

/* What the run has of one device, by an answer of its driver. In a container with pids of its own
 * nobody can tell whose processes they are; on an assigned device they are taken for the run's. */
struct device_use {
	int64_t memory_bytes;		/* -1: not known */
	double utilization;		/* NaN: its processes tell none */
};
struct device_use supervisor_use_of(struct supervisor *s, const struct device_process *list, int n,
				    int device);
/* Counts an answer of the driver of its devices, while the run is at work; says once in the life of
 * the job that it makes little use of them. */
void supervisor_count_use(struct supervisor *s, const struct device_taken *taken,
			  const struct device_process *list, int n);

/* Reads the counters of energy; where a driver is asked, they come later. at_once: only those that
 * need no driver, before the command is started and when its last process has ended: a driver was
 * asked then who is on the devices, and has told the others. */
void supervisor_read_energy(struct supervisor *s, bool at_once);
/* The energy that is taken until the next reading is not counted for the run. */
void supervisor_forget_energy(struct supervisor *s);

/* --- supervisor_suspend.c: the processes are stopped, and the devices are others' --- */

/* Begins to stop every process of the run; continues stopping them. True: every one is stopped. */
void supervisor_begin_suspension(struct supervisor *s);
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
/* A run that goes on again: continues what stopped itself, as script(1) does when it sees that its
 * child was stopped. Another run: tells that somebody has stopped it, and continued it. Returns
 * the time until the next look, if that is shorter. */
double supervisor_watch_stopped(struct supervisor *s, double now);
/* True, with the words for supervisor_refuse_suspension(): a program of the run counts the time for
 * which it is stopped. */
bool supervisor_counts_time(struct supervisor *s);
/* Writes that the run cannot be suspended and keeps its devices. False: it could not be written. */
bool supervisor_refuse_suspension(struct supervisor *s);
/* The run stays suspended: somebody holds the devices that it was given, though no run has them. */
void supervisor_decline_devices(struct supervisor *s);
/* While the run is suspended: stops what somebody continued, and says so once. */
void supervisor_keep_stopped(struct supervisor *s);
/* Instead, for a run that another supervisor has suspended. */
void supervisor_stay_suspended(struct supervisor *s);
/* Continues the processes of a run that is to be stopped, or whose leader has ended. */
void supervisor_drop_suspension(struct supervisor *s);
void supervisor_continue_all(struct supervisor *s);

/* --- supervisor_freeze.c: the run's GPU memory goes to the host's, and comes back --- */

/* Before the processes are stopped: moves the run's GPU memory to the host's, if the pass wants it;
 * EV_FROZEN follows, or EV_THAWED if the memory stays and the run goes on. False: nothing is to be
 * moved. */
bool supervisor_freeze(struct supervisor *s);
/* After the processes were continued: moves it back, if it was moved; EV_THAWED follows. Whatever
 * cannot be mended ends the run: EV_STOP comes, with run.freeze_state FREEZE_LOST. */
void supervisor_thaw(struct supervisor *s);
void supervisor_read_freezer(struct supervisor *s);	/* when freeze.freezer.fd can be read */
void supervisor_give_up_freezer(struct supervisor *s);	/* when freeze.until_boot_s is over */
void supervisor_freezer_ended(struct supervisor *s);	/* the child was reaped */
void supervisor_leave_freezer(struct supervisor *s);
/* True if the memory of the process is in the host's. */
bool supervisor_was_frozen(const struct supervisor *s, int64_t pid);
/* Instead of a supervisor that died while the memory was in the host's: as if it had moved it. */
void supervisor_stay_frozen(struct supervisor *s);
/* Instead of a supervisor that died while it moved the memory: brings the processes to rest, as far
 * as the driver can, and tells. */
void supervisor_mend_freeze(struct supervisor *s);

/* --- supervisor_resume.c, supervisor_saving.c: what was saved --- */

/* A run that fails within this time, and made no step, could not resume. */
#define RESUME_S 120.0

/* The directory of the job's checkpoints, which need not be there; the caller frees. */
char *supervisor_checkpoint_dir(const struct supervisor *s);
/* Fills found, which the caller releases, and s->refused_by_run. without: a checkpoint that
 * does not count, or NULL. any_age: what was there before the job began counts, too. */
void supervisor_find_checkpoints(struct supervisor *s, const char *without, bool any_age,
				 struct checkpoints *found);
/* Decides whether the command gets the resume arguments: fills values->newest and resume_args.
 * Returns newest, which the caller frees. */
char *supervisor_choose_resume(struct supervisor *s, const char *directory,
			       struct template_values *values);
/* After a failure: says so if the run could not go on from a checkpoint, where an earlier run of
 * the job could start. */
void supervisor_diagnose_resume(struct supervisor *s);
/* What the run has lost, at its end, and whether it has saved what it was asked to. run_end_s: by
 * run_clock_s(). */
void supervisor_account(struct supervisor *s, double run_end_s);

/* Where a job that never reported a checkpoint goes on after a run. */
struct fallback {
	double samples;		/* NaN: not known */
	double boot_s;		/* when the run stood there, by run_clock_s() */
};

/* Fill lost_samples, lost_s, checkpoint_samples and stands_at_samples of an ended run. end_boot_s:
 * when the run ended. If it is not known where the job goes on, nothing is said to be lost. */
void account_for_loss(const struct job *job, struct run *run, const struct fallback *unreported,
		      double end_boot_s);

/* --- supervisor_outcome.c: what became of the run --- */

void supervisor_diagnose_diverged(struct supervisor *s);
/* Sets run.outcome, if nothing has set it yet, after the last reports and the log were read; and
 * run.diagnosis, where people want to know why. */
void supervisor_set_outcome(struct supervisor *s);
/* After the diagnosis of a failure: sees whether the run ended early, and whether its end says
 * nothing because it was suspended (STOP_SUSPENSION). */
void supervisor_judge_pause(struct supervisor *s);

/* --- supervisor_end.c: why it failed, and the record --- */

/* Records how the run ended. True: a pass at once is useful. False: the command was not run for a
 * reason of ours, or the end could not be recorded, so that a pass would only repeat the failure;
 * or the machine is shutting down. */
bool supervisor_conclude(struct supervisor *s);

/* --- programs under a wrapper: src/engine/slurm --- */

/* What a supervisor does in another way whose programs run under a wrapper, perhaps on several
 * machines, and whose orders come in files. */
struct supervisor_remote {
	/* At each look: takes orders, and shows that the supervisor lives. */
	void (*look)(struct supervisor *s);
	/* No process of the run is left: looks how the programs ended. */
	void (*conclude)(struct supervisor *s);
	/* Makes the command that runs the program under its wrapper, and adds variables. */
	void (*wrap)(struct supervisor *s, const struct strings *argv, struct strings *wrapped,
		     struct strings *env);
	const char *master;	/* the address of the first node, for the programs of the others */
	/* The process on this machine that the programs here descend from; 0: not known yet. */
	pid_t (*ancestor)(void);
	/* Sends a signal to the programs, or to all of their processes. False: the processes here
	 * are to be signalled. */
	bool (*signal)(struct supervisor *s, int signal_number, bool all);
};
/* NULL in a supervisor of programs on this machine. */
extern const struct supervisor_remote *supervisor_remote;

#endif
