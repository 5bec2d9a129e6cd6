/* cmd_forget.c - pollux forget: take back what is known of a workload, where it is wrong. */
#include "commands.h"

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
};

static void print_forgotten(const struct forget *f, const struct forgotten *n, bool dry_run)
{
	fputs(dry_run ? "would forget" : "forgot", stdout);
	if (f->gradients)
		printf(" %lld window%s of gradient statistics", (long long)n->windows,
		       plural(n->windows));
	if (f->times)
		printf("%s %lld observation%s of step times and %lld model%s",
		       f->gradients ? "," : "", (long long)n->observations,
		       plural(n->observations), (long long)n->models, plural(n->models));
	if (f->memory)
		printf("%s %lld run%s out of memory", f->gradients || f->times ? "," : "",
		       (long long)n->out_of_memory, plural(n->out_of_memory));
	if (f->job_id)
		printf(" of job %lld\n", (long long)f->job_id);
	else
		output_sayf(stdout, " of workload '%s'", f->workload);
}

/* Without one of --gradients, --times and --memory all three are forgotten. */
static int forget(const struct forget_options *o, const char *workload, struct err *err)
{
	bool all = !o->gradients && !o->times && !o->memory, has = true;
	struct forget f = {
		.workload = workload, .job_id = o->job_id, .gradients = all || o->gradients,
		.times = all || o->times, .memory = all || o->memory,
	};
	struct forgotten n;
	struct session s;
	struct job job;
	int rc;

	job_init(&job);
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	if (o->job_id) {
		rc = store_job_get(&s.store, o->job_id, &job, err);
		f.workload = job.declared.workload;
	} else {
		rc = store_workload_has_jobs(&s.store, workload, &has, err);
	}
	if (rc == 0 && !has)
		rc = err_set(err, EX_NOINPUT, "no job has the workload '%s'", workload);
	rc = rc ? rc : store_begin(&s.store, err);
	if (rc == 0) {
		rc = store_forget(&s.store, &f, &n, err);
		if (rc || o->dry_run)
			store_rollback(&s.store);
		else
			rc = store_commit(&s.store, err);
	}
	if (rc == 0)
		print_forgotten(&f, &n, o->dry_run);
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
