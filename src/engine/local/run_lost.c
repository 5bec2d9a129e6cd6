/* run_lost.c - ends a run whose processes cannot exist any more, as after a reboot. */
#include <math.h>
#include <stdlib.h>

#include "account.h"
#include "kept_position.h"
#include "kept_reports.h"
#include "local_handle.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "recorder.h"
#include "supervisor.h"

struct kept_taker {
	struct recorder *r;
	struct store *store;
	struct run *run;
};

/* The time of a report before a reboot is not known by the boot clock of that time. */
static void take_report(const char *bytes, size_t n, double time_wall_s, void *arg)
{
	const struct kept_taker *t = arg;

	(void)time_wall_s;
	t->r->sender = SENDER_KEPT;
	recorder_add(t->r, t->store, t->run, bytes, n, t->run->launch_boot_s + t->run->duration_s);
}

static void take_kept_reports(struct recorder *r, struct store *store, struct run *run)
{
	struct kept_taker taker = { r, store, run };
	struct local_handle handle;
	struct kept_place read = { 0 };

	local_handle_parse(run->handle, &handle);
	if (handle.socket_path[0])
		kept_reports_read(handle.socket_path, &read, take_report, &taker);
	local_handle_release(&handle);
}

/* Takes over the position that the supervisor had learned after its last write to the store, and
 * the reports that nobody took. */
static int take_kept(const struct paths *paths, struct store *store, struct run *run,
		     struct err *err)
{
	struct recorder *r = xmalloc(sizeof(*r));
	struct kept_position k;
	struct run_update update = {
		.run = run, .epoch = NAN, .printed_total_steps = NAN,
		.total_samples = NAN, .total_steps = NAN, .total_epochs = NAN,
		.resumes = -1, .saves_when_asked = -1,
	};
	bool changed;

	recorder_init(r);
	r->positions_only = true;
	if (kept_position_read(paths, run, &k, NULL)) {
		kept_position_apply(&k, run);
		kept_position_restore(&k, r);
	}
	take_kept_reports(r, store, run);
	update.steps = r->steps;
	changed = r->changed;
	free(r);
	return changed ? store_run_update(store, &update, err) : 0;
}

/* The run's files have times by the clock of its boot, as the store has. Those of the active runs
 * are moved to the clock of now: run_take_boot(). */
static int take_times_as_stored(struct store *store, struct run *run, struct err *err)
{
	struct run stored;
	int rc = store_run_get(store, run->id, &stored, err);

	if (rc == 0) {
		run->assigned_boot_s = stored.assigned_boot_s;
		run->launch_boot_s = stored.launch_boot_s;
		run->checkpoint_boot_s = stored.checkpoint_boot_s;
	}
	run_release(&stored);
	return rc;
}

int run_end_lost(const struct paths *paths, struct store *store, struct run *run, struct err *err)
{
	/* The next run shows where it begins. */
	struct fallback unknown = { NAN, NAN };
	struct job job;

	if (take_times_as_stored(store, run, err) ||
	    (run->state != RUN_ASSIGNED && take_kept(paths, store, run, err)) ||
	    store_job_get(store, run->job_id, &job, err))
		return -1;
	run->outcome = run->state == RUN_ASSIGNED ? OUTCOME_NOT_STARTED : OUTCOME_LOST;
	/* When the run ended is not known; the work up to the last record is. */
	account_for_loss(&job, run, &unknown, run->launch_boot_s + run->duration_s);
	job_release(&job);
	return store_run_end(store, run, err);
}
