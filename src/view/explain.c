/* explain.c - reads the store and the machine, and computes the explanation of a job. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "parts.h"
#include "pollux/engine.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"

/* --- the machine, as the last pass saw it --- */

/* Counts the usable devices. Their kind is that of the devices on which the job runs, else that of
 * the first device. */
static void count_devices(struct explanation *e, const struct device_list *list)
{
	devices_count_usable(list, &e->n_devices, e->device_kind, sizeof(e->device_kind),
			     &e->device_bytes);
	if (e->item->run && e->item->run->devices)
		snprintf(e->device_kind, sizeof(e->device_kind), "%s",
			 e->item->run->devices[0].kind);
}

/* The kind of a profile that has ended is that of the devices that it measured, whatever is
 * configured now. */
static int read_profiled(struct session *s, struct explanation *e, struct err *err)
{
	struct run_list runs;

	if (!e->job->profile)
		return 0;
	if (store_runs_of_job(&s->store, e->job->id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++) {
		const struct run *run = &runs.items[i];

		snprintf(e->device_kind, sizeof(e->device_kind), "%s", run->devices[0].kind);
		if (run->configuration.replicas > e->n_devices)
			e->n_devices = run->configuration.replicas;
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

static int read_machine(struct session *s, struct explanation *e, struct err *err)
{
	struct device_list list;
	struct config config;
	int rc;

	e->loses = is_suspended_by_turns(e->job, e->item->run);
	if (session_settings(s, &config, err))
		return -1;
	e->policy = policy_find(config.policy);
	e->slice_s = config.slice_s;
	e->min_efficiency = config.min_efficiency;
	if (engine_devices(&config, false, &list, err))
		return -1;
	count_devices(e, &list);
	rc = read_profiled(s, e, err) || explanation_read_kinds(s, e, config.slots, &list, err);
	devices_release(&list);
	return rc ? -1 : 0;
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

static int read_model(struct session *s, struct explanation *e, const char *workload,
		      struct err *err)
{
	if (store_reports_of_job(&s->store, e->job->id, &e->n_reports, err) ||
	    store_restart_was_timed(&s->store, workload, &e->restart_was_timed, err) ||
	    knowledge_load(&s->store, workload, e->device_kind, &e->knowledge, err))
		return -1;
	e->knowledge.min_efficiency = e->min_efficiency;
	e->fitted_now = !e->knowledge.modelled;
	if (knowledge_learn_missing(&s->store, workload, e->device_kind, &e->knowledge, err))
		return -1;
	e->fitted_now &= e->knowledge.modelled;
	return 0;
}

/* As a pass does, takes times that were hardly measured under the job's plan from another plan, and
 * heeds the errors of the other plans' models. */
static void borrow_times(struct explanation *e)
{
	const char *plan = e->item->run ? e->item->run->configuration.plan : e->job->progress.plan;
	const struct plan_known *known = plan_list_find(&e->plans, plan);

	if (!known)
		return;
	e->knowledge.tie = known->knowledge.tie;
	residuals_release(&e->knowledge.residuals);
	e->knowledge.residuals = residuals_copy(&known->knowledge.residuals);
}

static int read_knowledge(struct session *s, struct explanation *e, struct err *err)
{
	char *workload = job_knowledge_name(e->job, e->item->run);
	int rc = read_model(s, e, workload, err);

	free(workload);
	if (rc || read_split(s, e, err))
		return -1;
	borrow_times(e);
	knowledge_of_job(&e->knowledge, e->job, &e->model);
	explanation_tell_tiers(e);
	if (read_command(s, e, err))
		return -1;
	e->rule = job_lr_rule(e->job);
	return 0;
}

/* True if the run shares its device and has step times, which are then no times of the workload. */
static bool runs_beside_another(const struct run *run)
{
	return run && run->configuration.share > 0 && isfinite(run->step_time_s);
}

bool explanation_missing(const struct explanation *e, struct text *what)
{
	const struct job *job = e->job;

	if (e->model.known)
		return false;
	if (e->n_devices == 0)
		text_add(what, "no device can be used here: see 'pollux devices'");
	else if (job->declared.batch.size == 0)
		text_add(what, "no batch size: it was submitted without --batch");
	else if (job->progress.runs == 0)
		text_addf(what,
			  "no step times: no job of its workload '%s' has reported steps on a "
			  "device of this kind (%s)", job->declared.workload, e->device_kind);
	else if (runs_beside_another(e->item->run))
		text_addf(what, "no step times of a device of its own: it runs beside another, "
			  "in steps of %s", format_span(e->item->run->step_time_s).s);
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

double explanation_step_time(const struct explanation *e, const struct configuration *c)
{
	return goodput_step_time(&e->model.goodput, configuration_place(c),
				 (double)c->local_batch_size, c->accumulation_steps);
}

bool explanation_assumes(const struct explanation *e, const struct goodput_choice *c)
{
	return isnan(e->model.goodput.noise_scale) &&
	       configuration_batch_size(&c->configuration) != e->model.goodput.batch.size;
}

const char *explanation_obstacle(const struct explanation *e, int r)
{
	if (r < e->job->declared.min_replicas ||
	    (e->job->declared.max_replicas && r > e->job->declared.max_replicas))
		return "not asked for";
	if (!job_model_divides(&e->model, r))
		return "no multiple";	/* of the devices of a replica */
	if (explanation_is_uneven(e, r))
		return "uneven";
	if (r > e->model.max_replicas || explanation_is_too_wide(e, r))
		return "not tried";
	return e->best[r].goodput > 0 && job_model_fits(&e->model, &e->best[r].configuration)
		? NULL : "does not fit";
}

bool explanation_is_measured(const struct explanation *e, int r)
{
	for (int i = 0; i < e->knowledge.seen.count; i++)
		if (e->knowledge.seen.items[i].configuration.replicas == r)
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
	c.tier = explanation_tier(e, replicas);
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

static void unique_batches(struct explanation *e)
{
	int kept = 0;

	qsort(e->batches, (size_t)e->n_batches, sizeof(*e->batches), compare_choices);
	for (int i = 0; i < e->n_batches; i++)
		if (!kept || compare_choices(&e->batches[kept - 1], &e->batches[i]) != 0)
			e->batches[kept++] = e->batches[i];
	e->n_batches = kept;
}

/* At most 31 sizes up to 1e9, each twice the one before; the largest, the best and the present
 * size. */
#define BATCHES_MAX 36

static void weigh_batches(struct explanation *e)
{
	int64_t m0 = e->model.goodput.batch.size, max = e->model.goodput.batch.max;

	e->batches = xcalloc(BATCHES_MAX, sizeof(*e->batches));
	if (e->replicas < 1)
		return;
	for (int64_t m = m0; m <= max && e->n_batches < BATCHES_MAX - 4; m *= 2)
		e->n_batches += choice_of_batch(e, e->replicas, m, &e->batches[e->n_batches]);
	e->n_batches += choice_of_batch(e, e->replicas, max > m0 ? max : m0,
					&e->batches[e->n_batches]);
	if (e->replicas <= e->n_devices && e->best[e->replicas].goodput > 0)
		e->batches[e->n_batches++] = explanation_best_here(e);
	if (e->now.goodput > 0)
		e->batches[e->n_batches++] = e->now;
	unique_batches(e);
}

/* --- all of it --- */

static int read_plans(struct session *s, struct explanation *e, struct err *err)
{
	struct plan_devices on = { e->device_kind, e->n_devices, e->device_bytes, e->best_tier,
				   e->min_efficiency };

	return plan_list_read(&s->store, e->job, &on, &e->plans, err);
}

static int read_all(struct session *s, int64_t job_id, struct explanation *e, struct err *err)
{
	struct status_query query = { .by_ids = true, .ids = &job_id, .n_ids = 1 };

	if (status_read(s, &query, &e->status, err))
		return -1;
	e->item = &e->status.items[0];
	e->job = e->item->job;
	if (read_machine(s, e, err) ||
	    store_decision_of_job(&s->store, job_id, &e->decision, err) ||
	    store_metrics_of_job(&s->store, job_id, &e->metrics, err) ||
	    read_plans(s, e, err) ||
	    read_knowledge(s, e, err) ||
	    store_share_pairs(&s->store, e->job->declared.workload, e->device_kind, &e->pairs,
			      err))
		return -1;
	e->best = xcalloc((size_t)e->n_devices + 1, sizeof(*e->best));
	if (e->model.known) {
		for (int r = 1; r <= e->n_devices; r++) {
			explanation_weigh(e, r);
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
	explanation_release_kinds(e);
	status_release(&e->status);
	decision_row_release(&e->decision);
	job_metric_list_release(&e->metrics);
	share_pair_list_release(&e->pairs);
	plan_list_release(&e->plans);
	knowledge_release(&e->knowledge);
	free(e->split);
	free(e->best);
	free(e->best_tier);
	free(e->node_devices);
	free(e->batches);
	*e = (struct explanation){ .rule = LR_ADASCALE };
}
