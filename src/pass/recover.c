/* recover.c - ends runs and profiles that were cut off by a reboot or a kill, of which nobody has
 * told the store. */
#include <stdlib.h>

#include "actions.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"

/* A profile whose process is gone. */
struct dead_profile {
	int64_t job_id;
	struct text reason;
};

struct remains {
	struct run_list runs;		/* not ended */
	enum engine_answer *answers;	/* by run */
	struct dead_profile *profiles;
	int n_profiles;
};

/* --- read --- */

static int read_profiles(const struct engine_context *at, struct remains *r, struct err *err)
{
	struct reserved_list reserved;
	int rc = store_reserved_list(at->store, &reserved, err);

	r->profiles = xcalloc((size_t)reserved.count, sizeof(*r->profiles));
	for (int i = 0; rc == 0 && i < reserved.count; i++) {
		struct dead_profile *profile = &r->profiles[r->n_profiles];
		int64_t id = reserved.items[i].job_id;

		if ((i > 0 && id == reserved.items[i - 1].job_id) ||
		    job_lock_is_held(at->paths, JOB_LOCK_PROFILE, id))
			continue;
		*profile = (struct dead_profile){ id, TEXT_INIT };
		r->n_profiles++;
		rc = store_profile_killed(at->store, id, &profile->reason, err);
	}
	reserved_list_release(&reserved);
	return rc;
}

/* --- actions --- */

static struct actions *actions_of_recovery(const struct remains *r)
{
	struct actions *p = actions_new();

	p->now_boot_s = clock_boot_s();
	for (int i = 0; i < r->runs.count; i++) {
		const struct run *run = &r->runs.items[i];

		if (r->answers[i] == ENGINE_GONE)
			actions_add(p, ACTION_END_LOST, run->job_id, run, NULL);
	}
	for (int i = 0; i < r->n_profiles; i++) {
		int64_t id = r->profiles[i].job_id;
		const char *reason = r->profiles[i].reason.data;

		/* The end of a cancelled run ends its job. A supervisor on this machine sees by
		 * itself that the profile is gone; other runs are called off. */
		for (int k = 0; k < r->runs.count; k++) {
			const struct run *run = &r->runs.items[k];

			if (run->job_id != id || r->answers[k] == ENGINE_GONE)
				continue;
			actions_add(p, r->answers[k] == ENGINE_UNATTENDED || engine_of(run)->collect
				    ? ACTION_CALL_OFF : ACTION_WAKE, id, run, NULL);
			reason = NULL;
		}
		actions_add(p, ACTION_END_PROFILE, id, NULL, reason);
	}
	return p;
}

/* --- apply --- */

static int apply_recovery(struct actions *p, const struct engine_context *at, struct remains *r,
			  struct err *err)
{
	struct run_list active;
	struct err ignored;

	for (int i = 0; i < r->runs.count; i++) {
		struct run *run = &r->runs.items[i];

		if (r->answers[i] == ENGINE_GONE && engine_of(run)->end(at, run, err))
			return -1;
	}
	/* The files of profiles go before the store says that the profile has ended, so that after
	 * a crash in between the next pass does the rest. */
	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];
		char *scratch;

		if (a->kind != ACTION_END_PROFILE || !a->why)
			continue;
		scratch = paths_checkpoints(at->paths, a->job_id);
		job_lock_remove(at->paths, JOB_LOCK_PROFILE, a->job_id);
		remove_tree(scratch);
		free(scratch);
	}
	if (p->count > 0 && (store_begin(at->store, err) || actions_apply(p, at, err)))
		return -1;
	/* The active runs are read again: a profile may have added one meanwhile. */
	if (store_runs_active(at->store, &active, &ignored))
		return 0;
	engine_clean(at, &active);
	run_list_release(&active);
	return 0;
}

int recover(const struct engine_context *at, bool apply, struct strings *lines, struct err *err)
{
	struct actions *p = NULL;
	struct remains r = { 0 };
	int rc = (apply && engine_collect(at, lines, err)) ||
		 store_runs_active(at->store, &r.runs, err) ? -1 : 0;

	if (rc == 0 && apply)
		engine_mend(at, &r.runs, lines);
	r.answers = xcalloc((size_t)r.runs.count + 1, sizeof(*r.answers));
	if (rc == 0 && (engine_poll(at, &r.runs, r.answers, err) || read_profiles(at, &r, err)))
		rc = -1;
	if (rc == 0) {
		p = actions_of_recovery(&r);
		actions_print(p, lines);
	}
	if (rc == 0 && apply)
		rc = apply_recovery(p, at, &r, err);
	actions_free(p);
	for (int i = 0; i < r.n_profiles; i++)
		text_release(&r.profiles[i].reason);
	free(r.profiles);
	free(r.answers);
	run_list_release(&r.runs);
	return rc;
}
