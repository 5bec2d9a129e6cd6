/* store_metrics.c - last, lowest and highest values of metrics, and points of curves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "journal.h"

/* --- metrics --- */

/* NULL is NaN: the last value in a row of its own; and lowest and highest where no value was
 * finite. */
int put_metric(struct store *s, const struct told *t, struct err *err)
{
	const struct job_metric *m = &t->metric;
	int64_t job_id = t->run.job_id;

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
		       "itddddddditi", job_id, m->name, m->last, m->samples, m->time_s,
		       m->lowest, m->lowest_samples, m->highest, m->highest_samples, job_id,
		       m->name, (int64_t)STORE_METRICS_MAX);
}

int store_metric_set(struct store *s, int64_t job_id, const struct job_metric *m, struct err *err)
{
	struct told t = { .run.job_id = job_id, .metric = *m };

	t.metric.time_s = clock_wall_s();
	return journal_put(s, RECORD_METRIC, &t, err);
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

/* --- curves --- */

#define OF_CURVE "FROM curve_points WHERE job_id = ?1 AND name = ?2"

static int thin(struct store *s, int64_t job_id, const char *name, struct err *err)
{
	int64_t n;

	if (sql_ask(s, &n, err, "SELECT count(*) " OF_CURVE, "it", job_id, name))
		return -1;
	if (n < STORE_CURVE_POINTS)
		return 0;
	return sql_run(s, NULL, err, "DELETE " OF_CURVE " AND time_s IN (SELECT time_s FROM"
		       " (SELECT time_s, row_number() OVER (ORDER BY time_s) AS place " OF_CURVE ")"
		       " WHERE place % 2 = 1 AND place > 1)", "it", job_id, name);
}

int put_point(struct store *s, const struct told *t, struct err *err)
{
	const struct curve_point *p = &t->point;
	const char *name = t->curve;
	int64_t job_id = t->run.job_id;
	int added;

	if (sql_run(s, &added, err, "INSERT INTO curve_points"
		    " (job_id, name, time_s, samples, value)"
		    " SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 " OF_CURVE
		    "  AND time_s > ?3 - (SELECT (?3 - min(time_s)) / 60 " OF_CURVE "))"
		    " AND (?2 IN ('" CURVE_THROUGHPUT "', '" CURVE_BATCH_SIZE "') OR EXISTS"
		    "  (SELECT 1 FROM job_metrics WHERE job_id = ?1 AND name = ?2))"
		    " ON CONFLICT DO NOTHING", "itddd", job_id, name, p->time_s, p->samples,
		    p->value))
		return -1;
	return added ? thin(s, job_id, name, err) : 0;
}

int store_curve_add(struct store *s, int64_t job_id, const char *name, double samples,
		    double value, struct err *err)
{
	struct told t = {
		.run.job_id = job_id, .point = { clock_wall_s(), samples, value },
	};

	snprintf(t.curve, sizeof(t.curve), "%s", name);
	return journal_put(s, RECORD_POINT, &t, err);
}

static struct curve *curve_of(struct curve_list *list, const char *name)
{
	struct curve *last = list->count ? &list->items[list->count - 1] : NULL;

	if (last && !strcmp(last->name, name))
		return last;
	list->items = xreallocarray(list->items, (size_t)list->count + 1, sizeof(*list->items));
	last = &list->items[list->count++];
	*last = (struct curve){ .n = 0 };
	snprintf(last->name, sizeof(last->name), "%s", name);
	return last;
}

static void add_point(struct curve_list *list, sqlite3_stmt *q)
{
	char *name = sql_text(q, 0);
	struct curve *c = curve_of(list, name);

	free(name);
	c->points = xreallocarray(c->points, (size_t)c->n + 1, sizeof(*c->points));
	c->points[c->n++] = (struct curve_point){
		sql_double(q, 1), sql_double(q, 2), sql_double(q, 3),
	};
}

int store_curves_of_job(struct store *s, int64_t job_id, struct curve_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct curve_list){ 0 };
	if (sql_query(s, &q, err, "SELECT name, time_s, samples, value FROM curve_points"
		      " WHERE job_id = ? ORDER BY name, time_s", "i", job_id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		add_point(list, q);
	sql_done(q);
	if (rc < 0)
		curve_list_release(list);
	return rc < 0 ? -1 : 0;
}

void curve_list_release(struct curve_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->items[i].points);
	free(list->items);
	*list = (struct curve_list){ 0 };
}
