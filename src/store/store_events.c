/* store_events.c - settings of passes, decisions with their reasons, what happened to each job, and
 * what its program told: values of metrics, and points of curves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "journal.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"

int store_decision_add(struct store *s, const char *policy, int n_devices,
		       const struct decision_entry *entries, int n, struct err *err)
{
	int64_t id;

	if (sql_run(s, NULL, err, "INSERT INTO decisions (time_s, policy, devices) VALUES (?, ?,"
		    " ?)",
		    "dti", clock_wall_s(), policy, (int64_t)n_devices))
		return -1;
	id = sqlite3_last_insert_rowid(s->db);
	for (int i = 0; i < n; i++)
		if (sql_run(s, NULL, err, "INSERT INTO decision_jobs VALUES (?, ?, ?, ?)", "iiit",
			    id, entries[i].job_id, (int64_t)entries[i].replicas, entries[i].reason))
			return -1;
	return 0;
}

int store_decision_of_job(struct store *s, int64_t job_id, struct decision_row *d, struct err *err)
{
	return sql_get(s, err, "SELECT d.time_s, d.policy, d.devices, j.replicas, j.reason"
		       " FROM decisions d JOIN decision_jobs j ON j.decision_id = d.id"
		       " WHERE j.job_id = ? ORDER BY d.id DESC LIMIT 1", "dtnnt<i", &d->time_s,
		       &d->policy, &d->n_devices, &d->replicas, &d->reason, job_id);
}

void decision_row_release(struct decision_row *d)
{
	free(d->policy);
	free(d->reason);
	*d = (struct decision_row){ .time_s = (double)NAN };
}

int put_event(struct store *s, const struct told *t, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO events (time_s, job_id, run_id, kind, text)"
		       " VALUES (?, ?, ?, ?, ?)", "dnntt", t->time_s, t->run.job_id, t->run.id,
		       t->event, t->text);
}

int store_event_add(struct store *s, int64_t job_id, int64_t run_id, const char *kind,
		    const char *text, struct err *err)
{
	return journal_put(s, RECORD_EVENT, &(struct told){
		.run = { .id = run_id, .job_id = job_id }, .time_s = clock_wall_s(),
		.event = kind, .text = text,
	}, err);
}

int store_last_event(struct store *s, int64_t *id, struct err *err)
{
	return sql_get(s, err, "SELECT max(id) FROM events", "i<", id);
}

#define ROW struct event
static const struct store_column of_event[] = {
	C("id", INT64, id, KNOWN, 0),
	C("time_s", DOUBLE, time_s, KNOWN, 0),
	C("job_id", INT64, job_id, ZERO, 0),
	C("run_id", INT64, run_id, ZERO, 0),
	C("kind", TEXT, kind, KNOWN, 0),
	C("text", TEXT, text, KNOWN, 0),
	C("devices", TEXT, devices, ZERO, 0),
};
static const struct store_table events_table = TABLE_OF("events", of_event);
#undef ROW

int store_job_was_told(struct store *s, int64_t job_id, const char *kind, bool *told,
		       struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM events WHERE job_id = ? AND kind = ?)",
		       "b<it", told, job_id, kind);
}

int store_events_of_job(struct store *s, int64_t job_id, struct event_list *list, struct err *err)
{
	return rows_list(s, ALL_OF(events_table), list, err, "WHERE job_id = ? ORDER BY id", "i",
			 job_id);
}

int store_events_select(struct store *s, const struct event_query *query, struct event_list *list,
			struct err *err)
{
	return rows_list(s, ALL_OF(events_table), list, err, "WHERE id IN (SELECT id FROM events"
			 " WHERE id > ?1 AND id <= ?2 AND (?3 IS NULL OR time_s >= ?3)"
			 " AND (?4 IS NULL OR instr(?4, ',' || job_id || ','))"
			 " ORDER BY id DESC LIMIT ?5) ORDER BY id", "iidti", query->after,
			 query->last, query->since_wall_s, query->jobs, query->newest);
}

void event_list_release(struct event_list *list)
{
	rows_release(&events_table, list->items, list->count);
	*list = (struct event_list){ 0 };
}

#define REMARK "gpu"
#define REMARK_OVER "gpu-over"

int store_run_remark(struct store *s, int64_t job_id, int64_t run_id, char **text, struct err *err)
{
	if (sql_get(s, err, "SELECT iif(kind = '" REMARK "', text, '') FROM events"
		    " WHERE job_id = ? AND run_id = ? AND kind IN ('" REMARK "', '" REMARK_OVER
		    "') ORDER BY id DESC LIMIT 1", "t<ii", text, job_id, run_id))
		return -1;
	*text = *text ? *text : xstrdup("");
	return 0;
}

int store_run_set_remark(struct store *s, int64_t job_id, int64_t run_id, const char *text,
			 struct err *err)
{
	return store_event_add(s, job_id, run_id, *text ? REMARK : REMARK_OVER,
			       *text ? text : "what was said of its GPUs is over", err);
}

int store_setting_get(struct store *s, const char *name, char **value, struct err *err)
{
	return sql_get(s, err, "SELECT value FROM settings WHERE name = ?", "t<t", value, name);
}

/* Reads first, so that a store which cannot be written serves as long as the value is the same. */
int store_setting_set(struct store *s, const char *name, const char *value, struct err *err)
{
	char *old;
	bool same;

	if (store_setting_get(s, name, &old, err))
		return -1;
	same = old && !strcmp(old, value);
	free(old);
	if (same)
		return 0;
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO settings VALUES (?, ?)", "tt", name,
		       value);
}

/* --- metrics --- */

#define ROW struct job_metric
static const struct store_column of_metric[] = {
	CHARS("name", name, 0),
	C("last", DOUBLE, last, UNKNOWN, 0),
	C("samples", DOUBLE, samples, UNKNOWN, 0),
	C("time_s", DOUBLE, time_s, UNKNOWN, 0),
	C("lowest", DOUBLE, lowest, UNKNOWN, 0),
	C("lowest_samples", DOUBLE, lowest_samples, UNKNOWN, 0),
	C("highest", DOUBLE, highest, UNKNOWN, 0),
	C("highest_samples", DOUBLE, highest_samples, UNKNOWN, 0),
};
const struct store_table metrics_table = TABLE_OF("job_metrics", of_metric);
#undef ROW

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
	return rows_list(s, ALL_OF(metrics_table), list, err,
			 "WHERE job_id = ? ORDER BY name LIMIT ?", "ii", job_id,
			 (int64_t)STORE_METRICS_MAX);
}

void job_metric_list_release(struct job_metric_list *list)
{
	free(list->items);
	*list = (struct job_metric_list){ 0 };
}

/* --- curves --- */

#define OF_CURVE "FROM curve_points WHERE job_id = ?1 AND name = ?2"

int put_point(struct store *s, const struct told *t, struct err *err)
{
	const struct curve_point *p = &t->point;
	const char *name = t->curve;
	int64_t job_id = t->run.job_id, n;
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
	if (!added)
		return 0;
	if (sql_get(s, err, "SELECT count(*) " OF_CURVE, "i<it", &n, job_id, name))
		return -1;
	if (n < STORE_CURVE_POINTS)
		return 0;
	return sql_run(s, NULL, err, "DELETE " OF_CURVE " AND time_s IN (SELECT time_s FROM"
		       " (SELECT time_s, row_number() OVER (ORDER BY time_s) AS place " OF_CURVE ")"
		       " WHERE place % 2 = 1 AND place > 1)", "it", job_id, name);
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

int store_curves_of_job(struct store *s, int64_t job_id, struct curve_list *list, struct err *err)
{
	struct curve *c = NULL;
	sqlite3_stmt *q;
	int rc;

	*list = (struct curve_list){ 0 };
	if (sql_query(s, &q, err, "SELECT name, time_s, samples, value FROM curve_points"
		      " WHERE job_id = ? ORDER BY name, time_s", "i", job_id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		struct curve next = { .n = 0 };

		sql_chars(q, 0, next.name, sizeof(next.name));
		if (!c || strcmp(c->name, next.name) != 0) {
			list->items = xgrow(list->items, list->count, sizeof(next));
			c = &list->items[list->count++];
			*c = next;
		}
		c->points = xgrow(c->points, c->n, sizeof(*c->points));
		c->points[c->n++] = (struct curve_point){
			sql_double(q, 1), sql_double(q, 2), sql_double(q, 3),
		};
	}
	sql_done(q);
	if (rc < 0)
		curve_list_release(list);
	return rc;
}

void curve_list_release(struct curve_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->items[i].points);
	free(list->items);
	*list = (struct curve_list){ 0 };
}
