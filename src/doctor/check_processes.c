/* check_processes.c - passes, supervisors and locks: who hangs, and what nobody looks after. */
#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checks.h"
#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/pass_files.h"
#include "pollux/proc.h"
#include "pollux/report.h"
#include "pollux/store_jobs.h"

/* A finding whose mend kills is made of two looks, this long apart, the second one at fresh
 * data. */
#define SECOND_LOOK_MS 1000

#define PASS "pollux schedule"
#define LATE_S 300.0	/* the longest time without a pass while jobs wait or run */
#define ASKED_S 120.0	/* a pass that was asked for comes within a second */
#define SILENT_S 60.0	/* a supervisor shows that it lives every 10 s ... */
#define BEAT_MS 12000	/* ... so also within this time */

/* The command for a process that hangs. A stopped one is continued; what a debugger has stopped,
 * the debugger continues, which is shown. */
static char *wake_or_kill(pid_t pid, bool is_stopped, const char *then)
{
	struct text command = TEXT_INIT;
	pid_t debugger = is_stopped ? advice_debugger(pid) : 0;

	if (debugger)
		text_addf(&command, "ps -fp %d", (int)debugger);
	else
		advice_add_kill(&command, is_stopped ? "CONT" : "KILL", pid);
	if (!is_stopped)
		text_add(&command, then);
	return text_detach(&command);
}

void check_passes(struct patient *p)
{
	double now_s = clock_wall_s(), age_s = now_s - p->last_pass_s, failed_s;
	struct lock_holder holder;
	scoped(text_release) struct text words = TEXT_INIT;
	struct stat asked;
	struct err ignored;
	bool has_work = false;
	char why[400];

	if (pass_find_hung(&p->paths, &holder)) {
		pass_describe_hung(&holder, &words);
		found(p, FINDING_STOPS, wake_or_kill((pid_t)holder.pid, holder.is_stopped, ""),
		      "%s", words.data);
		return;
	}
	if (p->store.db)
		store_has_work(&p->store, &has_work, &ignored);
	if (isnan(age_s) && has_work)
		found(p, FINDING_LOOK, xstrdup(PASS), "jobs wait, and no pass has come yet");
	else if (age_s > LATE_S && has_work)
		found(p, FINDING_LOOK, xstrdup(PASS),
		      "the last pass was %s ago, though jobs wait or run",
		      format_duration(age_s).s);
	else if (isnan(age_s))
		note(p, "there was none yet");
	else
		note(p, "the last was %s ago", format_duration(fmax(age_s, 0)).s);
	if (stat(p->paths.schedule_again, &asked) == 0 &&
	    now_s - (double)asked.st_mtim.tv_sec > ASKED_S)
		found(p, FINDING_LOOK, xstrdup(PASS),
		      "a pass was asked for %s ago, and did not come",
		      format_duration(now_s - (double)asked.st_mtim.tv_sec).s);
	if (failed_pass_read(&p->paths, why, sizeof(why), &failed_s))
		found(p, FINDING_LOOK, xstrdup(PASS),
		      "the pass after a submission or the end of a job failed %s ago: %s",
		      format_duration(fmax(now_s - failed_s, 0)).s, why);
}

/* Returns for how long the supervisor has been silent, if that is too long; NaN: it is not. */
static double silence_s(const struct engine_context *at, const struct run *run, int64_t *pid)
{
	const struct engine *engine = engine_of(run);
	double silent_s = engine && engine->silent_s ? engine->silent_s(at, run, pid)
						     : (double)NAN;

	return silent_s >= SILENT_S ? silent_s : (double)NAN;
}

static bool is_stopped(int64_t pid)
{
	char state = proc_state((pid_t)pid);

	return state == 'T' || state == 't';
}

/* Returns the supervisor of the run if it has been silent for too long; else 0. */
static int64_t find_suspect(struct patient *p, const struct engine_context *at,
			    const struct run *run)
{
	enum engine_answer answer;
	struct err err;
	int64_t pid;

	if (engine_poll_one(at, run, &answer, &err))
		found(p, FINDING_LOOK, NULL, "%s", err.text);
	else if (answer == ENGINE_ALIVE)
		return isnan(silence_s(at, run, &pid)) ? 0 : pid;
	else if (answer == ENGINE_UNKNOWN)
		found(p, FINDING_LOOK, NULL, "nobody can tell whether job %lld has a supervisor",
		      (long long)run->job_id);
	else
		found(p, FINDING_LOOK, xstrdup(PASS), "job %lld has no supervisor",
		      (long long)run->job_id);
	return 0;
}

void check_supervisors(struct patient *p)
{
	struct engine_context at = { .paths = &p->paths, .store = &p->store };
	int64_t *suspects = xcalloc((size_t)p->runs.count + 1, sizeof(*suspects)), pid = 0;
	bool waits = false;

	for (int i = 0; i < p->runs.count; i++) {
		suspects[i] = find_suspect(p, &at, &p->runs.items[i]);
		waits |= suspects[i] != 0;
	}
	/* A silence may be that of the whole machine, which was stopped. A supervisor that lives
	 * ends it within a beat; one that is stopped does not. */
	for (int ms = 0; waits && ms < BEAT_MS; ms += SECOND_LOOK_MS) {
		poll(NULL, 0, SECOND_LOOK_MS);
		waits = false;
		for (int i = 0; i < p->runs.count; i++)
			waits |= suspects[i] && !isnan(silence_s(&at, &p->runs.items[i], &pid)) &&
				 pid == suspects[i] && !is_stopped(pid);
	}
	for (int i = 0; i < p->runs.count; i++) {
		double silent_s = suspects[i] ? silence_s(&at, &p->runs.items[i], &pid)
					      : (double)NAN;
		bool stopped = suspects[i] && is_stopped(suspects[i]);

		if (!isnan(silent_s) && pid == suspects[i])
			found(p, FINDING_LOOK, wake_or_kill((pid_t)pid, stopped, " && " PASS),
			      "the supervisor of job %lld, process %lld, %s %s",
			      (long long)p->runs.items[i].job_id, (long long)pid,
			      stopped ? "is stopped, and has not answered for"
				      : "has not answered for", format_duration(silent_s).s);
	}
	free(suspects);
	note(p, "%d run%s", p->runs.count, plural(p->runs.count));
}

/* --- locks of devices --- */

static bool is_given_out(const struct patient *p, const char *id)
{
	for (int r = 0; r < p->runs.count; r++)
		for (int i = 0; i < run_held(&p->runs.items[r]); i++)
			if (!strcmp(p->runs.items[r].devices[i].id, id))
				return true;
	return false;
}

/* Returns the run whose supervisor is one of the processes; 0: none is. Its run has just ended, or
 * is one that this store, an older copy perhaps, does not know. */
static int64_t supervised_run(const struct patient *p, const struct pid_list *holders)
{
	autofree char *path = xasprintf("%s/run", p->paths.dir);
	scoped(close_dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	struct lock_holder h;
	int64_t run = 0;

	while (dir && run == 0 && (entry = readdir(dir))) {
		autofree char *lock = NULL;
		char *end;
		int64_t id = strtoll(entry->d_name, &end, 10);

		if (id <= 0 || strcmp(end, ".lock") != 0)
			continue;
		lock = paths_run(&p->paths, id, "lock");
		if (lock_holder_find(lock, &h) && pid_list_has(holders, (pid_t)h.pid))
			run = id;
	}
	return run;
}

/* Returns who holds the lock of a device that no run has; NULL: nobody does, or a run has it by
 * what the store says now. */
static const char *stranger_with(struct patient *p, const struct engine_context *at,
				 const struct device *device)
{
	const struct engine *engine = engine_for_new_runs();
	const char *holder = engine->device_holder ? engine->device_holder(at, device) : NULL;
	struct err ignored;

	if (!holder || !strcmp(holder, DEVICE_LOCK_MEASURE))
		return NULL;
	run_list_release(&p->runs);
	if (store_runs_active(&p->store, &p->runs, &ignored) || is_given_out(p, device->id))
		return NULL;
	return holder;
}

/* Looks twice at the lock of a device that no run has. Names a command that kills, if what holds
 * the device is no supervisor, those that held it at both looks. */
static void check_device(struct patient *p, const struct engine_context *at,
			 const struct device *device)
{
	autofree char *lock = paths_device_lock(&p->paths, device->id);
	scoped(pid_list_release) struct pid_list first = { 0 }, now = { 0 };
	const char *holder = stranger_with(p, at, device);
	scoped(text_release) struct text pids = TEXT_INIT;
	int64_t run = 0;

	if (holder) {
		lock_holders(lock, &first);
		poll(NULL, 0, SECOND_LOOK_MS);
		holder = stranger_with(p, at, device);
	}
	if (holder) {
		lock_holders(lock, &now);
		for (int i = 0; i < now.count; i++)
			if (pid_list_has(&first, now.items[i]))
				text_addf(&pids, " %d", (int)now.items[i]);
		run = supervised_run(p, &now);
	}
	if (run)
		found(p, FINDING_LOOK, xasprintf("ps -f%s", pids.data),
		      "%s has no run, but the supervisor of run %lld works and holds it%s",
		      device->id, (long long)run, patient_has_run(p, run) ? ""
		      : ": a newer copy of the store may have this run");
	else if (holder)
		found(p, FINDING_LOOK,
		      pids.length && !strcmp(holder, DEVICE_LOCK_ENDED)
			      ? xasprintf("kill -KILL%s", pids.data)
			      : lock_look(lock) == LOCK_CANNOT_BE_TOLD ? command_on("ls -ld", lock)
								       : NULL,
		      "%s has no run, but %s holds it", device->id, holder);
}

/* --- the locks of passes and of supervisors --- */

/* A process that has the lock, for writing or for reading, and is none of pollux; 0: there is none,
 * -1: it is not visible. A pass or supervisor signs its lock, but for a moment. */
static pid_t stranger_on(const char *lock)
{
	struct lock_holder ours;
	scoped(pid_list_release) struct pid_list holders = { 0 };
	pid_t pid = -1;

	if (lock_look(lock) != LOCK_IS_HELD || lock_holder_find(lock, &ours) ||
	    lock_holder_search(lock, &ours))
		return 0;
	lock_holders(lock, &holders);
	if (holders.count > 0)
		pid = holders.items[0];
	return pid;
}

static void check_stranger(struct patient *p, const char *lock, enum finding_severity severity,
			   const char *then)
{
	char who[PROC_TEXT_SIZE] = "a process that is not seen here";
	pid_t pid = stranger_on(lock);

	if (pid == 0)
		return;
	poll(NULL, 0, SECOND_LOOK_MS);
	if (stranger_on(lock) != pid)
		return;
	if (pid > 0)
		proc_describe(pid, who);
	found(p, severity, pid > 0 ? wake_or_kill(pid, false, "") : command_on("ls -ld", lock),
	      "%s, which is none of pollux, holds '%s': %s", who, lock, then);
}

static void check_strangers(struct patient *p)
{
	check_stranger(p, p->paths.schedule_lock, FINDING_STOPS, "no pass can begin");
	for (int i = 0; i < p->runs.count; i++) {
		autofree char *lock = paths_run(&p->paths, p->runs.items[i].id, "lock");

		check_stranger(p, lock, FINDING_LOOK, "no supervisor can look after its run");
	}
}

void check_locks(struct patient *p)
{
	struct engine_context at = { .paths = &p->paths, .store = &p->store };
	const struct device_list *list;

	check_strangers(p);

	if (p->config_err.exit_status || !p->store.db)
		return;
	list = patient_devices(p);
	if (!list) {
		found(p, FINDING_STOPS, NULL, "%s", p->devices_err.text);
		return;
	}
	for (int i = 0; i < list->count; i++)
		if (!is_given_out(p, list->items[i].id))
			check_device(p, &at, &list->items[i]);
}
