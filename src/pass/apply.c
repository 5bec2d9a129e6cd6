/* apply.c - a plan becomes true: in the store by one transaction, then by calls of engines. */
#include <stdio.h>
#include <stdlib.h>

#include "plan.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"

/* --- the store --- */

/* Writes the settings for passes that supervisors start when jobs end. An empty setting is unset,
 * as in the environment. */
static int write_settings(const struct plan *p, struct store *store, struct err *err)
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

static int64_t run_id(const struct action *a)
{
	return a->new_run ? a->new_run->id : a->run ? a->run->id : 0;
}

static int write_event(const struct action *a, struct store *store, const char *kind,
		       struct err *err)
{
	struct text text = TEXT_INIT;
	int rc;

	action_describe(a, &text);
	rc = store_event_add(store, a->job_id, run_id(a), kind, text.data, err);
	text_release(&text);
	return rc;
}

/* Ends a profile, unless it has ended or was cancelled since the pass looked for its process. */
static int write_profile_end(const struct action *a, struct store *store, struct err *err)
{
	struct job job;
	bool has_ended;

	if (!a->why)
		return 0;
	if (store_job_get(store, a->job_id, &job, err))
		return -1;
	has_ended = job_has_ended(job.state);
	job_release(&job);
	if (has_ended)
		return 0;
	return store_job_set_state(store, a->job_id, JOB_CANCELLED, a->why, err) ||
	       write_event(a, store, "profile", err) ? -1 : 0;
}

static int write_action(const struct plan *p, struct action *a, struct store *store,
			struct err *err)
{
	bool ignored;

	switch (a->kind) {
	case ACTION_END_PROFILE:
		return write_profile_end(a, store, err);
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
		return store_run_request_stop(store, a->run->id, STOP_PREEMPT, p->now_boot_s,
					      err) ||
		       write_event(a, store, "stop", err) ? -1 : 0;
	case ACTION_START:
		return store_run_add(store, a->new_run, err) ||
		       write_event(a, store, "assigned", err) ? -1 : 0;
	case ACTION_SUSPEND:
		return store_run_ask_suspension(store, a->run->id, a->freezes, err) ||
		       write_event(a, store, "suspend", err) ? -1 : 0;
	case ACTION_RESUME:
		return store_run_give_devices(store, a->new_run, err) ||
		       write_event(a, store, "resume", err) ? -1 : 0;
	case ACTION_CHANGE:
		return store_run_set_wanted(store, a->run->id, &a->sizes.configuration,
					    a->sizes.learning_rate_scale, err) ||
		       write_event(a, store, "change", err) ? -1 : 0;
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

static bool is_decided(enum action_kind kind)
{
	return kind == ACTION_STOP || kind == ACTION_START || kind == ACTION_CHANGE ||
	       kind == ACTION_SUSPEND || kind == ACTION_RESUME;
}

/* Records the decision for the jobs for which something changes; the others have their reasons in
 * the table of jobs. A relaunch is a stop and a start, of which only the start is recorded. */
static int write_decision(const struct plan *p, struct store *store, struct err *err)
{
	struct decision_entry *entries = xcalloc((size_t)p->count, sizeof(*entries));
	struct text *texts = xcalloc((size_t)p->count, sizeof(*texts));
	int rc = 0, n = 0;

	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];

		if (!is_decided(a->kind))
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

static int write_plan(struct plan *p, struct store *store, struct err *err)
{
	int rc = p->config ? write_settings(p, store, err) : 0;

	for (int i = 0; rc == 0 && i < p->count; i++)
		rc = write_action(p, &p->items[i], store, err);
	if (rc == 0)
		rc = write_decision(p, store, err);
	if (rc == 0)
		return store_commit(store, err);
	store_rollback(store);
	return -1;
}

/* --- the engines --- */

static int call(const struct action *a, const struct engine_context *at, struct err *err)
{
	switch (a->kind) {
	case ACTION_CALL_OFF:
	case ACTION_WAKE:
	case ACTION_STOP:
	case ACTION_CHANGE:
	case ACTION_SUSPEND:
	case ACTION_RESUME:
	case ACTION_BIND:
		engine_wake(at, a->run);
		return 0;
	case ACTION_START:
		return engine_attend(at, a->new_run, err);
	case ACTION_LAUNCH:
	case ACTION_ADOPT:
		return engine_attend(at, a->run, err);
	case ACTION_CANCEL:
		job_lock_remove(at->paths, JOB_LOCK_INTERACTIVE, a->job_id);
		return 0;
	case ACTION_END_LOST:
	case ACTION_END_PROFILE:
	case ACTION_KEEP_MODEL:
	case ACTION_KEEP_MEMORY:
	case ACTION_FORGET_IGNORED:
	case ACTION_REMARK:
	case ACTION_REASON:
	case ACTION_TIER_WAIT:
	case ACTION_TIER_WAITED:
		break;
	}
	return 0;
}

/* Calls the engine for all actions, and goes on after a failed call. */
static int call_all(const struct plan *p, const struct engine_context *at, bool written,
		    struct err *err)
{
	struct err ignored;
	int rc = 0;

	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];

		if (!written && a->kind != ACTION_LAUNCH && a->kind != ACTION_ADOPT)
			continue;
		if (call(a, at, rc ? &ignored : err))
			rc = -1;
	}
	return rc;
}

int plan_look_after_runs(const struct plan *p, const struct engine_context *at, struct err *err)
{
	return call_all(p, at, false, err);
}

int plan_apply(struct plan *p, const struct engine_context *at, struct err *err)
{
	struct err ignored;
	int rc = write_plan(p, at->store, err);

	/* Runs that nobody looks after get a supervisor even if the store cannot be written. */
	if (call_all(p, at, rc == 0, rc ? &ignored : err))
		return -1;
	return rc;
}
