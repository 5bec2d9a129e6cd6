/* store_machine.c - what is kept of the machine: devices of profiles, tests of freezing, processes
 * of others, waits; GPUs that are set aside. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"
#include "rows.h"
#include "sql.h"

/* --- devices of profiles --- */

#define ROW struct reserved_device
static const struct store_column of_reserved[] = {
	C("job_id", INT64, job_id, KNOWN, 0),
	CHARS("device", device.id, NOT_NULL),
	CHARS("kind", device.kind, NOT_NULL),
	CHARS("binding", device.binding, NOT_NULL),
	C("cores", INT, device.cores, KNOWN, 0),
};
static const struct store_table reserved_table = TABLE_OF("reserved_devices", of_reserved);
#undef ROW

int store_device_reserve(struct store *s, int64_t job_id, const struct device *d, struct err *err)
{
	return rows_insert(s, &reserved_table, &(struct reserved_device){ job_id, *d }, err);
}

int store_devices_release(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM reserved_devices WHERE job_id = ?", "i", job_id);
}

int store_reserved_list(struct store *s, struct reserved_list *list, struct err *err)
{
	struct reserved_device initial = { .device.usable = true };
	return rows_list(s, ALL_FROM(reserved_table, &initial), list, err,
			 "ORDER BY job_id, device", "");
}

void reserved_list_release(struct reserved_list *list)
{
	free(list->items);
	*list = (struct reserved_list){ 0 };
}

int store_profile_killed(struct store *s, int64_t job_id, struct text *reason, struct err *err)
{
	int64_t n;

	if (sql_get(s, err, "SELECT count(DISTINCT o.run_id) FROM observations o"
		    " JOIN runs r ON r.id = o.run_id WHERE r.job_id = ? AND o.n_windows > 0",
		    "i<i", &n, job_id))
		return -1;
	text_addf(reason, "the profile was killed; %lld point%s measured", (long long)n,
		  n == 1 ? "" : "s");
	return 0;
}

/* --- tests of freezing --- */

int store_freeze_test_set(struct store *s, const struct device *device, const char *driver,
			  const struct freeze_test *t, const char *why, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO freeze_tests (device, driver,"
		       " time_s, passed, reason, bytes, freeze_s, thaw_s)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "ttditidd",
		       device->id, driver, clock_wall_s(), (int64_t)(t != NULL),
		       t ? t->weaker : why, t ? t->released_bytes : (int64_t)0,
		       t ? t->lock_s + t->save_s : (double)NAN,
		       t ? t->restore_s + t->unlock_s : (double)NAN);
}

int store_freeze_test_revoke(struct store *s, const char *device_id, const char *why,
			     struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE freeze_tests SET passed = 0, reason = ?,"
		       " time_s = ? WHERE device = ?", "tdt", why, clock_wall_s(), device_id);
}

int store_freeze_test_get(struct store *s, const char *device_id, const char *driver,
			  struct freeze_tested *tested, struct err *err)
{
	return sql_get(s, err, "SELECT passed, bytes, freeze_s, thaw_s FROM freeze_tests"
		       " WHERE device = ? AND driver = ?", "bidd<tt", &tested->passed,
		       &tested->bytes, &tested->freeze_s, &tested->thaw_s, device_id, driver);
}

int store_freeze_test_failure(struct store *s, const char *device_id, const char *driver,
			      char **why, struct err *err)
{
	return sql_get(s, err, "SELECT reason FROM freeze_tests WHERE device = ? AND driver = ?"
		       " AND passed = 0", "t<tt", why, device_id, driver);
}

/* --- processes of others --- */

int store_ignored_add(struct store *s, const struct ignored_process *process, struct err *err)
{
	const char *boot_id = clock_boot_id();

	if (sql_run(s, NULL, err, "DELETE FROM ignored_processes WHERE boot_id <> ?", "t", boot_id))
		return -1;
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO ignored_processes"
		       " (pid, start_ticks, boot_id, ignored_time_s) VALUES (?, ?, ?, ?)", "iitd",
		       process->pid, process->start_ticks, boot_id, clock_wall_s());
}

int store_ignored_remove(struct store *s, int64_t pid, bool *was_there, struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err, "DELETE FROM ignored_processes WHERE pid = ?", "i", pid);

	*was_there = changed > 0;
	return rc;
}

int store_ignored_list(struct store *s, struct ignored_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct ignored_list){ 0 };
	if (sql_query(s, &q, err, "SELECT pid, start_ticks FROM ignored_processes WHERE boot_id = ?"
		      " ORDER BY pid", "t", clock_boot_id()))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] =
			(struct ignored_process){ sql_int(q, 0, 0), sql_int(q, 1, 0) };
	}
	sql_done(q);
	if (rc < 0)
		ignored_list_release(list);
	return rc;
}

void ignored_list_release(struct ignored_list *list)
{
	free(list->items);
	*list = (struct ignored_list){ 0 };
}

/* --- waits for better joined devices --- */

int store_locality_list(struct store *s, struct tier_past **list, int *n, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = NULL;
	*n = 0;
	if (sql_query(s, &q, err, "SELECT time_s, replicas, tier, wait_s FROM locality_waits", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		char *name = sql_text(q, 2);
		int tier = row_parse_name(&configuration_tier_names, name);

		*list = xgrow(*list, *n, sizeof(**list));
		(*list)[(*n)++] = (struct tier_past){
			.time_s = sql_double(q, 0), .replicas = (int)sql_int(q, 1, 0),
			.tier = tier == TIER_UNKNOWN ? TIER_NONE : tier - TIER_FAST,
			.wait_s = sql_double(q, 3),
		};
		free(name);
	}
	sql_done(q);
	return rc;
}

int store_locality_add(struct store *s, const struct tier_past *wait, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM locality_waits WHERE time_s < ?", "d",
		       wait->time_s - TIER_WAITS_KEPT_S) ||
	       sql_run(s, NULL, err, "INSERT INTO locality_waits (time_s, replicas, tier, wait_s)"
		       " VALUES (?, ?, ?, ?)", "ditd", wait->time_s, (int64_t)wait->replicas,
		       configuration_tier_names.names[wait->tier + TIER_FAST], wait->wait_s)
		? -1 : 0;
}

int store_job_set_tier_wait(struct store *s, int64_t id, double since_s, double until_s,
			    struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET tier_wait_since_s = ?,"
		       " waiting_for_tier_until = ? WHERE id = ?", "ddi", since_s, until_s, id);
}

/* --- GPUs that are set aside --- */

#define RETRY "gpu-retry"
#define DIED \
	" outcome = 'failed' AND duration_s < " SQL_NUMBER(ASIDE_DIED_WITHIN_S) \
	" AND substr(diagnosis, 1, length('" CUDA_DOES_NOT_START "')) = '" CUDA_DOES_NOT_START "'"

int store_aside_list(struct store *s, struct aside_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct aside_list){ 0 };
	/* Only the newest runs are looked at: those of the last hour are among them. */
	if (sql_query(s, &q, err, "WITH died AS (SELECT coalesce(-j.group_id, j.id) job,"
		      "  d.device device, r.end_time_s at FROM runs r JOIN run_devices d"
		      "  ON d.run_id = r.id JOIN jobs j ON j.id = r.job_id"
		      "  WHERE r.id > (SELECT max(id) FROM runs) - 2000 AND" DIED
		      "  AND r.boot_id = ?2 AND r.end_time_s BETWEEN ?1 - ?3 AND ?1 + 1"
		      "  AND d.device LIKE 'gpu:%' AND r.replicas = 1"
		      "  AND NOT EXISTS (SELECT 1 FROM events WHERE job_id IS NULL"
		      "   AND kind = '" RETRY "' AND text = d.device AND time_s >= r.end_time_s)"
		      "  AND NOT EXISTS (SELECT 1 FROM commands c JOIN environments e"
		      "   ON e.id = c.environment_id WHERE c.job_id = r.job_id"
		      "   AND instr(e.env, CAST('CUDA_VISIBLE_DEVICES=' AS BLOB)) > 0)"
		      "  AND NOT EXISTS (SELECT 1 FROM runs w JOIN run_devices v ON v.run_id = w.id"
		      "   WHERE w.id > (SELECT max(id) FROM runs) - 2000 AND v.device = d.device"
		      "   AND ((w.outcome = 'completed' AND w.end_time_s >= r.end_time_s)"
		      "    OR (w.launch_time_s >= r.end_time_s AND (w.first_step_s IS NOT NULL"
		      "     OR w.duration_s >= " SQL_NUMBER(ASIDE_DIED_WITHIN_S) ")))))"
		      " SELECT device, max(at) + ?3 FROM died t WHERE NOT EXISTS"
		      "  (SELECT 1 FROM died o WHERE o.job = t.job AND o.device <> t.device)"
		      " GROUP BY device HAVING count(*) >= 2",
		      "dtd", clock_wall_s(), clock_boot_id(), (double)ASIDE_S))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		struct aside *a;

		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		a = &list->items[list->count++];
		sql_chars(q, 0, a->device, sizeof(a->device));
		a->until_s = sql_double(q, 1);
	}
	sql_done(q);
	if (rc < 0)
		aside_list_release(list);
	return rc;
}

void aside_list_release(struct aside_list *list)
{
	free(list->items);
	*list = (struct aside_list){ 0 };
}

double aside_until_s(const struct aside_list *list, const char *device)
{
	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].device, device))
			return list->items[i].until_s;
	return NAN;
}

int store_aside_retry(struct store *s, const char *device, struct err *err)
{
	return store_event_add(s, 0, 0, RETRY, device, err);
}

bool run_died_of_cuda(const struct run *run)
{
	return run->outcome == OUTCOME_FAILED && run->duration_s < ASIDE_DIED_WITHIN_S &&
	       run->diagnosis && text_starts_with(run->diagnosis, CUDA_DOES_NOT_START) &&
	       run->configuration.replicas > 0 && text_starts_with(run->devices[0].id, "gpu:");
}

int store_aside_forgives(struct store *s, const struct run *run, bool *forgives, struct err *err)
{
	*forgives = false;
	if (!run_died_of_cuda(run))
		return 0;
	return sql_get(s, err, "SELECT 1 FROM jobs j WHERE id = ?1 AND profile = 0"
		       " AND interactive = 0 AND (SELECT count(*) FROM runs WHERE job_id = ?1"
		       "  AND id <> ?2 AND number > j.forgiven_runs AND" DIED ") < ?3", "b<iii",
		       forgives, run->job_id, run->id, (int64_t)ASIDE_FORGIVEN);
}

int store_aside_tell(struct store *s, const struct run *run, struct err *err)
{
	struct aside_list list;
	int rc = 0;

	if (!run_died_of_cuda(run))
		return 0;
	if (store_aside_list(s, &list, err))
		return -1;
	for (int i = 0; rc == 0 && i < run->configuration.replicas; i++) {
		const char *device = run->devices[i].id;
		char *text;

		if (isnan(aside_until_s(&list, device)))
			continue;
		text = xasprintf("%s is set aside for an hour: CUDA does not start there", device);
		rc = store_event_add(s, run->job_id, run->id, "gpu-aside", text, err);
		free(text);
	}
	aside_list_release(&list);
	return rc;
}
