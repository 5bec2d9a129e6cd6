/* store_profiles.c - profiles that have not ended, and the devices that they keep between their
 * runs. */
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_profiles.h"
#include "sql.h"

int store_device_reserve(struct store *s, int64_t job_id, const struct device *d, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO reserved_devices (device, job_id, kind,"
		       " binding, cores)"
		       " VALUES (?, ?, ?, ?, ?)", "titti", d->id, job_id, d->kind, d->binding,
		       (int64_t)d->cores);
}

int store_devices_release(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM reserved_devices WHERE job_id = ?", "i", job_id);
}

static void read_reserved(sqlite3_stmt *q, struct reserved_device *r)
{
	*r = (struct reserved_device){
		.job_id = sql_int(q, 0, 0),
		.device = { .cores = (int)sql_int(q, 4, 1), .usable = true },
	};
	snprintf(r->device.id, sizeof(r->device.id), "%s", (const char *)sqlite3_column_text(q, 1));
	snprintf(r->device.kind, sizeof(r->device.kind), "%s",
		 (const char *)sqlite3_column_text(q, 2));
	snprintf(r->device.binding, sizeof(r->device.binding), "%s",
		 (const char *)sqlite3_column_text(q, 3));
}

int store_reserved_list(struct store *s, struct reserved_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct reserved_list){ 0 };
	if (sql_query(s, &q, err, "SELECT job_id, device, kind, binding, cores FROM"
		      " reserved_devices"
		      " ORDER BY job_id, device", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		read_reserved(q, &list->items[list->count++]);
	}
	sql_done(q);
	if (rc < 0)
		reserved_list_release(list);
	return rc;
}

void reserved_list_release(struct reserved_list *list)
{
	free(list->items);
	*list = (struct reserved_list){ 0 };
}

int store_profile_killed(struct store *s, int64_t job_id, struct text *reason, struct err *err)
{
	int64_t n;

	if (sql_ask(s, &n, err, "SELECT count(DISTINCT o.run_id) FROM observations o"
		    " JOIN runs r ON r.id = o.run_id WHERE r.job_id = ? AND o.n_windows > 0",
		    "i", job_id))
		return -1;
	text_addf(reason, "the profile was killed; %lld point%s measured", (long long)n,
		  n == 1 ? "" : "s");
	return 0;
}
