/* config.h - the settings. The first place that has a setting wins: the command line; POLLUX_SLOTS,
 * POLLUX_SLICE, POLLUX_POLICY, POLLUX_TORCH and POLLUX_SUSPEND_MEMORY in the environment; the file
 * named in paths.h; the defaults.
 *
 * The file holds "name = value" lines; '#' starts a comment:
 *
 *	slots = 2          # jobs run on 2 CPU slots; 2x1,1x2: 2 of 1 core, 1 of 2
 *	gpus = 0,2         # GPUs that jobs run on; all; not display
 *	cuda_devices = uuid	# how CUDA_VISIBLE_DEVICES names GPUs; default index
 *	slice = 10m        # a time slice; default 10 minutes
 *	policy = goodput
 *	helper = off       # the helper for PyTorch is for jobs that ask for it; default on
 *	suspend_memory = 50%	# of the machine's, that suspended runs may keep
 *	log_limit = 1G     # a log that is larger loses its middle
 *	on_end = COMMAND   # run for each job that ends; on_failure: that fails
 *	submit_pass = no   # a job waits for the next pass; default yes
 *	interactive_limit = 30m	# the longest turn of 'pollux run'; default 1h
 *	prune_after = 90d	# what ended jobs left goes; default: it stays
 *	shared_dir = /DIR  # devices are shared with other people there; no: with nobody
 *	shared_weight = 2  # this person's share of them is twice that of others
 *	share = auto       # jobs of one device may run beside others there; default no
 *	max_share = 2      # jobs on one device at most; default 4
 *	cpu_jobs = 8       # jobs without a device at once; default half as many as cores
 *	guaranteed_devices = 4	# that 'submit --guarantee' may sum up to; default all
 *	locality_wait = auto	# how long jobs wait for well joined devices; 0; 5m at most
 *	min_efficiency = 0.8	# batches grow while a sample is worth so much of one in their own
 *	keep_environment = yes	# of ended jobs; default no: their values go after a day; no-secrets
 *	engine = slurm     # runs are jobs of Slurm; default local: they run on this machine
 *	slurm_args = --partition=gpu --account=me	# options for sbatch
 *	slurm_dir = /DIR   # that all nodes see, for files of runs; default the store's directory
 *	slurm_lease = 60s  # a node that is cut off for so long ends its program
 */
#ifndef POLLUX_CONFIG_H
#define POLLUX_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"

#define CONFIG_MAX_SLOTS 1024
/* As DEVICE_SLOTS_PART and DEVICE_SLOTS_OF_TWO_SIZES in device.h, which util may not include. */
#define CONFIG_SLOTS_PART 127
#define CONFIG_SLOTS_OF_TWO_SIZES (1 << 28)
#define CONFIG_SLOTS_TEXT 32
#define CONFIG_SLOTS_AUTO (-1)		/* as DEVICE_SLOTS_AUTO */
#define CONFIG_DEFAULT_LOG_LIMIT 0x1p30	/* as the row in settings.c */
#define CONFIG_MOST_SHARE 8
#define CONFIG_GUARANTEED_ALL (-1)
#define CONFIG_CPU_JOBS_AUTO (-1)
#define CONFIG_SHARED_DIR_SIZE 500
#define CONFIG_GPUS_SIZE 1000
#define CONFIG_LEAST_SLURM_LEASE_S 2.0
#define CONFIG_MIN_LOG_LIMIT 0x1p20
#define CONFIG_MAX_LOG_LIMIT (1000 * 0x1p40)

/* How long the values of a job's variables are stored. */
enum keep_environment {
	KEEP_A_DAY,		/* after the end; those of credentials: until the end */
	KEEP_ALL,		/* as long as the job */
	KEEP_NO_SECRETS,	/* as A_DAY; those of credentials are not stored at all */
	N_KEEP
};

struct config {
	int slots;		/* 1 to CONFIG_MAX_SLOTS; 0: one per physical core; two sizes:
				   device_slots_of_two_sizes() of device.h;
				   CONFIG_SLOTS_AUTO: not set */
	char gpus[CONFIG_GPUS_SIZE];	/* as in struct device_settings; "": not set */
	bool cuda_by_uuid;	/* CUDA_VISIBLE_DEVICES has UUIDs, not numbers */
	double slice_s;		/* > 0, finite */
	bool torch;		/* jobs are offered the helper for PyTorch without asking */
	/* 0 to 1: the part of the machine's memory that suspended runs may keep */
	double suspend_memory;
	double log_limit_bytes;	/* the largest size of a job's log; infinite: no limit */
	bool submit_pass;	/* 'pollux submit' runs a pass, so that jobs start at once */
	enum keep_environment keep_environment;
	bool share;		/* jobs of one device share it if their options do not say no */
	int max_share;		/* 1 to CONFIG_MOST_SHARE: jobs on one device */
	/* 0 to CONFIG_MAX_SLOTS: jobs without a device that run at once; CONFIG_CPU_JOBS_AUTO: half
	 * as many as there are cores */
	int cpu_jobs;
	double interactive_limit_s;	/* >= 1: the longest turn of 'pollux run' */
	double prune_after_s;	/* > 0; NaN: never */
	/* commands for sh: when a job has ended, has failed; "": none */
	char on_end[1000], on_failure[1000];
	/* 0 to CONFIG_MAX_SLOTS: the devices that guarantees may sum up to */
	int guaranteed_devices;
	/* 0 or more: the longest wait for devices that are joined better; infinite: where that ends
	 * a job sooner */
	double locality_wait_s;
	/* 0.01 to 1: what a sample is worth at least, in a larger batch than the submitted one */
	double min_efficiency;
	double shared_weight;	/* weight of this person among those who share devices */
	/* people.h; "": the default; "no": none */
	char shared_dir[CONFIG_SHARED_DIR_SIZE];
	bool slurm;		/* the engine: slurm, not local */
	char slurm_args[1000], slurm_dir[CONFIG_SHARED_DIR_SIZE];	/* "": none is set */
	double slurm_lease_s;
	char policy[32];	/* a policy that passes take (policy_names.h) */
	/* why config_load() failed: the line of the file, or the variable; 0 and NULL: another
	 * reason */
	int bad_line;
	const char *bad_variable;
};

struct setting;

/* Sets *c from the defaults, the file if there is one, and the environment; an empty variable
 * counts as unset. A bad line or variable is an error (EX_CONFIG) that names the file, the line,
 * and what would be right. *c is then not valid. */
int config_load(struct config *c, const char *path, struct err *err);

/* Sets c->slots from a text such as "2" or "2x1,1x2". Returns -1 for another text. */
int config_set_slots(struct config *c, const char *value);
/* Writes the text that config_set_slots() reads; "" for CONFIG_SLOTS_AUTO. */
void config_write_slots(int slots, char text[CONFIG_SLOTS_TEXT]);

/* Sets *c from the defaults alone. */
void config_init(struct config *c);

#define CONFIG_BY_DEFAULT 0
#define CONFIG_BY_VARIABLE (-1)
/* Calls tell for each setting with its value as it is written, NULL where it is not set, and the
 * line of the file that it is from, or CONFIG_BY_*. Of a setting with two names, that one has the
 * value which was read last. Errors are those of config_load(). */
int config_tell(const char *path, void (*tell)(const struct setting *s, const char *value,
					       int line, void *arg), void *arg, struct err *err);

/* As config_load(), for a caller that must go on even if somebody is just writing the file: bad
 * lines and bad variables are skipped. */
void config_load_leniently(struct config *c, const char *path);

/* For a caller that goes on without settings: false where this user's cannot be told, which a pass
 * tells of. */
bool config_load_own(struct config *c);

/* --- the table of settings, for config.c --- */

struct setting {
	const char *name, *variable;	/* in the file, in the environment */
	const char *wanted;		/* in words, behind "is not" */
	/* Sets the member of c; -1: the value is not what is wanted, and c is unchanged. */
	int (*set)(const struct setting *s, struct config *c, const char *value);
	size_t offset;			/* of the member */
	/* for a figure: how it is read, its bounds, and a word for INFINITY */
	int (*parse)(const char *text, double *x);
	double min, max;
	/* For yes or no: the words for them. For a figure, yes is the word for INFINITY. */
	const char *yes, *no;
	size_t size;			/* of the member, for a text */
	const char *by_default;		/* NULL: it is not set */
};

extern const struct setting config_settings[];		/* the last one has no name */

/* Options for sbatch in a text, as users give them: the setting slurm_args, and
 * --slurm-args. Words are separated by blanks and tabs; there is no quoting. */

/* The value of the last option of that name: "--partition=a", "--partition a", "-p a" or "-pa". The
 * caller frees the value; NULL: there is no such option. letter '\0': the option has none. */
char *slurm_args_value(const char *args, const char *name, char letter);

/* The first option that pollux itself gives sbatch, by its long name; NULL: there is none. By these
 * options pollux finds a run's job again, and places the run. */
const char *slurm_args_own(const char *args);

#endif
