/* store_gradients.c - the gradient statistics that the jobs of a workload have reported. */
#include <stdlib.h>
#include <string.h>

#include "pollux/execution_plan.h"
#include "rows.h"

static void reverse(struct gradient_row *rows, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct gradient_row row = rows[i];

		rows[i] = rows[n - 1 - i];
		rows[n - 1 - i] = row;
	}
}

/* The noise scale does not depend on the plan. */
#define OF_ALL_PLANS \
	"(SELECT n.id FROM runs n WHERE n.workload = ?1 OR (" SQL_OF_PLANS("n.workload", "?1") ")" \
	" ORDER BY n.id DESC LIMIT " SQL_NUMBER(STORE_RUNS_MAX) ")"
#define NEWEST " ORDER BY run_id DESC, window DESC LIMIT ?2"

int store_gradients_of_workload(struct store *s, const char *workload, struct gradient_list *list,
				struct err *err)
{
	bool has_plan = strstr(workload, PLAN_SEPARATOR) != NULL;
	char *base = execution_plan_base(workload);
	struct read_rows all;
	sqlite3_stmt *q;
	int rc;

	*list = (struct gradient_list){ 0 };
	rc = rows_query(s, &q, err, ALL_OF(gradients_table), has_plan
			? "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN " OF_ALL_PLANS NEWEST
			: "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN "
			  SQL_NEWEST_RUNS("?1") NEWEST, "ti", base, (int64_t)STORE_GRADIENTS_MAX);
	if (rc) {
		free(base);
		return -1;
	}
	all = rows_read_all(s, q, ALL_OF(gradients_table), NULL, err);
	free(base);		/* bound to the query until here */
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
