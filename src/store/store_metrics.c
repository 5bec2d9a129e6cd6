/* store_metrics.c - the last, lowest and highest values of the metrics of jobs. */
#include <stdio.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_metrics.h"
#include "sql.h"

/* NULL is NaN: the last value in a row of its own; and lowest and highest where no value was
 * finite. */
int store_metric_set(struct store *s, int64_t job_id, const struct job_metric *m, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO job_metrics (job_id, name, last, samples, time_s,"
		       " lowest, lowest_samples, highest, highest_samples)"
		       " SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM job_metrics"
		       "  WHERE job_id = ? AND name <> ?) < ?"
		       " ON CONFLICT DO UPDATE SET last = excluded.last,"
		       " samples = excluded.samples, time_s = excluded.time_s,"
		       " lowest_samples = iif(excluded.lowest IS NULL OR lowest <= excluded.lowest,"
		       "  lowest_samples, excluded.lowest_samples),"
		       " lowest = iif(excluded.lowest IS NULL OR lowest <= excluded.lowest,"
		       "  lowest, excluded.lowest),"
		       " highest_samples = iif(excluded.highest IS NULL OR"
		       "  highest >= excluded.highest, highest_samples, excluded.highest_samples),"
		       " highest = iif(excluded.highest IS NULL OR highest >= excluded.highest,"
		       "  highest, excluded.highest)",
		       "itddddddditi", job_id, m->name, m->last, m->samples, clock_wall_s(),
		       m->lowest, m->lowest_samples, m->highest, m->highest_samples, job_id,
		       m->name, (int64_t)STORE_METRICS_MAX);
}

int store_metrics_of_job(struct store *s, int64_t job_id, struct job_metric_list *list,
			 struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct job_metric_list){ 0 };
	if (sql_query(s, &q, err, "SELECT name, last, samples, time_s,"
		      " lowest, lowest_samples, highest, highest_samples FROM job_metrics"
		      " WHERE job_id = ? ORDER BY name LIMIT ?", "ii", job_id,
		      (int64_t)STORE_METRICS_MAX))
		return -1;
	list->items = xcalloc(STORE_METRICS_MAX, sizeof(*list->items));
	while ((rc = sql_row(s, q, err)) == 1) {
		struct job_metric *m = &list->items[list->count++];
		char *name = sql_text(q, 0);

		snprintf(m->name, sizeof(m->name), "%s", name);
		free(name);
		m->last = sql_double(q, 1);
		m->samples = sql_double(q, 2);
		m->time_s = sql_double(q, 3);
		m->lowest = sql_double(q, 4);
		m->lowest_samples = sql_double(q, 5);
		m->highest = sql_double(q, 6);
		m->highest_samples = sql_double(q, 7);
	}
	sql_done(q);
	if (rc < 0)
		job_metric_list_release(list);
	return rc < 0 ? -1 : 0;
}

void job_metric_list_release(struct job_metric_list *list)
{
	free(list->items);
	*list = (struct job_metric_list){ 0 };
}
