/* store_memory.c - which local batches of a workload did not fit into memory, and which did. */
#include "sql.h"

/* What fitted for this long makes one run that did not an accident, windows being seconds apart. */
#define FITTED_WINDOWS 100

/* The older of two contradicting runs loses: what ran out of memory once, beside another program say, and
 * was measured since, fits. But since the size is not tried again then, a single one that ran out loses against
 * older ones that fitted for long, too. By the index of those that ran out, of which there are few. */
static int read_too_large(struct store *s, const char *workload, const char *device_kind,
			  int64_t *too_large, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*too_large = 0;
	if (sql_query(s, &q, err, "WITH fits AS (SELECT o.run_id, o.local_batch_size AS size, o.n_windows"
		      "  FROM observations o WHERE o.run_id IN " SQL_NEWEST_RUNS("?1")
		      "  AND o.device_kind = ?2),"
		      " ran_out AS (SELECT r.id, r.local_batch_size AS size FROM runs r"
		      "  WHERE r.workload = ?1 AND r.out_of_memory = 1"
		      "  AND EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = r.id AND d.kind = ?2))"
		      " SELECT min(r.size) FROM ran_out r WHERE NOT EXISTS"
		      "  (SELECT 1 FROM fits f WHERE f.size >= r.size AND f.run_id > r.id)"
		      " AND ((SELECT total(n_windows) FROM fits f WHERE f.size >= r.size)"
		      "   < " SQL_NUMBER(FITTED_WINDOWS)
		      "  OR EXISTS (SELECT 1 FROM ran_out n WHERE n.id <> r.id AND n.size <= r.size"
		      "   AND n.id > (SELECT max(f.run_id) FROM fits f WHERE f.size >= r.size)))", "tt",
		      workload, device_kind))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*too_large = sql_int(q, 0, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

static int read_fits(struct store *s, const char *workload, const char *device_kind,
		     struct memory_limit *limit, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT max(local_batch_size) FROM observations o WHERE o.run_id IN "
		      SQL_NEWEST_RUNS("?") " AND o.device_kind = ? AND o.local_batch_size < ?", "tti",
		      workload, device_kind, limit->too_large))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		limit->fits = sql_int(q, 0, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_memory_limit(struct store *s, const char *workload, const char *device_kind,
		       struct memory_limit *limit, struct err *err)
{
	*limit = (struct memory_limit){ 0 };
	if (read_too_large(s, workload, device_kind, &limit->too_large, err))
		return -1;
	return limit->too_large ? read_fits(s, workload, device_kind, limit, err) : 0;
}
