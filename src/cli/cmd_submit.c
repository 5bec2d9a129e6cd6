/* cmd_submit.c - pollux submit: put a command into the queue, with all it needs to run later. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/engine.h"
#include "pollux/mem.h"
#include "pollux/session.h"
#include "pollux/template.h"
#include "submission.h"
#include "submission_options.h"

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct submission, field)
	SUBMISSION_NAMES(O),
	SUBMISSION_SIZES(O),
	{ "samples", 0, OPTION_NUMBER, "N", O(total_samples), 1, 1e18,
	  "samples to its end: for the time left, and for who goes first" },
	SUBMISSION_WORK_STEPS(O),
	{ "epochs", 0, OPTION_NUMBER, "N", O(epochs), 1e-6, 1e12,
	  "passes over the data to its end; needs --dataset-size" },
	{ "dataset-size", 0, OPTION_INT, "SAMPLES", O(dataset_size), 1, 1e15, "samples in an epoch" },
	{ "weight", 'w', OPTION_NUMBER, "W", O(weight), 1e-3, 1e3,
	  "what a device is worth to it beside other jobs; default 1" },
	{ "hold", 0, OPTION_FLAG, NULL, O(hold), 0, 0, "wait for 'pollux release'" },
	{ "after", 'a', OPTION_LIST, "[ok:]ID,...", O(after), 0, 0,
	  "start when these jobs have ended (ok: have succeeded)" },
	{ "time-limit", 't', OPTION_DURATION, "TIME", O(time_limit_s), 1, 1e9,
	  "stop it for good after this much running time: 90, 45m, 12h, 2d" },
	{ "retries", 0, OPTION_INT, "N", O(retries), 0, 1000,
	  "start it again after so many failures; default 0" },
	SUBMISSION_STOP(O),
	{ "checkpoint-dir", 0, OPTION_TEXT, "DIR", O(checkpoint_dir), 0, 0,
	  "where its checkpoints are; default a directory of its own ({checkpoint})" },
	{ "resume-args", 0, OPTION_TEXT, "TEXT", O(resume_args), 0, 0,
	  "added to the command (or put for {resume}) once there is a checkpoint" },
	{ "preempt", 0, OPTION_FLAG, NULL, O(preempt), 0, 0,
	  "it may be stopped and relaunched; default where the command has {checkpoint} or {resume}, "
	  "with --checkpoint-dir or --resume-args, or once it has reported a checkpoint" },
	{ "no-preempt", 0, OPTION_FLAG, NULL, O(no_preempt), 0, 0,
	  "once started it keeps its devices to its end" },
	SUBMISSION_STEPS(O),
	SUBMISSION_PLACE(O),
	{ "quiet", 'q', OPTION_FLAG, NULL, O(quiet), 0, 0, "print the job's number alone" },
	{ .name = NULL },
#undef O
};

static void print_result(const struct job *job, bool quiet)
{
	if (quiet || !isatty(STDOUT_FILENO)) {
		printf("%lld\n", (long long)job->id);
		return;
	}
	printf("Submitted job %lld (", (long long)job->id);
	output_clean(stdout, job->declared.name);
	printf(": %s, needs %d device%s)\n", job_state_name(job->state), job->declared.min_replicas,
	       job->declared.min_replicas == 1 ? "" : "s");
}

static void warn_of_network(const struct paths *paths)
{
	if (paths_on_network(paths))
		fprintf(stderr, "pollux: warning: '%s' is on a network file system, where SQLite's "
			"locks may fail; set POLLUX_DIR to a local directory\n", paths->dir);
}

/* -1 where that cannot be told: a pass will say why. */
static int count_usable(const struct paths *paths)
{
	struct device_settings settings;
	struct device_list list;
	struct config config;
	struct err ignored;
	int n = 0;

	if (config_load(&config, paths->config, &ignored))
		return -1;
	settings = (struct device_settings){ .slots = config.slots };
	if (engine_for_new_runs()->list(&settings, &list, &ignored))
		return -1;
	for (int i = 0; i < list.count; i++)
		n += list.items[i].usable;
	devices_release(&list);
	return n;
}

/* Not an error: other slots may be configured later. To look at the devices takes milliseconds, which a job
 * of one device is spared. */
static void warn_of_devices(const struct paths *paths, const struct job *job)
{
	int n = job->declared.min_replicas > 1 ? count_usable(paths) : -1;

	if (n >= 0 && n < job->declared.min_replicas)
		fprintf(stderr, "pollux: warning: job %lld needs %d devices, but %d can be used here: it "
			"waits until there are more\n", (long long)job->id, job->declared.min_replicas, n);
}

/* A program that does not know of passes would train at less than its batch size, without a word. */
static void warn_of_passes(const struct job *job)
{
	int64_t local = job->declared.max_local_batch_size, share = job->declared.batch_size / job->declared.min_replicas;
	long long passes = local > 0 ? (long long)((share + local - 1) / local) : 1;

	if (!job->declared.accumulates && passes > 1)
		fprintf(stderr, "pollux: warning: with --max-local-batch %lld its batch of %lld takes %lld passes for an "
			"update, which its program has to make: by {accum}, or by POLLUX_ACCUM and --accumulate\n",
			(long long)local, (long long)job->declared.batch_size, passes);
}

static int insert(struct store *s, struct job *job, const struct job_command *command,
		  const struct dependency_list *after, double parameters, struct err *err)
{
	if (store_begin(s, err))
		return -1;
	if (store_job_insert(s, job, command, after, err) ||
	    (parameters > 0 && store_workload_set_parameters(s, job->declared.workload, parameters, err))) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

static int add(const struct submission *o, struct job *job, const struct job_command *command,
	       const struct dependency_list *after, struct err *err)
{
	double parameters;
	struct session s;
	int rc;

	if (submission_parameters(o, &parameters, err) || session_open(&s, STORE_WRITE, err))
		return -1;
	warn_of_network(&s.paths);
	job->submit_time_s = clock_wall_s();
	rc = insert(&s.store, job, command, after, parameters, err);
	if (rc == 0) {
		warn_of_devices(&s.paths, job);
		warn_of_passes(job);
	}
	session_close(&s);
	if (rc == 0)
		print_result(job, o->quiet);
	return rc;
}

static int submit(const struct submission *o, char **argv, struct err *err)
{
	struct job_command command = { 0 };
	struct dependency_list after = { 0 };
	struct job job;
	int rc;

	job_init(&job);
	rc = submission_command(o, argv, &command, err) || submission_job(o, &command, &job, err) ||
	     submission_after(o, &after, err) ? -1 : 0;
	if (rc == 0)
		rc = add(o, &job, &command, &after, err);
	dependency_list_release(&after);
	job_command_release(&command);
	job_release(&job);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct submission o = SUBMISSION_DEFAULTS(&cmd_submit);
	int first, rc;

	rc = options_parse(&cmd_submit, argc, argv, &o, &first, err);
	if (rc == 0 && first >= argc)
		rc = usage_error(&cmd_submit, err, "no command to run");
	if (rc == 0)
		rc = submit(&o, argv + first, err);
	options_release(&cmd_submit, &o);
	return rc;
}

const struct command cmd_submit = {
	.name = "submit",
	.synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]...",
	.summary = "put a training command into the queue",
	.example = "pollux submit -- python train.py --batch-size 64\n"
		   "pollux submit -b 256 -r 1:4 -- torchrun --nproc-per-node={gpus} train.py"
		   " --batch={local_batch} --accum={accum}\n"
		   "pollux submit --checkpoint-dir out --resume-args '--init_from=resume'"
		   " -- python train.py --out_dir={checkpoint}\n"
		   "pollux submit --after ok:3 -- ./evaluate.sh",
	.options = options,
	.runs_program = true,
	.run = run,
};
