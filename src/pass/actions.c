/* actions.c - the actions that lead from what is to what was decided. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "pollux/mem.h"
#include "stages.h"

/* --- the list --- */

struct actions *actions_new(void)
{
	struct actions *p = xcalloc(1, sizeof(*p));

	p->devices = (struct text)TEXT_INIT;
	return p;
}

struct action *actions_add(struct actions *p, enum action_kind kind, int64_t job_id,
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

void actions_free(struct actions *p)
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

/* --- reasons --- */

/* A wall-clock estimate that differs from the stored one by less than this is not written. */
#define SAME_TIME_S 2.0

static void give_reason(struct actions *p, const struct job *job, const char *reason,
			double next_start_s)
{
	bool same_time = (isnan(next_start_s) && isnan(job->next_start_s)) ||
			 fabs(next_start_s - job->next_start_s) < SAME_TIME_S;

	if (!same_time || strcmp(job->reason, reason) != 0)
		actions_add(p, ACTION_REASON, job->id, NULL, reason)->next_start_s = next_start_s;
}

/* The run goes on on the devices that it had. */
static void resume_in_place(const struct snapshot *s, const struct run *run, const char *reason,
			    struct actions *p)
{
	struct action *a = actions_add(p, ACTION_RESUME, run->job_id, run, reason);
	struct run *now = a->new_run = xcalloc(1, sizeof(*now));
	int n = run->configuration.replicas;

	run_init(now);
	now->id = run->id;
	now->job_id = run->job_id;
	now->configuration = run->configuration;
	now->devices = xcalloc((size_t)n, sizeof(*now->devices));
	for (int i = 0; i < n; i++)
		now->devices[i] = s->devices.items[snapshot_device(s, &run->devices[i])];
	a->replicas = n;
	a->sizes.configuration = run->configuration;
}

/* The job starts without a device. */
static void start_on_cores(const struct snapshot *s, const struct passed_over *passed,
			   const char *reason, struct actions *p)
{
	struct action *a = actions_add(p, ACTION_START, passed->job->id, NULL, reason);
	struct run *run = a->new_run = xcalloc(1, sizeof(*run));

	run_init(run);
	run->job_id = passed->job->id;
	run->configuration = configuration_make(0, 0, 1);
	run->assigned_time_s = s->now_wall_s;
	run->assigned_boot_s = s->now_boot_s;
	run->suspension = SUSPENSION_CANNOT;
	memcpy(run->cores, passed->processors, strlen(passed->processors) + 1);
	run_make_devices(run);
	a->sizes.configuration = run->configuration;
	p->n_running++;
}

static void tell_those_passed_over(const struct snapshot *s, const struct decision *d,
				   verdict_wording *words, struct actions *p)
{
	struct text reason = TEXT_INIT;

	p->next_s = (double)NAN;
	for (int i = 0; i < d->n_passed_over; i++) {
		const struct passed_over *passed = &d->passed_over[i];

		text_clear(&reason);
		words(&passed->verdict, &reason);
		if (passed->never) {
			actions_add(p, ACTION_CANCEL, passed->job->id, NULL, reason.data)
				->cancelled_for = passed->cancelled_for;
			continue;
		}
		if (passed->resumes)
			resume_in_place(s, passed->resumes, reason.data, p);
		else if (passed->processors)
			start_on_cores(s, passed, reason.data, p);
		else
			p->n_waiting++;
		p->next_s = fmin(p->next_s, passed->next_start_s);
		end_tier_wait(passed->job, p);
		give_reason(p, passed->job, reason.data, passed->next_start_s);
	}
	text_release(&reason);
}

/* --- candidates --- */

static bool keeps_its_devices(const struct snapshot *s, const struct decision *d, int j)
{
	const struct run *run = d->candidates[j].run;

	if ((run ? run->configuration.replicas : 0) != d->choices[j].replicas)
		return false;
	for (int i = 0; run && i < run->configuration.replicas; i++) {
		int device = snapshot_device(s, &run->devices[i]);

		if (device < 0 || !decision_gives(d, j, device))
			return false;
	}
	return true;
}

static struct run *make_run(const struct snapshot *s, const struct decision *d, int j)
{
	struct run *run = xcalloc(1, sizeof(*run));
	const struct candidate *c = &d->candidates[j];
	const struct sizes *sizes = &d->sizes[j];
	const struct execution_plan *plan = c->plans
		? execution_plans_find(&c->plans->declared, sizes->configuration.plan) : NULL;
	int n = 0;

	run_init(run);
	run->job_id = c->job->id;
	run->configuration = sizes->configuration;
	run->learning_rate_scale = sizes->learning_rate_scale;
	run->assigned_time_s = s->now_wall_s;
	run->assigned_boot_s = s->now_boot_s;
	run->suspension = s->suspends ? SUSPENSION_NONE : SUSPENSION_CANNOT;
	run->other_plan = has_other_plan(c, run->configuration.plan);
	if (plan)
		memcpy(run->plan_hash, plan->hash, sizeof(run->plan_hash));
	copy_cores(d, j, run->cores, sizeof(run->cores));
	run->larger_kind = has_larger_kind(d, j, &s->devices.items[first_device(s, d, j)]);
	run->devices = xcalloc((size_t)run->configuration.replicas, sizeof(*run->devices));
	for (int i = 0; i < s->devices.count && n < run->configuration.replicas; i++)
		if (decision_gives(d, j, i))
			run->devices[n++] = s->devices.items[i];
	if (d->places[j].seat == 0)
		return run;
	run->devices[0].seat = d->places[j].seat;
	run->configuration.share = s->config->max_share;
	/* A run that shares a GPU cannot be suspended: its memory would stay there. */
	if (run->devices[0].memory_bytes > 0)
		run->suspension = SUSPENSION_CANNOT;
	return run;
}

/* Stops this run of the job (NULL: there is none), and starts another one where it has devices. */
static void relaunch(const struct snapshot *s, const struct decision *d, int j,
		     const struct run *stopped, const struct text *reason, struct actions *p)
{
	const struct candidate *c = &d->candidates[j];
	const struct run *back = comes_back(d, j) ? c->suspended : NULL;
	const struct sched_choice *choice = &d->choices[j];
	struct action *a;

	if (stopped)
		actions_add(p, ACTION_STOP, c->job->id, stopped, reason->data)->replicas =
			choice->replicas;
	if (choice->replicas == 0 || (c->run && c->run->state == RUN_ASSIGNED))
		return;
	a = actions_add(p, back ? ACTION_RESUME : ACTION_START, c->job->id, back, reason->data);
	a->replicas = choice->replicas;
	a->sizes = d->sizes[j];
	a->new_run = make_run(s, d, j);
	if (back)
		a->new_run->id = back->id;
}

/* A run that still waits for its devices is only called off. Its successor comes with the next
 * pass, since a job has at most one assigned run. */
static void move_job(const struct snapshot *s, const struct decision *d, int j,
		     const struct text *reason, struct actions *p)
{
	const struct run *run = d->candidates[j].run, *suspended = d->candidates[j].suspended;

	if (is_to_be_suspended(d, j)) {
		actions_add(p, ACTION_SUSPEND, run->job_id, run, reason->data)->freezes =
			run_freezes(s, run);
		return;
	}
	if (d->choices[j].replicas == 0 || comes_back(d, j))
		suspended = NULL;
	relaunch(s, d, j, run ? run : suspended, reason, p);
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

/* True if another batch on the same devices is worth a change. The gain has to remain at the end of
 * the noise scale's interval that is against the change: estimates of the noise scale waver, and
 * would move the batch size to and fro. */
static bool could_do_better(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	const struct goodput_table *table = own_table(c);
	const struct sizes *sizes = &d->sizes[j];
	const struct run *run = c->run;
	struct goodput_model g = c->model.goodput;
	int r = run->configuration.replicas, n_windows = s->windows[run - s->runs.items];
	int64_t batch = configuration_batch_size(&sizes->configuration);
	int64_t present = configuration_batch_size(&run->configuration);

	if (run->wanted_version != run->config_version || !table || r > most_devices(d) ||
	    !(table->goodput[r] > 0) || n_windows < EARLY_WINDOWS ||
	    !(sizes->goodput > sizes->goodput_now *
	      (n_windows < POOL_WINDOWS ? WORTHWHILE_EARLY : WORTHWHILE)))
		return false;
	if (isnan(sizes->noise.interval.low) || batch == present)
		return true;
	g.noise_scale = batch < present ? sizes->noise.interval.high : sizes->noise.interval.low;
	return goodput_choice_of(&g, sizes->configuration).goodput >
	       (batch > present ? WORTHWHILE_LARGER : 1) *
	       goodput_choice_of(&g, run->configuration).goodput;
}

/* Changes the configuration on the devices that the job has: at once where the program takes
 * configurations, else by a relaunch if the policy finds the change worth a relaunch. A program
 * shows with its first step whether it takes configurations. */
static void reconfigure(const struct snapshot *s, const struct decision *d, int j,
			const struct text *reason, struct actions *p)
{
	const struct run *run = d->candidates[j].run;
	bool shrinks;

	if (!run || run->state != RUN_RUNNING || run->suspension > SUSPENSION_NONE)
		return;
	shrinks = s->policy->models_goodput && must_shrink(&d->candidates[j], &d->sizes[j]);
	if (takes_configurations(s, run) && !d->candidates[j].job->declared.passes_steps &&
	    !strcmp(run->configuration.plan, d->sizes[j].configuration.plan)) {
		struct action *a;

		if (!could_do_better(s, d, j) &&
		    !(shrinks && run->wanted_version == run->config_version))
			return;
		a = actions_add(p, ACTION_CHANGE, run->job_id, run, NULL);
		a->replicas = run->configuration.replicas;
		a->sizes = d->sizes[j];
	} else if ((d->choices[j].reconfigure || shrinks) &&
		   d->candidates[j].relaunchable && isfinite(run->first_step_s)) {
		relaunch(s, d, j, run, reason, p);
	}
}

static void follow_choice(const struct snapshot *s, const struct decision *d, int j,
			  const struct text *reason, struct actions *p)
{
	const struct sched_choice *choice = &d->choices[j];

	if (choice->replicas > 0)
		p->n_running++;
	else
		p->n_waiting++;
	keep_tier_wait(s, d, j, p);
	if (keeps_its_devices(s, d, j))
		reconfigure(s, d, j, reason, p);
	else
		move_job(s, d, j, reason, p);
	give_reason(p, d->candidates[j].job, reason->data,
		    s->now_wall_s + choice->next_start_s - s->now_boot_s);
}

/* --- a run that waits for a device beside a free one --- */

/* A run that stops in good time has left its devices by then. */
#define LEAVES_WITHIN_S 2.0

enum { HELD_BY_NONE, HELD, HELD_WHILE_STOPPING };

static int who_holds(const struct snapshot *s, const struct run *but, const struct device *device)
{
	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run != but && run_holds(run, device))
			return run->state == RUN_STOPPING ? HELD_WHILE_STOPPING : HELD;
	}
	return HELD_BY_NONE;
}

/* Calls off a run that waits for devices of this machine that stopping runs keep, while as many of
 * the same kind have become free: a stop may take as long as the grace of its job. The next pass
 * places the job anew. One run in a pass: the devices that are free for it are not for another. */
static void call_off_one_beside_free(const struct snapshot *s, verdict_wording *words,
				     struct actions *p)
{
	const struct verdict why = verdict_of((struct fact){ .kind = FACT_DEVICE_FREE });

	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];
		int kept = 0, n_free = 0;
		struct text reason = TEXT_INIT;
		bool has_action = false;

		for (int i = 0; i < p->count; i++)
			has_action |= p->items[i].job_id == run->job_id;
		if (has_action || run->state != RUN_ASSIGNED || run->stop_reason != STOP_NONE ||
		    run_held(run) == 0 || run->devices[0].node[0] ||
		    s->now_boot_s - run->assigned_boot_s <= LEAVES_WITHIN_S)
			continue;
		for (int i = 0; i < run_held(run); i++)
			kept += who_holds(s, run, &run->devices[i]) == HELD_WHILE_STOPPING;
		for (int d = 0; kept > 0 && d < s->devices.count; d++) {
			const struct device *device = &s->devices.items[d];

			n_free += device->usable && !device->node[0] &&
				  !strcmp(device->kind, run->devices[0].kind) &&
				  who_holds(s, NULL, device) == HELD_BY_NONE;
		}
		if (kept == 0 || n_free < kept)
			continue;
		words(&why, &reason);
		actions_add(p, ACTION_STOP, run->job_id, run, reason.data)->replicas =
			run_held(run);
		text_release(&reason);
		return;
	}
}

struct actions *actions_of(const struct snapshot *s, const struct decision *d,
			   verdict_wording *words)
{
	struct actions *p = actions_new();
	struct text reason = TEXT_INIT;

	p->config = s->config;
	p->policy = s->policy->name;
	p->n_devices = d->n_usable;
	outlook_describe_devices(s, d, &p->devices);
	p->now_boot_s = s->now_boot_s;
	p->now_wall_s = s->now_wall_s;
	for (int i = 0; i < s->workloads.count; i++)
		if (s->workloads.items[i].fitted)
			actions_add(p, ACTION_KEEP_MODEL, 0, NULL, NULL)->workload =
				&s->workloads.items[i];
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		int64_t bytes = device_memory_now(s, run);

		if (run->state == RUN_RUNNING && bytes > run->device_memory_bytes)
			actions_add(p, ACTION_KEEP_MEMORY, run->job_id, run, NULL)->bytes = bytes;
	}
	remark_on_gpus(s, p);
	for (int i = 0; i < s->gone.count; i++)
		actions_add(p, ACTION_FORGET_IGNORED, 0, NULL, NULL)->pid = s->gone.items[i].pid;
	tell_those_passed_over(s, d, words, p);
	for (int j = 0; j < d->n; j++) {
		text_clear(&reason);
		words(&d->choices[j].verdict, &reason);
		follow_choice(s, d, j, &reason, p);
	}
	text_release(&reason);
	add_bindings(d, p);
	call_off_deserted(s, p);
	call_off_one_beside_free(s, words, p);
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];

		if (s->answers[i] == ENGINE_UNATTENDED)
			actions_add(p, run->state == RUN_ASSIGNED ? ACTION_LAUNCH : ACTION_ADOPT,
				    run->job_id, run, NULL);
	}
	return p;
}
