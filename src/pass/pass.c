/* pass.c - the order of things in a pass. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pass_state.h"
#include "pollux/clock.h"
#include "pollux/lock.h"

static void pass_state_release(struct pass_state *p)
{
	devices_release(&p->devices);
	device_user_list_release(&p->users);
	free(p->reservations);
	job_list_release(&p->jobs);
	run_list_release(&p->runs);
	dependency_list_release(&p->dependencies);
	for (int j = 0; j < p->n_candidates; j++) {
		if (p->candidates[j].owns_worth)
			worth_release(p->candidates[j].worth);
		free(p->candidates[j].change);
	}
	free(p->candidates);
	pass_forget(p);
	free(p->sched_jobs);
	free(p->choices);
	free(p->owner);
	free(p->wake);
	store_close(&p->store);
}

static void tell_time(struct pass_state *p)
{
	p->now_boot_s = clock_boot_s();
	p->now_wall_s = clock_wall_s();
}

/* Everything between reading and writing sees one state of the store: a cancel that comes meanwhile waits
 * for the commit, and finds the run it has to stop. */
static int decide_and_write(struct pass_state *p, struct err *err)
{
	if (pass_read(p, err))
		return -1;
	/* Later than all that was read: a run may have been launched since the pass began. */
	tell_time(p);
	if (p->jobs.count == 0)
		return 0;
	if (pass_learn(p, err) || pass_select(p, err))
		return -1;
	pass_decide(p);
	return pass_write(p, err);
}

/* For the passes that supervisors run when their jobs end. */
static int write_settings(struct pass_state *p, struct err *err)
{
	char slots[16], slice[32];

	/* Empty is unset, as in the environment. */
	snprintf(slots, sizeof(slots), "%d", p->config->slots);
	if (p->config->slots == CONFIG_SLOTS_AUTO)
		slots[0] = '\0';
	snprintf(slice, sizeof(slice), "%.17gs", p->config->slice_s);
	return store_setting_set(&p->store, "POLLUX_SLOTS", slots, err) ||
	       store_setting_set(&p->store, "POLLUX_SLICE", slice, err) ||
	       store_setting_set(&p->store, "POLLUX_POLICY", p->policy->name, err) ? -1 : 0;
}

static int transact(struct pass_state *p, struct err *err)
{
	if (p->mode == PASS_DRY_RUN)
		return decide_and_write(p, err);
	if (store_begin(&p->store, err))
		return -1;
	if (write_settings(p, err) || decide_and_write(p, err)) {
		store_rollback(&p->store);
		return -1;
	}
	return store_commit(&p->store, err);
}

static void wake_stopped(const struct pass_state *p)
{
	for (int i = 0; i < p->n_wake; i++)
		for (int k = 0; k < p->runs.count; k++)
			if (p->runs.items[k].id == p->wake[i])
				engine_wake(&p->at, &p->runs.items[k]);
}

static int look_decide_act(struct pass_state *p, struct err *err)
{
	struct err ignored;
	bool work;
	int rc;

	if (store_has_work(&p->store, &work, err))
		return -1;
	if (!work) {
		if (p->mode == PASS_ACT)
			engine_clean(&p->at, &p->runs);
		return 0;
	}
	rc = pass_reconcile(p, err) || pass_look(p, err) || transact(p, err) ? -1 : 0;
	if (rc == 0 && p->mode == PASS_ACT)
		wake_stopped(p);
	/* Also after a decision that failed: who has lost his supervisor does not wait for the next. */
	if (pass_spawn_missing(p, rc ? &ignored : err))
		return -1;
	return rc;
}

static int run_with_store(struct pass_state *p, struct err *err)
{
	int rc = store_open(&p->store, p->paths, p->mode == PASS_ACT ? STORE_WRITE : STORE_READ, err);

	/* Nothing was ever submitted: nothing to do. */
	if (rc && err->exit_status == EX_NOINPUT)
		return 0;
	if (rc == 0)
		rc = look_decide_act(p, err);
	pass_state_release(p);
	return rc;
}

static int pass(const struct paths *paths, const struct config *config, enum pass_mode mode,
		struct pass_result *result, struct err *err)
{
	struct pass_state p = {
		.paths = paths, .config = config, .policy = policy_find(config->policy),
		.mode = mode, .result = result,
	};

	p.at = (struct engine_context){ .paths = paths, .store = &p.store };
	result->n_waiting = result->n_running = 0;
	tell_time(&p);
	return run_with_store(&p, err);
}

/* Who is asked all the time goes home in the end; the mark stays for whoever comes next. */
#define MOST_TURNS 100

/* The mark comes before the look at the lock: whoever has that looks for a mark when he has let go of it, and
 * takes it away before he reads. So nothing that happened before a pass was asked for is left unseen until the
 * next minute, but where no file can be made. */
static int take_turn(const struct paths *paths, struct err *err)
{
	int mark = open(paths->schedule_again, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), lock;

	if (mark >= 0)
		close(mark);
	lock = lock_take(paths->schedule_lock, err);
	if (lock < 0)
		return lock;
	if (unlink(paths->schedule_again) && errno != ENOENT) {
		err_set(err, EX_CANTCREAT, "cannot remove '%s': %s", paths->schedule_again, strerror(errno));
		lock_drop(lock);
		return -1;
	}
	futimens(lock, NULL);	/* says when the last pass was */
	return lock;
}

static int act(const struct paths *paths, const struct config *config, struct pass_result *result,
	       struct err *err)
{
	int lock = take_turn(paths, err), rc = 0, turns = 0;

	result->busy = lock == LOCK_HELD;
	while (rc == 0 && lock >= 0) {
		rc = pass(paths, config, PASS_ACT, result, err);
		lock_drop(lock);
		lock = LOCK_HELD;
		if (rc == 0 && ++turns < MOST_TURNS && access(paths->schedule_again, F_OK) == 0)
			lock = take_turn(paths, err);
	}
	return rc || lock != LOCK_HELD ? -1 : 0;
}

int pass_run(const struct paths *paths, const struct config *config, enum pass_mode mode,
	     struct pass_result *result, struct err *err)
{
	*result = (struct pass_result){ 0 };
	if (!policy_find_live(config->policy, err))
		return -1;
	if (access(paths->store, F_OK))
		return 0;
	if (mode == PASS_ACT)
		return act(paths, config, result, err);
	return pass(paths, config, mode, result, err);
}

void pass_result_release(struct pass_result *result)
{
	strings_release(&result->actions);
}
