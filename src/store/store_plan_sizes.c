/* store_plan_sizes.c - what runs of a workload under a plan tried, with their peaks of memory. */
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "rows.h"

#define SIZES_MAX "64"

static struct plan_size read_size(sqlite3_stmt *q)
{
	return (struct plan_size){
		.configuration = configuration_make((int)sql_int(q, 0, 1), sql_int(q, 1, 0),
						    (int)sql_int(q, 2, 1)),
		.step_time_s = sql_double(q, 3),
		.device_bytes = sql_int(q, 4, 0), .host_bytes = sql_int(q, 5, 0),
		.out_of_memory = sql_int(q, 6, 0) != 0,
	};
}

int store_plan_sizes(struct store *s, const char *workload, const char *device_kind,
		     struct plan_size_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct plan_size_list){ .items = NULL };
	if (sql_query(s, &q, err, "SELECT r.replicas,"
		      " coalesce(o.local_batch_size, r.local_batch_size) AS m,"
		      " coalesce(o.accumulation_steps, r.accumulation_steps) AS a,"
		      " sum(o.step_time_s * o.n_steps) / sum(o.n_steps),"
		      " max(r.peak_device_memory_bytes), max(r.peak_memory_bytes),"
		      " max(o.run_id IS NULL) FROM runs r LEFT JOIN observations o"
		      " ON o.run_id = r.id AND o.n_windows > 0 AND o.step_time_s > 0"
		      " WHERE r.id IN " SQL_NEWEST_RUNS("?1") " AND EXISTS (SELECT 1 FROM"
		      " run_devices d WHERE d.run_id = r.id AND d.kind = ?2)"
		      " AND (o.run_id IS NOT NULL OR r.out_of_memory = 1)"
		      " AND (r.forgotten & 2) = 0"
		      " GROUP BY r.replicas, m, a ORDER BY r.replicas, m, a LIMIT " SIZES_MAX, "tt",
		      workload, device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = read_size(q);
	}
	sql_done(q);
	return rc;
}
