/* actions.h - what a pass is going to do, in order: private to src/pass.
 *
 *	struct actions *p = actions_of(&snapshot, decision, words);
 *	actions_print(p, &lines);				// schedule --dry-run and -v
 *	if (actions_apply(p, &at, err)) ...
 *	actions_free(p);
 *
 * They hold all that applying them takes, in facts; actions_print() puts them into words. */
#ifndef POLLUX_ACTIONS_H
#define POLLUX_ACTIONS_H

#include "decision.h"

enum action_kind {
	/* What happened without anybody telling the store (recover.c). */
	ACTION_END_LOST,		/* end a run that was cut off by a reboot */
	ACTION_END_PROFILE,		/* end a profile whose process is gone */
	/* call off a run of such a profile that nobody looks after */
	ACTION_CALL_OFF,
	ACTION_WAKE,			/* make the keeper of a run look at the store */
	/* What was learnt (actions.c, as all that follow). */
	ACTION_KEEP_MODEL,		/* store a model that was fitted anew */
	ACTION_KEEP_MEMORY,		/* store how much of a GPU's memory a run has */
	ACTION_FORGET_IGNORED,		/* forget a process that is on no GPU any more */
	ACTION_REMARK,			/* tell what a run does on the GPUs, or that it is over */
	/* What was decided. */
	ACTION_CANCEL,			/* a job that can never run */
	ACTION_REASON,			/* tell why a job waits, or runs */
	ACTION_TIER_WAIT,		/* a job begins or ends to wait for a better tier */
	ACTION_TIER_WAITED,		/* keep how long a job waited for a tier */
	ACTION_STOP,			/* a run: its devices go to others, or its job comes back */
	ACTION_START,			/* a new run of a job */
	ACTION_SUSPEND,			/* a run: its devices go to others, it keeps its memory */
	ACTION_RESUME,			/* a suspended run, on new devices */
	ACTION_CHANGE,			/* the configuration of a run that goes on */
	ACTION_BIND,			/* a run to other processors: why lists them */
	/* What an earlier pass or a supervisor left undone. */
	ACTION_LAUNCH,			/* start an assigned run */
	ACTION_ADOPT,			/* end a run that lost its supervisor */
};

struct action {
	enum action_kind kind;
	int64_t job_id;
	const struct run *run;		/* in the snapshot; NULL: none, or not yet */
	/* Owned. ACTION_START: the run, which gets its id when it is applied. ACTION_RESUME:
	 * the run as it will be. */
	struct run *new_run;
	const struct workload *workload;	/* in the snapshot; of ACTION_KEEP_MODEL */
	int64_t pid;			/* of ACTION_FORGET_IGNORED */
	int64_t cancelled_for;		/* of ACTION_CANCEL: as in struct passed_over */
	int64_t bytes;			/* of ACTION_KEEP_MEMORY */
	int replicas;			/* devices that the job is to have; 0: it waits */
	bool freezes;			/* of ACTION_SUSPEND: its GPU memory goes to the host's */
	struct sizes sizes;		/* final: of the two with a new_run and ACTION_CHANGE */
	double next_start_s;		/* wall clock; NaN; of ACTION_REASON */
	double since_s, until_s;	/* wall clock; NaN; of ACTION_TIER_WAIT */
	struct tier_past waited;	/* of ACTION_TIER_WAITED */
	char *why;			/* owned; NULL: of a profile that has runs left */
};

struct actions {
	struct action *items;	/* owned */
	int count;
	const struct config *config;	/* to be kept for the passes of supervisors; NULL: none */
	const char *policy;
	int n_devices;			/* number of devices that could be given out */
	struct text devices;		/* DEVICES_SETTING; "": none */
	double now_boot_s, now_wall_s;	/* of the snapshot */
	int n_waiting, n_running;	/* jobs, once all is applied */
	double next_s;			/* see struct pass_result */
};

/* binding.c: the actions for runs that go on and are bound otherwise now. */
void add_bindings(const struct decision *d, struct actions *p);
/* gpu_remarks.c: runs on GPUs that are not theirs, on none, or that take a card as JAX does. */
void remark_on_gpus(const struct snapshot *s, struct actions *p);

/* tiers.c: what is to be written of the candidate's wait for a better tier. */
void keep_tier_wait(const struct snapshot *s, const struct decision *d, int j, struct actions *p);

/* The job cannot start for another reason: it does not wait for a tier. */
void end_tier_wait(const struct job *job, struct actions *p);

/* No I/O. The snapshot has to outlive the result. words: the view's, for verdicts. */
struct actions *actions_of(const struct snapshot *s, const struct decision *d,
			   verdict_wording *words);
struct actions *actions_new(void);
/* The new action, the last one, valid until the next one is added. run and why may be
 * NULL; why is copied. */
struct action *actions_add(struct actions *p, enum action_kind kind, int64_t job_id,
			   const struct run *run, const char *why);
void actions_free(struct actions *p);
/* interactive.c: calls off the runs that no 'pollux run' is going to begin. */
void call_off_deserted(const struct snapshot *s, struct actions *p);

/* apply.c: the actions that a person is told of, a line each. */
void actions_print(const struct actions *p, struct strings *lines);
/* What the job's history says of a start, a stop or a change. */
void action_describe(const struct action *a, struct text *out);
/* The caller has begun a transaction: writes all into it, commits, and only then calls
 * the engines. What a crash leaves undone after the commit the next pass finds. */
int actions_apply(struct actions *p, const struct engine_context *at, struct err *err);
/* Does only what needs no transaction: starts supervisors for runs that have none. */
int actions_look_after_runs(const struct actions *p, const struct engine_context *at,
			    struct err *err);

/* recover.c: ends the runs that a reboot cut off, and those of dead profiles, before the pass reads
 * the store: the store works out what these ends make of the jobs. apply false: only tells. */
int recover(const struct engine_context *at, bool apply, struct strings *lines, struct err *err);

#endif
