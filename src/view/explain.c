/* explain.c - reads the store, asks the decision, and computes the explanation of a job. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/engine.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"

/* --- what the decision makes of it --- */

/* Finds the kind of the devices on which the job runs, or on which a profile measured, and the most
 * of them; these may be gone. */
static int find_own_devices(struct session *s, const struct explanation *e, char *kind, size_t size,
			    int *most, struct err *err)
{
	const struct run *run = e->item->run;
	struct run_list runs;

	if (run && run->devices && !run_has_no_device(run)) {
		snprintf(kind, size, "%s", run->devices[0].kind);
		*most = run->configuration.replicas;
	}
	if (!e->job->profile)
		return 0;
	if (store_runs_of_job(&s->store, e->job->id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++) {
		snprintf(kind, size, "%s", runs.items[i].devices[0].kind);
		if (runs.items[i].configuration.replicas > *most)
			*most = runs.items[i].configuration.replicas;
	}
	run_list_release(&runs);
	return 0;
}

/* True if pollux suspends the run when it takes turns with others. A suspended run is not looked at
 * again: its processes may have been stopped while they forked, with signals blocked. */
static bool is_suspended_by_turns(const struct job *job, const struct run *run)
{
	return run && run->state == RUN_RUNNING &&
	       (run->suspension > SUSPENSION_NONE || job->progress.saves_when_asked == 0 ||
		(engine_of(run)->dies_of &&
		 engine_of(run)->dies_of(run, job->declared.stop_signal)));
}

static int ask_decision(struct session *s, struct explanation *e, struct err *err)
{
	struct outlook_query query = { .job_id = e->job->id };
	const struct outlook *o = &e->outlook;
	char kind[sizeof(e->device_kind)] = "";
	const char *shown;

	e->loses = is_suspended_by_turns(e->job, e->item->run);
	if (session_settings(s, &e->config, err))
		return -1;
	e->policy = policy_find(e->config.policy);
	if (find_own_devices(s, e, kind, sizeof(kind), &query.least_devices, err))
		return -1;
	query.kind = *kind ? kind : NULL;
	if (!e->job->profile)
		query.least_devices = 0;
	if (outlook_read(s, &e->config, &query, &e->outlook, err))
		return -1;
	e->kind = &o->kinds[o->shown];
	e->model = o->model;
	e->n_devices = o->rows;
	shown = *kind ? kind : e->kind->name ? e->kind->name : o->device_kind;
	snprintf(e->device_kind, sizeof(e->device_kind), "%s", shown);
	return 0;
}

/* --- what is known --- */

static int read_command(struct session *s, struct explanation *e, struct err *err)
{
	bool takes_configs = e->item->run && e->item->run->takes_configs;
	struct job_command command;

	if (store_job_command_get(&s->store, e->job->id, &command, err))
		return -1;
	e->leaves_learning_rate = !takes_configs &&
				  environment_leaves_learning_rate(e->job, &command);
	job_command_release(&command);
	return 0;
}

static int read_split(struct session *s, struct explanation *e, struct err *err)
{
	struct job_group group;

	if (!e->job->group_id)
		return 0;
	if (store_group_get(&s->store, e->job->group_id, &group, err))
		return -1;
	if (group.split && *group.split) {
		e->split = group.split;
		group.split = NULL;
	}
	job_group_release(&group);
	return 0;
}

/* What is known of a workload without step times, such as its noise scale, the decision does not
 * ask for. */
static int read_unmeasured(struct session *s, const char *workload, struct explanation *e,
			   struct err *err)
{
	struct job_model m;

	if (e->outlook.workload)
		return 0;
	if (knowledge_load(&s->store, workload, e->device_kind, &e->unmeasured, err))
		return -1;
	knowledge_of_job(&e->unmeasured, e->job, &m);
	e->model.noise = m.noise;
	e->model.noise_basis = m.noise_basis;
	e->model.goodput.noise_scale = m.goodput.noise_scale;
	return 0;
}

static int read_knowledge(struct session *s, struct explanation *e, struct err *err)
{
	const struct workload *w = e->outlook.workload;
	char *workload = job_knowledge_name(e->job, e->item->run);
	int rc = store_reports_of_job(&s->store, e->job->id, &e->n_reports, err) ||
		 store_restart_was_timed(&s->store, workload, &e->restart_was_timed, err) ||
		 read_unmeasured(s, workload, e, err);

	free(workload);
	e->knowledge = w ? &w->k : &e->unmeasured;
	e->fitted_now = w && w->fitted;
	e->plan_sizes = xcalloc((size_t)e->outlook.n_plans + 1, sizeof(*e->plan_sizes));
	for (int i = 0; rc == 0 && i < e->outlook.n_plans; i++)
		rc = store_plan_sizes(&s->store, e->outlook.plans[i].workload, e->device_kind,
				      &e->plan_sizes[i], err);
	if (rc || read_split(s, e, err) || read_command(s, e, err))
		return -1;
	e->rule = job_lr_rule(e->job);
	return 0;
}

bool explanation_missing(const struct explanation *e, struct text *what)
{
	const struct job *job = e->job;
	const struct run *run = e->item->run;

	if (e->model.known)
		return false;
	if (job->declared.cpu_cores)
		text_add(what, "none: it has no device");
	else if (e->n_devices == 0)
		text_add(what, "no device can be used here: see 'pollux devices'");
	else if (job->declared.batch.size == 0)
		text_add(what, "no batch size: it was submitted without --batch");
	else if (job->progress.runs == 0)
		text_addf(what,
			  "no step times: no job of its workload '%s' has reported steps on a "
			  "device of this kind (%s)", job->declared.workload, e->device_kind);
	else if (run && run->configuration.share > 0 && isfinite(run->step_time_s))
		text_addf(what, "no step times of a device of its own: it runs beside another, "
			  "in steps of %s", format_span(run->step_time_s).s);
	else if (e->n_reports > 0)
		text_addf(what,
			  "no step times yet: %lld report%s came, but no steps could be measured. "
			  "Windows of two seconds count once two in a row agree, steps of a CONFIG "
			  "that was not asked for not at all (pollux-report(1))",
			  (long long)e->n_reports, plural(e->n_reports));
	else
		text_add(what, "no step times yet: windows of two seconds count once two in a row "
			 "agree. Its program has to print its steps as 'pollux steps' recognises "
			 "them (pollux-steps(1)), or to report them, by the client library "
			 "(pollux-client(3)) or by 'pollux report STEP=N SAMPLES=N' "
			 "(pollux-report(1))");
	return true;
}

/* --- what follows --- */

double explanation_step_time(const struct goodput_choice *c)
{
	return (double)configuration_batch_size(&c->configuration) / c->throughput;
}

bool explanation_assumes(const struct explanation *e, const struct goodput_choice *c)
{
	return isnan(e->model.goodput.noise_scale) &&
	       configuration_batch_size(&c->configuration) != e->model.goodput.batch.size;
}

/* --- nodes and tiers --- */

int explanation_nodes(const struct explanation *e, int r)
{
	const struct run *run = e->item->run;

	if (!node_sizes_matter(&e->kind->nodes))
		return 1;
	if (run && run->configuration.replicas == r)
		return configuration_place(&run->configuration).nodes;
	return node_sizes_place(&e->kind->nodes, r);
}

/* True if r devices fall evenly on no nodes. A job keeps the number that it has. */
static bool is_uneven(const struct explanation *e, int r)
{
	const struct declaration *d = &e->job->declared;
	int most = d->max_replicas > 0 ? d->max_replicas : e->n_devices;
	const struct node_sizes *nodes = &e->kind->nodes;
	const struct run *run = e->item->run;

	if (!node_sizes_matter(nodes) || (run && run->configuration.replicas == r))
		return false;
	return !node_sizes_allow(nodes, node_sizes_rule(nodes, d->min_replicas, most), r);
}

bool explanation_is_too_wide(const struct explanation *e, int r)
{
	int nodes = explanation_nodes(e, r);

	return nodes > 1 && nodes > e->model.max_nodes && r > e->model.min_replicas;
}

int explanation_next(const struct explanation *e, int r)
{
	int next = r + 1;

	while (next <= e->n_devices && is_uneven(e, next))
		next++;
	return next;
}

/* The tier of the run's devices if it has r of them, else the best that r devices can have. */
static enum configuration_tier tier_of(const struct explanation *e, int r)
{
	const struct run *run = e->item->run;

	if (run && run->configuration.replicas == r && run->configuration.tier != TIER_UNKNOWN)
		return run->configuration.tier;
	return r <= e->n_devices ? e->kind->best_tier[r] : TIER_UNKNOWN;
}

/* The best sizes for e->replicas devices of that tier. */
static struct goodput_choice best_here(const struct explanation *e)
{
	struct configuration c = e->best[e->replicas].configuration;
	struct goodput_model g = job_model_on(&e->model, e->replicas);

	if (c.tier == tier_of(e, e->replicas))
		return e->best[e->replicas];
	c.tier = tier_of(e, e->replicas);
	return goodput_choice_of(&g, c);
}

int64_t explanation_growth_bound(const struct explanation *e)
{
	const struct run *run = e->item->run;
	int64_t present = run ? configuration_batch_size(&run->configuration) : 0;

	if (run && present <= 0)
		present = e->job->declared.batch.size;
	return job_model_grown(&e->model, e->job, present).growth_bound;
}

const char *explanation_obstacle(const struct explanation *e, int r)
{
	const struct declaration *d = &e->job->declared;
	const struct outlook *o = &e->outlook;
	bool has = e->item->run && e->item->run->configuration.replicas == r;

	if (r < d->min_replicas || (d->max_replicas && r > d->max_replicas))
		return "not asked for";
	if (outlook_offer(e->kind, r) > 0 &&
	    ((r >= o->min_replicas && r <= o->max_replicas) || has))
		return NULL;
	if (!job_model_divides(&e->model, r))
		return "no multiple";	/* of the devices of a replica */
	if (is_uneven(e, r))
		return "uneven";
	if (r > e->model.max_replicas || explanation_is_too_wide(e, r))
		return "not tried";
	if (!(e->best[r].goodput > 0))
		return "does not fit";
	if (o->guaranteed > 0 && !(outlook_offer(e->kind, r) > 0))
		return "below --guarantee";
	return d->worst_tier != TIER_UNKNOWN && r > o->max_replicas ? "joined worse"
								    : "keeps its number";
}

bool explanation_is_measured(const struct explanation *e, int r)
{
	for (int i = 0; i < e->knowledge->seen.count; i++)
		if (e->knowledge->seen.items[i].configuration.replicas == r)
			return true;
	return false;
}

static void weigh_now(struct explanation *e)
{
	const struct run *run = e->item->run;

	e->replicas = e->least;
	if (!run)
		return;
	e->replicas = run->configuration.replicas;
	if (run->configuration.local_batch_size > 0)
		e->now = goodput_choice_of(&e->model.goodput, run->configuration);
}

/* Spreads a batch without rounding, over the fewest passes that allow this, or at most twice the
 * fewest passes for local_max. replicas is 0 if there is no such configuration. */
static struct configuration spread_exactly(int64_t batch_size, int replicas, int64_t local_max)
{
	int64_t share = batch_size / replicas;
	int64_t least = local_max > 0 ? (share + local_max - 1) / local_max : 1;

	for (int64_t s = least; batch_size % replicas == 0 && s <= 2 * least && s <= INT32_MAX; s++)
		if (s > 0 && share % s == 0)
			return configuration_make(replicas, share / s, (int)s);
	return (struct configuration){ .replicas = 0 };
}

/* The choice for updates of batch_size samples on so many replicas, with as few passes as the
 * limits allow. False: the limits allow no such choice. */
static bool choice_of_batch(const struct explanation *e, int replicas, int64_t batch_size,
			    struct goodput_choice *choice)
{
	struct goodput_model g = job_model_on(&e->model, replicas);
	int64_t m0 = g.batch.size;
	struct batch_range range = {
		.size = batch_size, .min = m0, .max = g.batch.max > m0 ? g.batch.max : m0,
		.max_local = g.batch.max_local,
	};
	/* On one replica, a larger batch needs two passes to measure the noise scale, too, and is
	 * given only then. While the noise scale is unknown, only throughput can be shown, for any
	 * number of passes. */
	int workers = job_model_workers(&e->model, replicas);
	bool two_passes = workers == 1 && batch_size > m0 && !g.noise_is_measured &&
			  (g.batch.accumulates || !isnan(g.noise_scale));
	struct configuration c;

	if (range.max_local < 0)
		return false;
	if (two_passes && (range.max_local == 0 || range.max_local > batch_size / 2))
		range.max_local = batch_size / 2;
	c = spread_exactly(batch_size, workers, range.max_local);
	if (c.replicas == 0)
		c = configuration_spread(&range, workers);
	configuration_widen(&c, e->model.width);
	c.tier = tier_of(e, replicas);
	if (configuration_batch_size(&c) < m0 || configuration_batch_size(&c) > range.max ||
	    (c.accumulation_steps > 1 && !g.batch.accumulates))
		return false;
	*choice = goodput_choice_of(&g, c);
	return true;
}

static int compare_choices(const void *a, const void *b)
{
	const struct configuration *x = &((const struct goodput_choice *)a)->configuration;
	const struct configuration *y = &((const struct goodput_choice *)b)->configuration;

	if (configuration_batch_size(x) != configuration_batch_size(y))
		return configuration_batch_size(x) < configuration_batch_size(y) ? -1 : 1;
	return x->accumulation_steps - y->accumulation_steps;
}

/* At most 31 sizes up to 1e9, each twice the one before; the largest, the best and the present
 * size. */
#define BATCHES_MAX 36

static void weigh_batches(struct explanation *e)
{
	int64_t m0 = e->model.goodput.batch.size, max = e->model.goodput.batch.max;
	int kept = 0;

	e->batches = xcalloc(BATCHES_MAX, sizeof(*e->batches));
	if (e->replicas < 1)
		return;
	for (int64_t m = m0; m <= max && e->n_batches < BATCHES_MAX - 4; m *= 2)
		e->n_batches += choice_of_batch(e, e->replicas, m, &e->batches[e->n_batches]);
	e->n_batches += choice_of_batch(e, e->replicas, max > m0 ? max : m0,
					&e->batches[e->n_batches]);
	if (e->replicas <= e->n_devices && e->best[e->replicas].goodput > 0)
		e->batches[e->n_batches++] = best_here(e);
	if (e->now.goodput > 0)
		e->batches[e->n_batches++] = e->now;
	qsort(e->batches, (size_t)e->n_batches, sizeof(*e->batches), compare_choices);
	for (int i = 0; i < e->n_batches; i++)
		if (!kept || compare_choices(&e->batches[kept - 1], &e->batches[i]) != 0)
			e->batches[kept++] = e->batches[i];
	e->n_batches = kept;
}

/* --- all of it --- */

static int read_all(struct session *s, int64_t job_id, struct explanation *e, struct err *err)
{
	struct status_query query = { .by_ids = true, .ids = &job_id, .n_ids = 1 };

	if (status_read(s, &query, &e->status, err))
		return -1;
	e->item = &e->status.items[0];
	/* An error here leaves out the expected times; all the rest is still shown. */
	status_tell_ends(s, &e->status, &(struct err){ 0 });
	e->job = e->item->job;
	if (ask_decision(s, e, err) ||
	    store_decision_of_job(&s->store, job_id, &e->decision, err) ||
	    store_metrics_of_job(&s->store, job_id, &e->metrics, err) ||
	    read_knowledge(s, e, err) ||
	    store_share_pairs(&s->store, e->job->declared.workload, e->device_kind, &e->pairs,
			      err))
		return -1;
	e->best = xcalloc((size_t)e->n_devices + 1, sizeof(*e->best));
	if (e->model.known) {
		const struct goodput_table *t = e->kind->table;

		for (int r = 1; r <= e->n_devices; r++) {
			if (t && !t->assumed)
				e->best[r] = t->best[r];
			if (!e->least && !explanation_obstacle(e, r))
				e->least = r;
		}
		weigh_now(e);
		weigh_batches(e);
	}
	return 0;
}

int explanation_read(struct session *s, int64_t job_id, struct explanation *e, struct err *err)
{
	*e = (struct explanation){ .rule = LR_ADASCALE };
	if (read_all(s, job_id, e, err) == 0)
		return 0;
	explanation_release(e);
	return -1;
}

void explanation_release(struct explanation *e)
{
	status_release(&e->status);
	decision_row_release(&e->decision);
	job_metric_list_release(&e->metrics);
	share_pair_list_release(&e->pairs);
	for (int i = 0; e->plan_sizes && i < e->outlook.n_plans; i++)
		observation_list_release(&e->plan_sizes[i]);
	free(e->plan_sizes);
	outlook_release(&e->outlook);
	knowledge_release(&e->unmeasured);
	free(e->split);
	free(e->best);
	free(e->batches);
	*e = (struct explanation){ .rule = LR_ADASCALE };
}
