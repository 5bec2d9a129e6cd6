/* job.h - a job as the store keeps it, and a run: one launch of its command.
 *
 * A job:	queued -> running -> done | failed | cancelled | timeout
 *		       <- (stopped, lost, or failed with retries left)
 *		held <-> queued
 * A run:	assigned -> running -> stopping -> ended
 *		(its supervisor waits for the devices) (the leader was told to stop)
 * Running:	none -> asked -> suspended -> resuming -> none	(enum suspension)
 */
#ifndef POLLUX_JOB_H
#define POLLUX_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/code.h"
#include "pollux/configuration.h"
#include "pollux/declaration.h"
#include "pollux/device.h"
#include "pollux/freeze.h"
#include "pollux/goodput.h"
#include "pollux/growth.h"
#include "pollux/text.h"
#include "pollux/training_total.h"

enum job_state {
	JOB_QUEUED, JOB_HELD, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_TIMEOUT
};
#define N_JOB_STATES (JOB_TIMEOUT + 1)

enum run_state { RUN_ASSIGNED, RUN_RUNNING, RUN_STOPPING, RUN_ENDED };
#define N_RUN_STATES (RUN_ENDED + 1)

/* How far a running run is on its way out of its devices and back. Its processes stop where they
 * are and keep their memory; the devices go to other jobs. The pass writes "asked" and "resuming",
 * the run's engine the others. */
enum suspension {
	/* not offered: the engine cannot suspend the run, or its supervisor is an older pollux's */
	SUSPENSION_CANNOT,
	SUSPENSION_NONE,	/* the run has its devices */
	SUSPENSION_ASKED,	/* its processes are being stopped; it still has its devices */
	SUSPENSION_DONE,	/* every process is stopped, and the run has no device */
	/* it waits for the devices that were assigned to it, and then goes on */
	SUSPENSION_RESUMING,
};
#define N_SUSPENSIONS (SUSPENSION_RESUMING + 1)

/* Why pollux stops a run; decides what becomes of the job. */
enum stop_reason {
	STOP_NONE,
	/* the devices go to others, or the job is to be relaunched: queued */
	STOP_PREEMPT,
	STOP_REQUEUE,		/* asked for by a person: queued */
	STOP_HOLD,		/* held */
	STOP_CANCEL,		/* cancelled */
	STOP_TIME_LIMIT,	/* timeout */
	STOP_ORPHAN,		/* its supervisor died: queued */
	STOP_SHUTDOWN,		/* the supervisor was told to end (the machine goes down): queued */
	STOP_MEASURED,		/* a profile has seen enough of it; the job goes on */
	STOP_RUNG,		/* it reached a rung of its sweep: queued, and paused */
	STOP_DIVERGED,		/* its loss was not finite too often (--stop-nan): failed */
	/* it ended by itself, as if clocks had gone on while it was suspended: queued */
	STOP_SUSPENSION,
};
#define N_STOP_REASONS (STOP_SUSPENSION + 1)

enum run_outcome {
	OUTCOME_NONE,		/* not ended */
	OUTCOME_COMPLETED,	/* exit status 0, unasked or with all work done */
	OUTCOME_FAILED,		/* another status, or a signal that was not ours */
	OUTCOME_STOPPED,	/* by us, or by what we did to it: STOP_SUSPENSION */
	/* supervisor and processes gone (reboot, kill -9): status unknown */
	OUTCOME_LOST,
	OUTCOME_NOT_STARTED,	/* called off before its devices were free */
};
#define N_RUN_OUTCOMES (OUTCOME_NOT_STARTED + 1)

/* Whether a job stands where the store says. */
enum position_doubt {
	POSITION_KNOWN,
	POSITION_AT_LEAST,	/* nobody saw the end of a run, as when its node was cut off: the
				   run may have saved more than was heard of */
	POSITION_OLD,		/* a run of the job was still active when its row was read */
};

/* In all structs here an unknown value is NaN for a double, 0 for a size or a count for which 0
 * makes no sense, and -1 where a comment says so. */

/* What was observed of a job over all its runs. */
struct progress {
	/* where the job stands: last report, or last checkpoint after a stop */
	double samples, steps;
	bool position_is_least;		/* not every step has a line in its log: more may be done */
	double checkpoint_samples;	/* at the last reported checkpoint */
	enum position_doubt position_doubt;
	double lost_samples, lost_s;	/* done again after relaunches */
	double attained_service_device_s;	/* of ended runs */
	double run_time_s;		/* of ended runs */
	/* runs: launches whose command was started, the present one included */
	int runs, preemptions, failures;
	/* the same, and launches that got their devices but started no command */
	int launches;
	double printed_total_steps;	/* steps to its end, as its log says; NaN */
	/* to its end, as its program reports; NaN */
	double reported_total_samples, reported_total_steps, total_epochs;
	enum training_end end;		/* what ends it, as its program reports */
	char optimizer[96];		/* "adam AdamW", for optimizer_family_of(); "": unknown */
	bool resumes;			/* its program once continued from a checkpoint */
	/* whether it saved when it was last asked to stop; -1 unknown */
	int saves_when_asked;
	/* The job was asked to stop, and lost the work of a whole run. No pass stops the job again
	 * until a person queues it again. */
	bool saved_nothing;
	/* the last one, which need not be finite (text.h): read it by progress_loss() */
	double loss;
	bool loss_is_nan;
	double epoch;
	char *status_text;
	int exit_code, term_signal;	/* of the last run that ended; -1 unknown */
	/* under which it last did something: only plans of its group go on with the checkpoints;
	 * "": none */
	char plan[CONFIGURATION_PLAN_SIZE];
	double last_end_time_s;		/* wall clock: when the job last gave up devices, was
					   released, or requeued; NaN: never */
};

struct job {
	int64_t id;
	enum job_state state;
	char *reason;			/* of the last decision, or why it ended */
	/* a job of 'pollux profile': no pass decides on it (profile.h) */
	bool profile;
	/* a job of 'pollux run', which holds a lock for the job: lock.h */
	bool interactive;
	/* A person holds it with its run suspended. It stays JOB_RUNNING, as it has a run; people
	 * are told that it is held. */
	bool held;
	/* wall clock; NaN unknown; of a profile: when its devices' next jobs start */
	double next_start_s;
	double submit_time_s, start_time_s, end_time_s;		/* wall clock */
	/* Since when the job waits for devices that are joined better, and until when at the most,
	 * wall clock; NaN: it does not wait for them. Until is NaN where the job accepts no
	 * others. */
	double tier_wait_since_s, tier_wait_until_s;
	/* failures of runs up to this number no longer delay the job */
	int forgiven_runs;
	/* The job that it came after and for whose end it could never start, so that a pass
	 * cancelled it; 0: it was not cancelled for that. */
	int64_t cancelled_for;
	/* The group that the job was submitted in (store_groups.h); without a group 0, -1 and
	 * none. */
	int64_t group_id;
	int group_index;		/* from 0 */
	struct strings parameters;	/* "NAME=VALUE" */
	char *key;			/* of --key, or made by --once; NULL: none */
	/* The last rung that it reached, and the last that it may go on from (store_groups.h). */
	int rung, passed_rungs;
	struct declaration declared;
	struct progress progress;
};

/* What is needed to launch, and nothing else: large, so read only then. */
struct job_command {
	int64_t job_id;
	char *program;			/* absolute path, as found at submission */
	struct strings argv, env;
	char *directory;
	char *checkpoint_dir;		/* NULL: pollux's own */
	char *checkpoint_glob;		/* of what is a checkpoint there; NULL: none */
	char *resume_args;		/* NULL: none */
	char *step_regex;		/* NULL: the built-in patterns, see steps.h */
	struct strings metric_regexes;	/* "NAME=REGEX": metrics in its log, see steps.h */
	/* The code at the submission: the commit, and whether tracked files differed from it; a
	 * tree of these (code.h). NULL: not in a repository, or not known. */
	char *git_commit;
	bool git_dirty;
	char *git_tree;
	char *repository;		/* the working tree that has the code; NULL: none */
	struct code_state first_code;	/* that the first run was launched with */
	char *snapshot_dir;		/* the code as it was (code.h); NULL: no copy */
	char *limits;			/* of the submission (proc.h); NULL: not kept */
	int64_t environment_id;		/* of env in the store; 0: in the job's own row */
	bool env_names_only;		/* the values were forgotten: env has names, no '=' */
	struct strings env_templates;	/* names of variables whose values have templates */
	/* With {job}, for the name and checkpoint_dir, where the store puts the number in when the
	 * job gets it; NULL: these have no {job}. */
	char *name_template, *checkpoint_template;
};

#define RUN_CORES_SIZE 1024
#define RUN_CORES_DIFFER (-1)

struct run {
	int64_t id, job_id;
	int number;			/* 1 = the job's first */
	enum run_state state;
	struct configuration configuration;
	double learning_rate_scale;
	/* its program says that it can change its configuration while it runs */
	bool takes_configs;
	/* version of the configuration above; 0: as launched */
	int config_version;
	/* version of the newer configuration below, which the run is to change to; else
	 * config_version */
	int wanted_version;
	struct configuration wanted;
	double wanted_learning_rate_scale;
	double wanted_boot_s;		/* since when it is wanted; NaN: never was */
	double assigned_time_s, launch_time_s, end_time_s;	/* wall clock */
	/* boot clock of boot_id; NaN: not yet */
	double assigned_boot_s, launch_boot_s, end_boot_s;
	char *boot_id;
	double duration_s;		/* from launch, by run_clock_s(); updated while running */
	enum suspension suspension;
	double suspended_boot_s;	/* since when its processes are stopped; NaN: they run */
	double suspended_s;		/* seconds stopped before that, of the whole run */
	double resumed_boot_s;		/* when it last went on; NaN: never */
	/* The most of a device's memory that a pass saw its processes have; 0: not known. */
	int64_t device_memory_bytes;
	int64_t kept_memory_bytes;	/* resident, when it was last suspended; 0: never */
	bool freezes;			/* its suspension moves its GPU memory to the host's */
	enum freeze_state freeze_state;
	int64_t frozen_bytes;		/* of GPU memory that was moved, or is being moved */
	char frozen_pids[128];		/* of the processes that had it, with blanks between */
	char *handle;		/* by which its engine finds the run (engine.h); NULL: none yet */
	enum stop_reason stop_reason;
	double stop_boot_s;		/* when asked; NaN */
	enum run_outcome outcome;
	int exit_code, term_signal;	/* -1: not applicable */
	char *diagnosis;		/* "out of memory: ..."; "" none */
	double first_samples, last_samples;	/* NaN: not reported */
	double checkpoint_samples, checkpoint_boot_s;
	char *checkpoint_path;	/* the last that its program told, as told; NULL: none */
	/* no column: at its end, where the job goes on if no checkpoint was reported; NaN */
	double stands_at_samples;
	double step_time_s;		/* of the last window; NaN */
	char step_source[48];		/* the source of step times: "reports", or "log:" and
					   the pattern; "" nowhere yet */
	/* what the helper for PyTorch found, such as "torch 2.15.0"; "": the helper reported
	 * nothing */
	char framework[96];
	/* what the helper does not do, and why; "": all parts work */
	char helper[256];
	/* where its program says that its metrics are to be seen; "": it says nothing */
	char wandb_url[256], tensorboard_url[256];
	int64_t stage;			/* which of its trainings it is at; 0: not told */
	double stage_first_steps;	/* the position of the job where that began; NaN */
	double first_step_s;		/* launch to first report: NaN none yet */
	double stop_duration_s;		/* from our signal to the end: NaN */
	char *resumed_from;	/* launched with the resume arguments, to go on from this; NULL */
	/* whether it saved after our signal; -1 not asked or unknown */
	int saves_when_asked;
	bool saved_nothing;		/* it saved neither after our signal nor before */
	double lost_samples, lost_s;
	int64_t reports, malformed_reports;	/* received by its supervisor */
	/* sent by processes of others, or with impossible positions */
	int64_t refused_reports;
	char refusal[96];		/* why the last of them was refused; "" none was */
	/* The most memory that its processes had at a time: resident, where a shared page counts
	 * for each process; and on the devices. 0: not known. */
	int64_t peak_memory_bytes, peak_device_memory_bytes;
	/* on one device, as its program's allocator says; 0: not known */
	int64_t peak_allocated_bytes;
	/* of its command and of all processes that the command started and that ended; NaN:
	 * unknown */
	double cpu_time_s;
	/* of its devices while it had them; those that it shares count in equal parts; NaN:
	 * unknown */
	double energy_j;
	/* What it took of its devices, by looks while it was at work. */
	struct run_use {
		double watched_s;	/* running time up to the last look; 0: no look yet */
		int64_t memory_bytes;	/* the most on one of them; 0: not known */
		double mean_memory_bytes;	/* on one of them; NaN */
		double utilization;	/* mean part of the time in which one computed; NaN */
		double temperature_c;	/* the highest; NaN */
	} use;
	bool out_of_memory;		/* it failed for want of memory, as diagnosed */
	bool larger_kind;		/* the job's next run is on a kind of device with more */
	bool other_plan;		/* the job's next run is under another plan */
	/* it could not resume; the job's next run resumes from the checkpoint before */
	bool former_checkpoint;
	bool forgiven;	/* no column: its failure is not its job's (store_runs.h) */
	/* of the arguments of configuration.plan */
	char plan_hash[CONFIGURATION_PLAN_HASH_SIZE];
	/* the processors that it is bound to, "0-3,8"; "": those of its devices */
	char cores[RUN_CORES_SIZE];
	/* The processors for each device with which its steps were timed; 0: not known;
	 * RUN_CORES_DIFFER: several numbers. */
	int measured_cores;
	struct code_state code;		/* that it was launched with */
	int forgotten;			/* 1: its step times; 2: what it told of memory */
	/* owned, replicas of them: id, binding, kind, cores are filled; of a suspended run, those
	 * that it had. Without a device one that is none, of the CPU's backend. */
	struct device *devices;
};

const char *job_state_name(enum job_state state);
/* The state that people are told: JOB_HELD of a job that is held with its run suspended. */
enum job_state job_state_told(const struct job *job);
/* What a sentence says of the job: "is queued", "has failed". set_aside: a running job is
 * suspended, a queued one is paused at a rung. */
const char *job_state_clause(enum job_state state, bool set_aside);
const char *run_state_name(enum run_state state);
const char *stop_reason_name(enum stop_reason reason);
/* What became of a run that was stopped, for people: "preempted", "cancelled", "time limit". */
const char *stop_reason_words(enum stop_reason reason);
const char *run_outcome_name(enum run_outcome outcome);
int job_state_parse(const char *name);			/* -1: no such name */
int stop_reason_parse(const char *name);
int run_outcome_parse(const char *name);
extern const struct field_names job_state_names, run_state_names, stop_names,
	run_outcome_names, suspension_names;

bool job_has_ended(enum job_state state);
/* The name under which is kept what is known of the job: that of its workload, or of the workload
 * under the plan of this run (NULL: of its last run). The caller frees it. */
char *job_knowledge_name(const struct job *job, const struct run *run);
/* True if the job waits at a rung of its sweep, to be among the best there or to be released. */
bool job_is_paused(const struct job *job);
/* True if the job has told a loss. *loss: the last one, which need not be finite. */
bool progress_loss(const struct progress *p, double *loss);
/* Returns the next state of a running job whose run ended with this outcome. retries_left counts
 * only for OUTCOME_FAILED. */
enum job_state job_state_after(enum run_outcome outcome, enum stop_reason reason,
			       bool retries_left);

/* Tells which jobs run one script with other arguments, where the workload is the command, as by
 * default: they have the same name and directory. 0: another workload than the command was given,
 * or the name is that of an installed program (in a directory such as bin, or pyenv's shims): it
 * tells nothing, since sh, python3 -m, make or docker may run anything. */
int64_t job_family(const char *workload, const char *name, const char *directory);

/* How much it does to its end, as far as that is believed; a profile has no total. */
struct training_total job_total(const struct job *job);
double job_total_samples(const struct job *job);
double job_total_steps(const struct job *job);
enum growth_veto job_growth_veto(const struct job *job);
bool job_keeps_replicas(const struct job *job);
/* The rule for its learning rate, LR_AUTO resolved by its optimizer. */
enum lr_rule job_lr_rule(const struct job *job);
/* AdaScale's gain behind a scale of its learning rate, for optimizers that each have their own
 * rule; NaN: one rule was chosen for all. */
double job_lr_gain(const struct job *job, double scale);
/* True if the job has a checkpoint, of an earlier run or of this one (NULL: none). */
bool job_has_saved(const struct job *job, const struct run *run);
/* True if devices may be taken from the run (NULL: none) now. The helper for PyTorch sees what a
 * program saves, but a program may save and never load: it has to have resumed once. A job that
 * saved nothing when it was asked to stop is not stopped again. */
bool job_may_be_preempted(const struct job *job, const struct run *run);

void job_init(struct job *job);			/* every "unknown" set */
void job_release(struct job *job);
void job_command_release(struct job_command *c);
void run_init(struct run *run);
void run_release(struct run *run);
/* Allocates the devices of the run's configuration. */
void run_make_devices(struct run *run);
/* True if the run is of a job without a device (declaration.h), and not of one whose devices are
 * not read. */
static inline bool run_has_no_device(const struct run *run)
{
	return run->configuration.replicas == 0;
}
/* The mean power of its devices; NaN: not known. */
double run_mean_power_w(const struct run *run);
/* How many of its devices the run has, or waits for: none while it is suspended. */
int run_held(const struct run *run);
/* The boot clock without the time for which the run was suspended. Differences from launch_boot_s
 * and checkpoint_boot_s are times in which the run was at work. */
double run_clock_s(const struct run *run, double boot_s);
/* True if the run was assigned in this boot: its times by the boot clock mean something now. */
bool run_is_of_this_boot(const struct run *run);
/* Moves the times of a run that was assigned in another boot to the boot clock of now, by the wall
 * clock: when the run was assigned, launched, last saved, and told to change or to stop. A run on
 * other machines outlives a reboot. */
void run_take_boot(struct run *run, double now_time_s, double now_boot_s);

/* The value of a parameter of the job, borrowed; NULL: the job has no such parameter. */
const char *job_parameter(const struct job *job, const char *name);
/* The learning rate as it was typed: the text of parameter 'lr', borrowed; NULL: there is none, or
 * the rate was changed since. */
const char *job_typed_learning_rate(const struct job *job);

#endif
