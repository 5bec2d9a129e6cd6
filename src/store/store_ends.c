/* store_ends.c - each end of a job is told once. The trigger job_lives_again (schema.c) makes a job
 * that was queued again one whose end is yet to be told. */
#include "pollux/store_ends.h"
#include "sql.h"

#define UNTOLD \
	" end_told = 0 AND state IN ('done', 'failed', 'cancelled', 'timeout')"

static int read_untold(struct store *s, bool all, struct id_list *ids, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT id FROM jobs WHERE" UNTOLD " AND profile = 0"
		      " AND (?1 OR on_end IS NOT NULL) ORDER BY id", "i", (int64_t)all))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		id_list_add(ids, sql_int(q, 0, 0));
	sql_done(q);
	return rc;
}

static int take(struct store *s, bool all, struct id_list *ids, struct err *err)
{
	return read_untold(s, all, ids, err) ||
	       sql_run(s, NULL, err, "UPDATE jobs SET end_told = 1 WHERE" UNTOLD, "") ? -1 : 0;
}

int store_ends_take(struct store *s, bool all, struct id_list *ids, struct err *err)
{
	int64_t any = 0;

	*ids = (struct id_list){ .count = 0 };
	if (sql_ask(s, &any, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE" UNTOLD ")", ""))
		return -1;
	if (!any)
		return 0;
	if (store_begin(s, err))
		return -1;
	if (take(s, all, ids, err)) {
		store_rollback(s);
		id_list_release(ids);
		return -1;
	}
	return store_commit(s, err);
}
