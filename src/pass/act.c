/* act.c - the difference between what is and what is to be, written into the store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass_state.h"
#include "pollux/clock.h"
#include "pollux/mem.h"

static bool owns(const struct pass_state *p, int j, const struct device *wanted)
{
	for (int d = 0; d < p->devices.count; d++)
		if (p->owner[d] == j && device_is_same(&p->devices.items[d], wanted))
			return true;
	return false;
}

static bool is_unchanged(const struct pass_state *p, int j)
{
	const struct run *run = p->candidates[j].run;

	if ((run ? run->configuration.replicas : 0) != p->choices[j].replicas)
		return false;
	for (int i = 0; run && i < run->configuration.replicas; i++)
		if (!owns(p, j, &run->devices[i]))
			return false;
	return true;
}

static void describe_devices(const struct pass_state *p, int j, struct text *out)
{
	for (int d = 0; d < p->devices.count; d++)
		if (p->owner[d] == j)
			text_addf(out, "%s%s", out->length ? "," : "", p->devices.items[d].id);
}

static int stop_run(struct pass_state *p, int j, struct err *err)
{
	const struct run *run = p->candidates[j].run;

	strings_addf(&p->result->actions, "stop job %lld (%d device%s): %s",
		     (long long)run->job_id, run->configuration.replicas, run->configuration.replicas == 1 ? "" : "s",
		     p->choices[j].reason);
	p->wake[p->n_wake++] = run->id;
	if (p->mode == PASS_DRY_RUN)
		return 0;
	return store_run_request_stop(&p->store, run->id, STOP_PREEMPT, p->now_boot_s, err) ||
	       store_event_add(&p->store, run->job_id, run->id, "stop", p->choices[j].reason, err) ? -1 : 0;
}

static void fill_devices(const struct pass_state *p, int j, struct run *run)
{
	int n = 0;

	run->devices = xcalloc((size_t)run->configuration.replicas, sizeof(*run->devices));
	for (int d = 0; d < p->devices.count && n < run->configuration.replicas; d++)
		if (p->owner[d] == j)
			run->devices[n++] = p->devices.items[d];
}

/* Whatever chose the sizes, a policy that asks for no model or what is known on another kind of device: none of
 * which it is known that they do not work there, while others do that the job may have. */
static int keep_to_what_works(struct pass_state *p, int j, const struct run *run, struct configuration *c,
			      double *lr_scale, struct err *err)
{
	const struct job *job = p->candidates[j].job;
	struct batch_range range = {
		job->declared.batch_size, job->declared.min_batch_size, job->declared.max_batch_size, job->declared.accumulates,
	};
	const char *kind = run->devices[0].kind;
	struct memory_bounds memory;
	struct failed_sizes failed;
	struct configuration works;
	int64_t limit;

	if (configuration_batch_size(c) == 0)
		return 0;
	if (store_memory_bounds(&p->store, job->declared.workload, kind, &memory, err))
		return -1;
	if (store_failed_sizes(&p->store, job->declared.workload, kind, &failed, err)) {
		memory_bounds_release(&memory);
		return -1;
	}
	limit = sizes_limit(&memory, &failed, run->configuration.replicas);
	if (limit > 0 && c->local_batch_size >= sizes_too_large(&memory, &failed, run->configuration.replicas) &&
	    configuration_within(&range, run->configuration.replicas, limit, &works)) {
		*c = works;
		*lr_scale = pass_learning_rate_scale(p, j, configuration_batch_size(&works));
	}
	memory_bounds_release(&memory);
	failed_sizes_release(&failed);
	return 0;
}

static int fill_configuration(struct pass_state *p, int j, struct run *run, struct err *err)
{
	struct configuration c = pass_configuration(p, j, run->configuration.replicas, &run->learning_rate_scale);

	if (keep_to_what_works(p, j, run, &c, &run->learning_rate_scale, err))
		return -1;
	run->configuration = c;
	return 0;
}

/* What brings it there: of a job whose goodput is known, that, and what it rests on. */
static void describe_configuration(const struct pass_state *p, int j, const struct configuration *c,
				   double lr_scale, struct text *out)
{
	const struct candidate *candidate = &p->candidates[j];
	double noise_scale = candidate->model.goodput.noise_scale;
	double now = pass_goodput_now(candidate);

	if (configuration_batch_size(c) == 0)
		return;
	text_add(out, "batch ");
	configuration_print(c, out);
	text_addf(out, ", learning rate * %.3g", lr_scale);
	if (!candidate->worth || !candidate->model.known)
		return;
	text_add(out, "; goodput ");
	if (isfinite(now))
		text_addf(out, "%.0f to ", now);
	text_addf(out, "%.0f/s", candidate->worth->goodput[c->replicas]);
	if (isfinite(noise_scale))
		text_addf(out, ", noise scale %.0f", noise_scale);
}

static void describe_start(const struct pass_state *p, int j, const struct run *run,
			   const struct text *names, struct text *out)
{
	text_addf(out, "%s: %s", names->data, p->choices[j].reason);
	if (configuration_batch_size(&run->configuration) > 0)
		text_add(out, "; ");
	describe_configuration(p, j, &run->configuration, run->learning_rate_scale, out);
}

static int start_run(struct pass_state *p, int j, struct err *err)
{
	struct text names = TEXT_INIT, event = TEXT_INIT;
	struct run run;
	int rc;

	run_init(&run);
	run.job_id = p->candidates[j].job->id;
	run.configuration.replicas = p->choices[j].replicas;
	run.boot_id = xstrdup(clock_boot_id());
	run.assigned_time_s = p->now_wall_s;
	run.assigned_boot_s = p->now_boot_s;
	fill_devices(p, j, &run);
	rc = fill_configuration(p, j, &run, err);
	describe_devices(p, j, &names);
	describe_start(p, j, &run, &names, &event);
	strings_addf(&p->result->actions, "start job %lld on %s: %s", (long long)run.job_id,
		     names.data, p->choices[j].reason);
	if (rc == 0 && p->mode == PASS_ACT)
		rc = store_run_add(&p->store, &run, err) ||
		     store_event_add(&p->store, run.job_id, run.id, "assigned", event.data, err)
			? -1 : 0;
	text_release(&names);
	free(p->candidates[j].change);
	p->candidates[j].change = text_detach(&event);
	run_release(&run);
	return rc;
}

/* A run that is still waiting for its devices is only called off; its successor comes with the next
 * pass, since a job has one assigned run at most. */
static int change(struct pass_state *p, int j, struct err *err)
{
	const struct run *run = p->candidates[j].run;

	if (run && stop_run(p, j, err))
		return -1;
	p->candidates[j].change = xstrdup(p->choices[j].reason);
	if (p->choices[j].replicas == 0 || (run && run->state == RUN_ASSIGNED))
		return 0;
	return start_run(p, j, err);
}

/* A program that takes configurations while it runs loses next to nothing by another one: a gain beyond
 * what the model's own wavering brings is worth it, once the present one has been measured as well as an
 * observation must be to count against others. */
#define WORTHWHILE 1.03

static int is_measured(struct pass_state *p, const struct run *run, bool *measured, struct err *err)
{
	struct observation o;

	if (store_observation_get(&p->store, run, &o, err))
		return -1;
	*measured = o.n_windows >= POOL_WINDOWS;
	return 0;
}

static bool could_do_better(const struct pass_state *p, int j)
{
	const struct candidate *c = &p->candidates[j];
	double now = pass_goodput_now(c);

	return c->run->wanted_version == c->run->config_version && c->worth &&
	       c->worth->goodput[c->run->configuration.replicas] > WORTHWHILE * now;
}

static int change_configuration(struct pass_state *p, int j, struct err *err)
{
	const struct run *run = p->candidates[j].run;
	double lr_scale;
	struct configuration c = pass_configuration(p, j, run->configuration.replicas, &lr_scale);
	struct text text = TEXT_INIT;
	int rc = 0;

	text_addf(&text, "from batch %lld to ", (long long)configuration_batch_size(&run->configuration));
	describe_configuration(p, j, &c, lr_scale, &text);
	strings_addf(&p->result->actions, "change job %lld %s", (long long)run->job_id, text.data);
	p->wake[p->n_wake++] = run->id;
	if (p->mode == PASS_ACT)
		rc = store_run_set_wanted(&p->store, run->id, &c, lr_scale, err) ||
		     store_event_add(&p->store, run->job_id, run->id, "change", text.data, err) ? -1 : 0;
	p->candidates[j].change = text_detach(&text);
	return rc;
}

/* On the devices it has: at once where the program can, else by a relaunch if the policy finds it worth
 * one. */
static int reconfigure(struct pass_state *p, int j, int *changed, struct err *err)
{
	const struct run *run = p->candidates[j].run;
	bool better = run && run->state == RUN_RUNNING;
	bool in_place = better && pass_takes_configs(p, run);

	if (in_place) {
		better = could_do_better(p, j);
		if (better && is_measured(p, run, &better, err))
			return -1;
	} else if (better) {
		/* Whether it takes configurations it says with its first step. */
		better = p->choices[j].reconfigure && isfinite(run->first_step_s);
	}
	if (!better)
		return 0;
	++*changed;
	return in_place ? change_configuration(p, j, err) : change(p, j, err);
}

static int write_reason(struct pass_state *p, int j, struct err *err)
{
	const struct sched_choice *choice = &p->choices[j];

	if (p->mode == PASS_DRY_RUN)
		return 0;
	return pass_set_reason(p, p->candidates[j].job, choice->reason,
			       p->now_wall_s + choice->next_start_s - p->now_boot_s, err);
}

/* Of the jobs that it changes something for: the others have their reasons in the jobs. */
static int write_decision(struct pass_state *p, int n, struct err *err)
{
	struct decision_entry *entries = xcalloc((size_t)n, sizeof(*entries));
	int rc, k = 0;

	for (int j = 0; j < p->n_candidates; j++)
		if (p->candidates[j].change)
			entries[k++] = (struct decision_entry){
				.job_id = p->candidates[j].job->id,
				.replicas = p->choices[j].replicas,
				.reason = p->candidates[j].change,
			};
	rc = store_decision_add(&p->store, p->policy->name, p->n_usable, entries, k, err);
	free(entries);
	return rc;
}

int pass_write(struct pass_state *p, struct err *err)
{
	int changed = 0;

	for (int j = 0; j < p->n_candidates; j++) {
		if (p->choices[j].replicas > 0)
			p->result->n_running++;
		else
			p->result->n_waiting++;
		if (!is_unchanged(p, j)) {
			changed++;
			if (change(p, j, err))
				return -1;
		} else if (reconfigure(p, j, &changed, err)) {
			return -1;
		}
		if (write_reason(p, j, err))
			return -1;
	}
	if (changed && p->mode == PASS_ACT)
		return write_decision(p, p->n_candidates, err);
	return 0;
}
