/* store_gradients.c - the gradient statistics that the jobs of a workload have reported. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "sql.h"

static struct configuration read_configuration(sqlite3_stmt *q)
{
	struct configuration c = {
		.replicas = (int)sql_int(q, 2, 1), .accumulation_steps = (int)sql_int(q, 3, 1),
	};

	if (c.replicas > 0 && c.accumulation_steps > 0)
		c.local_batch_size = sql_int(q, 5, 0) / c.replicas / c.accumulation_steps;
	return c;
}

static struct gradient_row read_gradient(sqlite3_stmt *q)
{
	return (struct gradient_row){
		.run_id = sql_int(q, 0, 0), .job_id = sql_int(q, 1, 0),
		.window = {
			.window = (int)sql_int(q, 4, 0), .configuration = read_configuration(q),
			.first_samples = sql_double(q, 6), .last_samples = sql_double(q, 7),
			.n = sql_int(q, 8, 0), .sum_grad_sqr = sql_double(q, 9),
			.sum_grad_var = sql_double(q, 10), .m2_grad_sqr = sql_double(q, 11),
			.m2_grad_var = sql_double(q, 12), .entries = sql_int(q, 13, 0),
			.cross_grad = sql_double(q, 14),
		},
	};
}

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
	sqlite3_stmt *q;
	int rc;

	*list = (struct gradient_list){ 0 };
	if (sql_query(s, &q, err, "SELECT g.run_id, r.job_id, r.replicas,"
		      " coalesce(g.accumulation_steps, r.accumulation_steps), g.window,"
		      " g.batch_size, g.first_samples, g.last_samples, g.n, g.sum_grad_sqr,"
		      " g.sum_grad_var, g.m2_grad_sqr, g.m2_grad_var, g.entries, g.cross_grad"
		      " FROM gradient_statistics g CROSS JOIN runs r ON r.id = g.run_id"
		      " WHERE g.run_id IN " SQL_NEWEST_RUNS("?")
		      " ORDER BY g.run_id DESC, g.window DESC LIMIT ?", "ti", workload,
		      (int64_t)STORE_GRADIENTS_MAX))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = read_gradient(q);
	}
	sql_done(q);
	if (rc < 0)
		gradient_list_release(list);
	reverse(list->items, list->count);
	return rc;
}

void gradient_list_release(struct gradient_list *list)
{
	free(list->items);
	*list = (struct gradient_list){ 0 };
}
