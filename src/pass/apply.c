/* apply.c - actions are carried out: in the store by one transaction, then by calls of engines; and
 * what people are told of its actions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "actions.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"

/* What comes of an action beside its own write. */
static const struct {
	/* In the history of the job; NULL: none. What has an event was decided. */
	const char *event;
	bool wakes, attends;		/* the engine of the run is called after the commit */
} aside[] = {
	[ACTION_CALL_OFF] = { .wakes = true },
	[ACTION_WAKE] = { .wakes = true },
	[ACTION_STOP] = { "stop", .wakes = true },
	[ACTION_START] = { "assigned", .attends = true },
	[ACTION_SUSPEND] = { "suspend", .wakes = true },
	[ACTION_RESUME] = { "resume", .wakes = true },
	[ACTION_CHANGE] = { "change", .wakes = true },
	[ACTION_BIND] = { .wakes = true },
	[ACTION_LAUNCH] = { .attends = true },
	[ACTION_ADOPT] = { .attends = true },
};

/* --- the store --- */

/* Writes the settings for passes that supervisors start when jobs end. An empty setting is unset,
 * as in the environment. */
static int write_settings(const struct actions *p, struct store *store, struct err *err)
{
	char slots[CONFIG_SLOTS_TEXT], slice[32], memory[32];

	config_write_slots(p->config->slots, slots);
	snprintf(slice, sizeof(slice), "%.17gs", p->config->slice_s);
	snprintf(memory, sizeof(memory), "%.6g%%", p->config->suspend_memory * 100);
	if (p->devices.length &&
	    store_setting_set(store, DEVICES_SETTING, p->devices.data, err))
		return -1;
	return store_setting_set(store, "POLLUX_SUSPEND_MEMORY", memory, err) ||
	       store_setting_set(store, "POLLUX_SLOTS", slots, err) ||
	       store_setting_set(store, "POLLUX_SLICE", slice, err) ||
	       store_setting_set(store, "POLLUX_POLICY", p->policy, err) ? -1 : 0;
}

static int write_event(const struct action *a, struct store *store, const char *kind,
		       struct err *err)
{
	int64_t run_id = a->new_run ? a->new_run->id : a->run ? a->run->id : 0;
	struct text text = TEXT_INIT;
	int rc;

	action_describe(a, &text);
	rc = store_event_add(store, a->job_id, run_id, kind, text.data, err);
	text_release(&text);
	return rc;
}

/* Ends a profile, unless it has ended or was cancelled since the pass looked for its process. */
static int write_profile_end(const struct action *a, struct store *store, struct err *err)
{
	struct job job;
	bool has_ended;

	if (store_job_get(store, a->job_id, &job, err))
		return -1;
	has_ended = job_has_ended(job.state);
	job_release(&job);
	if (has_ended)
		return 0;
	return store_job_set_state(store, a->job_id, JOB_CANCELLED, a->why, err) ||
	       write_event(a, store, "profile", err) ? -1 : 0;
}

static int write_action(const struct actions *p, struct action *a, struct store *store,
			struct err *err)
{
	bool ignored;

	switch (a->kind) {
	case ACTION_END_PROFILE:
		return a->why ? write_profile_end(a, store, err) : 0;
	case ACTION_CALL_OFF:
		return store_run_request_stop(store, a->run->id, STOP_CANCEL, p->now_boot_s, err);
	case ACTION_KEEP_MODEL:
		return store_model_set(store, a->workload->name, a->workload->kind,
				       &a->workload->k.model, err);
	case ACTION_FORGET_IGNORED:
		return store_ignored_remove(store, a->pid, &ignored, err);
	case ACTION_REMARK:
		return store_run_set_remark(store, a->job_id, a->run->id, a->why, err);
	case ACTION_KEEP_MEMORY:
		return store_run_set_device_memory(store, a->run->id, a->bytes, err);
	case ACTION_CANCEL:
		return store_job_set_state(store, a->job_id, JOB_CANCELLED, a->why, err) ||
		       store_job_set_cancelled_for(store, a->job_id, a->cancelled_for, err)
			? -1 : 0;
	case ACTION_REASON:
		return store_job_set_reason(store, a->job_id, a->why, a->next_start_s, err);
	case ACTION_TIER_WAIT:
		return store_job_set_tier_wait(store, a->job_id, a->since_s, a->until_s, err);
	case ACTION_TIER_WAITED:
		return store_locality_add(store, &a->waited, err);
	case ACTION_STOP:
		return store_run_request_stop(store, a->run->id, STOP_PREEMPT, p->now_boot_s, err);
	case ACTION_START:
		return store_run_add(store, a->new_run, err);
	case ACTION_SUSPEND:
		return store_run_ask_suspension(store, a->run->id, a->freezes, err);
	case ACTION_RESUME:
		return store_run_give_devices(store, a->new_run, err);
	case ACTION_CHANGE:
		return store_run_set_wanted(store, a->run->id, &a->sizes.configuration,
					    a->sizes.learning_rate_scale, err);
	case ACTION_BIND:
		return store_run_set_cores(store, a->run->id, a->why, err);
	case ACTION_END_LOST:		/* each in a transaction of its own, before this one */
	case ACTION_WAKE:
	case ACTION_LAUNCH:
	case ACTION_ADOPT:
		break;
	}
	return 0;
}

/* Records the decision for the jobs for which something changes; the others have their reasons in
 * the table of jobs. A relaunch is a stop and a start, of which only the start is recorded. */
static int write_decision(const struct actions *p, struct store *store, struct err *err)
{
	struct decision_entry *entries = xcalloc((size_t)p->count, sizeof(*entries));
	struct text *texts = xcalloc((size_t)p->count, sizeof(*texts));
	int rc = 0, n = 0;

	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];

		if (!aside[a->kind].event)
			continue;
		if (n > 0 && entries[n - 1].job_id == a->job_id)
			text_release(&texts[--n]);
		texts[n] = (struct text)TEXT_INIT;
		action_describe(a, &texts[n]);
		entries[n] = (struct decision_entry){ a->job_id, a->replicas, texts[n].data };
		n++;
	}
	if (n > 0)
		rc = store_decision_add(store, p->policy, p->n_devices, entries, n, err);
	for (int i = 0; i < n; i++)
		text_release(&texts[i]);
	free(texts);
	free(entries);
	return rc;
}

/* --- the engines --- */

/* Calls the engine for all actions, and goes on after a failed call. */
static int call_all(const struct actions *p, const struct engine_context *at, bool written,
		    struct err *err)
{
	struct err ignored;
	int rc = 0;

	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];

		if (!written && a->kind != ACTION_LAUNCH && a->kind != ACTION_ADOPT)
			continue;
		if (aside[a->kind].wakes)
			engine_wake(at, a->run);
		if (a->kind == ACTION_CANCEL)
			job_lock_remove(at->paths, JOB_LOCK_INTERACTIVE, a->job_id);
		if (aside[a->kind].attends &&
		    engine_attend(at, a->new_run ? a->new_run : a->run, rc ? &ignored : err))
			rc = -1;
	}
	return rc;
}

int actions_look_after_runs(const struct actions *p, const struct engine_context *at,
			    struct err *err)
{
	return call_all(p, at, false, err);
}

int actions_apply(struct actions *p, const struct engine_context *at, struct err *err)
{
	struct err ignored;
	int rc = p->config ? write_settings(p, at->store, err) : 0;

	for (int i = 0; rc == 0 && i < p->count; i++) {
		struct action *a = &p->items[i];

		rc = write_action(p, a, at->store, err);
		if (rc == 0 && aside[a->kind].event)
			rc = write_event(a, at->store, aside[a->kind].event, err);
	}
	if (rc == 0)
		rc = write_decision(p, at->store, err);
	if (rc == 0)
		rc = store_commit(at->store, err);
	else
		store_rollback(at->store);
	/* Runs that nobody looks after get a supervisor even if the store cannot be written. */
	if (call_all(p, at, rc == 0, rc ? &ignored : err))
		return -1;
	return rc;
}

/* --- in words --- */

static void describe_devices(const struct action *a, struct text *out)
{
	for (int i = 0; i < a->sizes.configuration.replicas; i++)
		text_addf(out, "%s%s", i > 0 ? "," : "", a->new_run->devices[i].id);
	if (run_has_no_device(a->new_run))
		text_addf(out, "processor %s", *a->new_run->cores ? a->new_run->cores : "any");
}

/* "batch 64 = 2 * 32 * 1, learning rate * 1; goodput 900 to 1700/s, noise scale 500 (400
 * to 700)" */
static void describe_sizes(const struct sizes *sizes, struct text *out)
{
	text_add(out, "batch ");
	configuration_print(&sizes->configuration, out);
	text_addf(out, ", learning rate * %.3g", sizes->learning_rate_scale);
	if (isnan(sizes->goodput))
		return;
	text_add(out, "; goodput ");
	if (isfinite(sizes->goodput_now))
		text_addf(out, "%.0f to ", sizes->goodput_now);
	text_addf(out, "%.0f/s", sizes->goodput);
	if (isnan(sizes->noise.interval.low))
		return;
	text_add(out, ", noise scale ");
	noise_estimate_print(&sizes->noise, out);
}

void action_describe(const struct action *a, struct text *out)
{
	if (a->kind == ACTION_CHANGE) {
		text_addf(out, "from batch %lld to ",
			  (long long)configuration_batch_size(&a->run->configuration));
		describe_sizes(&a->sizes, out);
		return;
	}
	if (a->new_run) {
		describe_devices(a, out);
		text_add(out, ": ");
	}
	text_add(out, a->why);
	if (a->kind == ACTION_START && configuration_batch_size(&a->sizes.configuration) > 0) {
		text_add(out, "; ");
		describe_sizes(&a->sizes, out);
	}
}

/* Adds nothing for actions that people are not told of. */
static void print_action(const struct action *a, struct text *t)
{
	long long job = (long long)a->job_id;
	int n = a->run ? a->run->configuration.replicas : 0;

	switch (a->kind) {
	case ACTION_END_LOST:
		text_addf(t, "job %lld: run %d was cut off by a reboot", job, a->run->number);
		break;
	case ACTION_END_PROFILE:
		text_addf(t, "job %lld: the profile's process is gone; ending it", job);
		break;
	case ACTION_CANCEL:
		text_addf(t, "job %lld: cancelled: %s", job, a->why);
		break;
	case ACTION_STOP:
	case ACTION_SUSPEND:
		text_addf(t, "%s job %lld (%d device%s): %s",
			  a->kind == ACTION_STOP ? "stop" : "suspend", job, n, n == 1 ? "" : "s",
			  a->why);
		break;
	case ACTION_START:
	case ACTION_RESUME:
		text_addf(t, "%s job %lld on ", a->kind == ACTION_START ? "start" : "resume", job);
		describe_devices(a, t);
		text_addf(t, ": %s", a->why);
		break;
	case ACTION_CHANGE:
		text_addf(t, "change job %lld ", job);
		action_describe(a, t);
		break;
	case ACTION_ADOPT:
		text_addf(t, "job %lld: the supervisor of run %d is gone; "
			  "stopping what is left of it", job, a->run->number);
		break;
	case ACTION_REMARK:
		if (*a->why)
			text_addf(t, "job %lld: %s", job, a->why);
		break;
	case ACTION_BIND:
	case ACTION_CALL_OFF:
	case ACTION_WAKE:
	case ACTION_KEEP_MODEL:
	case ACTION_KEEP_MEMORY:
	case ACTION_FORGET_IGNORED:
	case ACTION_REASON:
	case ACTION_TIER_WAIT:
	case ACTION_TIER_WAITED:
	case ACTION_LAUNCH:
		break;
	}
}

void actions_print(const struct actions *p, struct strings *lines)
{
	for (int i = 0; i < p->count; i++) {
		struct text t = TEXT_INIT;

		print_action(&p->items[i], &t);
		if (t.length > 0)
			strings_add(lines, t.data);
		text_release(&t);
	}
}
