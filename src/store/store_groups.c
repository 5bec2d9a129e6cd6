/* store_groups.c - groups of jobs that were submitted by one command, and the rungs of their
 * sweeps. */
#include <math.h>
#include <stdlib.h>

#include "columns.h"
#include "journal.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"

/* --- groups --- */

#define ROW struct job_group
static const struct store_column of_group[] = {
	C("id", INT64, id, KNOWN, GIVEN),
	C("name", TEXT, name, KNOWN, 0),
	C("submit_time_s", DOUBLE, submit_time_s, UNKNOWN, 0),
	C("max_running", INT, max_running, ZERO, 0),
	C("argv", STRINGS, argv, KNOWN, 0),
	C("varied", STRINGS, varied, KNOWN, 0),
	C("halving", TEXT, halving, ZERO, 0),
	C("split", TEXT, split, ZERO, 0),
};
static const struct store_table groups_table = TABLE_OF("job_groups", of_group);
#undef ROW

int store_group_insert(struct store *s, const struct job_group *group,
		       const struct group_jobs *jobs, const struct dependency_list *after,
		       struct group_added *added, struct err *err)
{
	int rc = group->id ? 0 : rows_insert(s, &groups_table, group, err);

	*added = (struct group_added){ .group_id = group->id };
	if (rc == 0 && !group->id)
		added->group_id = sqlite3_last_insert_rowid(s->db);
	for (int i = 0; rc == 0 && i < jobs->n; i++) {
		struct job_command command = { 0 };
		struct job job;

		job_init(&job);
		rc = jobs->make(jobs->arg, i, &job, &command, err);
		job.group_id = added->group_id;
		rc = rc ? rc : store_job_insert(s, &job, &command, after, err);
		if (i == 0)
			added->first_job_id = job.id;
		added->last_job_id = job.id;
		job_command_release(&command);
		job_release(&job);
	}
	return rc;
}

int store_group_get(struct store *s, int64_t id, struct job_group *group, struct err *err)
{
	int rc;

	*group = (struct job_group){ 0 };
	rc = rows_get(s, ALL_OF(groups_table), group, err, "WHERE id = ?", "i", id);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such group: %lld", (long long)id);
	return rc == 1 ? 0 : -1;
}

int store_group_leave(struct store *s, int64_t group_id, const char *key, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET group_id = NULL, group_index = NULL,"
		       " cleared = 1 WHERE group_id = ? AND key = ?"
		       " AND state IN ('failed', 'cancelled', 'timeout')", "it", group_id, key);
}

int store_group_set_max_running(struct store *s, int64_t id, int max_running, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE job_groups SET max_running = ? WHERE id = ?", "ni",
		       (int64_t)max_running, id);
}

int store_groups_list(struct store *s, bool active, struct job_group_list *list, struct err *err)
{
	return rows_list(s, ALL_OF(groups_table), list, err, active ?
			 "WHERE id IN (SELECT group_id FROM jobs WHERE group_id IS NOT NULL"
			 " AND state IN ('queued', 'held', 'running')) ORDER BY id" : "ORDER BY id",
			 "");
}

int store_group_jobs(struct store *s, int64_t id, struct job_list *list, struct err *err)
{
	struct job initial;

	job_init(&initial);
	return rows_list(s, ALL_FROM(jobs_table, &initial), list, err,
			 "WHERE group_id = ? ORDER BY group_index", "i", id);
}

void job_group_release(struct job_group *group)
{
	row_release(&groups_table, group);
	*group = (struct job_group){ 0 };
}

void job_group_list_release(struct job_group_list *list)
{
	rows_release(&groups_table, list->items, list->count);
	*list = (struct job_group_list){ 0 };
}

/* --- summary --- */

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
		sql_chars(q, 0, m->name, sizeof(m->name));
		*(lowest ? &m->lowest_job : &m->highest_job) = sql_int(q, 1, 0);
		*(lowest ? &m->lowest : &m->highest) = sql_double(q, 2);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_group_summary(struct store *s, int64_t id, struct group_summary *summary,
			struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*summary = (struct group_summary){ .n_metrics = 0 };
	if (sql_query(s, &q, err, "SELECT " SQL_STATE("jobs") " AS shown, count(*),"
		      " sum(state = 'queued' AND rung > passed_rungs),"
		      " sum(state = 'running' AND NOT held AND " SQL_IS_SUSPENDED("jobs.id")
		      ") FROM jobs WHERE group_id = ? GROUP BY shown", "i", id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		int state = job_state_parse((const char *)sqlite3_column_text(q, 0));

		if (state >= 0)
			summary->counts[state] += (int)sql_int(q, 1, 0);
		summary->paused += (int)sql_int(q, 2, 0);
		summary->suspended += (int)sql_int(q, 3, 0);
	}
	sql_done(q);
	if (rc == 0 && read_extremes(s, id, true, summary, err) == 0 &&
	    read_extremes(s, id, false, summary, err) == 0)
		return 0;
	group_summary_release(summary);
	return -1;
}

void group_summary_release(struct group_summary *summary)
{
	free(summary->metrics);
	*summary = (struct group_summary){ .n_metrics = 0 };
}

/* --- rungs --- */

/* The text was checked when the group was submitted. One that a newer pollux wrote, and this one
 * cannot read, pauses nothing. Frees the text. */
static struct halving halving_of(char *text)
{
	struct halving halving = { .n_rungs = 0 };
	struct err ignored;

	if (!text || halving_parse(text, NAN, &halving, &ignored))
		halving = (struct halving){ .n_rungs = 0 };
	free(text);
	return halving;
}

int store_job_rungs(struct store *s, int64_t job_id, struct job_rungs *rungs, struct err *err)
{
	char *text;
	int rc = sql_get(s, err, "SELECT g.halving, j.rung, j.passed_rungs FROM jobs j"
			 " JOIN job_groups g ON g.id = j.group_id WHERE j.id = ?", "tnn<i", &text,
			 &rungs->rung, &rungs->passed, job_id);

	rungs->halving = halving_of(text);
	return rc;
}

int store_workload_reports_samples(struct store *s, const char *workload, bool *reports,
				   struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM runs WHERE workload = ?"
		       " AND last_samples IS NOT NULL AND step_source = 'reports')", "b<t", reports,
		       workload);
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

/* A row for each job and rung, by job: starts a new run, or adds to the last one. */
static void read_row(sqlite3_stmt *q, struct halving_sweep *sweep)
{
	int64_t id = sql_int(q, 0, 0);
	int state = job_state_parse((const char *)sqlite3_column_text(q, 1));
	int rung = (int)sql_int(q, 2, 0), passed = (int)sql_int(q, 3, 0);
	bool goes_on = sql_int(q, 4, 0);	/* it has a run that nobody has asked to stop */
	int at = (int)sql_int(q, 5, 0);

	if (rung > sweep->halving.n_rungs)
		rung = sweep->halving.n_rungs;
	if (sweep->n_runs == 0 || sweep->runs[sweep->n_runs - 1].id != id) {
		struct halving_run *run;

		sweep->runs = xgrow(sweep->runs, sweep->n_runs, sizeof(*sweep->runs));
		run = &sweep->runs[sweep->n_runs++];
		*run = (struct halving_run){
			.id = id, .rung = rung, .state = HALVING_GOING,
			.diverged = sql_int(q, 7, 0),
		};
		if (state == JOB_DONE)
			run->state = HALVING_DONE;
		else if (state != JOB_QUEUED && state != JOB_RUNNING)
			run->state = HALVING_OUT;
		else if (rung > passed && !goes_on)
			run->state = HALVING_PAUSED;
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
	char *text;
	int rc;

	*sweep = (struct halving_sweep){ .n_runs = 0 };
	rc = sql_get(s, err, "SELECT halving FROM job_groups WHERE id = ?", "t<i", &text, group_id);
	sweep->halving = halving_of(text);
	if (rc || sweep->halving.n_rungs == 0)
		return rc;
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

/* --- sweeps whose runs are of several models --- */

/* The newest entries of a group that are compared, each with each: up to 30 ms of a pass. */
#define ENTRIES_MAX 160

/* The parameters of the entries are those of the jobs. */
static int list_entries(struct store *s, const struct job_list *jobs, struct split_entry *entries,
			int *n, struct err *err)
{
	struct observation_list seen;

	for (int k = jobs->count - 1; k >= 0; k--) {
		if (store_observations_of_job(s, jobs->items[k].id, &seen, err))
			return -1;
		for (int i = 0; i < seen.count && *n < ENTRIES_MAX; i++)
			if (seen.items[i].n_windows >= SPLIT_WINDOWS)
				entries[(*n)++] = (struct split_entry){
					seen.items[i], jobs->items[k].parameters,
				};
		observation_list_release(&seen);
	}
	return 0;
}

/* A pass and the end of a run may look at the same time: the second one finds it split. */
static int write_split(struct store *s, int64_t group_id, const struct job_list *jobs,
		       const struct split *split, struct err *err)
{
	int changed = 0, rc;

	if (store_begin(s, err))
		return -1;
	rc = sql_run(s, &changed, err, "UPDATE job_groups SET split = ?"
		     " WHERE id = ? AND split = ''", "ti", split->text.data, group_id);
	for (int i = 0; rc == 0 && changed == 1 && i < jobs->count; i++) {
		const struct job *job = &jobs->items[i];
		char *workload = split_workload(split->text.data, job->declared.workload,
						&job->parameters);

		rc = sql_run(s, NULL, err, "UPDATE jobs SET workload = ? WHERE id = ?", "ti",
			     workload, job->id);
		free(workload);
	}
	return store_finish(s, rc, err);
}

int store_split_groups(struct store *s, struct err *err)
{
	struct split_entry *entries = xcalloc(ENTRIES_MAX, sizeof(*entries));
	struct job_group_list groups;
	int rc = store_groups_list(s, true, &groups, err);

	for (int i = 0; rc == 0 && i < groups.count; i++) {
		const struct job_group *group = &groups.items[i];
		struct job_list jobs = { 0 };
		struct split split;
		int n = 0;

		if (!group->split || *group->split)
			continue;
		rc = store_group_jobs(s, group->id, &jobs, err) ||
		     list_entries(s, &jobs, entries, &n, err) ? -1 : 0;
		if (rc == 0 && split_find(entries, n, &split)) {
			rc = write_split(s, group->id, &jobs, &split, err);
			split_release(&split);
		}
		job_list_release(&jobs);
	}
	job_group_list_release(&groups);
	free(entries);
	return rc;
}
