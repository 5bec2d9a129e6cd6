/* local.c - the engine of this machine: a supervisor for each run, known by the lock it holds. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/supervise.h"
#include "run_group.h"
#include "supervisor.h"

static enum lock_state look_at_lock(const struct engine_context *at, int64_t run_id)
{
	char *path = paths_run(at->paths, run_id, "lock");
	enum lock_state state = lock_look(path);

	free(path);
	return state;
}

/* The lock is looked at before the boot id, because the store's directory may be shared with a
 * container or another machine, whose boot id differs although the run's supervisor lives. */
static enum engine_answer look_for(const struct engine_context *at, const struct run *run)
{
	switch (look_at_lock(at, run->id)) {
	case LOCK_IS_HELD:
		return ENGINE_ALIVE;
	case LOCK_IS_FREE:
		return run_is_of_this_boot(run) ? ENGINE_UNATTENDED : ENGINE_GONE;
	case LOCK_CANNOT_BE_TOLD:
		break;
	}
	return ENGINE_UNKNOWN;
}

static int poll_runs(const struct engine_context *at, const struct run *const *runs, int n,
		     enum engine_answer *answers, struct err *err)
{
	(void)err;
	for (int i = 0; i < n; i++)
		answers[i] = look_for(at, runs[i]);
	return 0;
}

/* A supervisor finds out from the store whether it starts its run or adopts the run. */
static int attend(const struct engine_context *at, const struct run *run, struct err *err)
{
	return supervisor_spawn(at->paths, run->id, err);
}

/* Starts a run's supervisor. An interactive run is started by its 'pollux run', as long as that
 * lives. */
static int start(const struct engine_context *at, const struct run *run, struct err *err)
{
	if (run->stop_reason == STOP_NONE &&
	    job_lock_is_held(at->paths, JOB_LOCK_INTERACTIVE, run->job_id))
		return 0;
	return attend(at, run, err);
}

static void wake(const struct engine_context *at, const struct run *run)
{
	(void)at;
	supervisor_wake(run);
}

static bool suspends(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);

	return backend && (backend->rebind || backend->resident);
}

static bool freezes(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);

	return backend && backend->freezer;
}

static int end(const struct engine_context *at, struct run *run, struct err *err)
{
	return run_end_lost(at->paths, at->store, run, err);
}

static bool is_among(const struct run_list *runs, int64_t id)
{
	for (int i = 0; i < runs->count; i++)
		if (runs->items[i].id == id)
			return true;
	return false;
}

struct runs_at {
	const struct engine_context *at;
	const struct run_list *active;
};

/* True if the run has ended for good: only a pass assigns runs, and a pass is the caller. A
 * supervisor that still holds the lock is about to clean up by itself. */
static bool is_over(int64_t run_id, const void *arg)
{
	const struct runs_at *runs = arg;

	return run_id > 0 && !is_among(runs->active, run_id) &&
	       look_at_lock(runs->at, run_id) == LOCK_IS_FREE;
}

/* Removes run/RUN.lock, run/RUN.sock, the control group and the like of runs that ended by a
 * reboot, or just before their supervisor was killed. */
static void clean(const struct engine_context *at, const struct run_list *active)
{
	char *name = xasprintf("%s/run", at->paths->dir);
	struct runs_at runs = { at, active };
	DIR *dir = opendir(name);
	const struct dirent *entry;

	free(name);
	run_group_clean(at->paths, is_over, &runs);
	while (dir && (entry = readdir(dir))) {
		int64_t id = isdigit((unsigned char)entry->d_name[0])
			? strtoll(entry->d_name, NULL, 10) : 0;

		if (is_over(id, &runs))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

static const char *device_holder(const struct engine_context *at, const struct device *device)
{
	return device_lock_holder(at->paths, device->id);
}

static const char *other_user(const struct engine_context *at, const struct device *device)
{
	switch (shared_lock_look(at->paths, device)) {
	case LOCK_IS_HELD:
		return DEVICE_LOCK_OTHER;
	case LOCK_CANNOT_BE_TOLD:
		return DEVICE_LOCK_UNKNOWN;
	case LOCK_IS_FREE:
		break;
	}
	return NULL;
}

const struct engine engine_local = {
	.name = "local",
	.kill_wait_s = SUPERVISE_TERM_WAIT_S,
	.list = devices_list,
	.poll = poll_runs,
	.start = start,
	.adopt = attend,
	.wake = wake,
	.stop_unrecorded = local_stop_unrecorded,
	.mend = local_mend,
	.silent_s = local_silent_s,
	.suspends = suspends,
	.freezes = freezes,
	.end = end,
	.clean = clean,
	.command_pid = local_command_pid,
	.owns_process = local_owns_process, .container = local_container,
	.containment = local_containment,
	.dies_of = local_dies_of,
	.device_holder = device_holder,
	.other_user = other_user,
};
