/* submit_group.c - a sweep: many jobs by one command line, in one transaction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/halving.h"
#include "pollux/mem.h"
#include "pollux/metric_lines.h"
#include "pollux/store_groups.h"
#include "pollux/store_measurements.h"
#include "pollux/submission.h"
#include "pollux/view.h"
#include "submit.h"

/* The command and the job of the first run, made as for a single job. Those of the other runs are
 * made from them. */
struct group_submission {
	const struct submit_asked *o;
	struct sweep sweep;
	struct job_command command;
	struct job job;
	struct text halving;	/* as the store keeps it; empty: not asked for */
	struct store *store;
};

/* --- the commands --- */

static void print_commands(const struct group_submission *g)
{
	const struct sweep *s = &g->sweep;

	for (int i = 0; i < s->axes.runs; i++) {
		struct sweep_run run;

		sweep_run_init(s, i, &run);
		submit_print_command(&run.asked, run.argv.items, sweep_run_learning_rate(&run),
				     g->job.declared.plans);
		sweep_run_release(&run);
	}
}

/* --- the jobs --- */

static int make_run(const struct group_submission *g, struct sweep_run *run, struct job *job,
		    struct job_command *command, struct err *err)
{
	struct declaration *d = &job->declared;

	job->state = g->job.state;
	job->reason = xstrdup(g->job.reason);
	job->submit_time_s = g->job.submit_time_s;
	declaration_copy(d, &g->job.declared);
	if (!run->asked.declared.name) {
		free(d->name);
		d->name = sweep_run_name(g->job.declared.name, &run->parameters);
	}
	xreplace(&d->name, run->asked.declared.name);
	xreplace(&d->workload, run->asked.declared.workload);
	d->learning_rate = run->asked.declared.learning_rate;
	for (size_t i = 0; i < run->parameters.count; i++)
		strings_add(&job->parameters, run->parameters.items[i]);
	if (submission_vary(g->sweep.by, &run->asked, run->argv.items, &g->command, command, err))
		return -1;
	return g->o->job.parameters > 0
		? store_workload_set_parameters(g->store, d->workload, g->o->job.parameters, err)
		: 0;
}

static int make(void *arg, int i, struct job *job, struct job_command *command, struct err *err)
{
	const struct group_submission *g = arg;
	struct sweep_run run;
	int rc;

	sweep_run_init(&g->sweep, i, &run);
	rc = make_run(g, &run, job, command, err);
	if (rc)
		err_prefix(err, "run %d", i);
	sweep_run_release(&run);
	return rc;
}

/* The first run as a single job. It is named after the command before parameters are put in: all
 * runs are of one workload. */
static int make_first(struct group_submission *g, char **argv, struct err *err)
{
	struct sweep_run run;
	int rc;

	sweep_run_init(&g->sweep, 0, &run);
	rc = submission_command(g->sweep.by, &run.asked, run.argv.items, &g->command, err);
	if (rc == 0) {
		bool same = !strcmp(argv[0], run.argv.items[0]);

		submission_name_template(same ? g->command.program : argv[0], argv,
					 &run.asked.declared);
		rc = submission_job(g->sweep.by, &run.asked, &g->command, &g->job, err);
	}
	if (rc == 0)
		submit_tell_braces(&run.asked, &g->job, &g->command, &run.parameters,
				   g->o->sweep.dry_run);
	sweep_run_release(&run);
	return rc;
}

static void print_added(const struct group_added *added, bool quiet)
{
	long long first = added->first_job_id, last = added->last_job_id, n = last - first + 1;

	for (long long id = first; quiet && id <= last; id++)
		printf("%lld\n", id);
	if (!quiet && !isatty(STDOUT_FILENO))
		printf("group:%lld\n", (long long)added->group_id);
	if (quiet || !isatty(STDOUT_FILENO))
		return;
	printf("group %lld: ", (long long)added->group_id);
	if (n == 1)
		printf("job %lld (1 run)\n", first);
	else
		printf("jobs %lld to %lld (%lld runs)\n", first, last, n);
}

static int add_checked(struct group_submission *g, const struct job_group *group,
		       const struct group_jobs *jobs, const struct dependency_list *after,
		       struct group_added *added, struct err *err)
{
	if (store_begin(g->store, err))
		return -1;
	if (store_group_insert(g->store, group, jobs, after, added, err) ||
	    (!g->o->job.force && g->o->job.checkpoint_dir &&
	     shared_checkpoints_check(g->store, added->first_job_id, added->last_job_id, err))) {
		store_rollback(g->store);
		return -1;
	}
	return store_commit(g->store, err);
}

static int insert_sweep(struct group_submission *g, const struct job_group *group,
			const struct dependency_list *after, struct err *err)
{
	struct group_jobs jobs = { g->sweep.axes.runs, make, g };
	struct group_added added;
	struct code_snapshot snapshot;
	struct session s;
	int rc;

	if (submit_open(&s, err))
		return -1;
	g->store = &s.store;
	rc = submit_snapshot(&s.paths, &g->job, &g->command, &snapshot, err);
	if (rc == 0)
		rc = add_checked(g, group, &jobs, after, &added, err);
	submit_snapshot_end(&snapshot, rc);
	if (rc == 0) {
		g->job.id = added.first_job_id;
		submit_tell(&s, &g->job, &g->command);
		submit_tell_launch(&g->o->job, &g->job, &g->command);
	}
	g->store = NULL;
	session_close(&s);
	if (rc)
		return rc;
	print_added(&added, g->o->job.quiet);
	submit_pass_run(g->o->job.quiet);
	return 0;
}

static int add_group(struct group_submission *g, char **argv, struct err *err)
{
	const char *name = g->o->job.declared.name;
	struct dependency_list after = { 0 };
	struct job_group group = {
		.name = xstrdup(name ? name : g->job.declared.name),
		.submit_time_s = clock_wall_s(), .max_running = (int)g->o->sweep.max_running,
	};
	int rc = submit_after(g->sweep.by, &g->o->job, &after, err);

	for (char **argument = argv; *argument; argument++)
		strings_add(&group.argv, *argument);
	sweep_varied(&g->sweep, &group.varied);
	g->job.submit_time_s = group.submit_time_s;
	if (!g->o->job.declared.workload)
		group.split = xstrdup("");
	if (g->halving.length)
		group.halving = xstrdup(g->halving.data);
	if (rc == 0)
		rc = insert_sweep(g, &group, &after, err);
	dependency_list_release(&after);
	job_group_release(&group);
	return rc;
}

/* Samples to the end of each run, as declared; NaN. */
static double declared_samples(const struct declaration *d)
{
	if (d->total_samples > 0 || !(d->total_steps > 0) || d->batch.size <= 0)
		return d->total_samples;
	return d->total_steps * (double)d->batch.size;
}

/* True if earlier runs of the workload told their samples. */
static bool reports_samples(const char *workload)
{
	struct session s;
	struct err ignored;
	bool reports = false;

	if (session_open(&s, STORE_READ, &ignored))
		return false;
	store_workload_reports_samples(&s.store, workload, &reports, &ignored);
	session_close(&s);
	return reports;
}

/* Rungs are positions in samples. Of a log, pollux knows steps, and samples only with --batch. */
static void check_position(const struct asked *o, const struct declaration *d, const char *metric)
{
	size_t length = strlen(metric);

	if (d->batch.size > 0 || reports_samples(d->workload))
		return;
	for (size_t i = 0; i < o->metrics.count; i++)
		if (!strncmp(o->metrics.items[i], metric, length) &&
		    o->metrics.items[i][length] == '=')
			output_messagef("warning: without --batch the samples of a log are not "
					"known: no run reaches a rung of --halving, unless the "
					"program reports its samples");
}

static int read_halving(struct group_submission *g, struct err *err)
{
	struct halving h;
	struct err why;

	if (!g->o->sweep.halving)
		return 0;
	if (g->job.declared.preemption == PREEMPT_NEVER)
		return usage_error(g->sweep.by, err, "option '--halving' stops runs at rungs, "
				   "which --no-preempt forbids");
	if (halving_parse(g->o->sweep.halving, declared_samples(&g->job.declared), &h, &why))
		return usage_error(g->sweep.by, err, "option '--halving': %s", why.text);
	if (!metric_is_name(h.metric, strlen(h.metric)))
		return usage_error(g->sweep.by, err, "option '--halving': '%s' is no name of a "
				   "metric", h.metric);
	if (!h.says_way)
		h.low_is_best = metric_low_is_best(h.metric);
	halving_format(&h, &g->halving);
	check_position(&g->o->job, &g->job.declared, h.metric);
	return 0;
}

int submit_group(const struct submit_asked *o, char **argv, struct err *err)
{
	struct group_submission g = { .o = o, .halving = TEXT_INIT };
	int rc = sweep_init(&g.sweep, &cmd_submit, &o->job, &o->sweep, argv, err);

	job_init(&g.job);
	rc = rc ? rc : make_first(&g, argv, err);
	rc = rc ? rc : read_halving(&g, err);
	if (rc == 0 && o->sweep.dry_run)
		rc = submit_snapshot_tell(&g.job, &g.command, err);
	if (rc == 0 && o->sweep.dry_run)
		print_commands(&g);
	else if (rc == 0)
		rc = add_group(&g, argv, err);
	job_command_release(&g.command);
	job_release(&g.job);
	text_release(&g.halving);
	sweep_release(&g.sweep);
	return rc;
}
