/* check_processes.c - passes, supervisors and locks: who hangs, and what nobody looks after. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checks.h"
#include "pollux/clock.h"
#include "pollux/device_lock.h"
#include "pollux/engine.h"
#include "pollux/failed_pass.h"
#include "pollux/format.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/proc_files.h"
#include "pollux/store_jobs.h"

/* A finding whose mend kills is made of two looks, this long apart, the second one at fresh
 * data. */
#define SECOND_LOOK_MS 1000

#define PASS "pollux schedule"
#define LATE_S 300.0	/* the longest time without a pass while jobs wait or run */
#define ASKED_S 120.0	/* a pass that was asked for comes within a second */
#define SILENT_S 60.0	/* a supervisor shows that it lives every 10 s */

/* --- passes --- */

static bool find_hung(struct patient *p)
{
	struct lock_holder holder;
	struct text words = TEXT_INIT;
	bool hangs = pass_find_hung(&p->paths, &holder);

	if (hangs) {
		pass_describe_hung(&holder, &words);
		found(p, FINDING_STOPS,
		      xasprintf("kill -%s %lld", holder.is_stopped ? "CONT" : "KILL",
				(long long)holder.pid), "%s", words.data);
	}
	text_release(&words);
	return hangs;
}

static void check_request(struct patient *p)
{
	double now_s = clock_wall_s();
	struct stat st;

	if (stat(p->paths.schedule_again, &st) == 0 &&
	    now_s - (double)st.st_mtim.tv_sec > ASKED_S)
		found(p, FINDING_LOOK, xstrdup(PASS),
		      "a pass was asked for %s ago, and did not come",
		      format_duration(now_s - (double)st.st_mtim.tv_sec).s);
}

static void check_failure(struct patient *p)
{
	char why[400];
	double time_s;

	if (failed_pass_read(&p->paths, why, sizeof(why), &time_s))
		found(p, FINDING_LOOK, xstrdup(PASS),
		      "the pass after a submission or the end of a job failed %s ago: %s",
		      format_duration(fmax(clock_wall_s() - time_s, 0)).s, why);
}

void check_passes(struct patient *p)
{
	double age_s = clock_wall_s() - p->last_pass_s;
	struct err ignored;
	bool has_work = false;

	if (find_hung(p))
		return;
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
	check_request(p);
	check_failure(p);
}

/* --- supervisors --- */

/* Returns for how long the supervisor has been silent, if that is too long; NaN: it is not. */
static double silence_s(const struct engine_context *at, const struct run *run, int64_t *pid)
{
	const struct engine *engine = engine_of(run);
	double silent_s = engine && engine->silent_s ? engine->silent_s(at, run, pid)
						     : (double)NAN;

	return silent_s >= SILENT_S ? silent_s : (double)NAN;
}

static void check_alive(struct patient *p, const struct engine_context *at, const struct run *run)
{
	int64_t pid = 0, first;
	double silent_s = silence_s(at, run, &pid);
	bool stopped;

	if (isnan(silent_s))
		return;
	first = pid;
	poll(NULL, 0, SECOND_LOOK_MS);
	silent_s = silence_s(at, run, &pid);
	stopped = proc_state((pid_t)pid) == 'T' || proc_state((pid_t)pid) == 't';
	if (isnan(silent_s) || pid != first)
		return;
	found(p, FINDING_LOOK,
	      xasprintf(stopped ? "kill -CONT %lld" : "kill -KILL %lld && " PASS, (long long)pid),
	      "the supervisor of job %lld, process %lld, %s %s", (long long)run->job_id,
	      (long long)pid, stopped ? "is stopped, and has not answered for"
				      : "has not answered for", format_duration(silent_s).s);
}

static void check_run(struct patient *p, const struct engine_context *at, const struct run *run)
{
	enum engine_answer answer;
	struct err err;

	if (engine_poll_one(at, run, &answer, &err))
		found(p, FINDING_LOOK, NULL, "%s", err.text);
	else if (answer == ENGINE_ALIVE)
		check_alive(p, at, run);
	else if (answer == ENGINE_UNKNOWN)
		found(p, FINDING_LOOK, NULL, "nobody can tell whether job %lld has a supervisor",
		      (long long)run->job_id);
	else
		found(p, FINDING_LOOK, xstrdup(PASS), "job %lld has no supervisor",
		      (long long)run->job_id);
}

void check_supervisors(struct patient *p)
{
	struct engine_context at = { .paths = &p->paths, .store = &p->store };

	for (int i = 0; i < p->runs.count; i++)
		check_run(p, &at, &p->runs.items[i]);
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

static bool has(const struct pid_list *list, pid_t pid)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

/* The processes that had the file open at both looks. */
static char *kill_users_of(const char *path, const struct pid_list *before)
{
	struct text command = TEXT_INIT;
	struct pid_list users;

	proc_users_of_file(path, &users);
	for (int i = 0; i < users.count; i++)
		if (has(before, users.items[i]))
			text_addf(&command, "%s%d", command.length ? " " : "kill -KILL ",
				  (int)users.items[i]);
	pid_list_release(&users);
	return command.length ? text_detach(&command) : NULL;
}

/* Returns who holds the lock of a device that no run has; NULL: nobody does, or a run has it by
 * what the store says now. */
static const char *stranger_with(struct patient *p, const struct engine_context *at,
				 const struct device *device)
{
	const char *holder = engine_for_new_runs()->device_holder(at, device);
	struct err ignored;

	if (!holder || !strcmp(holder, DEVICE_LOCK_MEASURE))
		return NULL;
	run_list_release(&p->runs);
	if (store_runs_active(&p->store, &p->runs, &ignored) || is_given_out(p, device->id))
		return NULL;
	return holder;
}

static void check_device(struct patient *p, const struct engine_context *at,
			 const struct device *device)
{
	char *path = paths_device_lock(&p->paths, device->id), *mend = NULL;
	struct pid_list users = { 0 };
	const char *holder = stranger_with(p, at, device);

	if (holder) {
		proc_users_of_file(path, &users);
		poll(NULL, 0, SECOND_LOOK_MS);
		holder = stranger_with(p, at, device);
	}
	if (holder && !strcmp(holder, DEVICE_LOCK_ENDED))
		mend = kill_users_of(path, &users);
	pid_list_release(&users);
	free(path);
	if (holder)
		found(p, FINDING_LOOK, mend, "%s has no run, but %s holds it", device->id, holder);
}

void check_locks(struct patient *p)
{
	struct engine_context at = { .paths = &p->paths, .store = &p->store };
	struct device_settings settings = { .slots = p->config.slots };
	struct device_list list;
	struct err err;

	if (p->config_err.exit_status || !p->store.db)
		return;
	if (engine_for_new_runs()->list(&settings, &list, &err)) {
		found(p, FINDING_STOPS, NULL, "%s", err.text);
		return;
	}
	for (int i = 0; i < list.count; i++)
		if (!is_given_out(p, list.items[i].id))
			check_device(p, &at, &list.items[i]);
	devices_release(&list);
}
