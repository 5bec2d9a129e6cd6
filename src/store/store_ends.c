/* store_ends.c - each end of a job is told once. If a job is queued again, the trigger
 * job_lives_again (schema.c) marks its next end as not told. */
#include "pollux/store_ends.h"
#include "sql.h"

#define UNTOLD \
	" end_told = 0 AND state IN ('done', 'failed', 'cancelled', 'timeout')"
#define WANTED " (profile = 0 AND (?1 OR on_end IS NOT NULL))"

int store_ends_left(struct store *s, bool all, bool *left, struct err *err)
{
	int64_t wanted = 0, others = 0;

	*left = false;
	if (sql_ask(s, &wanted, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE" UNTOLD " AND" WANTED
		    ")", "i", (int64_t)all) ||
	    sql_ask(s, &others, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE" UNTOLD
		    " AND NOT" WANTED ")", "i", (int64_t)all))
		return -1;
	if (others && sql_run(s, NULL, err, "UPDATE jobs SET end_told = 1 WHERE" UNTOLD " AND NOT"
			      WANTED, "i", (int64_t)all))
		return -1;
	*left = wanted != 0;
	return 0;
}

static int take_end(struct store *s, bool all, int64_t *id, struct err *err)
{
	if (sql_ask(s, id, err, "SELECT min(id) FROM jobs WHERE" UNTOLD " AND" WANTED, "i",
		    (int64_t)all))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET end_told = 1 WHERE id = ?", "i", *id);
}

int store_ends_take(struct store *s, bool all, int64_t *id, struct err *err)
{
	*id = 0;
	if (store_begin(s, err))
		return -1;
	if (take_end(s, all, id, err)) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}
