/* declaration.h - what a user asks of a job, and the one table that describes it: each option of
 * 'pollux submit' with its column in the store, its key in the JSON, its type, bounds and help. */
#ifndef POLLUX_DECLARATION_H
#define POLLUX_DECLARATION_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/field.h"
#include "pollux/store_columns.h"
#include "pollux/text.h"

/* Tells if devices may be taken from a running job. A program that saves nothing loses its work
 * when it is stopped, so by default devices are taken only where there is a sign that the program
 * saves. */
enum preemption {
	/* the job resumes: it has a checkpoint directory or resume arguments, or its user says
	 * so */
	PREEMPT_ALWAYS,
	PREEMPT_SAVED,		/* only once the job has reported a checkpoint */
	PREEMPT_NEVER,
};
#define N_PREEMPTIONS (PREEMPT_NEVER + 1)

/* Tells if a run that is to leave its devices is stopped where it is and later goes on with its
 * memory as it was, instead of being ended and relaunched. */
enum suspend_rule {
	SUSPEND_AUTO,		/* if a relaunch would not go on where the run was stopped */
	SUSPEND_ALWAYS,		/* unless the run is to have another number of devices */
	SUSPEND_NEVER,
};
#define N_SUSPEND_RULES (SUSPEND_NEVER + 1)

/* Tells where the command of a run on several nodes is started. */
enum launch_rule {
	LAUNCH_EACH,		/* once on each node */
	LAUNCH_FIRST,		/* on the first node; the others are for its own srun or mpirun */
};
#define N_LAUNCH_RULES (LAUNCH_FIRST + 1)

/* A declaration as the store keeps it. An unknown double is NaN, an unknown size 0. */
struct declaration {
	char *name, *workload;		/* owned, as all strings here */
	int min_replicas, max_replicas;	/* max 0: all devices, unless cpu_cores is above 0 */
	/* The cores of a job without a device, which has 0 replicas; 0: the job has devices. */
	int cpu_cores;
	struct batch_range batch;
	double learning_rate;
	char *learning_rate_rule;	/* lr_rule_parse() of goodput.h has the words */
	double noise_scale;
	/* The helper for PyTorch: "on", followed by ",batch" and the like for its parts; "auto":
	 * on, because a Python of the job has torch; "offered": its Pythons may load it; "isolated"
	 * and "hidden": the same, but its Python seems to be run with -I, -E or -S, or with another
	 * PYTHONPATH; "off"; NULL: not offered. */
	char *torch;
	char *on_end;			/* command for sh when the job has ended; NULL: none */
	/* Patterns of fnmatch(3), with '|' between them, of the kinds of device that the job may
	 * have and must not have; NULL: none. */
	char *kind, *not_kind;
	enum configuration_tier worst_tier;	/* of its devices; TIER_UNKNOWN: any */
	char *plans;			/* for execution_plans_parse; NULL: none */
	char *guarantee;		/* for guarantee_parse; NULL: none */
	char *slurm_args;		/* options for sbatch; NULL: none */
	enum launch_rule launch;
	double total_samples, total_steps;
	bool passes_steps;		/* its command takes the number of updates: {steps} */
	double weight;
	enum preemption preemption;
	enum suspend_rule suspend;
	double gpu_memory_bytes;	/* that the job takes of each GPU */
	double memory_limit_bytes;	/* of the host's */
	bool share;			/* it may run beside other jobs on one device */
	bool snapshot;			/* its runs use the code as it was: code.h */
	double log_limit_bytes;		/* largest size of its log; NaN: as configured */
	double time_limit_s;
	int retries;
	/* values of its loss in a row that are not finite, after which it is stopped; 0: none */
	int stop_nan;
	int stop_signal;
	double grace_s;
	double begin_s;			/* wall clock: does not start before; NaN: at once */
	/* 0: the job waits for its turn. Above 0: the job comes before all waiting jobs with a
	 * smaller number. */
	int first_rank;
};

void declaration_init(struct declaration *d);		/* the default of each field */
void declaration_copy(struct declaration *d, const struct declaration *from);
void declaration_release(struct declaration *d);
/* True if the helper for PyTorch is expected in the job's Pythons. */
bool declaration_has_torch_helper(const struct declaration *d);
/* True if it is at least offered to them: that in the job's PYTHONPATH is its directory. */
bool declaration_offers_torch_helper(const struct declaration *d);
/* The values of declared.torch, in SQL, that become "auto" once the helper has reported. */
#define TORCH_OFFERED "'offered', 'isolated', 'hidden'"
/* True if --kind and --not-kind allow this kind of device. */
bool declaration_wants_kind(const struct declaration *d, const char *kind);
/* Adds " of a kind that --kind 'PATTERN' allows", with --not-kind likewise; nothing where neither
 * was given. */
void declaration_add_kinds(const struct declaration *d, struct text *t);

/* The options of a command line: the fields of the declaration, and options that are kept elsewhere
 * or from which other values are computed. Each const char * is borrowed from the command line. */
struct asked {
	struct declaration declared;
	const char *checkpoint_dir, *checkpoint_glob, *resume_args, *step_regex;
	const char *directory, *suspend, *preset, *worst_tier, *launch;
	const char *cuda_devices;	/* kept as POLLUX_CUDA_DEVICES of the job's environment */
	double epochs, parameters;
	int64_t dataset_size;
	struct text_list after, env, metrics, plans;
	bool hold, preempt, no_preempt, no_torch, quiet, no_first, no_share, force;
	uint64_t given;		/* bit i: the option of declared_fields[i] was given */
#define DECLARED_FIELDS_MAX 64
};

void asked_init(struct asked *o);	/* the default of each option */
/* True if the command line has the option, named without dashes. */
bool asked_gives(const struct asked *o, const char *option);

/* Which commands take an option. */
enum {
	FOR_SUBMIT = 1,
	FOR_PROFILE = 2,
	IGNORED_BY_PROFILE = 4,	/* taken, so that options of submit can be given, but not used */
	FOR_AGAIN = 16,		/* can be given for a job that is like another one */
	FOR_RUN = 32,		/* of 'pollux run' */
	FOR_EDIT = 8,		/* can be changed after submission */
};

/* A row of the table. An option with a range sets the columns of its own row and of the next. */
struct declared_field {
	struct option_spec option;	/* name NULL: an option of another row sets it;
					   offset: in struct asked */
	/* name NULL: not kept as such; offset: in struct declaration */
	struct store_column column;
	unsigned uses;
};

extern const struct field_names suspend_names, worst_tier_names, launch_names;
extern const struct declared_field declared_fields[];
extern const int n_declared_fields;
/* the columns of all rows, for struct declaration */
extern const struct store_columns declared_columns;

#endif
