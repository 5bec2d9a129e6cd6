/* store_groups.c - groups of jobs that were submitted by one command, and the rungs of their
 * sweeps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_groups.h"
#include "journal.h"
#include "sql.h"

/* --- groups --- */

static int insert_group(struct store *s, const struct job_group *group, struct err *err)
{
	struct text argv = TEXT_INIT, varied = TEXT_INIT;
	int rc;

	strings_pack(&group->argv, &argv);
	strings_pack(&group->varied, &varied);
	rc = sql_run(s, NULL, err, "INSERT INTO job_groups"
		     " (name, submit_time_s, max_running, argv, varied, halving, split)"
		     " VALUES (?, ?, ?, ?, ?, ?, ?)", "tdnbbtt", group->name, group->submit_time_s,
		     (int64_t)group->max_running, argv.data, argv.length, varied.data,
		     varied.length, group->halving, group->split);
	text_release(&argv);
	text_release(&varied);
	return rc;
}

static int insert_job(struct store *s, const struct group_jobs *jobs, int i,
		      const struct dependency_list *after, struct group_added *added,
		      struct err *err)
{
	struct job_command command = { 0 };
	struct job job;
	int rc;

	job_init(&job);
	rc = jobs->make(jobs->arg, i, &job, &command, err);
	job.group_id = added->group_id;
	job.group_index = i;
	rc = rc ? rc : store_job_insert(s, &job, &command, after, err);
	if (i == 0)
		added->first_job_id = job.id;
	added->last_job_id = job.id;
	job_command_release(&command);
	job_release(&job);
	return rc;
}

int store_group_insert(struct store *s, const struct job_group *group,
		       const struct group_jobs *jobs, const struct dependency_list *after,
		       struct group_added *added, struct err *err)
{
	int rc = insert_group(s, group, err);

	*added = (struct group_added){ .group_id = rc ? 0 : sqlite3_last_insert_rowid(s->db) };
	for (int i = 0; rc == 0 && i < jobs->n; i++)
		rc = insert_job(s, jobs, i, after, added, err);
	return rc;
}

#define GROUPS "SELECT id, name, submit_time_s, max_running, argv, varied, halving, split" \
	" FROM job_groups "

static void read_group(sqlite3_stmt *q, struct job_group *g)
{
	*g = (struct job_group){
		.id = sql_int(q, 0, 0), .name = sql_text(q, 1), .submit_time_s = sql_double(q, 2),
		.max_running = (int)sql_int(q, 3, 0),
	};
	g->halving = sql_text_or_null(q, 6);
	g->split = sql_text_or_null(q, 7);
	strings_unpack(&g->argv, sqlite3_column_blob(q, 4), (size_t)sqlite3_column_bytes(q, 4));
	strings_unpack(&g->varied, sqlite3_column_blob(q, 5), (size_t)sqlite3_column_bytes(q, 5));
}

int store_group_get(struct store *s, int64_t id, struct job_group *group, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*group = (struct job_group){ 0 };
	if (sql_query(s, &q, err, GROUPS "WHERE id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		read_group(q, group);
	sql_done(q);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such group: %lld", (long long)id);
	return rc == 1 ? 0 : -1;
}

int store_group_set_max_running(struct store *s, int64_t id, int max_running, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE job_groups SET max_running = ? WHERE id = ?", "ni",
		       (int64_t)max_running, id);
}

int store_groups_list(struct store *s, bool active, struct job_group_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct job_group_list){ 0 };
	if (sql_query(s, &q, err, active
		      ? GROUPS "WHERE id IN (SELECT group_id FROM jobs WHERE group_id IS NOT NULL"
		      " AND state IN ('queued', 'held', 'running')) ORDER BY id"
		      : GROUPS "ORDER BY id", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		read_group(q, &list->items[list->count++]);
	}
	sql_done(q);
	if (rc)
		job_group_list_release(list);
	return rc;
}

int store_group_jobs(struct store *s, int64_t id, struct job_list *list, struct err *err)
{
	struct read_rows all;
	struct job initial;
	sqlite3_stmt *q;

	*list = (struct job_list){ 0 };
	if (rows_query(s, &q, err, ALL_OF(jobs_table), "WHERE group_id = ? ORDER BY group_index",
		       "i", id))
		return -1;
	job_init(&initial);
	all = rows_read_all(s, q, ALL_OF(jobs_table), &initial, err);
	*list = (struct job_list){ all.items, all.count };
	if (all.rc)
		job_list_release(list);
	return all.rc;
}

void job_group_release(struct job_group *group)
{
	free(group->name);
	free(group->halving);
	free(group->split);
	strings_release(&group->argv);
	strings_release(&group->varied);
	*group = (struct job_group){ 0 };
}

void job_group_list_release(struct job_group_list *list)
{
	for (int i = 0; i < list->count; i++)
		job_group_release(&list->items[i]);
	free(list->items);
	*list = (struct job_group_list){ 0 };
}

/* --- summary --- */

static int count_states(struct store *s, int64_t id, struct group_summary *summary,
			struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT state, count(*), sum(state = 'queued' AND"
		      " rung > passed_rungs) FROM jobs WHERE group_id = ? GROUP BY state", "i", id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		int state = job_state_parse((const char *)sqlite3_column_text(q, 0));

		if (state >= 0)
			summary->counts[state] += (int)sql_int(q, 1, 0);
		summary->paused += (int)sql_int(q, 2, 0);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

#define IN_GROUP "(SELECT id FROM jobs WHERE group_id = ?1)"
#define IS_FINITE "abs(last) < 9e999"
#define COUNTED " WHERE job_id IN " IN_GROUP " AND (" IS_FINITE " OR NOT EXISTS" \
	"  (SELECT 1 FROM job_metrics WHERE job_id IN " IN_GROUP " AND name = m.name AND " \
	IS_FINITE ")) GROUP BY name ORDER BY name"

/* Where a query has one min() or max(), SQLite takes the other columns from the row of that
 * value. A job whose last value is not finite has diverged: its values count only where those of
 * no other job do. */
static int read_extremes(struct store *s, int64_t id, bool lowest, struct group_summary *summary,
			 struct err *err)
{
	sqlite3_stmt *q;
	int rc, i = 0;

	if (sql_query(s, &q, err, lowest
		      ? "SELECT name, job_id, min(lowest) FROM job_metrics m" COUNTED
		      : "SELECT name, job_id, max(highest) FROM job_metrics m" COUNTED, "i", id))
		return -1;
	for (; (rc = sql_row(s, q, err)) == 1; i++) {
		struct group_metric *m;

		if (i == summary->n_metrics)
			summary->metrics = xgrow(summary->metrics, summary->n_metrics++,
						 sizeof(*summary->metrics));
		m = &summary->metrics[i];
		snprintf(m->name, sizeof(m->name), "%s", (const char *)sqlite3_column_text(q, 0));
		*(lowest ? &m->lowest_job : &m->highest_job) = sql_int(q, 1, 0);
		*(lowest ? &m->lowest : &m->highest) = sql_double(q, 2);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_group_summary(struct store *s, int64_t id, struct group_summary *summary,
			struct err *err)
{
	*summary = (struct group_summary){ .n_metrics = 0 };
	if (count_states(s, id, summary, err) || read_extremes(s, id, true, summary, err) ||
	    read_extremes(s, id, false, summary, err)) {
		group_summary_release(summary);
		return -1;
	}
	return 0;
}

void group_summary_release(struct group_summary *summary)
{
	free(summary->metrics);
	*summary = (struct group_summary){ .n_metrics = 0 };
}

/* --- rungs --- */

/* The text was checked when the group was submitted. One that a newer pollux wrote, and this one
 * cannot read, pauses nothing. */
static void read_halving(sqlite3_stmt *q, int column, struct halving *halving)
{
	char *text = sql_text_or_null(q, column);
	struct err ignored;

	if (!text || halving_parse(text, NAN, halving, &ignored))
		*halving = (struct halving){ .n_rungs = 0 };
	free(text);
}

int store_job_rungs(struct store *s, int64_t job_id, struct job_rungs *rungs, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*rungs = (struct job_rungs){ .rung = 0 };
	if (sql_query(s, &q, err, "SELECT g.halving, j.rung, j.passed_rungs FROM jobs j"
		      " JOIN job_groups g ON g.id = j.group_id WHERE j.id = ?", "i", job_id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		read_halving(q, 0, &rungs->halving);
		rungs->rung = (int)sql_int(q, 1, 0);
		rungs->passed = (int)sql_int(q, 2, 0);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_workload_reports_samples(struct store *s, const char *workload, bool *reports,
				   struct err *err)
{
	int64_t any = 0;
	int rc = sql_ask(s, &any, err, "SELECT EXISTS (SELECT 1 FROM runs WHERE workload = ?"
			 " AND last_samples IS NOT NULL AND step_source = 'reports')", "t",
			 workload);

	*reports = rc == 0 && any;
	return rc;
}

int put_rung(struct store *s, const struct told *t, struct err *err)
{
	const struct rung *r = &t->rung;

	if (sql_run(s, NULL, err, "INSERT OR IGNORE INTO rung_results"
		    " (job_id, rung, samples, value) VALUES (?, ?, ?, ?)", "iidd", t->run.job_id,
		    (int64_t)r->number, r->samples, r->value))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET rung = max(rung, ?) WHERE id = ?", "ii",
		       (int64_t)r->number, t->run.job_id);
}

int store_rung_add(struct store *s, int64_t job_id, int rung, double samples, double value,
		   struct err *err)
{
	return journal_put(s, RECORD_RUNG, &(struct told){
		.run.job_id = job_id, .rung = { rung, samples, value },
	}, err);
}

int store_job_pass_all_rungs(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET passed_rungs = ? WHERE id = ?", "ii",
		       (int64_t)RUNGS_ALL, job_id);
}

/* --- a sweep --- */

static int read_rungs_of(struct store *s, int64_t group_id, struct halving *halving,
			 struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT halving FROM job_groups WHERE id = ?", "i", group_id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		read_halving(q, 0, halving);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

/* keeps: the job has a run that nobody has asked to stop. */
static enum halving_state state_of(enum job_state state, int rung, int passed, bool keeps)
{
	if (state == JOB_DONE)
		return HALVING_DONE;
	if (state != JOB_QUEUED && state != JOB_RUNNING)
		return HALVING_OUT;
	return rung > passed && !keeps ? HALVING_PAUSED : HALVING_GOING;
}

/* A row for each job and rung, by job: starts a new run, or adds to the last one. */
static void read_row(sqlite3_stmt *q, struct halving_sweep *sweep)
{
	int64_t id = sql_int(q, 0, 0);
	int state = job_state_parse((const char *)sqlite3_column_text(q, 1));
	int rung = (int)sql_int(q, 2, 0), passed = (int)sql_int(q, 3, 0);
	int at = (int)sql_int(q, 5, 0);

	if (rung > sweep->halving.n_rungs)
		rung = sweep->halving.n_rungs;
	if (sweep->n_runs == 0 || sweep->runs[sweep->n_runs - 1].id != id) {
		struct halving_run *run;

		sweep->runs = xgrow(sweep->runs, sweep->n_runs, sizeof(*sweep->runs));
		run = &sweep->runs[sweep->n_runs++];
		*run = (struct halving_run){
			.id = id, .rung = rung,
			.state = state_of(state < 0 ? JOB_FAILED : (enum job_state)state, rung,
					  passed, sql_int(q, 4, 0)),
			.diverged = sql_int(q, 7, 0),
		};
		for (int i = 0; i < HALVING_RUNGS_MAX; i++)
			run->values[i] = (double)NAN;
	}
	if (at > 0 && at <= HALVING_RUNGS_MAX)
		sweep->runs[sweep->n_runs - 1].values[at - 1] = sql_double(q, 6);
}

int store_halving_read(struct store *s, int64_t group_id, struct halving_sweep *sweep,
		       struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*sweep = (struct halving_sweep){ .n_runs = 0 };
	if (read_rungs_of(s, group_id, &sweep->halving, err))
		return -1;
	if (sweep->halving.n_rungs == 0)
		return 0;
	if (sql_query(s, &q, err, "SELECT j.id, j.state, j.rung, j.passed_rungs,"
		      " EXISTS (SELECT 1 FROM runs WHERE job_id = j.id AND state <> 'ended'"
		      "  AND coalesce(stop_reason, 'none') = 'none'), r.rung, r.value,"
		      " EXISTS (SELECT 1 FROM job_metrics WHERE job_id = j.id AND name = ?"
		      "  AND coalesce(abs(last), 9e999) = 9e999)"
		      " FROM jobs j LEFT JOIN rung_results r ON r.job_id = j.id"
		      " WHERE j.group_id = ? ORDER BY j.id, r.rung", "ti", sweep->halving.metric,
		      group_id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		read_row(q, sweep);
	sql_done(q);
	if (rc < 0)
		halving_sweep_release(sweep);
	else
		sweep->over = halving_decide(&sweep->halving, sweep->runs, sweep->n_runs);
	return rc;
}

const struct halving_run *halving_sweep_find(const struct halving_sweep *sweep, int64_t job_id)
{
	for (int low = 0, high = sweep->n_runs; low < high;) {
		int middle = low + (high - low) / 2;

		if (sweep->runs[middle].id == job_id)
			return &sweep->runs[middle];
		if (sweep->runs[middle].id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void halving_sweep_release(struct halving_sweep *sweep)
{
	free(sweep->runs);
	*sweep = (struct halving_sweep){ .n_runs = 0 };
}
