/* plan.c - the actions that lead from what is to what was decided. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "job_plans.h"
#include "kinds.h"
#include "plan.h"
#include "pollux/mem.h"

/* --- plans --- */

struct plan *plan_new(void)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	p->devices = (struct text)TEXT_INIT;
	return p;
}

struct action *plan_add(struct plan *p, enum action_kind kind, int64_t job_id,
			const struct run *run, const char *why)
{
	struct action *a;

	p->items = xgrow(p->items, p->count, sizeof(*p->items));
	a = &p->items[p->count++];
	*a = (struct action){
		.kind = kind, .job_id = job_id, .run = run, .next_start_s = (double)NAN,
		.why = why ? xstrdup(why) : NULL,
	};
	return a;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->count; i++) {
		if (p->items[i].new_run)
			run_release(p->items[i].new_run);
		free(p->items[i].new_run);
		free(p->items[i].why);
	}
	free(p->items);
	text_release(&p->devices);
	free(p);
}

/* --- what was learnt --- */

static void keep_what_was_learnt(const struct snapshot *s, struct plan *p)
{
	for (int i = 0; i < s->workloads.count; i++)
		if (s->workloads.items[i].fitted)
			plan_add(p, ACTION_KEEP_MODEL, 0, NULL, NULL)->workload =
				&s->workloads.items[i];
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		int64_t bytes = device_memory_now(s, run);

		if (run->state == RUN_RUNNING && bytes > run->device_memory_bytes)
			plan_add(p, ACTION_KEEP_MEMORY, run->job_id, run, NULL)->bytes = bytes;
	}
	remark_on_gpus(s, p);
	for (int i = 0; i < s->gone.count; i++)
		plan_add(p, ACTION_FORGET_IGNORED, 0, NULL, NULL)->pid = s->gone.items[i].pid;
}

/* --- reasons --- */

/* A wall-clock estimate that differs from the stored one by less than this is not written. */
#define SAME_TIME_S 2.0

static void give_reason(struct plan *p, const struct job *job, const char *reason,
			double next_start_s)
{
	bool same_time = (isnan(next_start_s) && isnan(job->next_start_s)) ||
			 fabs(next_start_s - job->next_start_s) < SAME_TIME_S;

	if (!same_time || strcmp(job->reason, reason) != 0)
		plan_add(p, ACTION_REASON, job->id, NULL, reason)->next_start_s = next_start_s;
}

/* The run goes on on the devices that it had. */
static void resume_in_place(const struct snapshot *s, const struct passed_over *passed,
			    struct plan *p)
{
	const struct run *run = passed->resumes;
	struct action *a = plan_add(p, ACTION_RESUME, run->job_id, run, passed->reason);
	struct run *now = a->new_run = xcalloc(1, sizeof(*now));
	int n = run->configuration.replicas;

	run_init(now);
	now->id = run->id;
	now->job_id = run->job_id;
	now->configuration = run->configuration;
	now->devices = xcalloc((size_t)n, sizeof(*now->devices));
	for (int i = 0; i < n; i++)
		for (int k = 0; k < s->devices.count; k++)
			if (device_is_same(&s->devices.items[k], &run->devices[i]))
				now->devices[i] = s->devices.items[k];
	a->replicas = n;
	a->sizes.configuration = run->configuration;
}

static void tell_those_passed_over(const struct snapshot *s, const struct decision *d,
				   struct plan *p)
{
	p->next_s = (double)NAN;
	for (int i = 0; i < d->n_passed_over; i++) {
		const struct passed_over *passed = &d->passed_over[i];

		if (passed->never) {
			plan_add(p, ACTION_CANCEL, passed->job->id, NULL, passed->reason)
				->cancelled_for = passed->cancelled_for;
			continue;
		}
		if (passed->resumes)
			resume_in_place(s, passed, p);
		else
			p->n_waiting++;
		p->next_s = fmin(p->next_s, passed->next_start_s);
		end_tier_wait(passed->job, p);
		give_reason(p, passed->job, passed->reason, passed->next_start_s);
	}
}

/* --- candidates --- */

static bool owns(const struct snapshot *s, const struct decision *d, int j,
		 const struct device *wanted)
{
	for (int i = 0; i < s->devices.count; i++)
		if (decision_gives(d, j, i) && device_is_same(&s->devices.items[i], wanted))
			return true;
	return false;
}

static bool keeps_its_devices(const struct snapshot *s, const struct decision *d, int j)
{
	const struct run *run = d->candidates[j].run;

	if ((run ? run->configuration.replicas : 0) != d->choices[j].replicas)
		return false;
	for (int i = 0; run && i < run->configuration.replicas; i++)
		if (!owns(s, d, j, &run->devices[i]))
			return false;
	return true;
}

static int first_device(const struct snapshot *s, const struct decision *d, int j)
{
	int i = 0;

	while (i < s->devices.count - 1 && !decision_gives(d, j, i))
		i++;
	return i;
}

/* A run that shares a GPU cannot be suspended: its memory would stay there. */
static void share_device(const struct snapshot *s, const struct share_place *place, struct run *run)
{
	if (place->seat == 0)
		return;
	run->devices[0].seat = place->seat;
	run->configuration.share = s->config->max_share;
	if (run->devices[0].memory_bytes > 0)
		run->suspension = SUSPENSION_CANNOT;
}

static void set_plan_hash(const struct candidate *c, struct run *run)
{
	const struct execution_plan *plan = c->plans
		? execution_plans_find(&c->plans->declared, run->configuration.plan) : NULL;

	if (plan)
		memcpy(run->plan_hash, plan->hash, sizeof(run->plan_hash));
}

static struct run *make_run(const struct snapshot *s, const struct decision *d, int j)
{
	struct run *run = xcalloc(1, sizeof(*run));
	const struct sizes *sizes = &d->sizes[j];
	int n = 0;

	run_init(run);
	run->job_id = d->candidates[j].job->id;
	run->configuration = sizes->configuration;
	run->learning_rate_scale = sizes->learning_rate_scale;
	run->assigned_time_s = s->now_wall_s;
	run->assigned_boot_s = s->now_boot_s;
	run->suspension = s->suspends ? SUSPENSION_NONE : SUSPENSION_CANNOT;
	run->other_plan = has_other_plan(&d->candidates[j], run->configuration.plan);
	set_plan_hash(&d->candidates[j], run);
	copy_cores(d, j, run->cores, sizeof(run->cores));
	run->larger_kind = has_larger_kind(d, j, &s->devices.items[first_device(s, d, j)]);
	run->devices = xcalloc((size_t)run->configuration.replicas, sizeof(*run->devices));
	for (int i = 0; i < s->devices.count && n < run->configuration.replicas; i++)
		if (decision_gives(d, j, i))
			run->devices[n++] = s->devices.items[i];
	share_device(s, &d->places[j], run);
	return run;
}

static void start_job(const struct snapshot *s, const struct decision *d, int j, struct plan *p)
{
	const struct run *suspended = comes_back(d, j) ? d->candidates[j].suspended : NULL;
	struct action *a = plan_add(p, suspended ? ACTION_RESUME : ACTION_START,
				    d->candidates[j].job->id, suspended, d->choices[j].reason);

	a->replicas = d->choices[j].replicas;
	a->sizes = d->sizes[j];
	a->new_run = make_run(s, d, j);
	if (suspended)
		a->new_run->id = suspended->id;
}

/* Stops this run of the job (NULL: there is none), and starts another one where it has devices. */
static void relaunch(const struct snapshot *s, const struct decision *d, int j,
		     const struct run *stopped, struct plan *p)
{
	const struct run *run = d->candidates[j].run;
	const struct sched_choice *choice = &d->choices[j];

	if (stopped)
		plan_add(p, ACTION_STOP, d->candidates[j].job->id, stopped, choice->reason)
			->replicas = choice->replicas;
	if (choice->replicas > 0 && !(run && run->state == RUN_ASSIGNED))
		start_job(s, d, j, p);
}

/* A run that still waits for its devices is only called off. Its successor comes with the next
 * pass, since a job has at most one assigned run. */
static void move_job(const struct snapshot *s, const struct decision *d, int j, struct plan *p)
{
	const struct run *run = d->candidates[j].run, *suspended = d->candidates[j].suspended;
	const struct sched_choice *choice = &d->choices[j];

	if (is_to_be_suspended(d, j)) {
		plan_add(p, ACTION_SUSPEND, run->job_id, run, choice->reason)->freezes =
			run_freezes(s, run);
		return;
	}
	if (choice->replicas == 0 || comes_back(d, j))
		suspended = NULL;
	relaunch(s, d, j, run ? run : suspended, p);
}

/* A program that takes configurations while it runs loses next to nothing by a change. A gain
 * beyond WORTHWHILE, which the model's own wavering seldom brings, suffices for a change, once the
 * present configuration was measured well enough to be compared with others. For a larger gain, two
 * windows that agree suffice. */
#define WORTHWHILE 1.03
#define WORTHWHILE_EARLY 1.10
/* A larger batch makes samples worth less, and is worth that only for a larger gain, with the noise
 * scale at the low end of its interval. */
#define WORTHWHILE_LARGER 1.10
#define EARLY_WINDOWS 2

static double least_gain(int n_windows)
{
	if (n_windows < EARLY_WINDOWS)
		return HUGE_VAL;
	return n_windows < POOL_WINDOWS ? WORTHWHILE_EARLY : WORTHWHILE;
}

/* True if the gain remains at the end of the noise scale's interval that is against the change:
 * estimates of the noise scale waver, and would move the batch size to and fro. */
static bool is_sure(const struct candidate *c, const struct sizes *sizes)
{
	const struct run *run = c->run;
	struct goodput_model g = c->model.goodput;
	int64_t batch = configuration_batch_size(&sizes->configuration);
	int64_t present = configuration_batch_size(&run->configuration);
	double gain = 1;

	if (isnan(sizes->noise.interval.low) || batch == present)
		return true;
	g.noise_scale = batch < present ? sizes->noise.interval.high : sizes->noise.interval.low;
	if (batch > present)
		gain = WORTHWHILE_LARGER;
	return goodput_choice_of(&g, sizes->configuration).goodput >
	       gain * goodput_choice_of(&g, run->configuration).goodput;
}

static bool could_do_better(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	const struct goodput_table *table = own_table(c);
	const struct sizes *sizes = &d->sizes[j];
	const struct run *run = c->run;

	return run->wanted_version == run->config_version && table &&
	       run->configuration.replicas <= most_devices(d) &&
	       table->goodput[run->configuration.replicas] > 0 &&
	       sizes->goodput >
		       least_gain(s->windows[run - s->runs.items]) * sizes->goodput_now &&
	       is_sure(c, sizes);
}

static void change_run(const struct decision *d, int j, struct plan *p)
{
	const struct run *run = d->candidates[j].run;
	struct action *a = plan_add(p, ACTION_CHANGE, run->job_id, run, NULL);

	a->replicas = run->configuration.replicas;
	a->sizes = d->sizes[j];
}

/* Changes the configuration on the devices that the job has: at once where the program takes
 * configurations, else by a relaunch if the policy finds the change worth a relaunch. A program
 * shows with its first step whether it takes configurations. */
static void reconfigure(const struct snapshot *s, const struct decision *d, int j, struct plan *p)
{
	const struct run *run = d->candidates[j].run;
	bool shrinks;

	if (!run || run->state != RUN_RUNNING || run->suspension > SUSPENSION_NONE)
		return;
	shrinks = s->policy->models_goodput && must_shrink(&d->candidates[j], &d->sizes[j]);
	if (takes_configurations(s, run) && !d->candidates[j].job->declared.passes_steps &&
	    !strcmp(run->configuration.plan, d->sizes[j].configuration.plan)) {
		if (could_do_better(s, d, j) ||
		    (shrinks && run->wanted_version == run->config_version))
			change_run(d, j, p);
	} else if ((d->choices[j].reconfigure || shrinks) &&
		   d->candidates[j].relaunchable && isfinite(run->first_step_s)) {
		relaunch(s, d, j, run, p);
	}
}

static void follow_choice(const struct snapshot *s, const struct decision *d, int j, struct plan *p)
{
	const struct sched_choice *choice = &d->choices[j];

	if (choice->replicas > 0)
		p->n_running++;
	else
		p->n_waiting++;
	keep_tier_wait(s, d, j, p);
	if (keeps_its_devices(s, d, j))
		reconfigure(s, d, j, p);
	else
		move_job(s, d, j, p);
	give_reason(p, d->candidates[j].job, choice->reason,
		    s->now_wall_s + choice->next_start_s - s->now_boot_s);
}

/* --- runs that nobody looks after --- */

static void look_after_runs(const struct snapshot *s, struct plan *p)
{
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];

		if (s->answers[i] == ENGINE_UNATTENDED)
			plan_add(p, run->state == RUN_ASSIGNED ? ACTION_LAUNCH : ACTION_ADOPT,
				 run->job_id, run, NULL);
	}
}

/* --- a run that waits for a device beside a free one --- */

/* A run that stops in good time has left its devices by then. */
#define LEAVES_WITHIN_S 2.0

enum { HELD_BY_NONE, HELD, HELD_WHILE_STOPPING };

static int who_holds(const struct snapshot *s, const struct run *but, const struct device *device)
{
	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		for (int i = 0; run != but && i < run_held(run); i++)
			if (device_is_same(&run->devices[i], device))
				return run->state == RUN_STOPPING ? HELD_WHILE_STOPPING : HELD;
	}
	return HELD_BY_NONE;
}

/* True if the run waits for devices of this machine that stopping runs keep, and as many of the
 * same kind have become free. */
static bool waits_beside_free(const struct snapshot *s, const struct run *run)
{
	int kept = 0, n_free = 0;

	if (run->state != RUN_ASSIGNED || run->stop_reason != STOP_NONE || run_held(run) == 0 ||
	    run->devices[0].node[0] || s->now_boot_s - run->assigned_boot_s <= LEAVES_WITHIN_S)
		return false;
	for (int i = 0; i < run_held(run); i++)
		kept += who_holds(s, run, &run->devices[i]) == HELD_WHILE_STOPPING;
	for (int d = 0; kept > 0 && d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];

		n_free += device->usable && !device->node[0] &&
			  !strcmp(device->kind, run->devices[0].kind) &&
			  who_holds(s, NULL, device) == HELD_BY_NONE;
	}
	return kept > 0 && n_free >= kept;
}

static bool has_action(const struct plan *p, int64_t job_id)
{
	for (int i = 0; i < p->count; i++)
		if (p->items[i].job_id == job_id)
			return true;
	return false;
}

/* A stop may take as long as the grace of its job. The next pass places the job anew. One run in a
 * pass: the devices that are free for it are not for another one. */
static void call_off_one_beside_free(const struct snapshot *s, struct plan *p)
{
	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (has_action(p, run->job_id) || !waits_beside_free(s, run))
			continue;
		plan_add(p, ACTION_STOP, run->job_id, run, "another device is free")->replicas =
			run_held(run);
		return;
	}
}

struct plan *plan_make(const struct snapshot *s, const struct decision *d)
{
	struct plan *p = plan_new();

	p->config = s->config;
	p->policy = s->policy->name;
	p->n_devices = d->n_usable;
	outlook_describe_devices(s, d, &p->devices);
	p->now_boot_s = s->now_boot_s;
	p->now_wall_s = s->now_wall_s;
	keep_what_was_learnt(s, p);
	tell_those_passed_over(s, d, p);
	for (int j = 0; j < d->n; j++)
		follow_choice(s, d, j, p);
	plan_bindings(d, p);
	call_off_deserted(s, p);
	call_off_one_beside_free(s, p);
	look_after_runs(s, p);
	return p;
}
