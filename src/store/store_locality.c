/* store_locality.c - see pollux/store_locality.h. */
#include "pollux/store_locality.h"

#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "sql.h"

static int tier_named(const char *name)
{
	for (int t = TIER_FAST; name && t < CONFIGURATION_TIERS; t++)
		if (!strcmp(name, configuration_tier_names.names[t]))
			return t - TIER_FAST;
	return TIER_NONE;
}

int store_locality_list(struct store *s, struct tier_past **list, int *n, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = NULL;
	*n = 0;
	if (sql_query(s, &q, err, "SELECT time_s, replicas, tier, wait_s FROM locality_waits", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		char *tier = sql_text(q, 2);

		*list = xgrow(*list, *n, sizeof(**list));
		(*list)[(*n)++] = (struct tier_past){
			.time_s = sql_double(q, 0), .replicas = (int)sql_int(q, 1, 0),
			.tier = tier_named(tier), .wait_s = sql_double(q, 3),
		};
		free(tier);
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
