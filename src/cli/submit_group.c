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
	struct strings keys;	/* of the runs; empty: not asked for */
	int64_t *ids;		/* owned; of the runs that are there already, else 0 */
	int *missing;		/* owned; the n_missing runs that are not */
	int n_missing;
};

static int make(void *arg, int nth, struct job *job, struct job_command *command, struct err *err)
{
	const struct group_submission *g = arg;
	const struct asked *first = &g->o->job;
	struct declaration *d = &job->declared;
	int i = g->missing[nth], rc;
	struct sweep_run run;

	job->group_index = i;
	if (g->keys.count)
		job->key = xstrdup(g->keys.items[i]);
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
	if (g->group.id && g->group.split) {
		char *workload = split_workload(g->group.split, d->workload, &run.parameters);

		free(d->workload);
		d->workload = workload;
	}
	rc = submission_vary(g->sweep.by, &run.asked, run.argv.items, &g->command, command, err);
	if (rc == 0 && first->parameters > 0)
		rc = store_workload_set_parameters(g->store, d->workload, first->parameters, err);
	if (rc)
		err_prefix(err, "run %d", i);
	sweep_run_release(&run);
	return rc;
}

/* --- runs that are there already --- */

struct key_of_run {
	const char *key;
	int run;
};

static int by_key(const void *a, const void *b)
{
	const struct key_of_run *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : x->run - y->run;
}

static int check_keys(const struct group_submission *g, struct err *err)
{
	struct key_of_run *list = xcalloc(g->keys.count, sizeof(*list));
	int rc = 0;

	for (size_t i = 0; i < g->keys.count; i++)
		list[i] = (struct key_of_run){ g->keys.items[i], (int)i };
	qsort(list, g->keys.count, sizeof(*list), by_key);
	for (size_t i = 1; rc == 0 && i < g->keys.count; i++)
		if (!strcmp(list[i - 1].key, list[i].key))
			rc = g->o->once
				? usage_error(g->sweep.by, err, "option '--once': runs %d and %d "
					      "are the same", list[i - 1].run, list[i].run)
				: usage_error(g->sweep.by, err, "option '--key': runs %d and %d "
					      "have the same, '%.60s': put {NAME} of each "
					      "parameter into it", list[i - 1].run, list[i].run,
					      list[i].key);
	free(list);
	return rc;
}

static int make_keys(struct group_submission *g, struct err *err)
{
	if (!g->o->once && !g->o->key)
		return 0;
	for (int i = 0; i < g->sweep.axes.runs; i++) {
		struct sweep_run run;
		char *key;
		int rc;

		sweep_run_init(&g->sweep, i, &run);
		key = g->o->once ? submission_once_key(g->command.directory, run.argv.items,
						       &run.asked.env, &run.parameters)
				 : sweep_run_text(&g->sweep, i, g->o->key);
		sweep_run_release(&run);
		strings_add(&g->keys, key);
		rc = submission_check_key(g->sweep.by, key, err);
		free(key);
		if (rc)
			return rc;
	}
	return check_keys(g, err);
}

/* The runs that are missing join the group, if its rungs are those that are asked for. */
static int join(struct group_submission *g, struct store *s, int64_t id, struct err *err)
{
	struct job_group group;
	int rc = store_group_get(s, id, &group, err);

	if (rc == 0 && !strcmp(group.halving ? group.halving : "", g->halving.data)) {
		g->group.id = id;
		xreplace(&g->group.split, group.split);
	}
	job_group_release(&group);
	return rc;
}

/* Finds out which runs are missing, and the group that they join: of the newest run that is
 * there. */
static int find_missing(struct group_submission *g, struct store *s, struct err *err)
{
	int64_t newest = 0, group_id = 0;

	g->n_missing = 0;
	for (int i = 0; i < g->sweep.axes.runs; i++) {
		struct keyed_job there = { .id = 0 };

		if (g->keys.count && store_job_by_key(s, g->keys.items[i], &there, err))
			return -1;
		g->ids[i] = there.id;
		if (!there.id)
			g->missing[g->n_missing++] = i;
		if (there.group_id && there.id > newest) {
			newest = there.id;
			group_id = there.group_id;
		}
	}
	g->added.group_id = group_id;	/* told where no run is missing */
	return group_id && g->n_missing ? join(g, s, group_id, err) : 0;
}

/* The runs that are added take the place of runs of the group that have failed. */
static int make_room(struct group_submission *g, struct store *s, struct err *err)
{
	int rc = 0;

	for (int k = 0; rc == 0 && k < g->n_missing; k++)
		rc = store_group_leave(s, g->group.id, g->keys.items[g->missing[k]], err);
	if (rc == 0 && g->group.max_running)
		rc = store_group_set_max_running(s, g->group.id, g->group.max_running, err);
	return rc;
}

static int insert(struct store *s, void *arg, struct err *err)
{
	struct group_submission *g = arg;
	struct group_jobs jobs = { .make = make, .arg = g };
	struct group_added *added = &g->added;

	g->store = s;
	if (find_missing(g, s, err))
		return -1;
	if (g->n_missing == 0)
		return 1;
	jobs.n = g->n_missing;
	if ((g->group.id && make_room(g, s, err)) ||
	    store_group_insert(s, &g->group, &jobs, &g->after, added, err) ||
	    (!g->o->job.force && g->o->job.checkpoint_dir &&
	     shared_checkpoints_check(s, added->first_job_id, added->last_job_id, err)))
		return -1;
	g->job.id = added->first_job_id;
	for (int k = 0; k < g->n_missing; k++)
		g->ids[g->missing[k]] = added->first_job_id + k;
	return 0;
}

/* Prints the numbers of the runs or of their group, and how many of the runs were there. */
static void tell_group(const struct group_submission *g)
{
	long long first = g->added.first_job_id, last = g->added.last_job_id;
	long long group = g->added.group_id;
	int runs = g->sweep.axes.runs, there = runs - g->n_missing;
	bool quiet = g->o->job.quiet, sentence = !quiet && isatty(STDOUT_FILENO);

	for (int i = 0; i < runs && (quiet || (!group && !sentence)); i++)
		printf("%lld\n", (long long)g->ids[i]);
	if (!quiet && !sentence && group)
		printf("group:%lld\n", group);
	if (sentence && there < runs && first == last)
		printf("group %lld: job %lld (1 run)\n", group, first);
	else if (sentence && there < runs)
		printf("group %lld: jobs %lld to %lld (%d runs)\n", group, first, last,
		       g->n_missing);
	else if (sentence && group)
		printf("group %lld: each of its runs is there already\n", group);
	if (!quiet && there > 0 && !(sentence && group && there == runs))
		output_messagef("%d of %d run%s %s there already", there, runs, plural(runs),
				there == 1 ? "is" : "are");
}

static int add_sweep(struct group_submission *g, char **argv, struct err *err)
{
	const struct asked *o = &g->o->job;
	struct job_group *group = &g->group;
	int rc;

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
	rc = submit_into_store(o, &g->job, &g->command, insert, g, err);
	if (rc < 0)
		return -1;
	tell_group(g);
	if (rc == 0)
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

/* Prints the commands of the runs that would be submitted. */
static int dry_run(struct group_submission *g, struct err *err)
{
	bool looks = g->keys.count > 0;		/* else no other job matters */
	struct session s;
	int rc, there;

	if (looks && session_open(&s, STORE_READ, err))
		return -1;
	rc = find_missing(g, &s.store, err);
	if (looks)
		session_close(&s);
	there = g->sweep.axes.runs - g->n_missing;
	if (rc == 0 && there > 0)
		output_messagef("%d of %d run%s %s there already", there, g->sweep.axes.runs,
				plural(g->sweep.axes.runs), there == 1 ? "is" : "are");
	rc = rc ? rc : submit_snapshot_tell(&g->job, &g->command, err);
	for (int k = 0; rc == 0 && k < g->n_missing; k++) {
		struct sweep_run run;

		sweep_run_init(&g->sweep, g->missing[k], &run);
		submit_print_command(&run.asked, run.argv.items, sweep_run_learning_rate(&run),
				     g->job.declared.plans);
		sweep_run_release(&run);
	}
	return rc;
}

int submit_group(const struct submit_asked *o, char **argv, struct err *err)
{
	struct group_submission g = { .o = o, .halving = TEXT_INIT };
	int rc = sweep_init(&g.sweep, &cmd_submit, &o->job, &o->sweep, argv, err);

	job_init(&g.job);
	rc = rc ? rc : make_first(&g, argv, err);
	rc = rc ? rc : read_halving(&g, err);
	rc = rc ? rc : make_keys(&g, err);
	if (rc == 0) {
		g.ids = xcalloc((size_t)g.sweep.axes.runs, sizeof(*g.ids));
		g.missing = xcalloc((size_t)g.sweep.axes.runs, sizeof(*g.missing));
		rc = o->sweep.dry_run ? dry_run(&g, err) : add_sweep(&g, argv, err);
	}
	free(g.ids);
	free(g.missing);
	strings_release(&g.keys);
	dependency_list_release(&g.after);
	job_group_release(&g.group);
	job_command_release(&g.command);
	job_release(&g.job);
	text_release(&g.halving);
	sweep_release(&g.sweep);
	return rc;
}
