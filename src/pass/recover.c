/* recover.c - ends runs and profiles that were cut off by a reboot or a kill, of which nobody has
 * told the store. */
#include <stdlib.h>

#include "plan.h"
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

static int read_remains(const struct engine_context *at, bool apply, struct remains *r,
			struct strings *lines, struct err *err)
{
	*r = (struct remains){ 0 };
	if (apply && engine_collect(at, lines, err))
		return -1;
	if (store_runs_active(at->store, &r->runs, err))
		return -1;
	if (apply)
		engine_mend(at, &r->runs, lines);
	r->answers = xcalloc((size_t)r->runs.count + 1, sizeof(*r->answers));
	return engine_poll(at, &r->runs, r->answers, err) || read_profiles(at, r, err) ? -1 : 0;
}

static void release_remains(struct remains *r)
{
	for (int i = 0; i < r->n_profiles; i++)
		text_release(&r->profiles[i].reason);
	free(r->profiles);
	free(r->answers);
	run_list_release(&r->runs);
}

/* --- plan --- */

/* True if the run's supervisor sees by itself that the profile is gone: it is on this machine. */
static bool sees_profile(const struct run *run, enum engine_answer answer)
{
	return answer != ENGINE_UNATTENDED && !engine_of(run)->collect;
}

/* Calls off the runs of a dead profile whose supervisors do not end them; the end of a cancelled
 * run ends its job. Returns the number of runs that are left. */
static int call_off_runs(const struct remains *r, int64_t job_id, struct plan *p)
{
	int n = 0;

	for (int i = 0; i < r->runs.count; i++) {
		const struct run *run = &r->runs.items[i];

		if (run->job_id != job_id || r->answers[i] == ENGINE_GONE)
			continue;
		plan_add(p, sees_profile(run, r->answers[i]) ? ACTION_WAKE : ACTION_CALL_OFF,
			 job_id, run, NULL);
		n++;
	}
	return n;
}

static struct plan *plan_recovery(const struct remains *r)
{
	struct plan *p = plan_new();

	p->now_boot_s = clock_boot_s();
	for (int i = 0; i < r->runs.count; i++) {
		const struct run *run = &r->runs.items[i];

		if (r->answers[i] == ENGINE_GONE)
			plan_add(p, ACTION_END_LOST, run->job_id, run, NULL);
	}
	for (int i = 0; i < r->n_profiles; i++) {
		int64_t id = r->profiles[i].job_id;
		bool runs_are_left = call_off_runs(r, id, p) > 0;

		plan_add(p, ACTION_END_PROFILE, id, NULL,
			 runs_are_left ? NULL : r->profiles[i].reason.data);
	}
	return p;
}

/* --- apply --- */

static int end_lost_runs(const struct engine_context *at, struct remains *r, struct err *err)
{
	for (int i = 0; i < r->runs.count; i++) {
		struct run *run = &r->runs.items[i];

		if (r->answers[i] == ENGINE_GONE && engine_of(run)->end(at, run, err))
			return -1;
	}
	return 0;
}

/* Removes the files before the store says that the profile has ended, so that after a crash in
 * between the next pass does the rest. */
static void remove_files_of_profiles(const struct plan *p, const struct paths *paths)
{
	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];
		char *scratch;

		if (a->kind != ACTION_END_PROFILE || !a->why)
			continue;
		scratch = paths_checkpoints(paths, a->job_id);
		job_lock_remove(paths, JOB_LOCK_PROFILE, a->job_id);
		remove_tree(scratch);
		free(scratch);
	}
}

static int apply_recovery(struct plan *p, const struct engine_context *at, struct remains *r,
			  struct err *err)
{
	if (end_lost_runs(at, r, err))
		return -1;
	remove_files_of_profiles(p, at->paths);
	if (p->count == 0)
		return 0;
	return store_begin(at->store, err) || plan_apply(p, at, err) ? -1 : 0;
}

/* The active runs are read again: a profile may have added one meanwhile. */
static void clean_engines(const struct engine_context *at)
{
	struct run_list active;
	struct err ignored;

	if (store_runs_active(at->store, &active, &ignored))
		return;
	engine_clean(at, &active);
	run_list_release(&active);
}

int recover(const struct engine_context *at, bool apply, struct strings *lines, struct err *err)
{
	struct plan *p = NULL;
	struct remains r;
	int rc = read_remains(at, apply, &r, lines, err);

	if (rc == 0) {
		p = plan_recovery(&r);
		plan_print(p, lines);
	}
	if (rc == 0 && apply) {
		rc = apply_recovery(p, at, &r, err);
		if (rc == 0)
			clean_engines(at);
	}
	plan_free(p);
	release_remains(&r);
	return rc;
}
