/* profiles.c - 'pollux profile' decides on its own jobs: a pass leaves them and their devices alone, and ends
 * those whose process is gone. */
#include <stdlib.h>

#include "pass_state.h"
#include "pollux/mem.h"
#include "pollux/profile_lock.h"
#include "pollux/remove_tree.h"

static void remove_files(const struct pass_state *p, int64_t job_id)
{
	char *scratch = paths_checkpoints(p->paths, job_id);

	profile_lock_remove(p->paths, job_id);
	remove_tree(scratch);
	free(scratch);
}

/* The end of a cancelled run ends its job. A keeper that lives sees by itself that the profile is
 * gone, and says so of the job. */
static int stop_run(struct pass_state *p, const struct run *run, struct err *err)
{
	enum engine_answer answer;

	if (engine_poll_one(&p->at, run, &answer, err))
		return -1;
	if ((answer == ENGINE_UNATTENDED || answer == ENGINE_GONE) &&
	    store_run_request_stop(&p->store, run->id, STOP_CANCEL, p->now_boot_s, err))
		return -1;
	engine_wake(&p->at, run);
	return 0;
}

static int stop_runs(struct pass_state *p, int64_t job_id, int *n, struct err *err)
{
	struct run_list runs;
	int rc = 0;

	*n = 0;
	if (store_runs_active(&p->store, &runs, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++) {
		if (runs.items[i].job_id != job_id)
			continue;
		rc = stop_run(p, &runs.items[i], err);
		++*n;
	}
	run_list_release(&runs);
	return rc;
}

static int end(struct pass_state *p, int64_t job_id, struct err *err)
{
	struct text reason = TEXT_INIT;
	int n, rc;

	strings_addf(&p->result->actions, "job %lld: the profile's process is gone; ending it",
		     (long long)job_id);
	if (p->mode == PASS_DRY_RUN)
		return 0;
	if (stop_runs(p, job_id, &n, err))
		return -1;
	if (n > 0)
		return 0;
	remove_files(p, job_id);
	rc = store_profile_killed(&p->store, job_id, &reason, err) ||
	     store_job_set_state(&p->store, job_id, JOB_CANCELLED, reason.data, err) ||
	     store_event_add(&p->store, job_id, 0, "profile", reason.data, err) ? -1 : 0;
	text_release(&reason);
	return rc;
}

int pass_end_profiles(struct pass_state *p, struct err *err)
{
	int64_t *ids;
	int n, rc = store_profiles_list(&p->store, &ids, &n, err);

	for (int i = 0; rc == 0 && i < n; i++)
		if (!profile_lock_is_held(p->paths, ids[i]))
			rc = end(p, ids[i], err);
	free(ids);
	return rc;
}

static int reserve(struct pass_state *p, const struct reserved_device *reserved, struct err *err)
{
	struct reservation r = { .job_id = reserved->job_id };
	struct job job;

	if (store_job_get(&p->store, reserved->job_id, &job, err))
		return -1;
	r.until_s = job.next_start_s;
	job_release(&job);
	for (int d = 0; d < p->devices.count; d++)
		if (device_overlaps(&p->devices.items[d], &reserved->device)) {
			p->devices.items[d].usable = false;
			p->reservations[d] = r;
		}
	return 0;
}

int pass_withdraw_reserved(struct pass_state *p, struct err *err)
{
	struct reserved_list list;
	int rc = 0;

	if (store_reserved_list(&p->store, &list, err))
		return -1;
	if (list.count > 0)
		p->reservations = xcalloc((size_t)p->devices.count, sizeof(*p->reservations));
	for (int i = 0; rc == 0 && i < list.count; i++)
		rc = reserve(p, &list.items[i], err);
	reserved_list_release(&list);
	return rc;
}
