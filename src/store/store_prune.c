/* store_prune.c - which ended jobs may be removed, and on whose records models rest. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_prune.h"
#include "pollux/text.h"
#include "rows.h"

#define LENGTHS_OF "20"		/* as store_measurements.c reads them */

/* True (in SQL) if nothing that runs or waits can need the job. */
#define UNNEEDED \
	"state IN ('done', 'failed', 'cancelled', 'timeout')" \
	" AND NOT EXISTS (SELECT 1 FROM runs WHERE job_id = jobs.id AND state <> 'ended')" \
	" AND NOT EXISTS (SELECT 1 FROM dependencies d JOIN jobs w ON w.id = d.job_id" \
	"  WHERE d.after_id = jobs.id AND w.state IN ('queued', 'held', 'running'))"

#define MODEL_RESTS \
	"EXISTS (SELECT 1 FROM runs r WHERE r.job_id = jobs.id AND r.id IN " \
	SQL_NEWEST_RUNS("r.workload") ")" \
	" OR id IN (SELECT l.id FROM jobs l WHERE l.workload = jobs.workload" \
	"  AND l.state = 'done' AND l.profile = 0 AND l.samples > 0 ORDER BY l.id DESC" \
	"  LIMIT " LENGTHS_OF ")"

static void add_states(struct text *sql, const bool states[N_JOB_STATES])
{
	const char *between = "";

	text_add(sql, " AND state IN (");
	for (int i = 0; i < N_JOB_STATES; i++) {
		if (!states[i])
			continue;
		text_addf(sql, "%s'%s'", between, job_state_name((enum job_state)i));
		between = ", ";
	}
	text_add(sql, ")");
}

int store_prunable_jobs(struct store *s, const bool states[N_JOB_STATES], double before_time_s,
			int64_t keep_last, struct prunable_list *list, struct err *err)
{
	struct text sql = TEXT_INIT;
	sqlite3_stmt *q;
	int rc;

	*list = (struct prunable_list){ 0 };
	text_add(&sql, "SELECT id, state, name, end_time_s, " MODEL_RESTS ","
		 " EXISTS (SELECT 1 FROM commands c WHERE c.job_id = jobs.id"
		 "  AND c.snapshot_dir IS NOT NULL) FROM jobs WHERE " UNNEEDED
		 " AND end_time_s <= ?");
	add_states(&sql, states);
	text_add(&sql, " ORDER BY end_time_s DESC, id DESC LIMIT -1 OFFSET ?");
	rc = sql_query(s, &q, err, sql.data, "di", before_time_s, keep_last);
	text_release(&sql);
	if (rc)
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		char *state = sql_text(q, 1);

		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = (struct prunable){
			.id = sql_int(q, 0, 0), .state = (enum job_state)job_state_parse(state),
			.name = sql_text(q, 2), .end_time_s = sql_double(q, 3),
			.model_rests = sql_int(q, 4, 0) != 0,
			.has_snapshot = sql_int(q, 5, 0) != 0,
		};
		free(state);
	}
	sql_done(q);
	if (rc)
		prunable_list_release(list);
	return rc;
}

void prunable_list_release(struct prunable_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct prunable_list){ 0 };
}

int store_job_is_prunable(struct store *s, int64_t id, bool *prunable, struct err *err)
{
	int64_t answer;
	int rc = sql_ask(s, &answer, err, "SELECT 1 FROM jobs WHERE id = ? AND " UNNEEDED, "i",
			 id);

	*prunable = answer == 1;
	return rc;
}

int store_job_delete(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM jobs WHERE id = ?", "i", id);
}
