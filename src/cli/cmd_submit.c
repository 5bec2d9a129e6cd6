/* cmd_submit.c - pollux submit: put a command into the queue, with all it needs to run later. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/device.h"
#include "pollux/engine.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/pass_files.h"
#include "pollux/secret.h"
#include "pollux/status.h"
#include "pollux/store_measurements.h"

#define O(member) offsetof(struct submit_asked, member)

static const struct option_spec options[] = {
	{ .name = "declared", .type = OPTION_DECLARED, O(job), .uses = FOR_SUBMIT },
	{ "key", 0, OPTION_TEXT, "KEY", O(key), .help =
	  "if a job with this key waits, runs or is done, that is the job: none is added" },
	{ "once", 0, OPTION_FLAG, NULL, O(once), .help =
	  "the key is made of the directory, the command, --env and the parameters" },
	{ "param", 0, OPTION_LIST, "NAME=VALUES", O(sweep.params), .help =
	  "a run for each value of {NAME}: V1,V2,... or A:B[:STEP] or log:A:B:N; several make a"
	  " grid" },
	{ "params", 0, OPTION_TEXT, "FILE", O(sweep.params_file), .help =
	  "a run for each row of this CSV file with a header; - is standard input" },
	{ "array", 0, OPTION_TEXT, "NUMBERS", O(sweep.array), .help =
	  "a run for each {index}: 0-19, 0-19:2 or 1,3,7" },
	{ "max-running", 0, OPTION_INT, "N", O(sweep.max_running), 1, SWEEP_RUNS_MAX, .help =
	  "at most so many of these runs at a time" },
	{ "halving", 0, OPTION_TEXT, "METRIC[,...]", O(sweep.halving), .help =
	  "pause each run at rungs, the best third go on: METRIC[:min|max][,eta=3]"
	  "[,rungs=A/B/C or ,first=N], in samples" },
	{ "dry-run", 0, OPTION_FLAG, NULL, O(sweep.dry_run), .help =
	  "print the commands as they would run, and submit nothing" },
	{ .name = NULL },
};

/* A time limit below this is repeated to the user in seconds, because sbatch -t 90 means
 * minutes. */
#define SHORT_S 600

static void warn_of_wish(const struct paths *paths, const struct job_command *command)
{
	const char *wish = getenv("CUDA_VISIBLE_DEVICES");
	struct device_settings settings = { .slots = 0 };
	struct config config;
	struct err ignored;

	/* a job of pollux or of Slurm has these GPUs, whose shell this is */
	if (getenv("POLLUX_JOB_ID") || getenv("SLURM_JOB_ID"))
		return;
	if (!wish || strings_variable(&command->env, "CUDA_VISIBLE_DEVICES") ||
	    config_load(&config, paths->config, &ignored))
		return;
	settings.slots = config.slots;
	/* A driver that hangs would keep the user waiting: it is not asked. */
	if (engine_for_new_runs()->examine || devices_may_be_accelerators(&settings))
		output_messagef("warning: CUDA_VISIBLE_DEVICES='%.60s' of this shell is not passed "
				"on: pollux chooses the GPUs of each run. The setting gpus leaves "
				"GPUs out, --kind chooses by model, and "
				"-e CUDA_VISIBLE_DEVICES=... insists", wish);
}

/* The usable devices of this kind, NULL: of any, that the job may have. */
static int count_devices(const struct declaration *d, const struct device_list *list,
			 const char *kind)
{
	int n = 0;

	for (int i = 0; i < list->count; i++)
		n += list->items[i].usable && declaration_wants_kind(d, list->items[i].kind) &&
		     (!kind || !strcmp(list->items[i].kind, kind));
	return n;
}

/* Not an error: other slots may be configured later. To look at the devices takes milliseconds,
 * which a job of one device is spared. */
static void warn_of_devices(const struct paths *paths, const struct job *job)
{
	const struct declaration *d = &job->declared;
	bool of_kind = d->kind || d->not_kind;
	struct text t = TEXT_INIT;
	struct device_list list;
	struct config config;
	struct err ignored;	/* a pass will say why */
	int n, of_one_kind = 0;

	if ((d->min_replicas <= 1 && !of_kind) || config_load(&config, paths->config, &ignored) ||
	    engine_devices(&config, false, &list, &ignored))
		return;
	n = count_devices(d, &list, NULL);
	for (int i = 0; i < list.count && of_one_kind < d->min_replicas; i++) {
		int more = count_devices(d, &list, list.items[i].kind);

		of_one_kind = more > of_one_kind ? more : of_one_kind;
	}
	text_addf(&t, "pollux: warning: job %lld needs %d device%s", (long long)job->id,
		  d->min_replicas, plural(d->min_replicas));
	declaration_add_kinds(d, &t);
	if (n >= d->min_replicas)
		text_addf(&t, " of one kind, but no kind here has more than %d", of_one_kind);
	else
		text_addf(&t, ", but %d can be used here", n);
	text_add(&t, ": it waits until there are more");
	if (of_kind)
		devices_add_kinds(&list, &t);
	if (of_one_kind < d->min_replicas)
		output_sayf(stderr, "%s", t.data);
	text_release(&t);
	devices_release(&list);
}

/* Warns where nothing else would tell that a training gets worse: its batch takes several passes,
 * which the program may not make, and so train with less than its batch size; batches may grow
 * while the learning rate stays that of the first one; or a range was given whose larger batches
 * the job does not get, or not yet. The helper finds out by itself what ends a training. */
static void warn_of_batches(const struct job *job, const struct job_command *command)
{
	const struct declaration *d = &job->declared;
	int64_t local = d->batch.max_local;
	int64_t share = d->batch.size / (d->min_replicas > 0 ? d->min_replicas : 1);
	long long passes = local > 0 ? (long long)((share + local - 1) / local) : 1;
	enum growth_veto veto = job_growth_veto(job);
	struct text t = TEXT_INIT;

	if (!d->batch.accumulates && passes > 1)
		fprintf(stderr,
			"pollux: warning: with --max-local-batch %lld its batch of %lld takes %lld "
			"passes for an update, which its program has to make: by {accum}, or by "
			"POLLUX_ACCUM and --accumulate\n",
			(long long)local, (long long)d->batch.size, passes);
	if (environment_leaves_learning_rate(job, command))
		fputs("pollux: warning: its batch changes within --batch-range, but its learning "
		      "rate does not follow: give it {lr} or {lr_scale}, or take POLLUX_LR_SCALE "
		      "in its program; --lr-rule none says that the rate stays\n", stderr);
	if (d->batch.max <= d->batch.size || veto == GROWTH_ALLOWED ||
	    (veto == GROWTH_END_UNKNOWN && declaration_has_torch_helper(d)))
		return;
	status_add_veto(&t, job);
	output_sayf(stderr, "pollux: warning: its batch does not grow within --batch-range: %s",
		    t.data);
	text_release(&t);
}

/* Not an error: the script may be made, or its disk mounted, before the job starts. */
static void warn_of_script(const struct job_command *command)
{
	const char *script = script_of_runner(command->argv.items);
	const char *end = script ? strrchr(script, '.') : NULL;
	struct text mend = TEXT_INIT;
	char *path;

	for (size_t i = 1; i < command->argv.count; i++)
		if (is_code(command->argv.items[i]))
			return;
	if (!end || (strcmp(end, ".py") != 0 && strcmp(end, ".sh") != 0 && strcmp(end, ".pl") != 0))
		return;
	path = *script == '/' ? xstrdup(script) : xasprintf("%s/%s", command->directory, script);
	if (access(path, F_OK)) {
		output_messagef("warning: there is no '%s': the job fails unless it is there when "
				"it starts", path);
	} else if (program_is_shell(command->argv.items[0]) && program_file_is_dos(path)) {
		advice_add_edit(&mend, PROGRAM_FILE_NO_CR, path);
		output_messagef("warning: the lines of '%s' end in CR LF, as on Windows, and the "
				"shell takes each CR for a part of the last word; %s mends that",
				path, mend.data);
	}
	text_release(&mend);
	free(path);
}

int submit_open(struct session *s, struct err *err)
{
	struct text other = TEXT_INIT;

	if (session_open(s, STORE_WRITE, err))
		return -1;
	if (paths_on_network(&s->paths))
		output_messagef("warning: '%s' is on a network file system, where SQLite's locks "
				"may fail; set POLLUX_DIR to a local directory", s->paths.dir);
	if (pass_host_other(&s->paths, &other))
		output_messagef("warning: %s", other.data);
	text_release(&other);
	return 0;
}

void submit_tell_secrets(const struct session *s, const struct job_command *command)
{
	struct text names = TEXT_INIT;

	if (s->store.no_secrets && secrets_add_names(&names, &command->env, true))
		output_messagef("keep_environment is no-secrets: the job runs without %s",
				names.data);
	text_release(&names);
}

/* The next pass cancels a job that was to start after a success which cannot come any more. */
static void warn_of_failed(struct session *s, const struct job *job)
{
	struct dependency_list after;
	struct err ignored;

	if (store_dependencies_list(&s->store, &after, &ignored))
		return;
	for (int i = 0; i < after.count; i++) {
		const struct dependency *d = &after.items[i];

		if (d->job_id == job->id && d->rule == AFTER_OK && d->after_state != JOB_DONE &&
		    job_has_ended(d->after_state))
			output_messagef("warning: job %lld %s: a job after its success is "
					"cancelled; --after end:%lld starts it all the same",
					(long long)d->after_id,
					job_state_clause(d->after_state, false),
					(long long)d->after_id);
	}
	dependency_list_release(&after);
}

void submit_tell(struct session *s, const struct job *job, const struct job_command *command)
{
	submit_tell_secrets(s, command);
	warn_of_failed(s, job);
	if (s->store.left_by_another > 0)
		output_messagef("the store is new, but '%s' has logs or checkpoints of jobs up to "
				"%lld of another store: numbers go on from there", s->paths.dir,
				(long long)s->store.left_by_another);
	warn_of_settings(&s->paths);
	warn_of_wish(&s->paths, command);
	warn_of_devices(&s->paths, job);
	warn_of_batches(job, command);
	warn_of_script(command);
}

int submit_into_store(const struct asked *o, struct job *job, struct job_command *command,
		      submit_insert *insert, void *arg, struct err *err)
{
	struct code_snapshot snapshot;
	struct session s;
	int rc;

	if (submit_open(&s, err))
		return -1;
	rc = submit_snapshot(&s.paths, job, command, &snapshot, err) || store_begin(&s.store, err)
		? -1 : 0;
	if (rc == 0) {
		rc = insert(&s.store, arg, err);
		if (rc)
			store_rollback(&s.store);
		else
			rc = store_commit(&s.store, err);
	}
	submit_snapshot_end(&snapshot, rc);
	if (rc == 0) {
		submit_tell(&s, job, command);
		submit_tell_launch(o, job, command);
	}
	session_close(&s);
	return rc;
}

struct submission {
	const struct asked *o;
	struct job *job;
	const struct job_command *command;
	const struct dependency_list *after;
	struct keyed_job there;		/* the job with its key */
};

static int insert(struct store *s, void *arg, struct err *err)
{
	struct submission *new = arg;
	const struct asked *o = new->o;
	struct job *job = new->job;

	if (store_job_by_key(s, job->key, &new->there, err))
		return -1;
	if (new->there.id)
		return 1;
	return store_job_insert(s, job, new->command, new->after, err) ||
	       (!o->force && new->command->checkpoint_dir &&
		shared_checkpoints_check(s, job->id, job->id, err)) ||
	       (o->parameters > 0 && store_workload_set_parameters(s, job->declared.workload,
								   o->parameters, err)) ? -1 : 0;
}

static void tell_there(const struct keyed_job *there, bool quiet)
{
	bool sentence = !quiet && isatty(STDOUT_FILENO);

	if (!sentence)
		printf("%lld\n", (long long)there->id);
	if (sentence)
		printf("Job %lld is there already: it %s\n", (long long)there->id,
		       job_state_clause(there->state, there->set_aside));
	else if (!quiet)
		output_messagef("job %lld is there already: it %s", (long long)there->id,
				job_state_clause(there->state, there->set_aside));
}

int submit_add(const struct asked *o, struct job *job, struct job_command *command,
	       const struct dependency_list *after, struct err *err)
{
	const struct declaration *d = &job->declared;
	struct submission new = { o, job, command, after, { .id = 0 } };
	bool may_suspend = d->suspend == SUSPEND_AUTO;
	int rc;

	job->submit_time_s = clock_wall_s();
	rc = submit_into_store(o, job, command, insert, &new, err);
	if (rc > 0)
		tell_there(&new.there, o->quiet);
	if (rc)
		return rc > 0 ? 0 : -1;
	if (o->quiet || !isatty(STDOUT_FILENO)) {
		printf("%lld\n", (long long)job->id);
	} else {
		printf("Submitted job %lld (", (long long)job->id);
		output_clean(stdout, d->name);
		if (d->cpu_cores)
			printf(": %s, no device, %d core%s", job_state_name(job->state),
			       d->cpu_cores, plural(d->cpu_cores));
		else
			printf(": %s, needs %d device%s", job_state_name(job->state),
			       d->min_replicas, plural(d->min_replicas));
		if (d->time_limit_s < SHORT_S)
			printf(", time limit %g s", d->time_limit_s);
		else if (d->time_limit_s >= SHORT_S)
			printf(", time limit %s", format_duration(d->time_limit_s).s);
		if (d->begin_s > clock_wall_s())
			printf(", begins at %s", format_time(d->begin_s, clock_wall_s()).s);
		puts(")");
	}
	if (may_suspend && d->suspend == SUSPEND_NEVER)
		output_messagef("a job of its workload ended after a suspension, so it is not "
				"suspended: 'pollux edit --suspend auto %lld' takes that back",
				(long long)job->id);
	submit_pass_run(o->quiet);
	return 0;
}

/* Sets the key that the options ask for. */
static int set_key(const struct submit_asked *all, char **argv, const struct job_command *command,
		   struct job *job, struct err *err)
{
	if (all->once)
		job->key = submission_once_key(command->directory, argv, &all->job.env, NULL);
	else if (all->key)
		job->key = xstrdup(all->key);
	return job->key ? submission_check_key(&cmd_submit, job->key, err) : 0;
}

/* Tells what a submission would be. */
static int dry_run(const struct submit_asked *all, char **argv, const struct job *job,
		   const struct job_command *command, struct err *err)
{
	struct keyed_job there = { .id = 0 };
	struct session s;
	int rc;

	if (job->key) {
		if (session_open(&s, STORE_READ, err))
			return -1;
		rc = store_job_by_key(&s.store, job->key, &there, err);
		session_close(&s);
		if (rc)
			return -1;
	}
	if (there.id) {
		output_messagef("job %lld is there already: it %s; nothing would be submitted",
				(long long)there.id,
				job_state_clause(there.state, there.set_aside));
		return 0;
	}
	rc = submit_snapshot_tell(job, command, err);
	if (rc == 0)
		submit_print_command(&all->job, argv, NULL, job->declared.plans);
	return rc;
}

static int submit(const struct submit_asked *all, char **argv, struct err *err)
{
	const struct asked *o = &all->job;
	struct job_command command = { 0 };
	struct dependency_list after = { 0 };
	struct job job;
	int rc;

	if (all->key && all->once)
		return usage_error(&cmd_submit, err, "give one of --key and --once");
	if (sweep_is_asked(&all->sweep))
		return submit_group(all, argv, err);
	if (all->sweep.max_running || all->sweep.halving)
		return usage_error(&cmd_submit, err, "option '--%s' needs --param, --params or "
				   "--array", all->sweep.halving ? "halving" : "max-running");
	job_init(&job);
	rc = submission_command(&cmd_submit, o, argv, &command, err) ||
	     submission_job(&cmd_submit, o, &command, &job, err) ||
	     set_key(all, argv, &command, &job, err) ||
	     submit_after(&cmd_submit, o, &after, err) ? -1 : 0;
	if (rc == 0)
		submit_tell_braces(o, &job, &command, NULL, all->sweep.dry_run);
	if (rc == 0 && all->sweep.dry_run)
		rc = dry_run(all, argv, &job, &command, err);
	else if (rc == 0)
		rc = submit_add(o, &job, &command, &after, err);
	dependency_list_release(&after);
	job_command_release(&command);
	job_release(&job);
	return rc;
}

/* Submits with the words that a preset adds, if one is given and with_preset. Its options come
 * first, so that those of the command line replace them. */
static int parse_and_submit(int argc, char **argv, bool with_preset, struct err *err)
{
	struct submit_asked o = { .sweep = { .array = NULL } };
	struct strings words = { 0 };
	struct preset preset;
	int first, rc;

	asked_init(&o.job);
	rc = options_parse(&cmd_submit, argc, argv, &o, &first, err);
	if (rc == 0 && first >= argc)
		rc = usage_error(&cmd_submit, err, "no command to run");
	if (rc == 0 && !(o.job.preset && with_preset)) {
		rc = submit(&o, argv + first, err);
	} else if (rc == 0) {
		rc = preset_load(o.job.preset, &preset, err);
		if (rc == 0) {
			preset_apply(&preset, argv, argc, first, &words);
			rc = parse_and_submit((int)words.count, words.items, false, err);
			if (rc < 0 && *err->text)
				err_prefix(err, "with preset '%s'", o.job.preset);
			preset_release(&preset);
		}
	}
	strings_release(&words);
	options_release(&cmd_submit, &o);
	return rc;
}

static int main_submit(int argc, char **argv, struct err *err)
{
	struct strings words;
	int rc = script_options_add(&cmd_submit, argc, argv, &words, err);

	if (rc >= 0)
		rc = rc ? parse_and_submit((int)words.count, words.items, true, err)
			: parse_and_submit(argc, argv, true, err);
	strings_release(&words);
	return rc;
}

const char *const submit_headings[] = {
	"name", "what it is",
	"batch", "batch size and learning rate",
	"replicas", "devices",
	"samples", "how long it is, and who goes first",
	"time-limit", "limits and failures",
	"checkpoint-dir", "checkpoints, and turns with other jobs",
	"gpu-memory", "memory, and sharing a device",
	"snapshot", "code, log and what follows",
	"env", "how it is started",
	"key", "what is there already",
	"param", "sweeps",
	NULL,
};

const struct command cmd_submit = {
	.name = "submit", .synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]...",
	.summary = "put a training command into the queue",
	.example = "pollux submit -- python train.py --batch-size 64\n"
		   "pollux submit -b 256 -r 1:4 -- torchrun --nproc-per-node={gpus} \\\n"
		   "      train.py --batch={local_batch} --accum={accum}\n"
		   "pollux submit --checkpoint-dir out --resume-args '--init_from=resume' \\\n"
		   "      -- python train.py --out_dir={checkpoint}\n"
		   "pollux submit --after 3 -- ./evaluate.sh",
	.common = "name batch batch-range replicas after begin time-limit retries checkpoint-dir "
		  "resume-args env param dry-run",
	.headings = submit_headings,
	.options = options, .runs_program = true, .run = main_submit,
};
