/* store_gradients.c - the gradient statistics that the jobs of a workload have reported. */
#include <stdlib.h>

#include "rows.h"

static void reverse(struct gradient_row *rows, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct gradient_row row = rows[i];

		rows[i] = rows[n - 1 - i];
		rows[n - 1 - i] = row;
	}
}

int store_gradients_of_workload(struct store *s, const char *workload, struct gradient_list *list,
				struct err *err)
{
	struct read_rows all;
	sqlite3_stmt *q;

	*list = (struct gradient_list){ 0 };
	if (rows_query(s, &q, err, ALL_OF(gradients_table),
		       "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN "
		       SQL_NEWEST_RUNS("?") " ORDER BY run_id DESC, window DESC LIMIT ?", "ti",
		       workload, (int64_t)STORE_GRADIENTS_MAX))
		return -1;
	all = rows_read_all(s, q, &gradients_table, NULL, err);
	*list = (struct gradient_list){ all.items, all.count };
	if (all.rc)
		gradient_list_release(list);
	reverse(list->items, list->count);
	return all.rc;
}

int store_gradient_windows(struct store *s, int64_t run_id, int64_t *n, struct err *err)
{
	return sql_ask(s, n, err, "SELECT coalesce(max(window), -1) + 1 FROM gradient_statistics"
		       " WHERE run_id = ?", "i", run_id);
}

void gradient_list_release(struct gradient_list *list)
{
	free(list->items);
	*list = (struct gradient_list){ 0 };
}
