/* run_devices.c - the rows of a run's devices. */
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "run_devices.h"
#include "sql.h"

int run_devices_read(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc, n = 0;

	free(run->devices);
	run->devices = xcalloc((size_t)run->configuration.replicas, sizeof(*run->devices));
	if (sql_query(s, &q, err, "SELECT device, kind, binding, cores, node, seat FROM run_devices"
		      " WHERE run_id = ? ORDER BY position", "i", run->id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1 && n < run->configuration.replicas) {
		struct device *d = &run->devices[n++];

		snprintf(d->id, sizeof(d->id), "%s", (const char *)sqlite3_column_text(q, 0));
		snprintf(d->kind, sizeof(d->kind), "%s", (const char *)sqlite3_column_text(q, 1));
		snprintf(d->binding, sizeof(d->binding), "%s",
			 (const char *)sqlite3_column_text(q, 2));
		d->cores = (int)sql_int(q, 3, 1);
		snprintf(d->node, sizeof(d->node), "%s", (const char *)sqlite3_column_text(q, 4));
		d->seat = (int)sql_int(q, 5, 0);
		d->usable = true;
		d->now = DEVICE_READING_UNKNOWN;
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int run_devices_add(struct store *s, const struct run *run, struct err *err)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		const struct device *d = &run->devices[i];

		if (sql_run(s, NULL, err, "INSERT INTO run_devices (run_id, position, device, kind,"
			    " binding, cores, node, seat) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			    "iitttiti",
			    run->id, (int64_t)i, d->id, d->kind, d->binding, (int64_t)d->cores,
			    d->node, (int64_t)d->seat))
			return -1;
	}
	return 0;
}

int run_devices_replace(struct store *s, const struct run *run, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM run_devices WHERE run_id = ?", "i", run->id) ||
	       run_devices_add(s, run, err) ? -1 : 0;
}

int run_devices_set_in_use(struct store *s, int64_t run_id, bool in_use, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE run_devices SET in_use = ? WHERE run_id = ?", "ii",
		       (int64_t)in_use, run_id);
}

int run_devices_are_free(struct store *s, int64_t run_id, bool *free, struct err *err)
{
	int64_t answer;

	if (sql_ask(s, &answer, err, "SELECT NOT EXISTS (SELECT 1 FROM run_devices mine"
		    " JOIN run_devices used ON used.node = mine.node"
		    " AND used.device = mine.device AND used.in_use = 1"
		    " AND (used.seat = mine.seat OR used.seat = 0 OR mine.seat = 0)"
		    " WHERE mine.run_id = ?)", "i", run_id))
		return -1;
	*free = answer;
	return 0;
}
