/* run_devices.c - the devices and nodes of a run, and the code that it runs. */
#include "journal.h"
#include "run_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "sql.h"

/* --- devices --- */

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

/* --- nodes --- */

#define NAMED 3

/* True if an earlier device of the run is on the same node. Devices of a node mostly stand
 * together. */
static bool is_on_earlier_node(const struct run *run, int device)
{
	for (int i = device - 1; i >= 0; i--)
		if (!strcmp(run->devices[i].node, run->devices[device].node))
			return true;
	return false;
}

bool run_is_elsewhere(const struct run *run)
{
	return run->devices && run->configuration.replicas > 0 && run->devices[0].node[0];
}

int run_n_nodes(const struct run *run)
{
	int n = 0;

	for (int i = 0; run->devices && i < run->configuration.replicas; i++)
		n += !is_on_earlier_node(run, i);
	return n > 0 ? n : 1;
}

void run_node_names(const struct run *run, struct strings *names)
{
	for (int i = 0; run->devices && i < run->configuration.replicas; i++)
		if (!is_on_earlier_node(run, i))
			strings_add(names, run->devices[i].node);
}

void run_add_nodes(const struct run *run, struct text *out)
{
	struct strings names = { 0 };
	size_t n;

	if (!run_is_elsewhere(run))
		return;
	run_node_names(run, &names);
	n = names.count > NAMED ? NAMED - 1 : names.count;
	for (size_t i = 0; i < n; i++)
		text_addf(out, "%s%s", !i ? "" : i + 1 == names.count ? " and " : ", ",
			  names.items[i]);
	if (n < names.count)
		text_addf(out, " and %zu more", names.count - n);
	strings_release(&names);
}

/* --- the code of a run --- */

int put_code(struct store *s, const struct told *t, struct err *err)
{
	const struct run *run = &t->run;

	if (sql_run(s, NULL, err, "UPDATE runs SET code_commit = ?, code_tree = ? WHERE id = ?",
		    "tti", run->code.commit, run->code.tree, run->id))
		return -1;
	return sql_run(s, NULL, err, "UPDATE commands SET first_commit = ?, first_tree = ?"
		       " WHERE job_id = ? AND first_tree IS NULL", "tti", run->code.commit,
		       run->code.tree, run->job_id);
}

int store_run_set_code(struct store *s, const struct run *run, struct err *err)
{
	return journal_put(s, RECORD_CODE, &(struct told){ .run = *run }, err);
}

int store_snapshot_is_needed(struct store *s, const char *dir, bool *needed, struct err *err)
{
	int64_t answer;
	int rc = sql_ask(s, &answer, err, "SELECT EXISTS (SELECT 1 FROM commands"
			 " WHERE snapshot_dir = CAST(? AS BLOB))", "t", dir);

	*needed = answer != 0;
	return rc;
}

int store_job_leave_snapshot(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE commands SET snapshot_dir = NULL WHERE job_id = ?"
		       " AND snapshot_dir IS NOT NULL", "i", job_id);
}
