/* store_share.c - see store_measurements.h. */
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "sql.h"

/* A run that was not seen to do a step for so long tells no steps. Until then it starts. */
#define START_S "60"

/* The others on the device of run ?1. */
#define OTHERS \
	"FROM run_devices mine JOIN run_devices used ON used.node = mine.node" \
	" AND used.device = mine.device AND used.in_use = 1 AND used.run_id <> mine.run_id" \
	" JOIN runs o ON o.id = used.run_id WHERE mine.run_id = ?1"

int store_share_beside(struct store *s, int64_t run_id, char *beside, size_t size,
		       struct err *err)
{
	return sql_get(s, err, "SELECT CASE WHEN count(*) = 0 THEN '' WHEN count(*) = 1"
		       " AND NOT max(o.first_step_s IS NULL AND o.launch_boot_s > ?2 - " START_S ")"
		       " THEN max(o.workload) ELSE '*' END " OTHERS, "c<id", beside, size, run_id,
		       clock_boot_s());
}

int store_share_count(struct store *s, int64_t run_id, int64_t *count, struct err *err)
{
	return sql_get(s, err, "SELECT count(*) " OTHERS, "i<i", count, run_id);
}

int store_share_put(struct store *s, const struct run *run, const char *beside,
		    const struct observation *o, struct err *err)
{
	if (!(o->step_time_s > 0))
		return 0;
	return sql_run(s, NULL, err, "INSERT INTO steps_beside (run_id, beside, local_batch_size,"
		       " accumulation_steps, n_steps, n_windows, step_time_s)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
		       " n_steps = excluded.n_steps, n_windows = excluded.n_windows,"
		       " step_time_s = excluded.step_time_s", "itiiiid", run->id, beside,
		       run->configuration.local_batch_size,
		       (int64_t)run->configuration.accumulation_steps, o->n_steps, o->n_windows,
		       o->step_time_s);
}

/* Step times on one device of its own, by configuration. */
#define ALONE \
	"alone AS (SELECT local_batch_size AS l, accumulation_steps AS a," \
	" sum(n_windows * step_time_s) / sum(n_windows) AS t FROM observations" \
	" WHERE run_id IN " SQL_NEWEST_RUNS("?1") " AND device_kind = ?2 AND replicas = 1" \
	" AND n_windows > 0 GROUP BY l, a)"
#define BESIDE \
	"beside AS (SELECT b.local_batch_size AS l, b.accumulation_steps AS a," \
	" sum(b.n_windows) AS n, sum(b.n_windows * b.step_time_s) / sum(b.n_windows) AS t" \
	" FROM steps_beside b WHERE b.run_id IN " SQL_NEWEST_RUNS("?1") " AND b.beside = ?3" \
	" AND b.n_windows > 0 AND EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = b.run_id" \
	"  AND d.kind = ?2) GROUP BY 1, 2)"

int store_share_windows_alone(struct store *s, const char *workload, const char *device_kind,
			      int64_t *windows, struct err *err)
{
	return sql_get(s, err, "SELECT sum(n_windows) FROM observations WHERE run_id IN "
		       SQL_NEWEST_RUNS("?1") " AND device_kind = ?2 AND replicas = 1", "i<tt",
		       windows, workload, device_kind);
}

int store_share_factor(struct store *s, const char *workload, const char *beside,
		       const char *device_kind, struct share_factor *f, struct err *err)
{
	int64_t alone = 0;
	int rc = store_share_windows_alone(s, workload, device_kind, &alone, err) ||
		 sql_get(s, err, "SELECT 1 FROM apart WHERE workload = ?1 AND device_kind = ?2"
			 " AND beside = ?3", "b<ttt", &f->out_of_memory, workload, device_kind,
			 beside) ||
		 sql_get(s, err, "WITH " ALONE ", " BESIDE
			 " SELECT sum(n * alone.t / beside.t) / sum(n), sum(n),"
			 " sum(n * alone.t) / sum(n), sum(n * beside.t) / sum(n)"
			 " FROM beside JOIN alone USING (l, a)", "didd<ttt", &f->relative,
			 &f->n_windows, &f->alone_s, &f->beside_s, workload, device_kind, beside);

	f->was_alone = alone > 0;
	return rc ? -1 : 0;
}

int store_share_memory(struct store *s, const char *workload, int64_t *bytes, struct err *err)
{
	return sql_get(s, err, "SELECT max(peak_memory_bytes) FROM runs"
		       " WHERE (forgotten & 2) = 0 AND id IN "
		       SQL_NEWEST_RUNS("?1"), "i<t", bytes, workload);
}

/* Runs that run out of memory beside each other end together: one of them ends first. Its end, or
 * the pair that it wrote, is new for the others for this long. */
#define TOGETHER_S "30"

int store_share_keep_apart(struct store *s, const struct run *run, bool *news, struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err, "INSERT INTO apart (workload, beside, device_kind,"
			 " time_s) SELECT me.workload, o.workload, mine.kind, ?2"
			 " FROM runs me JOIN run_devices mine ON mine.run_id = me.id"
			 " JOIN run_devices used ON used.node = mine.node"
			 "  AND used.device = mine.device AND used.run_id <> mine.run_id"
			 " JOIN runs o ON o.id = used.run_id WHERE me.id = ?1"
			 "  AND (used.in_use = 1 OR (used.seat > 0 AND o.job_id <> me.job_id"
			 "   AND o.end_time_s > ?2 - " TOGETHER_S
			 "   AND o.end_time_s > me.launch_time_s))"
			 " ON CONFLICT DO UPDATE SET time_s = apart.time_s"
			 "  WHERE apart.time_s > ?2 - " TOGETHER_S, "id", run->id, clock_wall_s());

	*news = rc == 0 && changed > 0;
	return rc;
}

int store_share_pairs(struct store *s, const char *workload, const char *device_kind,
		      struct share_pair_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct share_pair_list){ 0 };
	if (sql_query(s, &q, err, "SELECT beside FROM steps_beside WHERE run_id IN "
		      SQL_NEWEST_RUNS("?1")
		      " UNION SELECT r.workload FROM steps_beside b JOIN runs r ON r.id = b.run_id"
		      "  WHERE b.beside = ?1"
		      " UNION SELECT beside FROM apart WHERE workload = ?1 AND device_kind = ?2"
		      " UNION SELECT workload FROM apart WHERE beside = ?1 AND device_kind = ?2"
		      " LIMIT 100", "tt", workload, device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = (struct share_pair){ .beside = sql_text(q, 0) };
	}
	sql_done(q);
	for (int i = 0; rc == 0 && i < list->count; i++) {
		struct share_pair *p = &list->items[i];

		rc = store_share_factor(s, workload, p->beside, device_kind, &p->own, err) ||
		     store_share_factor(s, p->beside, workload, device_kind, &p->other, err);
	}
	if (rc)
		share_pair_list_release(list);
	return rc ? -1 : 0;
}

void share_pair_list_release(struct share_pair_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->items[i].beside);
	free(list->items);
	*list = (struct share_pair_list){ 0 };
}
