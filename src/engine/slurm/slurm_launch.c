/* slurm_launch.c - hand a run to Slurm, and the text by which the store knows it then. */
#include <sys/stat.h>

#include "pollux/store_journal.h"
#include "slurm.h"

struct slurm_handle slurm_handle_of(const struct run *run)
{
	const char *text = run->handle ? run->handle : "";
	const char *job = strstr(text, " job="), *dir = strstr(text, " dir=");

	return (struct slurm_handle){
		.job = job && (!dir || job < dir) ? strtoll(job + 5, NULL, 10) : 0,
		.dir = dir ? dir + 5 : "",
	};
}

/* A pass hands runs to Slurm for so long; the rest waits for the next pass. */
#define LAUNCH_S 20.0
/* Slurm's time limit comes after the job's own, and after the time to save. */
#define LIMIT_MARGIN_S 120.0

static double launches_until_s = -1;

void slurm_begin_launches(void)
{
	launches_until_s = -1;
}

/* What a launch needs. */
struct launch {
	const struct engine_context *at;
	const struct run *run;
	struct config config;
	struct job job;
	const char *store_id;
	char *base;
	char *dir;			/* of the run */
	struct strings nodes;		/* names, each once, in the order of the devices */
	int gpus_per_node;		/* the most that any of them gives */
};

/* --- files --- */

/* The run that the job still has must be over before this one begins. Slurm keeps the order of the
 * two jobs, unless Slurm has lost the first one. */
static int add_run_before(const struct launch *l, struct text *t, struct err *err)
{
	scoped(run_list_release) struct run_list runs = { 0 };

	if (store_runs_active(l->at->store, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++) {
		const struct run *r = &runs.items[i];
		struct slurm_handle h = slurm_handle_of(r);

		if (r->job_id == l->run->job_id && r->id != l->run->id && h.dir[0])
			text_addf(t, "before=%s\n", h.dir);
	}
	return 0;
}

static int write_launch(const struct launch *l, struct err *err)
{
	const struct slurm_nodes *nodes = slurm_nodes();
	/* on which the command is started, each under a wrapper */
	size_t n_started = l->job.declared.launch == LAUNCH_FIRST ? 1 : l->nodes.count;
	scoped(text_release) struct text t = TEXT_INIT;

	text_addf(&t, "run=%lld\njob=%lld\nstore=%s\nbase=%s\nnodes=%zu\n",
		  (long long)l->run->id, (long long)l->run->job_id, l->store_id, l->base,
		  n_started);
	text_addf(&t, "lease_s=%.3f\ngrace_s=%.3f\nlog_limit=%.0f\n", l->config.slurm_lease_s,
		  l->job.declared.grace_s,
		  isfinite(l->config.log_limit_bytes) ? l->config.log_limit_bytes : 0);
	text_addf(&t, "wall_s=%.9f\nboot_s=%.9f\nboot_id=%s\n", clock_wall_s(), clock_boot_s(),
		  clock_boot_id());
	for (size_t i = 0; i < l->nodes.count; i++)
		for (int k = 0; k < nodes->n; k++)
			if (!strcmp(l->nodes.items[i], nodes->items[k].name))
				text_addf(&t, "address %s=%s\n", nodes->items[k].name,
					  nodes->items[k].address);
	return add_run_before(l, &t, err) ||
	       slurm_write(l->dir, "launch", t.data, t.length, err) ? -1 : 0;
}

/* Where the nodes see another directory than the store's, the log and the checkpoints are there,
 * and their usual names lead there. Frees here. */
static void link_part(const struct launch *l, const char *part, const char *suffix, char *here)
{
	char *there = xasprintf("%s/%s/%lld%s", l->base, part, (long long)l->run->job_id, suffix);

	if (strcmp(l->base, l->at->paths->dir) != 0 && symlink(there, here) && errno != EEXIST)
		dprintf(STDERR_FILENO, "cannot make '%s': %s\n", here, strerror(errno));
	free(there);
	free(here);
}

static int write_files(const struct launch *l, struct err *err)
{
	static const char *const parts[] = { "logs", "checkpoints", "code" };
	scoped(text_release) struct text rows = TEXT_INIT;
	int rc = paths_make_directory(l->dir, err);

	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		autofree char *part = xasprintf("%s/%s", l->base, parts[i]);

		rc = paths_make_directory(part, err);
	}
	if (rc)
		return -1;
	link_part(l, "logs", ".log", paths_log(l->at->paths, l->run->job_id));
	link_part(l, "checkpoints", "", paths_checkpoints(l->at->paths, l->run->job_id));
	/* launch comes last: it says that the directory is complete */
	return store_run_rows(l->at->store, l->run->id, &rows, err) ||
	       slurm_write(l->dir, "rows", rows.data, rows.length, err) ||
	       write_launch(l, err) ? -1 : 0;
}

/* --- sbatch --- */

static void add_devices(const struct launch *l, struct strings *argv)
{
	const char *kind = l->run->devices[0].kind;
	scoped(text_release) struct text list = TEXT_INIT;

	for (size_t i = 0; i < l->nodes.count; i++)
		text_addf(&list, "%s%s", i ? "," : "", l->nodes.items[i]);
	strings_addf(argv, "--nodes=%zu", l->nodes.count);
	strings_add(argv, "--ntasks-per-node=1");
	strings_addf(argv, "--nodelist=%s", list.data);
	if (strcmp(kind, "gpu") != 0)
		strings_addf(argv, "--gres=gpu:%s:%d", kind, l->gpus_per_node);
	else
		strings_addf(argv, "--gres=gpu:%d", l->gpus_per_node);
}

/* The store knows the directory before Slurm knows the job: a run without a directory is ended as
 * never begun. job 0: Slurm does not know the job yet. */
static int keep_handle(const struct launch *l, int64_t job, struct err *err)
{
	scoped(text_release) struct text t = TEXT_INIT;

	text_add(&t, "slurm");
	if (job)
		text_addf(&t, " job=%lld", (long long)job);
	text_addf(&t, " dir=%s", l->dir);
	return store_run_set_handle(l->at->store, l->run->id, t.data, err);
}

static int submit_run(const struct launch *l, struct err *err)
{
	const struct declaration *d = &l->job.declared;
	double left_s = d->time_limit_s - l->job.progress.run_time_s;
	struct strings argv = { 0 };
	scoped(text_release) struct text answer = TEXT_INIT, word = TEXT_INIT;
	char name[SLURM_NAME_SIZE], program[PATH_MAX];
	int64_t job;
	int rc;

	if (proc_program(program, sizeof(program), err))
		return -1;
	slurm_add_words("sbatch --export=ALL --open-mode=append", &argv);
	if (isfinite(left_s))
		strings_addf(&argv, "--time=%.0f",
			     ceil((fmax(left_s, 0) + d->grace_s + LIMIT_MARGIN_S) / 60));
	if (d->memory_limit_bytes > 0)
		strings_addf(&argv, "--mem=%.0fM", ceil(d->memory_limit_bytes / 0x1p20));
	slurm_add_words(l->config.slurm_args, &argv);
	if (d->slurm_args)
		slurm_add_words(d->slurm_args, &argv);
	/* the last of two options counts: by these a run is found, and placed */
	slurm_add_words("--parsable --no-requeue --dependency=singleton", &argv);
	slurm_job_name(l->store_id, l->run->job_id, name);
	strings_addf(&argv, "--job-name=%s", name);
	strings_addf(&argv, "--comment=%s:%lld:%lld", l->store_id, (long long)l->run->job_id,
		     (long long)l->run->id);
	strings_addf(&argv, "--signal=B:TERM@%.0f", ceil(d->grace_s) + 10);
	strings_addf(&argv, "--chdir=%s", l->dir);
	for (const char *c = l->dir; *c; c++)	/* a '%' begins a symbol in a name for sbatch */
		text_add_byte(&word, *c, *c == '%' ? 2 : 1);
	strings_addf(&argv, "--output=%s/output", word.data);
	add_devices(l, &argv);
	text_clear(&word);
	text_add_shell_quoted(&word, program);
	text_add(&word, " supervise ");
	text_add_shell_quoted(&word, l->dir);
	strings_addf(&argv, "--wrap=exec %s", word.data);
	rc = slurm_command(&argv, SLURM_SUBMIT_LIMIT_S, &answer, err);
	job = slurm_parse_submitted(answer.data);
	if (rc == 0 && job == 0)
		rc = err_set(err, EX_UNAVAILABLE, "sbatch of Slurm told no number of a job");
	slurm_forget();
	return rc ? -1 : keep_handle(l, job, err);
}

/* --- the start --- */

static int prepare_launch(struct launch *l, struct err *err)
{
	const struct engine_context *at = l->at;
	struct slurm_handle h = slurm_handle_of(l->run);

	config_load_leniently(&l->config, at->paths->config);
	l->store_id = slurm_store_id(at, err);
	if (!l->store_id || store_job_get(at->store, l->run->job_id, &l->job, err))
		return -1;
	l->base = slurm_base(at->paths, l->config.slurm_dir, l->store_id);
	l->dir = h.dir[0] ? xstrdup(h.dir) : xasprintf("%s/run/%lld", l->base,
						       (long long)l->run->id);
	run_node_names(l->run, &l->nodes);
	for (size_t i = 0; i < l->nodes.count; i++) {
		int n = 0;

		for (int d = 0; d < l->run->configuration.replicas; d++)
			n += !strcmp(l->run->devices[d].node, l->nodes.items[i]);
		if (n > l->gpus_per_node)
			l->gpus_per_node = n;
	}
	return 0;
}

int slurm_start(const struct engine_context *at, const struct run *run, struct err *err)
{
	struct launch l = { .at = at, .run = run };
	double now = clock_boot_s();
	int rc;

	if (run->stop_reason != STOP_NONE) {
		struct run ended = *run;

		/* Only passes come here, which are the ones to ask for jobs: none was asked for
		 * yet; or if there may be one, it is kept from starting. */
		ended.outcome = OUTCOME_NOT_STARTED;
		if (!slurm_handle_of(run).dir[0])
			return store_run_end(at->store, &ended, err);
		slurm_wake(at, run);
		return 0;
	}
	if (launches_until_s < 0)
		launches_until_s = now + LAUNCH_S;
	if (now >= launches_until_s)
		return 0;
	job_init(&l.job);
	rc = prepare_launch(&l, err);
	if (rc == 0 && !slurm_has(l.dir, "claim")) {
		/* A pass may have died between sbatch and its next write: the job is found by its
		 * comment. */
		bool tried = slurm_has(l.dir, "launch");
		const struct slurm_job *job = tried ? slurm_queued_job(at, run) : NULL;

		if (job) {
			rc = keep_handle(&l, job->id, err);
		} else if (tried && !slurm_queue()->known) {
			*err = slurm_queue()->err;
			rc = -1;
		} else {
			rc = (!tried && write_files(&l, err)) || keep_handle(&l, 0, err) ||
			     submit_run(&l, err) ? -1 : 0;
		}
	}
	strings_release(&l.nodes);
	job_release(&l.job);
	free(l.base);
	free(l.dir);
	return rc;
}
