/* weigh.c - what each candidate makes of each kind and number of devices, for policies that model
 * goodput: by what was measured there, or else on another kind. */
#include <math.h>
#include <string.h>

#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "stages.h"

/* The cost of a restart where no relaunch was ever timed, as a part of a slice: 30 s of ten
 * minutes, as in the published evaluation. */
#define RESTART_SLICES 0.05
/* The same of a run that is suspended and goes on: from the pass that gives it devices to its next
 * step, as benchmarks/suspend.sh measures it. */
#define RESUME_S 0.1

/* True if the job is to be measured on few devices before it is given more. One that has to
 * stay where it starts is not. */
static bool may_be_measured(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	const struct progress *progress = &c->job->progress;
	const struct run *run = run_of(c);
	bool spoke = isfinite(progress->steps) || isfinite(progress->samples) ||
		     (run && isfinite(run->first_step_s));
	double ran_s = progress->run_time_s;

	if (run && isfinite(run->launch_boot_s))
		ran_s += run_clock_s(run, s->now_boot_s) - run->launch_boot_s;
	/* a job that has run for a slice without a word of its progress will not tell */
	return c->job->declared.batch.size > 0 && c->relaunchable &&
	       (spoke || ran_s < s->config->slice_s);
}

/* --- from one kind to another --- */

static const struct device_measurement_list *speeds_of(const struct snapshot *s, const char *kind)
{
	static const struct device_measurement_list none;

	for (int i = 0; i < s->n_speeds; i++)
		if (!strcmp(s->speeds[i].kind, kind))
			return &s->speeds[i].list;
	return &none;
}

struct fit_expectation step_time_ratio(const struct snapshot *s, const struct workload *from,
				       const char *to, const struct workload *on_to)
{
	static const struct observation_list none;
	struct kind_times own = { on_to ? &on_to->k.seen : &none, &from->k.seen };
	struct kind_times others[EXECUTION_PLANS_MAX];
	int n = workloads_other_plans(&s->workloads, from, to, others);

	return kind_ratio_of_plan(&own, others, n,
				  device_measurement_quotient(speeds_of(s, to),
							      speeds_of(s, from->kind)));
}

/* The model of the origin, moved to a kind; what is known of sizes on the kind itself stays. */
static struct job_model model_moved(const struct snapshot *s, const struct decision *d,
				    const struct kind_origin *origin, int kind)
{
	const char *to = d->kinds[kind].name;
	double to_bytes = (double)d->kinds[kind].memory_bytes, part = 1;
	struct workload *w = workloads_find(&s->workloads, origin->name, to);
	struct job_model m = *origin->model;
	int from;

	m.goodput.residuals = NULL;
	m.memory = (struct memory_bounds){ .shared = origin->model->memory.shared };
	m.failed = (struct failed_sizes){ 0 };
	if (w) {
		m.memory = w->k.memory;
		m.failed = w->k.failed;
	}
	if (!origin->from)
		return m;
	throughput_scale(&m.goodput.params, step_time_ratio(s, origin->from, to, w).value);
	/* A size is taken to need as much memory on this kind, which may have less, as it needs on
	 * the kind where it was measured. */
	m.peaks_elsewhere = true;
	if (!m.needs.shared)
		m.needs.limit_bytes = MEMORY_MODEL_DEVICE_PART * to_bytes;
	from = kind_named(d, origin->from->kind);
	if (!m.needs.known && from >= 0 && d->kinds[from].memory_bytes > 0)
		part = to_bytes / (double)d->kinds[from].memory_bytes;
	/* On less memory, local batches are smaller by as much than those that fitted. */
	if (part < 1 && m.goodput.batch.max_local > 0) {
		double fits = (double)m.goodput.batch.max_local / KNOWLEDGE_GROWTH * part;

		m.goodput.batch.max_local = fits >= 1 ? (int64_t)fits : 1;
	}
	return m;
}

/* Until a workload has run on several devices of a kind, its synchronisation there is that of the
 * first kind where it did, scaled by the ratio of the step times. */
static void expect_sync(const struct snapshot *s, const struct workload *w, struct job_model *m)
{
	for (int i = 0; i < s->workloads.count && w->k.model.max_replicas < 2; i++) {
		const struct workload *other = &s->workloads.items[i];

		if (!other->k.modelled || other->k.model.max_replicas < 2 ||
		    strcmp(other->name, w->name) != 0)
			continue;
		kind_ratio_fill_sync(&m->goodput.params, &w->k.model.fit, &other->k.model.fit,
				     step_time_ratio(s, other, w->kind, w).value);
		return;
	}
}

struct workload *find_model(const struct snapshot *s, const struct decision *d, int j,
			    const char *name, struct job_model *m)
{
	const struct candidate *c = &d->candidates[j];
	const struct run *run = run_of(c);
	struct workload *w = workloads_measured(&s->workloads, name,
						run ? run->devices[0].kind : NULL);
	struct knowledge nothing = knowledge_of_nothing();

	knowledge_of_job(w ? &w->k : &nothing, c->job, m);
	raise_least(d, j, m);
	tiers_tell_model(d, w ? w->kind : NULL, m);
	return w;
}

/* --- tables --- */

bool model_on_kind(const struct snapshot *s, const struct decision *d, int j,
		   const struct kind_origin *origin, int kind, struct job_model *m)
{
	const char *name = d->kinds[kind].name;
	struct workload *w = name ? workloads_find(&s->workloads, origin->name, name) : NULL;
	bool measured = w && w->measured;

	if (!name) {
		*m = *origin->model;
		return true;
	}
	if (measured)
		knowledge_of_job(&w->k, d->candidates[j].job, m);
	if (!measured || !m->known)
		*m = model_moved(s, d, origin, kind);
	else
		expect_sync(s, w, m);
	raise_least(d, j, m);
	tiers_tell_model(d, name, m);
	return measured;
}

/* Each step of growth costs a relaunch, and has to be worth it by itself. */
static void keep_to_steps(const struct snapshot *s, const struct candidate *c, struct job_model *m)
{
	const struct run *run = run_of(c);

	if (!c->plans && run && m->known && isfinite(run->first_step_s) &&
	    !takes_configurations(s, run))
		m->goodput = job_model_grown(m, c->job,
					     configuration_batch_size(&run->configuration));
}

void keep_least(struct goodput_table *t, int least, int n_devices)
{
	bool found = false;

	for (int r = least; r <= n_devices; r++) {
		if (found)
			t->goodput[r] = (double)NAN;
		found = found || t->goodput[r] > 0;
	}
}

/* What another candidate with this model makes of the kind; NULL: there is none. Most of a hundred
 * jobs of one workload share a table. */
static const struct kind_view *same_view(const struct decision *d, int j, int kind)
{
	const struct job_model *m = &d->candidates[j].on_kind[kind].model;

	for (int i = 0; i < j; i++) {
		const struct candidate *other = &d->candidates[i];
		const struct kind_view *v = other->on_kind ? &other->on_kind[kind] : NULL;

		if (v && v->owns_table && !other->plans && job_model_equal(&v->model, m))
			return v;
	}
	return NULL;
}

static void set_view(const struct snapshot *s, struct decision *d, int j, int kind)
{
	struct candidate *c = &d->candidates[j];
	struct kind_origin origin = { c->job->declared.workload, c->workload, &c->model };
	struct kind_view *v = &c->on_kind[kind];
	const struct kind_view *same;
	bool measured;

	/* a run goes on where it is, also on a kind from which the job is barred since */
	if (d->sched_jobs[j].offers[kind].barred && !(c->run && d->sched_jobs[j].kind == kind))
		return;
	measured = model_on_kind(s, d, j, &origin, kind, &v->model);
	keep_to_steps(s, c, &v->model);
	same = same_view(d, j, kind);
	v->owns_table = !same;
	v->table = same ? same->table
			: table_on_nodes(d, &v->model, kind);
	if (!same && !measured)
		keep_least(v->table, v->model.min_replicas, most_devices(d));
}

/* Finds what the candidate, whose model is found, makes of each kind. */
static void weigh_on_kinds(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	const struct run *run = run_of(c);
	const char *kind = run ? run->devices[0].kind : c->workload ? c->workload->kind : NULL;
	int n = most_devices(d), home = kind ? kind_named(d, kind) : -1;
	struct goodput_table *any = NULL;	/* NULL: it differs by kind */

	if (!c->model.known) {
		any = goodput_table_assumed(n);
		divide_by_plan(c, any, n);
	} else if (c->plans) {			/* none of them is known to fit */
		any = table_on_nodes(d, &c->model, kind_named(d, c->workload->kind));
	}
	c->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*c->on_kind));
	for (int k = 0; k < d->n_kinds; k++) {
		c->on_kind[k] = (struct kind_view){
			.model = c->model, .table = any, .owns_table = any && k == 0,
		};
		if (!any)
			set_view(s, d, j, k);
	}
	/* It is judged by the kind of its run, or where it was measured; or else by the first that
	 * it may have. */
	for (int k = 0; k < d->n_kinds && (home < 0 || !c->on_kind[home].table); k++)
		if (c->on_kind[k].table)
			home = k;
	c->home = home < 0 ? 0 : home;
}

/* --- for the policy --- */

/* A run that said that it takes configurations, but has not taken the last one for this long
 * (and for at least this many steps), will have another one only by a relaunch. */
#define CONFIG_PATIENCE_S 60.0
#define CONFIG_PATIENCE_STEPS 5

bool takes_configurations(const struct snapshot *s, const struct run *run)
{
	double patience_s = fmax(CONFIG_PATIENCE_S, CONFIG_PATIENCE_STEPS * run->step_time_s);

	return run->takes_configs && (run->wanted_version == run->config_version ||
				      !(s->now_boot_s - run->wanted_boot_s > patience_s));
}

/* From the wall clock to the boot clock; at most now. */
static double boot_time(const struct snapshot *s, double wall_s)
{
	return s->now_boot_s - fmax(s->now_wall_s - wall_s, 0);
}

/* The time on the boot clock since which the job could have had devices and had none; where it has
 * some, before its run. */
static double waiting_since(const struct snapshot *s, const struct decision *d,
			    const struct candidate *c)
{
	const struct job *job = c->job;
	double since = fmax(job->submit_time_s, job->progress.last_end_time_s);

	/* One that was held with its run suspended waits since it was released. */
	if (c->suspended && isnan(job->progress.last_end_time_s))
		return c->suspended->suspended_boot_s;
	if (c->suspended)
		return fmax(c->suspended->suspended_boot_s,
			    boot_time(s, job->progress.last_end_time_s));
	for (int i = 0; i < s->runs.count && !c->run; i++)
		if (s->runs.items[i].job_id == job->id)
			return s->now_boot_s;
	since = fmax(since, dependencies_end(d, job->id));
	return boot_time(s, fmax(since, job->declared.begin_s));
}

static void set_restart(const struct snapshot *s, const struct candidate *c,
			struct sched_job *out)
{
	const struct run *run = run_of(c);

	out->restart_s = isfinite(c->model.restart_s) ? c->model.restart_s
						      : RESTART_SLICES * s->config->slice_s;
	if (run && c->relaunchable && run_loses(s, run)) {
		double began_s = run->launch_boot_s + run->first_step_s;

		if (!isnan(began_s))
			out->unsaved_s = fmax(run_clock_s(run, s->now_boot_s) -
					      fmax(began_s, run->checkpoint_boot_s), 0);
	}
	if (!run || !c->suspends)
		return;
	if (c->relaunchable)
		out->relaunch_s = out->restart_s;
	out->restart_s = RESUME_S + run_move_s(s, run);
}

static void offer_tables(const struct decision *d, const struct candidate *c, struct sched_job *job)
{
	int most = most_devices(d);

	if (job->max_replicas > most)
		job->max_replicas = most;
	if (job->max_replicas < job->min_replicas)
		job->max_replicas = job->min_replicas;
	job->remaining_samples = goodput_table_remaining(own_table(c), &c->model, most);
	for (int k = 0; k < d->n_kinds; k++) {
		const struct goodput_table *table = c->on_kind[k].table;

		job->offers[k].n = job->max_replicas < most ? job->max_replicas : most;
		if (table && (table->assumed || !job->offers[k].barred))
			job->offers[k].goodput[0] = table->goodput;
	}
	if (job->replicas == 0)
		job->kind = c->home;
}

/* The jobs that are done by which the length of this one is judged; NULL: it told its length. */
static const struct past *past_of_untold(const struct snapshot *s, const struct job *job)
{
	return job_total_samples(job) > 0 || job_total_steps(job) > 0 ? NULL : past_of_job(s, job);
}

/* What remains of the job, in samples, and in service. */
static void expect_rest(const struct past *past, struct candidate *c, struct sched_job *out)
{
	double samples = c->job->progress.samples, device_s = out->attained_service_device_s;

	c->model.remaining_samples = samples > 0 ? siblings_remaining(&past->samples, samples)
						 : past->fresh_samples;
	out->remaining_device_s = device_s > 0 ? siblings_remaining(&past->service, device_s)
					       : past->fresh_device_s;
}

/* How sure that is, of the one of both that counts: samples, if the table makes a time of them. */
static void expect_spread(const struct past *past, const struct candidate *c,
			  struct sched_job *out)
{
	const struct goodput_table *table = own_table(c);
	bool by_samples = table && !isnan(out->remaining_samples);
	const struct siblings *of = by_samples ? &past->samples : &past->service;

	out->remaining_spread = of->n ? siblings_spread(of) : HUGE_VAL;
	if (!of->n || (by_samples && table->assumed))	/* by times of steps: not in samples */
		return;
	out->typical_work = exp(of->mean);
	out->done_work = fmax(by_samples ? c->job->progress.samples
					 : out->attained_service_device_s, 0);
}

static void describe_candidate(const struct snapshot *s, const struct decision *d,
			       struct candidate *c, struct sched_job *out)
{
	const struct job *job = c->job;
	const struct past *past = past_of_untold(s, job);
	bool changes = c->run && takes_configurations(s, c->run);

	out->submitted_s = boot_time(s, job->submit_time_s);
	out->waiting_since_s = waiting_since(s, d, c);
	out->restarts = job->progress.runs > 1 ? job->progress.runs - 1 : 0;
	set_restart(s, c, out);
	/* A run that changes while it runs will be at its best, but for its plan, which only a
	 * relaunch changes: its present goodput is no matter for the policy. Nor is that of a run
	 * whose configuration cannot change. */
	if (changes)
		out->goodput_now = c->plans ? plan_goodput_now(d, c) : (double)NAN;
	else
		out->goodput_now = c->run && c->suspends && !c->relaunchable ? (double)NAN
									     : goodput_now(c);
	if (policy_heeds_memory(s))
		out->memory_bytes = (double)s->host_needs[job - s->jobs.items];
	out->remaining_samples = (double)NAN;
	out->workload = text_number(job->declared.workload);
	if (past)
		expect_rest(past, c, out);
	if (own_table(c))
		offer_tables(d, c, out);
	if (past)
		expect_spread(past, c, out);
}

/* The first run of a workload trains, or is about to, and tells how fast. */
static void tell_others_of_workload(struct decision *d, const char *workload)
{
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];

		if (!run_of(c) && !own_table(c) && !strcmp(c->job->declared.workload, workload))
			d->sched_jobs[j].measured_elsewhere = true;
	}
}

void weigh_candidates(const struct snapshot *s, struct decision *d)
{
	if (!s->policy->models_goodput)
		return;
	for (int j = 0; j < d->n; j++) {
		struct candidate *c = &d->candidates[j];

		if (c->plans)
			weigh_plans(s, d, j);
		else
			c->workload = find_model(s, d, j, c->job->declared.workload, &c->model);
		keep_to_steps(s, c, &c->model);
		if (!c->on_kind && (c->model.known || !may_be_measured(s, d, j)))
			weigh_on_kinds(s, d, j);
		describe_candidate(s, d, c, &d->sched_jobs[j]);
	}
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].run && !own_table(&d->candidates[j]) &&
		    may_be_measured(s, d, j))
			tell_others_of_workload(d, d->candidates[j].job->declared.workload);
}
