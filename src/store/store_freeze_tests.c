/* store_freeze_tests.c - which devices passed the self-test of freezes, and with which driver. */
#include <math.h>

#include "pollux/clock.h"
#include "pollux/store_freeze_tests.h"
#include "sql.h"

int store_freeze_test_set(struct store *s, const struct device *device, const char *driver,
			  const struct freeze_test *t, const char *why, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO freeze_tests (device, driver, kind,"
		       " time_s, passed, reason, bytes, freeze_s, thaw_s)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "tttditidd",
		       device->id, driver, device->kind, clock_wall_s(), (int64_t)(t != NULL),
		       t ? "" : why, t ? t->released_bytes : (int64_t)0,
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
	sqlite3_stmt *q;
	int rc;

	*tested = (struct freeze_tested){ 0 };
	if (sql_query(s, &q, err, "SELECT passed, bytes, freeze_s, thaw_s, time_s FROM freeze_tests"
		      " WHERE device = ? AND driver = ?", "tt", device_id, driver))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		tested->known = true;
		tested->passed = sql_int(q, 0, 0) != 0;
		tested->bytes = sql_int(q, 1, 0);
		tested->freeze_s = sql_double(q, 2);
		tested->thaw_s = sql_double(q, 3);
		tested->time_s = sql_double(q, 4);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}
