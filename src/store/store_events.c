/* store_events.c - settings of passes, decisions with their reasons, what happened to each job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "columns.h"
#include "journal.h"
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
	C("time_s", DOUBLE, time_s, KNOWN, 0),
	C("job_id", INT64, job_id, ZERO, 0),
	C("run_id", INT64, run_id, ZERO, 0),
	C("kind", TEXT, kind, KNOWN, 0),
	C("text", TEXT, text, KNOWN, 0),
};
static const struct store_columns event_columns = COLUMNS(of_event);
static const struct store_table events_table = {
	"events", sizeof(ROW), { { .columns = &event_columns } },
};
#undef ROW

int store_events_of_job(struct store *s, int64_t job_id, struct event_list *list, struct err *err)
{
	return rows_list(s, ALL_OF(events_table), list, err, "WHERE job_id = ? ORDER BY id", "i",
			 job_id);
}

int store_events_between(struct store *s, int64_t after, int64_t last, struct event_list *list,
			 struct err *err)
{
	return rows_list(s, ALL_OF(events_table), list, err, "WHERE id > ? AND id <= ? ORDER BY id",
			 "ii", after, last);
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
