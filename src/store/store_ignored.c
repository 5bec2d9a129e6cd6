/* store_ignored.c - processes that a person said may stay on a GPU that is given out. */
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_ignored.h"
#include "sql.h"

int store_ignored_add(struct store *s, const struct ignored_process *process, struct err *err)
{
	const char *boot_id = clock_boot_id();

	if (sql_run(s, NULL, err, "DELETE FROM ignored_processes WHERE boot_id <> ?", "t", boot_id))
		return -1;
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO ignored_processes"
		       " (pid, start_ticks, boot_id, ignored_time_s) VALUES (?, ?, ?, ?)", "iitd",
		       process->pid, process->start_ticks, boot_id, clock_wall_s());
}

int store_ignored_remove(struct store *s, int64_t pid, bool *was_there, struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err, "DELETE FROM ignored_processes WHERE pid = ?", "i", pid);

	*was_there = changed > 0;
	return rc;
}

int store_ignored_list(struct store *s, struct ignored_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct ignored_list){ 0 };
	if (sql_query(s, &q, err, "SELECT pid, start_ticks FROM ignored_processes WHERE boot_id = ?"
		      " ORDER BY pid", "t", clock_boot_id()))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] =
			(struct ignored_process){ sql_int(q, 0, 0), sql_int(q, 1, 0) };
	}
	sql_done(q);
	if (rc < 0)
		ignored_list_release(list);
	return rc;
}

void ignored_list_release(struct ignored_list *list)
{
	free(list->items);
	*list = (struct ignored_list){ 0 };
}
