/* submit_group.c - a sweep: many jobs by one command line, in one transaction. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/halving.h"
#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/store_groups.h"
#include "pollux/store_measurements.h"
#include "pollux/view.h"

/* The command and the job of the first run, made as for a single job. Those of the other runs are
 * made from them. */
struct group_submission {
	const struct submit_asked *o;
	struct sweep sweep;
	struct job_command command;
	struct job job;
	struct text halving;	/* as the store keeps it; empty: not asked for */
	struct job_group group;
	struct dependency_list after;
	struct group_added added;
	struct store *store;	/* while the runs are inserted */
};

static int make(void *arg, int i, struct job *job, struct job_command *command, struct err *err)
{
	const struct group_submission *g = arg;
	const struct asked *first = &g->o->job;
	struct declaration *d = &job->declared;
	struct sweep_run run;
	int rc;

	sweep_run_init(&g->sweep, i, &run);
	job->state = g->job.state;
	job->reason = xstrdup(g->job.reason);
	job->submit_time_s = g->job.submit_time_s;
	declaration_copy(d, &g->job.declared);
	if (!run.asked.declared.name) {
		free(d->name);
		d->name = sweep_run_name(g->job.declared.name, &run.parameters);
	}
	xreplace(&d->name, run.asked.declared.name);
	xreplace(&d->workload, run.asked.declared.workload);
	d->learning_rate = run.asked.declared.learning_rate;
	for (size_t k = 0; k < run.parameters.count; k++)
		strings_add(&job->parameters, run.parameters.items[k]);
	rc = submission_vary(g->sweep.by, &run.asked, run.argv.items, &g->command, command, err);
	if (rc == 0 && first->parameters > 0)
		rc = store_workload_set_parameters(g->store, d->workload, first->parameters, err);
	if (rc)
		err_prefix(err, "run %d", i);
	sweep_run_release(&run);
	return rc;
}

static int insert(struct store *s, void *arg, struct err *err)
{
	struct group_submission *g = arg;
	struct group_jobs jobs = { g->sweep.axes.runs, make, g };
	struct group_added *added = &g->added;

	g->store = s;
	if (store_group_insert(s, &g->group, &jobs, &g->after, added, err) ||
	    (!g->o->job.force && g->o->job.checkpoint_dir &&
	     shared_checkpoints_check(s, added->first_job_id, added->last_job_id, err)))
		return -1;
	g->job.id = added->first_job_id;
	return 0;
}

static int add_sweep(struct group_submission *g, char **argv, struct err *err)
{
	const struct asked *o = &g->o->job;
	struct job_group *group = &g->group;
	long long first, last;

	if (submit_after(g->sweep.by, o, &g->after, err))
		return -1;
	*group = (struct job_group){
		.name = xstrdup(o->declared.name ? o->declared.name : g->job.declared.name),
		.submit_time_s = clock_wall_s(), .max_running = (int)g->o->sweep.max_running,
		.split = o->declared.workload ? NULL : xstrdup(""),
		.halving = g->halving.length ? xstrdup(g->halving.data) : NULL,
	};
	for (char **argument = argv; *argument; argument++)
		strings_add(&group->argv, *argument);
	sweep_varied(&g->sweep, &group->varied);
	g->job.submit_time_s = group->submit_time_s;
	if (submit_into_store(o, &g->job, &g->command, insert, g, err))
		return -1;
	first = g->added.first_job_id;
	last = g->added.last_job_id;
	for (long long id = first; o->quiet && id <= last; id++)
		printf("%lld\n", id);
	if (!o->quiet && !isatty(STDOUT_FILENO))
		printf("group:%lld\n", (long long)g->added.group_id);
	else if (!o->quiet && first == last)
		printf("group %lld: job %lld (1 run)\n", (long long)g->added.group_id, first);
	else if (!o->quiet)
		printf("group %lld: jobs %lld to %lld (%lld runs)\n", (long long)g->added.group_id,
		       first, last, last - first + 1);
	submit_pass_run(o->quiet);
	return 0;
}

/* Makes the first run as a single job. It is named after the command before parameters are put in:
 * all runs are of one workload. */
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

/* Rungs are positions in samples. Of a log, pollux knows steps, and samples only with --batch, or
 * if earlier runs of the workload told theirs. */
static void warn_of_positions(const struct asked *o, const struct declaration *d,
			      const char *metric)
{
	size_t length = strlen(metric);
	bool reports = false;
	struct session s;
	struct err ignored;

	if (d->batch.size > 0)
		return;
	if (session_open(&s, STORE_READ, &ignored) == 0) {
		store_workload_reports_samples(&s.store, d->workload, &reports, &ignored);
		session_close(&s);
	}
	for (size_t i = 0; !reports && i < o->metrics.count; i++)
		if (!strncmp(o->metrics.items[i], metric, length) &&
		    o->metrics.items[i][length] == '=')
			output_messagef("warning: without --batch the samples of a log are not "
					"known: no run reaches a rung of --halving, unless the "
					"program reports its samples");
}

static int read_halving(struct group_submission *g, struct err *err)
{
	const struct declaration *d = &g->job.declared;
	double samples = d->total_samples;	/* to the end of each run; NaN */
	struct halving h;
	struct err why;

	if (!g->o->sweep.halving)
		return 0;
	if (!(samples > 0) && d->total_steps > 0 && d->batch.size > 0)
		samples = d->total_steps * (double)d->batch.size;
	if (d->preemption == PREEMPT_NEVER)
		return usage_error(g->sweep.by, err, "option '--halving' stops runs at rungs, "
				   "which --no-preempt forbids");
	if (halving_parse(g->o->sweep.halving, samples, &h, &why))
		return usage_error(g->sweep.by, err, "option '--halving': %s", why.text);
	if (!metric_is_name(h.metric, strlen(h.metric)))
		return usage_error(g->sweep.by, err, "option '--halving': '%s' is no name of a "
				   "metric", h.metric);
	if (!h.says_way)
		h.low_is_best = metric_low_is_best(h.metric);
	halving_format(&h, &g->halving);
	warn_of_positions(&g->o->job, d, h.metric);
	return 0;
}

int submit_group(const struct submit_asked *o, char **argv, struct err *err)
{
	struct group_submission g = { .o = o, .halving = TEXT_INIT };
	int rc = sweep_init(&g.sweep, &cmd_submit, &o->job, &o->sweep, argv, err);

	job_init(&g.job);
	rc = rc ? rc : make_first(&g, argv, err);
	rc = rc ? rc : read_halving(&g, err);
	if (rc == 0 && !o->sweep.dry_run) {
		rc = add_sweep(&g, argv, err);
	} else if (rc == 0) {
		rc = submit_snapshot_tell(&g.job, &g.command, err);
		for (int i = 0; rc == 0 && i < g.sweep.axes.runs; i++) {
			struct sweep_run run;

			sweep_run_init(&g.sweep, i, &run);
			submit_print_command(&run.asked, run.argv.items,
					     sweep_run_learning_rate(&run), g.job.declared.plans);
			sweep_run_release(&run);
		}
	}
	dependency_list_release(&g.after);
	job_group_release(&g.group);
	job_command_release(&g.command);
	job_release(&g.job);
	text_release(&g.halving);
	sweep_release(&g.sweep);
	return rc;
}
