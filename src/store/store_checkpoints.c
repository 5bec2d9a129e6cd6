/* store_checkpoints.c - see store_checkpoints.h. */
#include "pollux/store_checkpoints.h"

#include <stdlib.h>

#include "pollux/mem.h"
#include "sql.h"

#define DIRECTORIES "SELECT j.id, CAST(c.checkpoint_dir AS TEXT)," \
	" CAST(c.checkpoint_glob AS TEXT), j.state FROM jobs j" \
	" CROSS JOIN commands c ON c.job_id = j.id WHERE c.checkpoint_dir IS NOT NULL"

static int list_directories(struct store *s, const char *sql, struct job_directory_list *list,
			    struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct job_directory_list){ 0 };
	if (sql_query(s, &q, err, sql, ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = (struct job_directory){
			.job_id = sql_int(q, 0, 0), .path = sql_text(q, 1),
			.glob = sql_text_or_null(q, 2),
			.state = (enum job_state)
				 job_state_parse((const char *)sqlite3_column_text(q, 3)),
		};
	}
	sql_done(q);
	if (rc)
		job_directory_list_release(list);
	return rc;
}

int store_checkpoint_dirs(struct store *s, struct job_directory_list *list, struct err *err)
{
	return list_directories(s, DIRECTORIES " AND j.state = 'queued' ORDER BY j.id", list, err);
}

int store_checkpoint_dirs_in_use(struct store *s, struct job_directory_list *list,
				 struct err *err)
{
	return list_directories(s, DIRECTORIES " AND j.state IN ('queued', 'held', 'running')"
				" AND j.profile = 0 ORDER BY j.id", list, err);
}

void job_directory_list_release(struct job_directory_list *list)
{
	for (int i = 0; i < list->count; i++) {
		free(list->items[i].path);
		free(list->items[i].glob);
	}
	free(list->items);
	*list = (struct job_directory_list){ 0 };
}

/* A job with the rule "any" may start while others of its list still run. */
int store_jobs_in_turn_with(struct store *s, int64_t id, struct id_list *ids, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*ids = (struct id_list){ 0 };
	if (sql_query(s, &q, err, "WITH RECURSIVE"
		      " sure (job_id, after_id) AS MATERIALIZED"
		      "  (SELECT job_id, after_id FROM dependencies WHERE rule <> 'any'),"
		      " earlier (id) AS (SELECT after_id FROM sure WHERE job_id = ?1 UNION"
		      "  SELECT after_id FROM earlier JOIN sure ON job_id = id),"
		      " later (id) AS (SELECT job_id FROM sure WHERE after_id = ?1 UNION"
		      "  SELECT job_id FROM later JOIN sure ON after_id = id)"
		      " SELECT id FROM earlier UNION SELECT id FROM later ORDER BY id", "i", id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		id_list_add(ids, sql_int(q, 0, 0));
	sql_done(q);
	return rc;
}
