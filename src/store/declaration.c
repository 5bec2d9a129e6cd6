/* declaration.c - the table of what a user can ask of a job. */
#include <fnmatch.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/declaration.h"
#include "pollux/mem.h"

static const char *const preemptions[N_PREEMPTIONS] = {
	[PREEMPT_ALWAYS] = "always", [PREEMPT_SAVED] = "saved", [PREEMPT_NEVER] = "never",
};
static const struct field_names preemption_names = { preemptions, N_PREEMPTIONS, PREEMPT_NEVER };

static const char *const suspends[N_SUSPEND_RULES + 1] = {
	[SUSPEND_AUTO] = "auto", [SUSPEND_ALWAYS] = "always", [SUSPEND_NEVER] = "never",
};
const struct field_names suspend_names = { suspends, N_SUSPEND_RULES, SUSPEND_AUTO };

static const char *const worst_tiers[] = {
	[TIER_UNKNOWN] = "any", [TIER_FAST] = "fast", [TIER_SWITCH] = "switch",
	[TIER_NUMA] = "numa", NULL
};
const struct field_names worst_tier_names = { worst_tiers, TIER_FAR, TIER_UNKNOWN };

static const char *const launches[N_LAUNCH_RULES + 1] = {
	[LAUNCH_EACH] = "each", [LAUNCH_FIRST] = "first",
};
const struct field_names launch_names = { launches, N_LAUNCH_RULES, LAUNCH_EACH };

static const char *const cuda_names[] = { "uuid", "index", NULL };
static const char *const torch_parts[] = { "batch", "resume", NULL };
static const char *const rules[] = {
	"auto", "adascale", "sqrt-gain", "sqrt", "linear", "none", NULL
};

/* A column and the option that sets it share the member of struct declaration. COLUMN: name, type,
 * which value is unknown, version of the schema, flags beside COLUMN_SHOWN. */
#define OFFSET(member) .offset = offsetof(struct asked, member)
#define COLUMN(column, type, member, unknown, flags) \
	{ { column, FIELD_##type, offsetof(struct declaration, member), \
	    FIELD_##unknown, NULL, 0 }, \
	  COLUMN_SHOWN | (flags) }
#define HIDDEN_COLUMN(column, type, member, unknown) \
	{ { column, FIELD_##type, offsetof(struct declaration, member), \
	    FIELD_##unknown, NULL, 0 }, 0 }
#define COLUMN_OF_NAMES(column, member, names) \
	{ { column, FIELD_NAME, offsetof(struct declaration, member), FIELD_KNOWN, &(names), 0 }, \
	  COLUMN_SHOWN }
#define NO_COLUMN { { .name = NULL }, 0 }
#define NO_OPTION { .name = NULL }
#define BOTH (FOR_SUBMIT | FOR_PROFILE | FOR_AGAIN)
#define SUBMIT (FOR_SUBMIT | IGNORED_BY_PROFILE | FOR_AGAIN)

const struct declared_field declared_fields[] = {
	{ { "name", 'n', OPTION_TEXT, "NAME", OFFSET(declared.name), 0, 0,
	    "what tables call it; default the program's or the script's name" },
	  COLUMN("name", TEXT, name, KNOWN, 0), BOTH | FOR_EDIT | FOR_RUN },
	{ { "workload", 0, OPTION_TEXT, "NAME", OFFSET(declared.workload), 0, 0,
	    "jobs with the same workload share what is learnt; default the command" },
	  COLUMN("workload", TEXT, workload, KNOWN, 0), BOTH | FOR_RUN },
	{ { "batch", 'b', OPTION_INT, "SAMPLES", OFFSET(declared.batch.size), 1, 1e9,
	    "samples per optimizer update that the job was tuned for" },
	  COLUMN("batch_size", INT64, batch.size, UNKNOWN_ZERO, 0), BOTH },
	{ { "batch-range", 0, OPTION_RANGE, "MIN:MAX", OFFSET(declared.batch.min), 1, 1e9,
	    "batches it may run with: of them those from --batch to MAX; default just --batch",
	    .needs = "batch" },
	  COLUMN("min_batch_size", INT64, batch.min, UNKNOWN_ZERO, 0), BOTH | FOR_EDIT },
	{ NO_OPTION, COLUMN("max_batch_size", INT64, batch.max, UNKNOWN_ZERO, 0), 0 },
	{ { "max-local-batch", 0, OPTION_INT, "SAMPLES", OFFSET(declared.batch.max_local),
	    1, 1e9,
	    "samples that fit on one device in a pass; more take several, see --accumulate",
	    .needs = "batch" },
	  COLUMN("max_local_batch_size", INT64, batch.max_local, UNKNOWN_ZERO, 0), BOTH },
	{ { "accumulate", 0, OPTION_FLAG, NULL, OFFSET(declared.batch.accumulates), 0, 0,
	    "it does as many passes for an update as POLLUX_ACCUM says; default where the command "
	    "has {accum}", .needs = "batch" },
	  COLUMN("accumulates", BOOL, batch.accumulates, KNOWN, 0), BOTH },
	{ { "lr", 0, OPTION_NUMBER, "RATE", OFFSET(declared.learning_rate), 1e-12, 1e12,
	    "learning rate at --batch, for {lr}" },
	  COLUMN("learning_rate", DOUBLE, learning_rate, UNKNOWN_NAN, COLUMN_ASIDE), BOTH },
	{ { "lr-rule", 0, OPTION_CHOICE, "RULE", OFFSET(declared.learning_rate_rule), 0, 0,
	    "how the rate follows the batch: auto (default: by the optimizer), adascale, "
	    "sqrt-gain, sqrt, linear or none",
	    .choices = rules, .needs = "batch" },
	  COLUMN("learning_rate_rule", TEXT, learning_rate_rule, KNOWN, 0), BOTH },
	{ { "noise-scale", 0, OPTION_NUMBER, "SAMPLES", OFFSET(declared.noise_scale), 1e-6, 1e12,
	    "gradient noise scale, until enough gradients were measured", .needs = "batch" },
	  COLUMN("noise_scale", DOUBLE, noise_scale, UNKNOWN_NAN, 0), BOTH },
	{ { "parameters", 0, OPTION_AMOUNT, "N[K|M|G]", OFFSET(parameters), 1, 1e15,
	    "of its model: with 'pollux profile --devices', what to expect before it was"
	    " measured" },
	  NO_COLUMN, BOTH },
	{ { "replicas", 'r', OPTION_RANGE, "N[:MAX]", OFFSET(declared.min_replicas), 0, 1024,
	    "devices it can use; default 1, or 1 to all where the command has {gpus}; 0: --cpu" },
	  COLUMN("min_replicas", INT, min_replicas, KNOWN, 0), BOTH | FOR_EDIT },
	{ NO_OPTION,
	  COLUMN("max_replicas", INT, max_replicas, UNKNOWN_ZERO, COLUMN_NOT_NULL), 0 },
	{ { "cpu", 0, OPTION_COUNT, "N", OFFSET(declared.cpu_cores), 1, 1024,
	    "it has no device, but N cores (default 1): it runs beside jobs with devices, up to"
	    " cpu_jobs at once" },
	  COLUMN("cpu_cores", INT, cpu_cores, UNKNOWN_ZERO, 0), FOR_SUBMIT | FOR_AGAIN | FOR_EDIT },
	{ { "kind", 0, OPTION_TEXT, "PATTERN", OFFSET(declared.kind), 0, 0,
	    "run on this kind of device only, as 'pollux devices' names it: '*4090*|*A6000*'",
	    .target = FIELD_TEXT },
	  COLUMN("kind", TEXT, kind, UNKNOWN_ZERO, 0), BOTH },
	{ { "not-kind", 0, OPTION_TEXT, "PATTERN", OFFSET(declared.not_kind), 0, 0,
	    "run on no such kind of device", .target = FIELD_TEXT },
	  COLUMN("not_kind", TEXT, not_kind, UNKNOWN_ZERO, 0), BOTH },
	{ { "tier", 0, OPTION_CHOICE, "TIER", OFFSET(worst_tier), 0, 0,
	    "run only on devices that are joined so well, or better: fast (NVLink), switch, numa"
	    " or any (default)", .choices = worst_tiers },
	  COLUMN_OF_NAMES("worst_tier", worst_tier, worst_tier_names), SUBMIT | FOR_EDIT },
	{ { "plan", 0, OPTION_LIST, "NAME[:KEY=VALUE,...]=ARGS", OFFSET(plans), 0, 0,
	    "a way to execute the command, with its arguments for {plan}: the best that fits is"
	    " used, pollux-plans(7)" },
	  HIDDEN_COLUMN("plans", TEXT, plans, UNKNOWN_ZERO), BOTH },
	{ { "guarantee", 0, OPTION_TEXT, "R[:PLAN]", OFFSET(declared.guarantee), 0, 0,
	    "it is never slower than on R devices in that plan, default its first:"
	    " pollux-plans(7)", .target = FIELD_TEXT },
	  COLUMN("guarantee", TEXT, guarantee, UNKNOWN_ZERO, 0), SUBMIT },
	{ { "slurm-args", 0, OPTION_TEXT, "OPTIONS", OFFSET(declared.slurm_args), 0, 0,
	    "options for sbatch, after those of slurm_args: pollux-slurm(7)",
	    .target = FIELD_TEXT },
	  COLUMN("slurm_args", TEXT, slurm_args, UNKNOWN_ZERO, 0), SUBMIT | FOR_EDIT },
	{ { "launch", 0, OPTION_CHOICE, "WHERE", OFFSET(launch), 0, 0,
	    "on several nodes of Slurm, start the command on each, or on the first alone; default"
	    " each, or first where it calls srun or mpirun: pollux-slurm(7)",
	    .choices = launches },
	  COLUMN_OF_NAMES("launch", launch, launch_names), SUBMIT | FOR_EDIT },
	{ { "samples", 0, OPTION_NUMBER, "N", OFFSET(declared.total_samples), 1, 1e18,
	    "samples to its end: for the time left, and for who goes first" },
	  COLUMN("total_samples", DOUBLE, total_samples, UNKNOWN_NAN, 0), SUBMIT | FOR_EDIT },
	{ { "steps", 0, OPTION_NUMBER, "N", OFFSET(declared.total_steps), 1, 1e18,
	    "optimizer updates to its end" },
	  COLUMN("total_steps", DOUBLE, total_steps, UNKNOWN_NAN, 0), BOTH | FOR_EDIT },
	{ { "epochs", 0, OPTION_NUMBER, "N", OFFSET(epochs), 1e-6, 1e12,
	    "passes over the data to its end; needs --dataset-size", .needs = "dataset-size" },
	  NO_COLUMN, SUBMIT | FOR_EDIT },
	{ { "dataset-size", 0, OPTION_INT, "SAMPLES", OFFSET(dataset_size), 1, 1e15,
	    "samples in an epoch", .needs = "epochs" },
	  NO_COLUMN, SUBMIT | FOR_EDIT },
	{ NO_OPTION, COLUMN("passes_steps", BOOL, passes_steps, KNOWN, 0), 0 },
	{ { "weight", 'w', OPTION_NUMBER, "W", OFFSET(declared.weight), 1e-3, 1e3,
	    "what a device is worth to it beside other jobs; default 1" },
	  COLUMN("weight", DOUBLE, weight, KNOWN, 0), SUBMIT | FOR_EDIT },
	{ { "hold", 0, OPTION_FLAG, NULL, OFFSET(hold), 0, 0, "wait for 'pollux release'" },
	  NO_COLUMN, SUBMIT },
	{ { "after", 'a', OPTION_LIST, "[RULE:]ID,...", OFFSET(after), 0, 0,
	    "start when these jobs are done (notok: have failed, end: have ended either way; any:"
	    " when one of them has ended)" },
	  NO_COLUMN, SUBMIT | FOR_EDIT },
	{ { "begin", 0, OPTION_WHEN, "TIME", OFFSET(declared.begin_s), 0, 0,
	    "do not start it before: 22:00, +2h, 2026-12-01, '2026-12-01 22:00'; now: at once" },
	  COLUMN("begin_s", DOUBLE, begin_s, UNKNOWN_NAN, 0), SUBMIT | FOR_EDIT },
	{ { "no-first", 0, OPTION_FLAG, NULL, OFFSET(no_first), 0, 0,
	    "take 'pollux first' back: it waits for its turn" },
	  COLUMN("first_rank", INT, first_rank, KNOWN, 0), FOR_EDIT },
	{ { "time-limit", 't', OPTION_DURATION, "TIME", OFFSET(declared.time_limit_s), 1, 1e9,
	    "stop it for good after this much running time: 90, 45m, 12h, 2d" },
	  COLUMN("time_limit_s", DOUBLE, time_limit_s, UNKNOWN_NAN, 0), SUBMIT | FOR_EDIT },
	{ { "retries", 0, OPTION_INT, "N", OFFSET(declared.retries), 0, 1000,
	    "start it again after so many failures; default 0" },
	  COLUMN("retries", INT, retries, KNOWN, 0), SUBMIT | FOR_EDIT },
	{ { "stop-nan", 0, OPTION_INT, "N", OFFSET(declared.stop_nan), 1, 1e6,
	    "stop it as failed once its loss was not finite (nan, inf) in N reports in a row" },
	  COLUMN("stop_nan", INT, stop_nan, UNKNOWN_ZERO, COLUMN_ASIDE), SUBMIT | FOR_EDIT },
	{ { "stop-signal", 0, OPTION_SIGNAL, "SIGNAL", OFFSET(declared.stop_signal), 0, 0,
	    "asks the program to save and leave; default TERM" },
	  COLUMN("stop_signal", SIGNAL, stop_signal, KNOWN, 0), BOTH | FOR_EDIT },
	{ { "grace", 0, OPTION_DURATION, "TIME", OFFSET(declared.grace_s), 0, 86400,
	    "time for that before it is killed; default 60s" },
	  COLUMN("grace_s", DOUBLE, grace_s, KNOWN, COLUMN_ASIDE), BOTH | FOR_EDIT | FOR_RUN },
	{ { "checkpoint-dir", 0, OPTION_TEXT, "DIR", OFFSET(checkpoint_dir), 0, 0,
	    "where its checkpoints are; default a directory of its own ({checkpoint})" },
	  NO_COLUMN, SUBMIT },
	{ { "force", 'f', OPTION_FLAG, NULL, OFFSET(force), 0, 0,
	    "also where another job that has not ended saves in the same directory" },
	  NO_COLUMN, SUBMIT },
	{ { "checkpoint-glob", 0, OPTION_TEXT, "GLOB", OFFSET(checkpoint_glob), 0, 0,
	    "the files or directories in it that are checkpoints; default all but those of loggers"
	    " and what a run writes before its first step" },
	  NO_COLUMN, SUBMIT },
	{ { "resume-args", 0, OPTION_TEXT, "TEXT", OFFSET(resume_args), 0, 0,
	    "added to the command (or put for {resume}) once there is a checkpoint" },
	  NO_COLUMN, SUBMIT },
	{ { "preempt", 0, OPTION_FLAG, NULL, OFFSET(preempt), 0, 0,
	    "it may be stopped and relaunched; default where the command has {checkpoint} or"
	    " {resume}, "
	    "with --checkpoint-dir or --resume-args, or once it has reported a checkpoint" },
	  COLUMN_OF_NAMES("preemption", preemption, preemption_names), SUBMIT | FOR_EDIT },
	{ { "no-preempt", 0, OPTION_FLAG, NULL, OFFSET(no_preempt), 0, 0,
	    "once started it keeps its devices to its end; with --suspend auto or always it may"
	    " be suspended" },
	  NO_COLUMN, SUBMIT | FOR_EDIT },
	{ { "suspend", 0, OPTION_CHOICE, "WHEN", OFFSET(suspend), 0, 0,
	    "when others have their turn, stop it where it is and go on later: auto (default:"
	    " if it saves nothing), always or never", .choices = suspends },
	  COLUMN_OF_NAMES("suspend", suspend, suspend_names), SUBMIT | FOR_EDIT },
	{ { "gpu-memory", 0, OPTION_AMOUNT, "BYTES[K|M|G]", OFFSET(declared.gpu_memory_bytes),
	    1, 1e15,
	    "what it takes of each GPU, until it was measured: jobs that fit beside each other"
	    " take turns there" },
	  COLUMN("gpu_memory_bytes", DOUBLE, gpu_memory_bytes, UNKNOWN_NAN, 0),
	  SUBMIT | FOR_EDIT | FOR_RUN },
	{ { "memory", 0, OPTION_SIZE, "SIZE", OFFSET(declared.memory_limit_bytes), 0x1p20,
	    1000 * 0x1p40,
	    "the most of the host's memory that it may have: a run that takes more fails; also"
	    " its need, for what runs at once: 32G" },
	  COLUMN("memory_limit_bytes", DOUBLE, memory_limit_bytes, UNKNOWN_NAN, 0),
	  SUBMIT | FOR_EDIT },
	{ { "share", 0, OPTION_FLAG, NULL, OFFSET(declared.share), 0, 0,
	    "it may run beside other jobs on one device, where memory allows it and it pays;"
	    " default as configured" },
	  COLUMN("share", BOOL, share, KNOWN, 0), SUBMIT },
	{ { "no-share", 0, OPTION_FLAG, NULL, OFFSET(no_share), 0, 0,
	    "it has its device alone, whatever is configured" },
	  NO_COLUMN, SUBMIT },
	{ { "snapshot", 0, OPTION_FLAG, NULL, OFFSET(declared.snapshot), 0, 0,
	    "all its runs use the code as it is now: a copy, made by git, of its repository" },
	  COLUMN("snapshot", BOOL, snapshot, KNOWN, COLUMN_ASIDE), SUBMIT },
	{ { "log-limit", 0, OPTION_SIZE, "SIZE", OFFSET(declared.log_limit_bytes),
	    CONFIG_MIN_LOG_LIMIT, CONFIG_MAX_LOG_LIMIT,
	    "a log that takes more of the disk loses its middle: 512M, 10G; default as"
	    " configured" },
	  COLUMN("log_limit_bytes", DOUBLE, log_limit_bytes, UNKNOWN_NAN, COLUMN_ASIDE),
	  SUBMIT | FOR_EDIT },
	{ { "step-regex", 0, OPTION_TEXT, "ERE", OFFSET(step_regex), 0, 0,
	    "how its log tells a step, where pollux does not see it by itself: 'pollux steps'"
	    " tries it" },
	  NO_COLUMN, BOTH },
	{ { "metric", 0, OPTION_LIST, "NAME=REGEX", OFFSET(metrics), 0, 0,
	    "a number of its log that 'pollux results' is to show: group 1 of a line that"
	    " matches" },
	  NO_COLUMN, SUBMIT },
	{ { "on-end", 0, OPTION_TEXT, "COMMAND", OFFSET(declared.on_end), 0, 0,
	    "run this by sh when the job has ended, with POLLUX_STATE and others set",
	    .target = FIELD_TEXT },
	  COLUMN("on_end", TEXT, on_end, UNKNOWN_ZERO, COLUMN_ASIDE), SUBMIT },
	{ { "env", 'e', OPTION_LIST, "NAME=VALUE", OFFSET(env), 0, 0,
	    "set a variable on top of the present environment" },
	  NO_COLUMN, BOTH | FOR_RUN },
	{ { "cuda-devices", 0, OPTION_CHOICE, "HOW", OFFSET(cuda_devices), 0, 0,
	    "name its GPUs in CUDA_VISIBLE_DEVICES by uuid or by index; default as configured",
	    .choices = cuda_names },
	  NO_COLUMN, BOTH | FOR_RUN },
	{ { "preset", 0, OPTION_TEXT, "NAME", OFFSET(preset), 0, 0,
	    "add what makes programs of this framework save and continue: 'pollux presets'" },
	  NO_COLUMN, FOR_SUBMIT | IGNORED_BY_PROFILE },
	{ { "chdir", 0, OPTION_TEXT, "DIR", OFFSET(directory), 0, 0,
	    "run in this directory; default the present one" },
	  NO_COLUMN, BOTH | FOR_RUN },
	{ { "torch", 0, OPTION_WORDS, "PART,...", OFFSET(declared.torch), 0, 0,
	    "load the helper for PyTorch into its Pythons, with the named parts that are off by"
	    " default: batch, resume; by default each Python of a job that uses torch has it",
	    .choices = torch_parts },
	  COLUMN("torch", TEXT, torch, UNKNOWN_ZERO, 0), BOTH | FOR_RUN },
	{ { "no-torch", 0, OPTION_FLAG, NULL, OFFSET(no_torch), 0, 0,
	    "do not load the helper for PyTorch" },
	  NO_COLUMN, BOTH | FOR_RUN },
	{ { "quiet", 'q', OPTION_FLAG, NULL, OFFSET(quiet), 0, 0, "print the job's number alone" },
	  NO_COLUMN, SUBMIT },
};

const int n_declared_fields = sizeof(declared_fields) / sizeof(declared_fields[0]);
_Static_assert(sizeof(declared_fields) / sizeof(declared_fields[0]) <= DECLARED_FIELDS_MAX,
	       "asked.given has a bit for each field");
const struct store_columns declared_columns = {
	&declared_fields[0].column, sizeof(declared_fields) / sizeof(declared_fields[0]),
	sizeof(declared_fields[0]),
};

/* Copies a declaration that is made only once, because lists have thousands of jobs. */
void declaration_init(struct declaration *d)
{
	static const struct store_table alone = {
		"jobs", sizeof(struct declaration), { { .columns = &declared_columns } },
	};
	static struct declaration unknown;

	if (!unknown.min_replicas) {
		unknown = (struct declaration){
			.min_replicas = 1, .max_replicas = 1, .weight = 1,
			.preemption = PREEMPT_SAVED,
			.stop_signal = SIGTERM, .grace_s = 60,
		};
		row_init(&alone, &unknown);
	}
	*d = unknown;
}

/* The next text of *d, from the column *i on; NULL: there is none. */
static char **next_text(struct declaration *d, int *i)
{
	while (*i < n_declared_fields) {
		const struct field *f = &declared_fields[(*i)++].column.field;

		if (f->name && f->type == FIELD_TEXT)
			return (char **)(void *)((char *)d + f->offset);
	}
	return NULL;
}

void declaration_release(struct declaration *d)
{
	char **text;

	for (int i = 0; (text = next_text(d, &i));)
		free(*text);
	declaration_init(d);
}

void declaration_copy(struct declaration *d, const struct declaration *from)
{
	char **text;

	*d = *from;
	for (int i = 0; (text = next_text(d, &i));)
		*text = *text ? xstrdup(*text) : NULL;
}

bool declaration_has_torch_helper(const struct declaration *d)
{
	return d->torch && (text_starts_with(d->torch, "on") || !strcmp(d->torch, "auto"));
}

bool declaration_offers_torch_helper(const struct declaration *d)
{
	return d->torch && strcmp(d->torch, "off") != 0;
}

/* patterns: separated by '|'. */
static bool matches(const char *patterns, const char *kind)
{
	char *words = xstrdup(patterns), *rest = words, *pattern;
	bool found = false;

	while (!found && (pattern = strsep(&rest, "|")))
		found = fnmatch(pattern, kind, 0) == 0;
	free(words);
	return found;
}

bool declaration_wants_kind(const struct declaration *d, const char *kind)
{
	return (!d->kind || matches(d->kind, kind)) &&
	       !(d->not_kind && matches(d->not_kind, kind));
}

void declaration_add_kinds(const struct declaration *d, struct text *t)
{
	bool both = d->kind && d->not_kind;

	if (d->kind || d->not_kind)
		text_add(t, " of a kind that ");
	if (d->kind)
		text_addf(t, "--kind '%.60s'%s", d->kind, both ? " and " : " allows");
	if (d->not_kind)
		text_addf(t, "--not-kind '%.60s' allow%s", d->not_kind, both ? "" : "s");
}

void asked_init(struct asked *o)
{
	*o = (struct asked){ .epochs = NAN, .parameters = NAN };
	declaration_init(&o->declared);
}

bool asked_gives(const struct asked *o, const char *option)
{
	for (int i = 0; i < n_declared_fields; i++)
		if ((o->given >> i & 1) && !strcmp(declared_fields[i].option.name, option))
			return true;
	return false;
}
