/* cmd_forget.c - pollux forget: take back what is known of a workload, where it is wrong. */
#include <stdio.h>

#include "commands.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"

struct forget_options {
	int64_t job_id;
	bool gradients, times, memory, dry_run;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct forget_options, field)
	{ "job", 0, OPTION_INT, "ID", O(job_id), 1, 1000000000000, "only what this job measured" },
	{ "gradients", 'g', OPTION_FLAG, NULL, O(gradients), 0, 0,
	  "gradient statistics: the noise scale" },
	{ "times", 't', OPTION_FLAG, NULL, O(times), 0, 0, "step times, and the fitted model" },
	{ "memory", 'm', OPTION_FLAG, NULL, O(memory), 0, 0,
	  "which sizes ran out of memory, and what runs had of it" },
	{ "dry-run", 'n', OPTION_FLAG, NULL, O(dry_run), 0, 0,
	  "print what would be forgotten, do nothing" },
	{ .name = NULL },
#undef O
};

static void print_forgotten(const struct forget *f, const struct forgotten *n, bool dry_run)
{
	const char *separator = " ";

	printf("%s", dry_run ? "would forget" : "forgot");
	if (f->gradients) {
		printf("%s%lld window%s of gradient statistics", separator, (long long)n->windows,
		       plural(n->windows));
		separator = ", ";
	}
	if (f->times) {
		printf("%s%lld observation%s of step times and %lld model%s", separator,
		       (long long)n->observations, plural(n->observations), (long long)n->models,
		       plural(n->models));
		separator = ", ";
	}
	if (f->memory)
		printf("%s%lld run%s out of memory", separator, (long long)n->out_of_memory,
		       plural(n->out_of_memory));
	if (f->job_id)
		printf(" of job %lld\n", (long long)f->job_id);
	else
		output_sayf(stdout, " of workload '%s'", f->workload);
}

static int forget_in_transaction(struct store *store, const struct forget *f, bool dry_run,
				 struct err *err)
{
	struct forgotten n;

	if (store_begin(store, err))
		return -1;
	if (store_forget(store, f, &n, err)) {
		store_rollback(store);
		return -1;
	}
	if (dry_run)
		store_rollback(store);
	else if (store_commit(store, err))
		return -1;
	print_forgotten(f, &n, dry_run);
	return 0;
}

static int check_workload(struct store *store, const char *workload, struct err *err)
{
	bool has;

	if (store_workload_has_jobs(store, workload, &has, err))
		return -1;
	return has ? 0 : err_set(err, EX_NOINPUT, "no job has the workload '%s'", workload);
}

/* Without one of --gradients, --times and --memory all three are forgotten. */
static int forget(const struct forget_options *o, const char *workload, struct err *err)
{
	bool all = !o->gradients && !o->times && !o->memory;
	struct forget f = {
		.workload = workload, .job_id = o->job_id, .gradients = all || o->gradients,
		.times = all || o->times, .memory = all || o->memory,
	};
	struct session s;
	struct job job;
	int rc;

	job_init(&job);
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	rc = o->job_id ? store_job_get(&s.store, o->job_id, &job, err)
		       : check_workload(&s.store, workload, err);
	if (o->job_id && rc == 0)
		f.workload = job.declared.workload;
	if (rc == 0)
		rc = forget_in_transaction(&s.store, &f, o->dry_run, err);
	job_release(&job);
	session_close(&s);
	return rc;
}

static int main_forget(int argc, char **argv, struct err *err)
{
	struct forget_options o = { .job_id = 0 };
	int first, n;

	if (options_parse(&cmd_forget, argc, argv, &o, &first, err))
		return -1;
	n = argc - first;
	if (n + (o.job_id > 0) != 1)
		return usage_error(&cmd_forget, err, n + (o.job_id > 0) == 0
				   ? "forget what? give a workload, or --job ID"
				   : "forget takes one workload, or --job ID");
	return forget(&o, n ? argv[first] : NULL, err);
}

const struct command cmd_forget = {
	.name = "forget",
	.synopsis = "[--gradients] [--times] [--memory] [--dry-run] WORKLOAD | --job ID",
	.summary = "take back what is known of a workload, where it is wrong",
	.example = "pollux forget --job 17 --gradients\n"
		   "pollux forget resnet --dry-run",
	.options = options, .run = main_forget,
};
