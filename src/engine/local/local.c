/* local.c - the engine of this machine: a supervisor for each run, known by the lock it holds. */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/report_message.h"
#include "pollux/store_runs.h"
#include "pollux/supervise.h"
#include "local.h"
#include "run_group.h"

static enum lock_state look_at_lock(const struct engine_context *at, int64_t run_id)
{
	char *path = paths_run(at->paths, run_id, "lock");
	enum lock_state state = lock_look(path);

	free(path);
	return state;
}

/* The lock is looked at before the boot id, because the store's directory may be shared with a
 * container or another machine, whose boot id differs although the run's supervisor lives. */
static int poll_runs(const struct engine_context *at, const struct run *const *runs, int n,
		     enum engine_answer *answers, struct err *err)
{
	(void)err;
	for (int i = 0; i < n; i++) {
		enum lock_state state = look_at_lock(at, runs[i]->id);

		if (state == LOCK_IS_HELD)
			answers[i] = ENGINE_ALIVE;
		else if (state == LOCK_CANNOT_BE_TOLD)
			answers[i] = ENGINE_UNKNOWN;
		else
			answers[i] = run_is_of_this_boot(runs[i]) ? ENGINE_UNATTENDED : ENGINE_GONE;
	}
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

struct runs_at {
	const struct engine_context *at;
	const struct run_list *active;
};

/* True if the run has ended for good: only a pass assigns runs, and a pass is the caller. A
 * supervisor that still holds the lock is about to clean up by itself. */
static bool is_over(int64_t run_id, const void *arg)
{
	const struct runs_at *runs = arg;

	for (int i = 0; i < runs->active->count; i++)
		if (runs->active->items[i].id == run_id)
			return false;
	return run_id > 0 && look_at_lock(runs->at, run_id) == LOCK_IS_FREE;
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
	enum lock_state state = shared_lock_look(at->paths, device);

	if (state == LOCK_IS_FREE)
		return NULL;
	return state == LOCK_IS_HELD ? DEVICE_LOCK_OTHER : DEVICE_LOCK_UNKNOWN;
}

/* --- a wish to stop that goes directly to the supervisor, not through the store --- */

#define KEY "STOP="
#define WAIT_S 5	/* the wait for room in the socket of a job that reports without end */

static const enum stop_reason reasons[] = { STOP_CANCEL, STOP_HOLD };

static int stop_unrecorded(const struct engine_context *at, const struct run *run,
			   enum stop_reason reason, struct err *err)
{
	char *message = xasprintf(KEY "%s\n", stop_reason_name(reason));
	struct local_handle handle;
	int rc;

	(void)at;
	local_handle_parse(run->handle, &handle);
	if (handle.socket_path[0])
		rc = report_socket_send(handle.socket_path, message, strlen(message), WAIT_S, NULL,
					err);
	else
		rc = err_set(err, EX_UNAVAILABLE, "its supervisor has not started it yet");
	local_handle_release(&handle);
	free(message);
	return rc;
}

enum stop_reason local_stop_asked(const char *message, size_t n)
{
	const char *word = message + strlen(KEY);

	if (n <= strlen(KEY) || memcmp(message, KEY, strlen(KEY)) != 0)
		return STOP_NONE;
	n -= strlen(KEY);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const char *name = stop_reason_name(reasons[i]);

		if (n == strlen(name) + 1 && !memcmp(word, name, n - 1) && word[n - 1] == '\n')
			return reasons[i];
	}
	return STOP_NONE;
}

/* --- supervisors that hang or were stopped --- */

/* A supervisor signs its lock every 10 seconds of the boot clock, which does not count the time in
 * which the machine sleeps. A silence alone proves nothing: the whole machine may have been
 * stopped. So a pass only notes a silence; a later pass, which sees that the silence lasts,
 * acts. */

#define NOTED_S 30.0	/* a silence that a pass notes */
#define SILENT_S 60.0	/* a silence after which a pass acts ... */
/* ... if it was noted at least so long ago; cron's passes come each minute */
#define SEEN_S 45.0
#define END_WAIT_MS 2000	/* the wait until a killed supervisor's lock is free */

static void say_mended(const struct engine_context *at, const struct run *run, const char *what,
		       const struct lock_holder *h, struct strings *lines)
{
	struct err ignored;
	char *text = xasprintf("%s the supervisor of job %lld, process %lld%s, which has not "
			       "answered for %.0f s", what, (long long)run->job_id,
			       (long long)h->pid, h->is_stopped ? ", stopped by a signal" : "",
			       clock_boot_s() - h->since_boot_s);

	strings_add(lines, text);
	store_event_add(at->store, run->job_id, run->id, "supervisor", text, &ignored);
	free(text);
}

static void mend_supervisor(const struct engine_context *at, const struct run *run,
			    const char *lock, struct strings *lines)
{
	double now = clock_boot_s();
	struct lock_holder h;
	struct lock_note note;
	bool gone = false;

	if (!lock_holder_find(lock, &h) || now - h.since_boot_s < NOTED_S)
		return;
	lock_note_read(lock, &h, &note);
	if (isnan(note.first_boot_s)) {
		note.first_boot_s = now;
		lock_note_write(lock, &h, &note);
	} else if (now - h.since_boot_s < SILENT_S || now - note.first_boot_s < SEEN_S) {
		return;
	} else if (h.is_stopped && isnan(note.continued_boot_s)) {
		kill((pid_t)h.pid, SIGCONT);
		note.first_boot_s = note.continued_boot_s = now;
		lock_note_write(lock, &h, &note);
		say_mended(at, run, "continue", &h, lines);
	} else {
		/* The supervisor that the next pass starts takes the run over. One that sleeps in
		 * the kernel for ever, in a disk or a driver, cannot be killed. */
		kill((pid_t)h.pid, SIGKILL);
		for (int i = 0; i < END_WAIT_MS / 10 && !gone; i++) {
			poll(NULL, 0, 10);
			gone = lock_look(lock) == LOCK_IS_FREE;
		}
		say_mended(at, run, gone ? "replace" : "cannot end", &h, lines);
	}
}

static void mend(const struct engine_context *at, const struct run *const *runs, int n,
		 struct strings *lines)
{
	for (int i = 0; i < n; i++) {
		char *lock = paths_run(at->paths, runs[i]->id, "lock");

		mend_supervisor(at, runs[i], lock, lines);
		free(lock);
	}
}

static double silent_s(const struct engine_context *at, const struct run *run, int64_t *pid)
{
	char *lock = paths_run(at->paths, run->id, "lock");
	struct lock_holder h;
	bool known = lock_holder_find(lock, &h);

	free(lock);
	*pid = known ? h.pid : 0;
	return known ? fmax(clock_boot_s() - h.since_boot_s, 0) : (double)NAN;
}

/* --- the table --- */

const struct engine engine_local = {
	.name = "local",
	.kill_wait_s = SUPERVISE_TERM_WAIT_S,
	.list = devices_list,
	.poll = poll_runs,
	.start = start,
	.adopt = attend,
	.wake = wake,
	.stop_unrecorded = stop_unrecorded,
	.mend = mend,
	.silent_s = silent_s,
	.stuck = local_stuck,
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
