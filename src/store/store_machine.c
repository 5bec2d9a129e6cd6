/* store_machine.c - what is kept of the machine: devices of profiles, tests of freezing, processes
 * of others, waits. */
#include <math.h>
#include <stdlib.h>

#include "columns.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"
#include "rows.h"

/* --- devices of profiles --- */

#define ROW struct reserved_device
static const struct store_column of_reserved[] = {
	C("job_id", INT64, job_id, KNOWN, 0),
	CHARS("device", device.id, NOT_NULL),
	CHARS("kind", device.kind, NOT_NULL),
	CHARS("binding", device.binding, NOT_NULL),
	C("cores", INT, device.cores, KNOWN, 0),
};
static const struct store_columns reserved_columns = COLUMNS(of_reserved);
static const struct store_table reserved_table = {
	"reserved_devices", sizeof(ROW), { { .columns = &reserved_columns } },
};
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
	return rows_list(s, ALL_OF(reserved_table), &initial, list, err, "ORDER BY job_id, device",
			 "");
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
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO freeze_tests (device, driver, kind,"
		       " time_s, passed, reason, bytes, freeze_s, thaw_s)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "tttditidd",
		       device->id, driver, device->kind, clock_wall_s(), (int64_t)(t != NULL),
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
